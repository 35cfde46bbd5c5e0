// Reads a session of any known format as log records.

import { setImmediate } from 'node:timers/promises';
import { BatonError } from '../errors.ts';
import type { JsonObject } from '../protocol/item.ts';
import type { LogRecord } from '../protocol/record.ts';
import type { Format } from '../vocabulary.ts';
import { claudeCodeReader } from './claude-code/read.ts';
import type { ClaudeTail } from './claude-code/tail.ts';
import { codexReader } from './codex/read.ts';
import type { CodexTail } from './codex/tail.ts';
import { detectFormat, DETECTION_LINES } from './detect.ts';
import { LineSplitter, ValueReader } from './lines.ts';
import type { ParseLine } from './lines.ts';
import { LIKENESS, LOOK_ALIKES } from './likeness.ts';
import type { DamageNote, Emit, LineAt, LineReader, Report } from './reader.ts';
import type { ByteSource } from './source.ts';

/** A file up to this size is parsed once and its values are kept for the second pass. */
const LARGEST_KEPT_FILE = 32 * 1024 * 1024;

/**
 * Bytes worked on without giving other things in the process a turn.
 * @source at 16 MB/s, the pace of an exact count, 8 ms; the target is 50 ms
 */
const LONGEST_TURN_BYTES = 128 * 1024;

/** What a writer needs to know of a session to go on with it. */
export type SessionTail =
  | { readonly format: 'codex'; readonly state: CodexTail }
  | { readonly format: 'claude-code'; readonly state: ClaudeTail };

/** What reading a session found out besides its records. */
export interface LoadReport {
  readonly format: Format;
  readonly tail: SessionTail;
  readonly bytes: number;
  readonly lines: number;
  readonly records: number;
  readonly damage: readonly DamageNote[];
  /** Kinds of lines that carry nothing for the history, with their number. */
  readonly opaque: Readonly<Record<string, number>>;
  /** The writer appended to the file while it was read; what it appended is not included. */
  readonly hasGrown: boolean;
}

export interface LoadOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called now and then with the share of the work done, 0 to 1. */
  readonly onProgress?: ((share: number) => void) | undefined;
}

/**
 * Reads a session and hands each record to `emit`, in order.
 * @throws BatonError `format_unknown` with what the file looks like instead; `session_empty` when no item was found
 */
export async function loadSession(
  source: ByteSource,
  emit: Emit,
  options: LoadOptions = {},
): Promise<LoadReport> {
  const format = await detect(source, options.signal);
  const damage: DamageNote[] = [];
  const opaque: Record<string, number> = {};
  let records = 0;
  let items = 0;
  const counted: Emit = (record: LogRecord) => {
    records++;
    if (record.type === 'item' || record.type === 'compacted') items++;
    else if (record.type === 'opaque') opaque[record.kind] = (opaque[record.kind] ?? 0) + 1;
    emit(record);
  };
  const pass: Pass = { emit: counted, report: (note) => damage.push(note), ...options };
  const { lines, tail } =
    format === 'codex' ? await readCodex(source, pass) : await readClaudeCode(source, pass);
  if (items === 0) {
    throw new BatonError('session_empty', `${source.name} holds no conversation`, {
      cure: 'Name a session with at least one message.',
      data: { format, damage },
    });
  }
  return {
    format,
    tail,
    bytes: source.size,
    lines,
    records,
    damage: damage.toSorted((a, b) => a.line - b.line),
    opaque,
    hasGrown: await source.hasGrown(),
  };
}

interface Pass extends LoadOptions {
  readonly emit: Emit;
  readonly report: Report;
}

interface Read {
  readonly lines: number;
  readonly tail: SessionTail;
}

async function readCodex(source: ByteSource, pass: Pass): Promise<Read> {
  const reader = codexReader.read(pass.emit, pass.report);
  const lines = await readThrough(source, reader, pass);
  return { lines, tail: { format: 'codex', state: reader.tail() } };
}

