// Finds rollouts and reads them. A fork contains only its own part: it is read together with the session that it continues, so
// that readers see one file, as if everything had been copied.

import type { Dirent } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { BatonError } from '../errors.ts';
import { OWN_VERSION } from '../formats/codex/own-records.ts';
import { BATON_ORIGINATOR } from '../formats/codex/shapes.ts';
import { isJsonObject, objectAt, stringAt } from '../formats/fields.ts';
import { openSource } from '../formats/source.io.ts';
import type { ByteSource } from '../formats/source.io.ts';
import type { JsonObject } from '../protocol/item.ts';
import type { ForkBase } from './lines.ts';
import { isThreadId, SESSIONS_FOLDER, threadOfName } from './paths.ts';

/** A rollout on this machine. */
export interface FoundRollout {
  readonly threadId: string;
  readonly path: string;
  readonly bytes: number;
  /** Milliseconds since the epoch. */
  readonly modifiedMs: number;
}

/** Maximum depth of forks of forks: more are unrealistic, and each one is an open file. */
const MOST_FORKS = 256;

/** The non-empty rollouts below a home, most recently written first. Unreadable folders are skipped. */
export async function findRollouts(home: string): Promise<readonly FoundRollout[]> {
  const found: FoundRollout[] = [];
  for (const path of await rolloutPaths(home)) {
    const threadId = threadOfName(basename(path));
    const stats = await stat(path).catch(() => undefined);
    if (threadId === undefined || stats === undefined || stats.size === 0) continue;
    found.push({ threadId, path, bytes: stats.size, modifiedMs: stats.mtimeMs });
  }
  return found.toSorted((a, b) => b.modifiedMs - a.modifiedMs || (a.path < b.path ? 1 : -1));
}

/**
 * The path of a rollout.
 * @param which the id of a thread, `last` for the most recently written one, or a path
 * @throws BatonError `file_not_found`
 */
export async function locateRollout(home: string, which: string): Promise<string> {
  if (which === 'last') {
    for (const { path } of await findRollouts(home)) if (await isBegun(path)) return path;
    throw notFound(`No session found below ${join(home, SESSIONS_FOLDER)}`, 'Start one.');
  }
  if (!isThreadId(which)) return resolve(which);
  const path = await pathOfThread(home, which);
  if (path !== undefined) return path;
  throw notFound(
    `No session ${which} found below ${join(home, SESSIONS_FOLDER)}`,
    '`baton sessions` lists the existing ones.',
  );
}

/** Whether a file has its first line: without it, the session never began. */
async function isBegun(path: string): Promise<boolean> {
  const source = await openSource(path, noBytes()).catch(() => undefined);
  if (source === undefined) return false;
  try {
    headOf((await readHead(source)).line, source);
    return true;
  } catch {
    return false;
  } finally {
    await source.close();
  }
}

function notFound(message: string, cure: string): BatonError {
  return new BatonError('file_not_found', message, { cure });
}

async function pathOfThread(home: string, threadId: string): Promise<string | undefined> {
  const paths = await rolloutPaths(home);
  return paths.findLast((path) => threadOfName(basename(path)) === threadId);
}

/** By name, which begins with the time: oldest first. */
async function rolloutPaths(home: string): Promise<readonly string[]> {
  const years = await foldersIn(join(home, SESSIONS_FOLDER));
  const months = (await Promise.all(years.map(foldersIn))).flat();
  const days = (await Promise.all(months.map(foldersIn))).flat();
  const files = await Promise.all(
    days.map(async (day) =>
      (await entriesOf(day))
        .filter((entry) => entry.isFile() && threadOfName(entry.name) !== undefined)
        .map(({ name }) => join(day, name)),
    ),
  );
  return files.flat().toSorted();
}

async function foldersIn(folder: string): Promise<readonly string[]> {
  return (await entriesOf(folder))
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(folder, name));
}

async function entriesOf(folder: string): Promise<readonly Dirent[]> {
  return readdir(folder, { withFileTypes: true }).catch(() => []);
}

/** A range of bytes of one file, or the head of one without its reference to another. */
type Segment =
  | {
      readonly type: 'file';
      readonly threadId: string;
      readonly source: ByteSource;
      readonly from: number;
      readonly to: number;
    }
  | { readonly type: 'head'; readonly bytes: Buffer };

/** A rollout as one file, including what it continues. */
export interface RolloutSource extends ByteSource {
  readonly threadId: string;
  /** Payload of the first line. */
  readonly head: JsonObject;
  /** The end of the last complete line of the session's own file, in bytes of that file. */
  readonly endByte: number;
  /**
   * The position after a line, for a fork.
   * @param line counted from 1 over all that is read
   * @throws RangeError when the line does not exist, or when only a head precedes its end
   */
  placeBehind(line: number): Promise<ForkBase>;
}

