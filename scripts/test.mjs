// Everything there is to check, cheapest first. `npm test -- PATTERN…` runs only the test files whose path has a PATTERN.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const patterns = process.argv.slice(2);

function testFiles(directory) {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    if (entry.name === 'node_modules') return [];
    const path = join(directory, entry.name);
    if (entry.isDirectory()) return testFiles(path);
    return entry.name.endsWith('.test.ts') ? [relative(root, path)] : [];
  });
}

function run(title, command, args) {
  const started = performance.now();
  const { status, signal } = spawnSync(command, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  if (status === 0) console.log(`ok      ${title} (${seconds} s)`);
  else {
    console.log(`failed  ${title} (${seconds} s)${signal === null ? '' : `, killed by ${signal}`}`);
    process.exit(1);
  }
}

function bin(name) {
  return join(root, 'node_modules', '.bin', name);
}

if (patterns.length === 0) {
  run('format', bin('prettier'), ['--check', '--log-level', 'warn', '.']);
  run('lint', bin('oxlint'), ['--deny-warnings', 'src', 'test', 'scripts', 'examples', 'bench']);
  run('dead exports', bin('knip'), []);
  run('types', bin('tsc'), ['-p', 'tsconfig.json']);
  run('purity', bin('tsc'), ['-p', 'tsconfig.pure.json']);
}
run('build', process.execPath, ['scripts/build.mjs']);
const files = ['src', 'test', 'examples', 'bench']
  .flatMap((directory) => testFiles(join(root, directory)))
  .filter((file) => patterns.length === 0 || patterns.some((pattern) => file.includes(pattern)));

/** What a test may only do in a process of its own: start others, serve, wait for signals, change what all share. */
const NEEDS_A_PROCESS =
  /from 'node:(?:child_process|http|https|net|worker_threads)'|\bprocess\.(?:chdir|exit|exitCode|kill|on|once|stdin)\b|process\.env\[[^\]]+\] = |\bmock\b/;
/** The worlds of the watcher fill the memory of a process. */
const BULKY = new Set([join('src', 'watcher', 'invariants.test.ts')]);
/** Twice the processes that run at a time, so that none waits long for the last one. */
const GROUPS = 4;

/** Whether a file can share a process. The tests in `test` are of the whole program, and have one each. */
function canShare(file) {
  const isWhole = file.startsWith(`test${sep}`);
  return !isWhole && !BULKY.has(file) && !NEEDS_A_PROCESS.test(readFileSync(join(root, file), 'utf8'));
}

/** A test file for each group of files, in a folder for temporary files. */
function writeGroups(folder, sharing) {
  const groups = Array.from({ length: Math.min(GROUPS, sharing.length) }, (_, group) =>
    sharing.filter((_file, index) => index % GROUPS === group),
  );
  return groups.map((group, index) => {
    const path = join(folder, `group-${index + 1}.test.mjs`);
    const runner = pathToFileURL(join(root, 'scripts', 'together.mjs'));
    writeFileSync(
      path,
      `import { runTogether } from ${JSON.stringify(runner)};\nrunTogether(${JSON.stringify(group)});\n`,
    );
    return path;
  });
}

const folder = mkdtempSync(join(tmpdir(), 'baton-groups-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const shared = new Set(files.filter(canShare));
const alone = files.filter((file) => !shared.has(file));
const groups = writeGroups(folder, [...shared]);
// The spec reporter repeats the failures at the end, where the last page of a log shows them.
const options = ['--import', 'tsx', '--test', '--test-concurrency=2', '--test-reporter=spec'];
run('tests', process.execPath, [...options, ...alone, ...groups]);
