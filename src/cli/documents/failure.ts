// The `--json` document of a failure.
// No command loads this: tests validate the commands' output against it, and schema/ is generated from it.

import * as z from 'zod';
import { ERROR_CODES } from '../../errors.ts';
import type { ErrorCode } from '../../errors.ts';

/** A failure: its stable code, its message and its cure. */
export const failure = z.strictObject({
  code: z.enum(Object.keys(ERROR_CODES) as [ErrorCode, ...ErrorCode[]]).meta({ description: 'stable' }),
  message: z.string(),
  cure: z.string(),
  data: z.record(z.string(), z.unknown()).meta({ description: 'facts behind the message' }),
});

/** What every command prints instead of its document when it fails with `--json`. */
export const ErrorDocument = z.strictObject({ error: failure }).meta({ title: 'baton --json, failed' });