/** A rollout's path and the part of it to read. */
interface RolloutSlice {
  readonly home: string;
  readonly path: string;
  /** Bytes of the session's own file; undefined: all. */
  readonly endByte?: number;
  /** The threads that led to it. */
  readonly through: readonly string[];
}

/**
 * Opens one of Baton's rollouts for reading, without locking or changing it.
 * @param endByte where to stop, in bytes of the session's own file
 * @throws BatonError `file_not_found`, `file_empty`, `format_unknown` for a file that is not one of Baton's sessions,
 * `parent_missing`
 */
export async function openRolloutSource(
  home: string,
  path: string,
  endByte?: number,
): Promise<RolloutSource> {
  const opened: ByteSource[] = [];
  try {
    const wanted = { home, path, through: [], ...(endByte === undefined ? {} : { endByte }) };
    const chain = await openChain(wanted, opened);
    return joined(chain, opened);
  } catch (error) {
    for (const source of opened) await source.close();
    throw error;
  }
}

interface Chain {
  readonly threadId: string;
  readonly head: JsonObject;
  readonly source: ByteSource;
  readonly endByte: number;
  readonly segments: readonly Segment[];
}

async function openChain(wanted: RolloutSlice, opened: ByteSource[]): Promise<Chain> {
  const { home, path, through } = wanted;
  const source = await openSource(path, noBytes());
  opened.push(source);
  const { line, endByte: headEnd } = await readHead(source);
  const { threadId, base } = headOf(line, source);
  const endByte = wanted.endByte ?? (await endOfLines(source, headEnd));
  if (wanted.endByte !== undefined) await requireLineEnd(source, wanted);
  // A partial line may follow the last complete one; readers report it as such.
  const to = Math.max(headEnd, wanted.endByte ?? source.size);
  const segments: Segment[] =
    base === undefined
      ? [{ type: 'file', threadId, source, from: 0, to }]
      : [
          { type: 'head', bytes: Buffer.from(`${JSON.stringify(withoutBase(line))}\n`) },
          ...(await openParent({ home, path, through: [...through, threadId] }, base, opened)).segments,
          { type: 'file', threadId, source, from: headEnd, to },
        ];
  const head = objectAt(line, 'payload') ?? {};
  return { threadId, head, source, endByte, segments };
}

async function openParent(child: RolloutSlice, base: ForkBase, opened: ByteSource[]): Promise<Chain> {
  const { home, path, through } = child;
  const name = basename(path);
  if (through.includes(base.threadId)) {
    throw parentMissing(`${name} continues itself: ${[...through, base.threadId].join(' → ')}`, base);
  }
  if (through.length >= MOST_FORKS)
    throw parentMissing(`${name} is a fork of more than ${MOST_FORKS} forks`, base);
  const parent = (await siblingOf(path, base.threadId)) ?? (await pathOfThread(home, base.threadId));
  if (parent === undefined) {
    throw parentMissing(
      `${name} continues the session ${base.threadId}, whose file is neither beside it nor below ${join(home, SESSIONS_FOLDER)}`,
      base,
    );
  }
  return openChain({ home, path: parent, endByte: base.endByte, through }, opened);
}

async function siblingOf(path: string, threadId: string): Promise<string | undefined> {
  const folder = dirname(resolve(path));
  const found = (await entriesOf(folder)).find(({ name }) => threadOfName(name) === threadId);
  return found === undefined ? undefined : join(folder, found.name);
}

function parentMissing(message: string, base: ForkBase): BatonError {
  return new BatonError('parent_missing', message, {
    cure: 'Restore the file; a fork cannot be read without the session that it continues.',
    data: { parent: base.threadId, endByte: base.endByte },
  });
}

async function requireLineEnd(source: ByteSource, { path, endByte = 0 }: RolloutSlice): Promise<void> {
  if (endByte >= 1 && source.size >= endByte) {
    for await (const chunk of source.chunks(undefined, endByte - 1)) {
      if (chunk[0] === LINE_FEED) return;
      break;
    }
  }
  throw new BatonError(
    'parent_missing',
    `${basename(path)} has changed since it was forked: no line ends at its byte ${endByte}`,
    { cure: 'Restore the original file.', data: { endByte, bytes: source.size } },
  );
}

const LINE_FEED = 0x0a;

async function* noBytes(): AsyncGenerator<Buffer> {
  // Standard input is never read.
}

