// How a failure of the command line has to read.

import assert from 'node:assert/strict';
import { ERROR_CODES } from '../../src/errors.ts';
import type { ErrorCode } from '../../src/errors.ts';
import type { Ended } from './built.ts';

/** What a command told, in a process or without one. */
export type FailedRun = Pick<Ended, 'status' | 'stdout' | 'stderr'>;

/** Asserts one sentence, its cure and the code, the status of that code, and nothing that only a programmer reads. */
export function assertFailed(ended: FailedRun, code: ErrorCode): void {
  assert.equal(ended.status, ERROR_CODES[code].exit, ended.stderr);
  assertNoNoise(ended);
  const told = ended.stderr.trimEnd().split('\n').at(-1) ?? '';
  assert.match(told, new RegExp(`^baton: \\S.*[.!?…] \\S.* \\[${code}\\]$`));
  assert.equal(ended.stderr.match(/\[[a-z_]+\]$/gm)?.length, 1, 'told once');
}

/** Asserts that nothing looks like a crash. */
export function assertNoNoise({ stderr }: Pick<Ended, 'stderr'>): void {
  assert.doesNotMatch(stderr, /^ {2,}at |node:internal|Error:|Warning:|EPIPE|Unhandled/m);
}
