// Everything there is to check. `npm test -- PATTERN…` runs only the test files whose path has a PATTERN.
import { spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { bundleTests } from './bundle-tests.mjs';

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

function bin(name) {
  return join(root, 'node_modules', '.bin', name);
}

/** What is checked beside the tests, one after the other: the first that fails ends the run. */
const CHECKS = [
  ['format', bin('prettier'), ['--check', '--log-level', 'warn', '.']],
  ['lint', bin('oxlint'), ['--deny-warnings', 'src', 'test', 'scripts', 'examples', 'bench']],
  ['dead exports', bin('knip'), []],
  ['types', bin('tsc'), ['-p', 'tsconfig.json']],
  ['purity', bin('tsc'), ['-p', 'tsconfig.pure.json']],
  ['patterns', process.execPath, ['scripts/patterns.mjs']],
];
/** Installs the real tools while other tests run; those that need them wait for it by themselves. */
const INSTALL = [
  '--import',
  'tsx',
  '--input-type=module',
  '--eval',
  "await (await import('./test/agents/tools.ts')).skipReason();",
];

/** What a test may only do in a process of its own: start others, serve, wait for signals, change what all share. */
const NEEDS_A_PROCESS =
  /from 'node:(?:child_process|http|https|net|worker_threads)'|\bprocess\.(?:chdir|exit|exitCode|kill|on|once|stdin)\b|process\.env\[[^\]]+\] = |\bmock\b/;
/** The worlds of the watcher fill the memory of a process. */
const BULKY = new Set([join('src', 'watcher', 'invariants.test.ts')]);
/** Twice the processors of a small machine, so that none waits long for the last one. */
const GROUPS = 4;
/** One more than there are processors, as many tests wait more than they work; and no more than memory is sure to hold. */
const PROCESSES = Math.min(4, availableParallelism() + 1);

/** Counts processor time: V8 leaves new patterns unoptimised where a process has compiled a lot, and each takes twenty times as long. */
const COUNTING = new Set([join('src', 'text', 'redact.test.ts')]);

/** Whether a file can share a process. The tests in `test` are of the whole program, and have one each. */
function canShare(file) {
  const isWhole = file.startsWith(`test${sep}`);
  return (
    !isWhole &&
    !BULKY.has(file) &&
    !COUNTING.has(file) &&
    !NEEDS_A_PROCESS.test(readFileSync(join(root, file), 'utf8'))
  );
}

/** The longest first, so that none is waited for at the end; the real tools are being installed meanwhile. */
function place(file) {
  if (BULKY.has(file)) return 0;
  if (file.startsWith(join('test', 'agents'))) return 2;
  return file.startsWith(`test${sep}`) ? 3 : 4;
}
const PLACE_OF_GROUPS = 1;

/** The compiled files to give to the runner: those that need it alone, the others in groups. */
async function compiled(files) {
  const folder = await bundleTests(root, files);
  atEnd(() => rmSync(folder, { recursive: true, force: true }));
  const pathOf = (file) => join(folder, file.replace(/\.ts$/, '.js'));
  const shared = files.filter(canShare);
  const groups = Array.from({ length: Math.min(GROUPS, shared.length) }, (_, group) =>
    shared.filter((_file, index) => index % GROUPS === group),
  );
  const runner = pathToFileURL(join(root, 'scripts', 'together.mjs'));
  const start = (path, way, tests) => {
    writeFileSync(
      path,
      `import { ${way} } from ${JSON.stringify(runner)};\nawait ${way}(${JSON.stringify(tests)});\n`,
    );
    return path;
  };
  const placed = groups.map((group, index) => {
    const tests = group.map((file) => ({ file, path: pathOf(file) }));
    return {
      path: start(join(folder, `group-${index + 1}.test.mjs`), 'runTogether', tests),
      at: PLACE_OF_GROUPS,
    };
  });
  const alone = files.filter((file) => !shared.includes(file));
  placed.push(
    ...alone.map((file) => {
      const path = pathOf(file);
      return {
        path: start(path.replace(/\.test\.js$/, '.alone.test.mjs'), 'runAlone', { file, path }),
        at: place(file),
      };
    }),
  );
  return placed.toSorted((a, b) => a.at - b.at).map(({ path }) => path);
}

