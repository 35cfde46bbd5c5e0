// Renders a failure: one sentence, and the cure in a second one.

import { ERROR_CODES } from '../errors.ts';
import type { BatonError } from '../errors.ts';
import type { ExitStatus } from './io.ts';

/** The failure as lines for standard error. */
export function explain(error: BatonError): string {
  const sentence = /[.!?…\n]$/.test(error.message) ? error.message : `${error.message}.`;
  return `baton: ${sentence}${error.cure === '' ? '' : `${sentence.endsWith('\n') ? '' : ' '}${error.cure}`} [${error.code}]\n`;
}

/** The failure as JSON, for `--json`. */
export function errorJson(error: BatonError): Readonly<Record<string, unknown>> {
  return { code: error.code, message: error.message, cure: error.cure, data: error.data };
}

/** The exit status of a failure. */
export function exitStatus(error: BatonError): ExitStatus {
  return ERROR_CODES[error.code].exit;
}
