// Runs a command line of Baton inside the test's own process, in a world of its own.

import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { errorJson, exitStatus, explain } from '../../src/cli/explain.ts';
import type { CommandIo } from '../../src/cli/io.ts';
import { buildProgram } from '../../src/cli/program.ts';
import { BatonError } from '../../src/errors.ts';
import { testIo } from './io.ts';

/** What a command did. */
export interface Ran {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly error: Readonly<Record<string, unknown>> | undefined;
  /** What the process tells of the failure, after `stderr`; empty where there is none. */
  readonly explanation: string;
}

/** A fresh directory that is gone after the tests of the file. */
export function temporaryDirectory(): string {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'baton-test-')));
  after(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** Runs `baton ARGS…` with `home` as home and working directory. */
export async function baton(
  home: string,
  args: readonly string[],
  changes: Partial<CommandIo> = {},
): Promise<Ran> {
  const io = testIo({ cwd: home, homeDirectory: home, ...changes });
  const ran = (status: number, error?: BatonError): Ran => ({
    status,
    stdout: io.printed(),
    stderr: io.complained(),
    error: error === undefined ? undefined : errorJson(error),
    explanation: error === undefined ? '' : explain(error),
  });
  try {
    return ran(await buildProgram(io, '0.0.0').run(args));
  } catch (error) {
    if (!(error instanceof BatonError)) throw error;
    return ran(exitStatus(error), error);
  }
}
