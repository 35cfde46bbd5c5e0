// Files that hold one JSON value instead of one per line: exports, trajectories, arrays of messages.

import { BatonError } from '../errors.ts';
import type { Json, JsonObject } from '../protocol/item.ts';
import { isJsonObject } from './fields.ts';
import { emptyDeep, LARGEST_DOCUMENT_BYTES, TOO_DEEP } from './lines.ts';
import type { Report } from './reader.ts';
import type { ByteSource } from './source.io.ts';

/** The content of a file that is not JSON Lines. */
export type DocumentRead =
  | { readonly type: 'document'; readonly values: readonly JsonObject[]; readonly lines: number }
  /** Not one JSON value: JSON Lines with a damaged first line, or a damaged document. */
  | { readonly type: 'no_document' };

/**
 * Whether a file that begins like this may be a document: an array, or an object that does not end on its line.
 * @param head the first bytes; if they contain no line end, lines are assumed to be long
 */
export function canBeDocument(head: Buffer): boolean {
  const text = withoutBom(head.toString('utf8')).trimStart();
  if (text.startsWith('[')) return true;
  if (!text.startsWith('{')) return false;
  const feed = text.indexOf('\n');
  return feed !== -1 && parse(text.slice(0, feed)) === undefined;
}

/**
 * Reads a file as one JSON value. Emits the objects of an array one by one, like lines; flattens arrays within it; reports
 * other values. Does not read a file above the limit.
 */
export async function readDocument(
  source: ByteSource,
  report: Report,
  signal: AbortSignal | undefined,
): Promise<DocumentRead> {
  if (source.size > LARGEST_DOCUMENT_BYTES) return { type: 'no_document' };
  const { text, lines } = await readText(source, signal);
  const value = parse(withoutBom(text));
  if (value === undefined) return { type: 'no_document' };
  if (emptyDeep(value)) report({ line: 1, kind: 'wrong_shape', message: TOO_DEEP, lost: true });
  return { type: 'document', values: objectsOf(value, report), lines };
}

/** Releases the bytes before parsing the text, which takes several times as much memory again. */
async function readText(
  source: ByteSource,
  signal: AbortSignal | undefined,
): Promise<{ readonly text: string; readonly lines: number }> {
  const bytes = Buffer.allocUnsafe(source.size);
  let length = 0;
  for await (const chunk of source.chunks(signal)) length += chunk.copy(bytes, length);
  return { text: bytes.toString('utf8', 0, length), lines: linesOf(bytes.subarray(0, length)) };
}

/** Whether a file consists of a single line. */
export async function isOneLine(source: ByteSource, signal: AbortSignal | undefined): Promise<boolean> {
  let read = 0;
  for await (const chunk of source.chunks(signal)) {
    const feed = chunk.indexOf(0x0a);
    if (feed !== -1) return read + feed + 1 === source.size;
    read += chunk.length;
  }
  return true;
}

/**
 * An error for a file that is a document but too large to parse.
 * @param head its first bytes; if they are not JSON, returns undefined
 */
export function explainLargeDocument(source: ByteSource, head: Buffer): BatonError | undefined {
  if (source.size <= LARGEST_DOCUMENT_BYTES) return undefined;
  if (!/^\uFEFF?\s*[[{]/.test(head.toString('utf8', 0, 64))) return undefined;
  const limit = LARGEST_DOCUMENT_BYTES / (1024 * 1024);
  return new BatonError(
    'format_unknown',
    `${source.name} looks like one JSON document of more than ${limit} MB, more than Baton can parse at once`,
    {
      cure: 'Convert it to JSON Lines, one message per line: Baton reads those as a stream, whatever their size.',
    },
  );
}

function objectsOf(value: Json, report: Report): readonly JsonObject[] {
  if (isJsonObject(value)) return [value];
  const elements = Array.isArray(value) ? (value as readonly Json[]) : [value];
  const flat = elements.flatMap((each) => (Array.isArray(each) ? (each as readonly Json[]) : [each]));
  const objects = flat.filter(isJsonObject);
  if (objects.length < flat.length) {
    const message = `${flat.length - objects.length} JSON values that are not objects were skipped`;
    report({ line: 1, kind: 'not_an_object', message, lost: true });
  }
  return objects;
}

function linesOf(bytes: Buffer): number {
  let lines = 0;
  for (let feed = bytes.indexOf(0x0a); feed !== -1; feed = bytes.indexOf(0x0a, feed + 1)) lines++;
  return bytes.at(-1) === 0x0a ? lines : lines + 1;
}

function withoutBom(text: string): string {
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}

function parse(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
