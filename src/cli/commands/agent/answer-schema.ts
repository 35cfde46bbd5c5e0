// The form that `--output-schema` requires of the final message.

import { resolve } from 'node:path';
import * as z from 'zod';
import { BatonError } from '../../../errors.ts';
import { readSmallFile } from '../../../system/planted.io.ts';
import { isJsonObject } from '../../../formats/fields.ts';
import type { AnswerSchema } from '../../../protocol/model.ts';
import { deadlineOf } from '../../../system/deadline.io.ts';
import type { CommandIo } from '../../io.ts';

/** A form that answers are checked against. */
export interface AnswerForm {
  readonly schema: AnswerSchema;
  /** The text to append to the user's message. */
  readonly request: string;
  /** Why a text does not match this form, in one sentence; undefined: it matches. */
  complaintAbout(text: string): string | undefined;
}

/**
 * Reads the form from a file.
 * @throws BatonError `file_not_found`, `file_unreadable`; `usage` for anything but the JSON Schema of an object
 */
export async function loadAnswerForm(io: CommandIo, file: string): Promise<AnswerForm> {
  const schema = parseSchema(file, readText(resolve(io.cwd, file), file));
  let validator: z.ZodType;
  try {
    validator = z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);
  } catch (error) {
    throw noSchema(file, error instanceof Error ? error.message : String(error));
  }
  return {
    schema: { name: 'final_answer', schema },
    request:
      'Your last message must be one JSON value that is valid against the following JSON Schema, without a fence around it or ' +
      `any other text.\n\n${JSON.stringify(schema)}`,
    complaintAbout: (text) => complaintAbout(text, validator),
  };
}

/** Far more than providers accept. @source OpenAI, structured outputs: 120,000 characters of names and values */
const LARGEST_SCHEMA = 1024 * 1024;

function readText(path: string, name: string): string {
  const cure = '--output-schema takes a file with a JSON Schema.';
  const read = readSmallFile(path, { maxBytes: LARGEST_SCHEMA, links: 'follow' });
  if (read.kind === 'bytes') return read.bytes.toString('utf8');
  if (read.kind === 'missing') throw new BatonError('file_not_found', `File not found: ${name}`, { cure });
  throw new BatonError('file_unreadable', `${name} ${read.problem}`, { cure });
}

function parseSchema(file: string, text: string): AnswerSchema['schema'] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw noSchema(file, 'it is not JSON');
  }
  if (!isJsonObject(value) || value['type'] !== 'object')
    throw noSchema(file, 'it does not describe an object');
  return value;
}

function noSchema(file: string, why: string): BatonError {
  return new BatonError('usage', `${file} does not hold a usable JSON Schema: ${why}`, {
    cure: 'Providers accept an object with every key required and additionalProperties false.',
  });
}

/** How many problems to list: the model needs the first ones, not all. */
const MOST_PROBLEMS = 5;

/** The pattern of a form may take exponential time. @source docs/decisions/stopping.md */
const withinCheck = deadlineOf(2_000);

function complaintAbout(text: string, validator: z.ZodType): string | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return 'It is not JSON.';
  }
  const checked = check(value, validator);
  if (typeof checked === 'string') return checked;
  const { value: read } = checked;
  if (read.success) return undefined;
  const problems = read.error.issues.slice(0, MOST_PROBLEMS).map(({ path, message }) => {
    const place = path.map(String).join('.');
    return place === '' ? message : `${place}: ${message}`;
  });
  return `${problems.join('; ')}.`;
}

/** The result, or why there is none: an answer may be more complex than the form anticipates. */
function check(
  value: unknown,
  validator: z.ZodType,
): string | { readonly value: ReturnType<z.ZodType['safeParse']> } {
  try {
    const checked = withinCheck(() => validator.safeParse(value));
    return checked ?? 'It cannot be checked within 2 seconds: a pattern of the schema takes too long.';
  } catch (error) {
    // A recursive form is checked as deeply as the answer is nested.
    if (error instanceof RangeError) return 'It is nested too deeply to be checked.';
    throw error;
  }
}
