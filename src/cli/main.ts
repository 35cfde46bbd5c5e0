#!/usr/bin/env node
// The program. `--version` answers before anything else is loaded; every other command runs in a thread of its own.

import { readFileSync, writeSync } from 'node:fs';
import { extname } from 'node:path';
import { supervise } from './supervisor.ts';

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
  const name = AGENT_COMMANDS.has(process.argv[2] ?? '') ? 'agent' : 'command';
  const entry = new URL(`${name}${extname(import.meta.url)}`, import.meta.url);
  supervise(entry, { args: process.argv.slice(2), version: packageVersion() });
}
