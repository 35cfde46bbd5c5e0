// The tool `read`: lines of a text file, numbered.

import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { StringDecoder } from 'node:string_decoder';
import * as z from 'zod';
import { openToRead } from '../../system/planted.io.ts';
import type { CancelSignal } from '../../ports.ts';
import { DEFAULT_ESTIMATE, utf8Length } from '../../tokens/estimate.ts';
import { locate } from '../../system/workspace.io.ts';
import { cutLine, RESULT_TOKENS } from '../cap.ts';
import { LARGEST_EDITED_FILE } from './files.io.ts';
import { defineTool, done, failed } from '../tool.ts';
import type { Tool } from '../tool.ts';
import type { ToolWorld } from '../world.ts';

/** Default number of lines per call. @source Claude Code's Read: 2,000 */
const DEFAULT_LINES = 2000;

/** Longest line, in characters. @source Claude Code's Read: 2,000 */
const MAX_LINE = 2000;

/** Room in the result for the text around the lines, in bytes. */
const NOTE_BYTES = 600;

const CHUNK_BYTES = 64 * 1024;

/** How much of a file to search for zero bytes. @source git and ripgrep look at the first few kilobytes, too */
const PROBE_BYTES = CHUNK_BYTES;

/** @param world its tracker records what was read */
export function createReadTool(world: ToolWorld): Tool<ReadInput> {
  return defineTool({
    name: 'read',
    kind: 'read',
    description:
      'Reads a text file. Every line starts with its number and a tab, which are not part of the file. Long files come in pieces: continue with offset.',
    arguments: ARGUMENTS,
    run: (input, _context, signal) => readLines(input, world, signal),
  });
}

const ARGUMENTS = {
  path: z.string().min(1).describe('Relative to the workspace, or absolute and inside it.'),
  offset: z.int().min(1).max(1_000_000_000).default(1).describe('First line, counted from 1.'),
  limit: z.int().min(1).max(100_000).default(DEFAULT_LINES).describe('Maximum number of lines.'),
};

interface ReadInput {
  readonly path: string;
  readonly offset: number;
  readonly limit: number;
}

async function readLines(input: ReadInput, world: ToolWorld, signal: CancelSignal) {
  const { path, offset } = input;
  const place = await locate(path, world.root);
  if (place.kind === 'free') return failed(`The file ${path} does not exist.`);
  if (place.kind === 'refused') return failed(`${path} is ${place.why}.`);
  if (place.kind === 'directory') return failed(`${path} is a directory; use list_dir.`);
  const handle = await openToRead(place.path, 'refuse');
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) return failed(`${path} is not a regular file.`);
    const isWhole = stats.size <= LARGEST_EDITED_FILE;
    const page = await scan(handle, input, isWhole, signal);
    if (page === 'binary') return failed(`${path} is binary, ${stats.size} bytes; it is not shown.`);
    if (page.sha256 !== undefined && page.total !== undefined) {
      const shown = { from: offset, to: offset + page.lines.length - 1, of: page.total };
      world.tracker.noteLines(place.path, page.sha256, shown);
    }
    if (page.total === 0) return done(`${path} is empty.`);
    if (page.lines.length === 0)
      return failed(`${path} has only ${page.total} lines, so line ${offset} does not exist.`);
    const last = offset + page.lines.length - 1;
    const notes = [
      ...(page.hasOtherBytes
        ? ['Some bytes are not valid UTF-8 and are shown as \uFFFD; edit cannot change this file.']
        : []),
      ...(page.total === undefined || last < page.total
        ? [
            `Lines ${offset} to ${last}${page.total === undefined ? '' : ` of ${page.total}`}; continue with offset ${last + 1}.`,
          ]
        : []),
    ];
    return done([...page.lines, ...notes.map((note) => `[${note}]`)].join('\n'));
  } finally {
    await handle.close();
  }
}

interface Page {
  /** Numbered. */
  readonly lines: readonly string[];
  /** Lines of the file; undefined where it was not read to its end. */
  readonly total: number | undefined;
  readonly sha256: string | undefined;
  readonly hasOtherBytes: boolean;
}

/** Reads a file in chunks: memory depends neither on its size nor on a line without an end. */
async function scan(
  handle: FileHandle,
  { offset, limit }: ReadInput,
  isWhole: boolean,
  signal: CancelSignal,
): Promise<Page | 'binary'> {
  const decoder = new StringDecoder('utf8');
  const hash = createHash('sha256');
  const buffer = Buffer.alloc(CHUNK_BYTES);
  const page = new PageLines(offset, limit);
  let position = 0;
  let isEnded = false;
  for (;;) {
    if (signal.aborted || (page.isFull && !isWhole)) break;
    const { bytesRead } = await handle.read(buffer, 0, CHUNK_BYTES, position);
    if (bytesRead === 0) {
      isEnded = true;
      break;
    }
    const bytes = buffer.subarray(0, bytesRead);
    if (position < PROBE_BYTES && bytes.includes(0)) return 'binary';
    position += bytesRead;
    hash.update(bytes);
    page.add(decoder.write(bytes));
  }
  page.add(decoder.end());
  page.end();
  return {
    lines: page.lines,
    total: isEnded ? page.total : undefined,
    sha256: isEnded ? hash.digest('hex') : undefined,
    hasOtherBytes: page.hasOtherBytes,
  };
}

/** The requested lines of a text that arrives in chunks. */
class PageLines {
  readonly lines: string[] = [];
  total = 0;
  hasOtherBytes = false;
  isFull = false;
  readonly #offset: number;
  readonly #limit: number;
  #bytes = 0;
  #line = '';
  #lineLength = 0;

  constructor(offset: number, limit: number) {
    this.#offset = offset;
    this.#limit = limit;
  }

  add(text: string): void {
    this.hasOtherBytes ||= text.includes('\uFFFD');
    let at = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', at)) {
      this.#extend(text, at, end);
      this.#close();
      at = end + 1;
    }
    this.#extend(text, at, text.length);
  }

  end(): void {
    if (this.#lineLength > 0) this.#close();
  }

  #extend(text: string, from: number, to: number): void {
    if (this.#line.length <= MAX_LINE) this.#line += text.slice(from, Math.min(to, from + MAX_LINE + 1));
    this.#lineLength += to - from;
  }

  #close(): void {
    this.total++;
    if (this.total >= this.#offset && !this.isFull) {
      const text =
        this.#line.endsWith('\r') && this.#lineLength <= MAX_LINE ? this.#line.slice(0, -1) : this.#line;
      const line = `${this.total}\t${cutLine(text, MAX_LINE, this.#lineLength)}`;
      this.#bytes += utf8Length(line) + 1;
      const limitBytes = RESULT_TOKENS * DEFAULT_ESTIMATE.approxBytesPerToken - NOTE_BYTES;
      if (this.lines.length > 0 && this.#bytes > limitBytes) this.isFull = true;
      else this.lines.push(line);
      if (this.lines.length >= this.#limit) this.isFull = true;
    }
    this.#line = '';
    this.#lineLength = 0;
  }
}
