// Runs the suites one after the other, each in a process of its own, so that none runs code that another one warmed up
// or works in a heap that another one filled.

import { execFileSync, fork } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, totalmem, type } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { digits, renderLine, renderTables, replaceBetweenMarks } from './report.ts';
import type { Row } from './report.ts';
import { ROOT } from './session-files.ts';
import type { Suite } from './suites/suite.ts';

const SUITES: Readonly<Record<string, () => Promise<Suite>>> = {
  starting: async () => (await import('./suites/starting.ts')).starting,
  reading: async () => (await import('./suites/reading.ts')).reading,
  accounting: async () => (await import('./suites/accounting.ts')).accounting,
  counting: async () => (await import('./suites/counting.ts')).counting,
  clearing: async () => (await import('./suites/clearing.ts')).clearing,
  summarizing: async () => (await import('./suites/summarizing.ts')).summarizing,
  compacting: async () => (await import('./suites/compacting.ts')).compacting,
  deciding: async () => (await import('./suites/deciding.ts')).deciding,
  living: async () => (await import('./suites/living.ts')).living,
  sampling: async () => (await import('./suites/sampling.ts')).sampling,
  memory: async () => (await import('./suites/memory.ts')).memory,
};

const USAGE = `Usage: npm run bench -- [SUITE…] [--quick] [--write]

  SUITE    ${Object.keys(SUITES).join(', ')}; all when none is named
  --quick  fewer rounds and smaller sizes
  --write  writes the tables into docs/benchmarks.md; not with --quick or a SUITE
`;

const { values: flags, positionals: named } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
    child: { type: 'boolean', default: false },
  },
});
const effort = flags.quick ? { rounds: 5, isQuick: true } : { rounds: 9, isQuick: false };
const isUnderstood =
  named.every((name) => name in SUITES) && !(flags.write && (flags.quick || named.length > 0));

if (flags.child) await runHere(named[0] ?? '');
else if (flags.help || !isUnderstood) {
  process.stderr.write(USAGE);
  process.exitCode = flags.help ? 0 : 2;
} else await runAll(named.length > 0 ? named : Object.keys(SUITES));

async function runHere(name: string): Promise<void> {
  const suite = await SUITES[name]?.();
  if (suite === undefined) throw new RangeError(`No suite ${name}`);
  for await (const row of suite(effort)) process.send?.(row);
  process.disconnect?.();
}

async function runAll(names: readonly string[]): Promise<void> {
  console.log(machine());
  const rows: Row[] = [];
  for (const name of names) {
    console.log(`\n${name}`);
    await runApart(name, (row) => {
      rows.push(row);
      console.log(renderLine(row));
    });
  }
  const tables = renderTables(rows);
  console.log(`\n${tables}`);
  const missed = rows.filter(({ target }) => target?.isMet === false);
  console.log(`\n${missed.length === 0 ? 'All targets met.' : `${missed.length} target(s) missed.`}`);
  if (!flags.write) return;
  const page = join(ROOT, 'docs', 'benchmarks.md');
  const content = `${machine()}\n\n${tables}`;
  writeFileSync(page, replaceBetweenMarks(readFileSync(page, 'utf8'), content));
  execFileSync(join(ROOT, 'node_modules', '.bin', 'prettier'), ['--write', page]);
}

function runApart(name: string, onRow: (row: Row) => void): Promise<void> {
  const args = ['--child', name, ...(flags.quick ? ['--quick'] : [])];
  const child = fork(fileURLToPath(import.meta.url), args, { execArgv: ['--expose-gc'] });
  child.on('message', (row) => onRow(row as Row));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (status) => {
      if (status === 0) resolve();
      else reject(new Error(`The suite ${name} failed with status ${status}`));
    });
  });
}

function machine(): string {
  const processors = cpus();
  const memory = digits(totalmem() / 2 ** 30);
  const { node, v8 } = process.versions;
  return (
    `Node ${node} (V8 ${v8}), ${processors.length} × ${processors[0]?.model ?? 'unknown processor'}, ` +
    `${memory} GiB, ${type()}; ` +
    `medians of ${effort.rounds} interleaved runs after warm-up.`
  );
}