const ends = [];
function atEnd(act) {
  ends.push(act);
}
process.on('exit', () => {
  for (const act of ends) act();
});
const running = new Set();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => stop());
}

/** Ends what runs, and with it this run. */
function stop() {
  process.exitCode = 1;
  for (const child of running) child.kill('SIGTERM');
}

/** Runs a command and says how it went. What it says is shown at once, or else (`isQuiet`) only when it fails. */
function run(title, [command, ...args], { isQuiet = false, env = process.env } = {}) {
  const started = performance.now();
  const output = [];
  const child = spawn(command, args, {
    cwd: root,
    env,
    stdio: ['ignore', ...(isQuiet ? ['pipe', 'pipe'] : ['inherit', 'inherit'])],
  });
  running.add(child);
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (bytes) => output.push(bytes));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (status, signal) => {
      running.delete(child);
      const seconds = ((performance.now() - started) / 1000).toFixed(1);
      if (status !== 0) process.stdout.write(Buffer.concat(output));
      const killed = signal === null ? '' : `, ended by ${signal}`;
      resolve({
        isOk: status === 0,
        line: `${status === 0 ? 'ok    ' : 'failed'}  ${title} (${seconds} s)${killed}`,
      });
    });
  });
}

/** Runs one command after the other until one fails, which ends everything. @returns a line on each */
async function runInTurn(commands) {
  const lines = [];
  for (const [title, command, args] of commands) {
    if (process.exitCode !== undefined) break;
    const { isOk, line } = await run(title, [command, ...args], { isQuiet: true });
    lines.push(line);
    if (!isOk) stop();
  }
  return lines;
}

/** A folder in which nothing may be left by the tests. As in its parent, other users may look for what is theirs. */
function ownFolder(parent) {
  const folder = mkdtempSync(join(parent, 'baton-run-'));
  chmodSync(folder, 0o755);
  atEnd(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** What tests have left in a folder. What the compiler keeps there is for all of them. */
function leftovers(folder) {
  return readdirSync(folder).filter((name) => !/^(?:tsx-\d+|node-compile-cache)$/.test(name));
}

const isWhole = patterns.length === 0;
const built = await run('build', [process.execPath, 'scripts/build.mjs', '--if-stale']);
console.log(built.line);
if (!built.isOk) process.exit(1);
const files = ['src', 'test', 'examples', 'bench']
  .flatMap((directory) => testFiles(join(root, directory)))
  .filter((file) => isWhole || patterns.some((pattern) => file.includes(pattern)));
const folder = ownFolder(tmpdir());
const memory = existsSync('/dev/shm') ? ownFolder('/dev/shm') : folder;
const paths = await compiled(files);
const env = { ...process.env, TMPDIR: folder, TMP: folder, TEMP: folder, BATON_TEST_MEMORY: memory };
const options = [
  '--enable-source-maps',
  // Most of what a test makes is gone soon: collected in fewer rounds, it costs 6 % less processor time. Measured.
  '--max-semi-space-size=64',
  '--test',
  `--test-concurrency=${PROCESSES}`,
  // It repeats the failures at the end, where the last page of a log shows them.
  '--test-reporter=spec',
  // What waits for ever fails the run instead of holding it. The longest file takes two minutes.
  '--test-timeout=600000',
];
const [tests, checked, installed] = await Promise.all([
  run('tests', [process.execPath, ...options, ...paths], { env }),
  runInTurn(isWhole ? CHECKS : []),
  runInTurn(isWhole && process.env['CI'] === 'true' ? [['real tools', process.execPath, INSTALL]] : []),
]);
for (const line of [...checked, ...installed, tests.line]) console.log(line);
if (!tests.isOk) process.exitCode = 1;
const left = [...new Set([folder, memory])].flatMap(leftovers);
if (left.length > 0) {
  console.log(`failed  tests have left among the temporary files: ${left.join(', ')}`);
  process.exitCode = 1;
}
