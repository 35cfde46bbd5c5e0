#!/usr/bin/env node
// The program: the only place that touches the process. `--version` answers before anything else is loaded.

import { readFileSync, writeSync } from 'node:fs';

const VERSION_FLAGS = new Set(['--version', '-V']);

/**
 * Commands that run a thread: one large file takes a quarter less of the processor to load than the sixty small ones that
 * all commands share. @source docs/decisions/exec.md
 */
const AGENT_COMMANDS = new Set(['exec', 'serve']);

/** The version in package.json, two folders above the bundle. */
function packageVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  return version;
}

/** Whether the version was asked for, and got out. Where it did not, the whole program says why. */
function hasToldVersion(): boolean {
  if (process.argv.length !== 3 || !VERSION_FLAGS.has(process.argv[2] ?? '')) return false;
  try {
    writeSync(1, `${packageVersion()}\n`);
    return true;
  } catch {
    return false;
  }
}

if (!hasToldVersion()) {
  const { run } = AGENT_COMMANDS.has(process.argv[2] ?? '')
    ? await import('./agent.ts')
    : await import('./process.ts');
  process.exitCode = await run(process.argv.slice(2), packageVersion());
}