async function readHead(
  source: ByteSource,
): Promise<{ readonly line: JsonObject; readonly endByte: number }> {
  const parts: Buffer[] = [];
  for await (const chunk of source.chunks()) {
    // The type of a line precedes its payload: a document of another agent may be one line of hundreds of megabytes.
    if (parts.length === 0 && !chunk.includes('"session_meta"')) break;
    const feed = chunk.indexOf(LINE_FEED);
    parts.push(Buffer.from(feed === -1 ? chunk : chunk.subarray(0, feed)));
    if (feed !== -1) break;
  }
  const bytes = Buffer.concat(parts);
  const line = parse(bytes.toString('utf8'));
  if (!isJsonObject(line)) throw notOwn(source, 'its first line is not a record');
  return { line, endByte: Math.min(source.size, bytes.length + 1) };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function headOf(
  line: JsonObject,
  source: ByteSource,
): { readonly threadId: string; readonly base: ForkBase | undefined } {
  const payload = objectAt(line, 'payload');
  const threadId = payload && stringAt(payload, 'id');
  const version = objectAt(line, 'baton')?.['version'];
  if (
    line['type'] !== 'session_meta' ||
    threadId === undefined ||
    payload?.['originator'] !== BATON_ORIGINATOR ||
    typeof version !== 'number'
  ) {
    throw notOwn(source, 'Baton did not record it');
  }
  if (version > OWN_VERSION) throw notOwn(source, 'it was written by a newer version of Baton');
  return { threadId, base: baseOf(payload) };
}

function baseOf(payload: JsonObject): ForkBase | undefined {
  const base = objectAt(payload, 'history_base');
  if (base === undefined) return undefined;
  const { thread_id: threadId, end_byte_offset: endByte } = base;
  return typeof threadId === 'string' && typeof endByte === 'number' ? { threadId, endByte } : undefined;
}

function notOwn({ name }: ByteSource, why: string): BatonError {
  return new BatonError('format_unknown', `${name} cannot be resumed: ${why}`, {
    cure: '`baton sessions` lists the sessions of this machine; `baton inspect` reads those of other agents.',
  });
}

function withoutBase(line: JsonObject): JsonObject {
  const { history_base: _, ...payload } = objectAt(line, 'payload') ?? {};
  return { ...line, payload };
}

/** The end of the last complete line, searched backwards. */
async function endOfLines(source: ByteSource, headEnd: number): Promise<number> {
  let from = source.size;
  for (let step = LOOK_BACK; from > headEnd; step *= 2) {
    from = Math.max(headEnd, source.size - step);
    let last = -1;
    let position = from;
    for await (const chunk of source.chunks(undefined, from)) {
      const feed = chunk.lastIndexOf(LINE_FEED);
      if (feed !== -1) last = position + feed;
      position += chunk.length;
    }
    if (last !== -1) return last + 1;
  }
  return headEnd;
}

/** How many bytes to search first for the end of the last line. */
const LOOK_BACK = 64 * 1024;

function joined(
  { threadId, head, source, endByte, segments }: Chain,
  opened: readonly ByteSource[],
): RolloutSource {
  const size = segments.reduce((sum, segment) => sum + sizeOf(segment), 0);
  return {
    threadId,
    head,
    endByte,
    name: source.name,
    size,
    isAt: async (path) => (await Promise.all(opened.map((each) => each.isAt(path)))).includes(true),
    hasGrown: () => source.hasGrown(),
    chunks: (signal, from = 0) => chunksOf(segments, signal, from),
    placeBehind: (line) => placeBehind(segments, line),
    close: async () => {
      for (const each of opened) await each.close();
    },
  };
}

function sizeOf(segment: Segment): number {
  return segment.type === 'head' ? segment.bytes.length : segment.to - segment.from;
}

async function* chunksOf(
  segments: readonly Segment[],
  signal: AbortSignal | undefined,
  from: number,
): AsyncGenerator<Buffer> {
  let skip = from;
  for (const segment of segments) {
    const size = sizeOf(segment);
    if (skip < size) yield* chunksOfSegment(segment, signal, skip);
    skip = Math.max(0, skip - size);
  }
}

async function* chunksOfSegment(
  segment: Segment,
  signal: AbortSignal | undefined,
  skip: number,
): AsyncGenerator<Buffer> {
  if (segment.type === 'head') {
    yield segment.bytes.subarray(skip);
    return;
  }
  let left = sizeOf(segment) - skip;
  for await (const chunk of segment.source.chunks(signal, segment.from + skip)) {
    yield chunk.subarray(0, left);
    left -= chunk.length;
    if (left <= 0) return;
  }
}

async function placeBehind(segments: readonly Segment[], line: number): Promise<ForkBase> {
  let seen = 0;
  for (const segment of segments) {
    if (segment.type === 'head') {
      seen++;
      continue;
    }
    const { threadId } = segment;
    let position = segment.from;
    for await (const chunk of chunksOfSegment(segment, undefined, 0)) {
      for (let feed = chunk.indexOf(LINE_FEED); feed !== -1; feed = chunk.indexOf(LINE_FEED, feed + 1)) {
        if (++seen === line) return { threadId, endByte: position + feed + 1 };
      }
      position += chunk.length;
    }
  }
  throw new RangeError(`Cannot fork after line ${line}, which does not exist`);
}
