// Runs the suites one after the other, each in a process of its own, so that none runs code that another one warmed up
// or works in a heap that another one filled.

import { execFileSync, fork } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, totalmem, type } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readCommandLine } from './command-line.ts';
import type { SuiteName } from './command-line.ts';
import { digits, renderLine, renderTables, replaceBetweenMarks } from './report.ts';
import type { Row } from './report.ts';
import { ROOT } from './session-files.ts';
import type { Suite } from './suites/suite.ts';

const SUITES: Readonly<Record<SuiteName, () => Promise<Suite>>> = {
  starting: async () => (await import('./suites/starting.ts')).starting,
  reading: async () => (await import('./suites/reading.ts')).reading,
  accounting: async () => (await import('./suites/accounting.ts')).accounting,
  counting: async () => (await import('./suites/counting.ts')).counting,
  clearing: async () => (await import('./suites/clearing.ts')).clearing,
  summarizing: async () => (await import('./suites/summarizing.ts')).summarizing,
  compacting: async () => (await import('./suites/compacting.ts')).compacting,
  deciding: async () => (await import('./suites/deciding.ts')).deciding,
  sampling: async () => (await import('./suites/sampling.ts')).sampling,
  living: async () => (await import('./suites/living.ts')).living,
  memory: async () => (await import('./suites/memory.ts')).memory,
  terminal: async () => (await import('./suites/terminal.ts')).terminal,
};

const asked = readCommandLine(process.argv.slice(2));
if (asked.type !== 'run') throw new RangeError('What cannot be run is refused before this is built');
const { suites, isQuick, writes, isChild } = asked;
const effort = { rounds: isQuick ? 5 : 9, isQuick };

if (isChild) for (const name of suites) await runHere(name);
else await runAll(suites);

async function runHere(name: SuiteName): Promise<void> {
  const suite = await SUITES[name]();
  for await (const row of suite(effort)) process.send?.(row);
  process.disconnect?.();
}

async function runAll(names: readonly SuiteName[]): Promise<void> {
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
  if (!writes) return;
  const page = join(ROOT, 'docs', 'benchmarks.md');
  const content = `${machine()}\n\n${tables}`;
  writeFileSync(page, replaceBetweenMarks(readFileSync(page, 'utf8'), content));
  execFileSync(join(ROOT, 'node_modules', '.bin', 'prettier'), ['--write', page]);
}

function runApart(name: SuiteName, onRow: (row: Row) => void): Promise<void> {
  const args = ['--child', name, ...(isQuick ? ['--quick'] : [])];
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
