// Everything there is to check, cheapest first. `npm test -- PATTERN…` runs only the test files whose path has a PATTERN.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

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
// The spec reporter repeats the failures at the end, where the last page of a log shows them.
const options = ['--import', 'tsx', '--test', '--test-concurrency=2', '--test-reporter=spec'];
run('tests', process.execPath, [...options, ...files]);