/** The lines of Claude Code form a tree: a first pass finds the conversation, a second one reads it. */
async function readClaudeCode(source: ByteSource, pass: Pass): Promise<Read> {
  const survey = claudeCodeReader.survey(pass.report);
  if (source.size > LARGEST_KEPT_FILE) {
    const skimming = { ...pass, report: ignore, onProgress: half(pass, 0), parse: claudeCodeReader.skim };
    await readThrough(source, survey, skimming);
    const found = survey.result();
    const reader = claudeCodeReader.read(pass.emit, pass.report, found);
    const lines = await readThrough(source, reader, { ...pass, onProgress: half(pass, 0.5) });
    return { lines, tail: { format: 'claude-code', state: found.tail } };
  }
  const kept: { value: JsonObject; at: LineAt }[] = [];
  const keeping: LineReader = {
    accept(value, at) {
      kept.push({ value, at });
      survey.accept(value, at);
    },
    end: () => survey.end(),
  };
  const lines = await readThrough(source, keeping, pass);
  const found = survey.result();
  const reader = claudeCodeReader.read(pass.emit, pass.report, found);
  for (const { value, at } of kept) reader.accept(value, at);
  reader.end();
  return { lines, tail: { format: 'claude-code', state: found.tail } };
}

const ignore: Report = () => undefined;

function half({ onProgress }: LoadOptions, from: number): LoadOptions['onProgress'] {
  return onProgress === undefined ? undefined : (share) => onProgress(from + share / 2);
}

async function readThrough(
  source: ByteSource,
  reader: LineReader,
  {
    report,
    signal,
    onProgress,
    parse,
  }: LoadOptions & { readonly report: Report; readonly parse?: ParseLine },
): Promise<number> {
  const values = new ValueReader((value, at) => reader.accept(value, at), report, parse);
  let isTerminated = true;
  const splitter = new LineSplitter((bytes, terminated) => {
    isTerminated = terminated;
    values.accept(bytes);
  });
  let done = 0;
  for await (const chunk of source.chunks(signal)) {
    for (let start = 0; start < chunk.length; start += LONGEST_TURN_BYTES) {
      if (start > 0) await setImmediate();
      splitter.push(chunk.subarray(start, start + LONGEST_TURN_BYTES));
    }
    done += chunk.length;
    onProgress?.(done / source.size);
  }
  splitter.end();
  values.end(isTerminated);
  reader.end();
  return values.lines;
}

async function detect(source: ByteSource, signal: AbortSignal | undefined): Promise<Format> {
  const found: JsonObject[] = [];
  let damaged = 0;
  const values = new ValueReader(
    (value) => found.push(value),
    (note) => {
      if (note.lost) damaged++;
    },
  );
  const splitter = new LineSplitter((bytes) => {
    if (found.length < DETECTION_LINES) values.accept(bytes);
  });
  let head: Buffer | undefined;
  for await (const chunk of source.chunks(signal)) {
    head ??= Buffer.from(chunk.subarray(0, 4096));
    splitter.push(chunk);
    if (found.length >= DETECTION_LINES) break;
  }
  splitter.end();
  values.end(true);
  const detection = detectFormat(found, LIKENESS, LOOK_ALIKES);
  if (detection.format !== undefined) return detection.format;
  throw new BatonError(
    'format_unknown',
    `${source.name} is no session that Baton reads: ${
      detection.looksLike ?? describeContent(head ?? Buffer.alloc(0), found.length, damaged)
    }`,
    { cure: 'Baton reads Codex rollouts and Claude Code sessions (JSON Lines).' },
  );
}

function describeContent(head: Buffer, objects: number, damaged: number): string {
  // Programs hold scraps of JSON, too.
  if (head.includes(0) && damaged >= objects) return 'it looks like a binary file';
  if (objects > 0) return 'its lines are JSON, but of no known session format';
  const first = head.toString('utf8').trimStart()[0];
  if (first === '{' || first === '[') {
    return damaged > 1
      ? 'it looks like one JSON document, not like JSON Lines'
      : 'its first record is cut off or damaged';
  }
  return 'it holds no JSON';
}
