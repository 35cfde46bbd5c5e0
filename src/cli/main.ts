#!/usr/bin/env node
// The program. `--version` answers before anything else is loaded; every other command runs in a separate thread.

import { readFileSync, writeSync } from 'node:fs';
import { extname } from 'node:path';
import { supervise } from './supervisor.io.ts';

const VERSION_FLAGS = new Set(['--version', '-V']);

/** The version in package.json, two folders above the bundle. */
function packageVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  return version;
}

/** Whether the version was requested and printed. If printing failed, the whole program reports why. */
function hasPrintedVersion(): boolean {
  if (process.argv.length !== 3 || !VERSION_FLAGS.has(process.argv[2] ?? '')) return false;
  try {
    writeSync(1, `${packageVersion()}\n`);
    return true;
  } catch {
    return false;
  }
}

if (!hasPrintedVersion()) {
  const isBuilt = extname(import.meta.url) === '.js';
  const entry = new URL(isBuilt ? 'load.cjs' : 'command.ts', import.meta.url);
  const terminal = new URL(isBuilt ? 'terminal.cjs' : '../tui/terminal-ui.io.ts', import.meta.url);
  supervise(entry, terminal, { args: process.argv.slice(2), version: packageVersion() });
}
