// Reads a session of any known format as log records.

import { setImmediate } from 'node:timers/promises';
import { BatonError } from '../errors.ts';
import type { JsonObject } from '../protocol/item.ts';
import type { LogRecord } from '../protocol/record.ts';
import { FORMAT_NAMES } from '../vocabulary.ts';
import type { AgentFormat, Format } from '../vocabulary.ts';
import { anthropicReader } from './messages/anthropic.ts';
import { chatReader } from './messages/chat.ts';
import { claudeCodeReader } from './claude-code/read.ts';
import type { ClaudeTail } from './claude-code/tail.ts';
import { codexReader } from './codex/read.ts';
import type { CodexTail } from './codex/tail.ts';
import { copilotReader } from './agents/copilot.ts';
import { detectFormat, DETECTION_LINES } from './detect.ts';
import { geminiReader } from './agents/gemini.ts';
import { canBeDocument, explainLargeDocument, isOneLine, readDocument } from './json-document.ts';
import { LineSplitter, LONGEST_LINE_BYTES, ValueReader } from './lines.ts';
import type { ParseLine } from './lines.ts';
import { LIKENESS, LOOK_ALIKES } from './likeness.ts';
import { miniSweAgentReader } from './agents/mini-swe-agent.ts';
import { opencodeReader } from './agents/opencode.ts';
import { openHandsReader } from './openhands/read.ts';
import { piReader } from './pi/read.ts';
import type { DamageNote, Emit, FormatReader, LineAt, LineReader, Report } from './reader.ts';
import { responsesReader } from './messages/responses.ts';
import type { ByteSource } from './source.io.ts';
import { sweAgentReader } from './agents/swe-agent.ts';

/** A file up to this size is parsed once, and its values are kept for the second pass. */
const LARGEST_KEPT_FILE = 32 * 1024 * 1024;

/**
 * Bytes processed before other work in the process gets a turn.
 * @source at 16 MB/s, the pace of an exact count, 8 ms; the target is 50 ms
 */
const LONGEST_TURN_BYTES = 128 * 1024;

/** Kept values processed before other work gets a turn. @source a compaction under every policy takes about a second at most */
const VALUES_A_TURN = 50;

/** What a writer needs to know about a session to continue it. */
export type SessionTail =
  | { readonly format: 'codex'; readonly state: CodexTail }
  | { readonly format: 'claude-code'; readonly state: ClaudeTail }
  /** These cannot be appended to. */
  | { readonly format: ReadOnlyFormat };

/** Formats that Baton reads but cannot continue. */
type ReadOnlyFormat = Exclude<Format, AgentFormat>;

/** What reading a session showed besides its records. */
export interface LoadReport {
  readonly format: Format;
  readonly tail: SessionTail;
  readonly bytes: number;
  readonly lines: number;
  readonly records: number;
  readonly damage: readonly DamageNote[];
  /** Kinds of lines without content for the history, with their number. */
  readonly opaque: Readonly<Record<string, number>>;
  /** The file grew while it was read; the new part is not included. */
  readonly hasGrown: boolean;
}

export interface LoadOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called occasionally with the share of the work done, 0 to 1. */
  readonly onProgress?: ((share: number) => void) | undefined;
}

/**
 * Reads a session and passes each record to `emit`, in order.
 * @throws BatonError `format_unknown` with what the file looks like instead; `session_empty` if it contains no item
 */
export async function loadSession(
  source: ByteSource,
  emit: Emit,
  options: LoadOptions = {},
): Promise<LoadReport> {
  const damage = new Map<string, DamageNote>();
  const note: Report = (found) => {
    // All values of a document share its first line: a note for each would bury the others.
    const key = JSON.stringify(found);
    const times = damage.get(key)?.times ?? (damage.has(key) ? 1 : 0);
    damage.set(key, times === 0 ? found : { ...found, times: times + 1 });
  };
  const content = await look(source, note, options.signal);
  const { format } = content;
  const opaque = new Map<string, number>();
  let records = 0;
  let items = 0;
  const counted: Emit = (record: LogRecord) => {
    records++;
    if (record.type === 'item' || record.type === 'compacted') items++;
    else if (record.type === 'opaque') opaque.set(record.kind, (opaque.get(record.kind) ?? 0) + 1);
    emit(record);
  };
  const pass: Pass = { emit: counted, report: note, ...options };
  const { lines, tail } = await readFormat(source, content, pass);
  if (items === 0) {
    throw new BatonError('session_empty', `${source.name} contains no conversation`, {
      cure: 'Choose a session with at least one message.',
      data: { format, damage: [...damage.values()] },
    });
  }
  return {
    format,
    tail,
    bytes: source.size,
    lines,
    records,
    damage: [...damage.values()].toSorted((a, b) => a.line - b.line),
    opaque: Object.fromEntries(opaque),
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

/** Formats that are read in one pass. */
const ONE_PASS: Readonly<Record<Exclude<ReadOnlyFormat, 'pi'>, FormatReader>> = {
  responses: responsesReader,
  anthropic: anthropicReader,
  chat: chatReader,
  opencode: opencodeReader,
  gemini: geminiReader,
  copilot: copilotReader,
  openhands: openHandsReader,
  'swe-agent': sweAgentReader,
  'mini-swe-agent': miniSweAgentReader,
};

async function readFormat(source: ByteSource, content: Content, pass: Pass): Promise<Read> {
  if (content.document !== undefined) return readValues(content.document, content.format, pass);
  const { format } = content;
  if (format === 'codex') return readCodex(source, pass);
  if (format === 'claude-code') return readClaudeCode(source, pass);
  if (format === 'pi') return readPi(source, pass);
  const reader = ONE_PASS[format].read(pass.emit, pass.report, undefined);
  return { lines: await readThrough(source, reader, pass), tail: { format } };
}

/** The values of a document have no lines of their own, so their records name none. */
function readValues({ values, lines }: JsonDocument, format: ReadOnlyFormat, pass: Pass): Read {
  const emit: Emit = ({ line: _, ...record }) => pass.emit(record);
  const feed = (reader: LineReader): void => {
    for (const [part, value] of values.entries()) reader.accept(value, { line: 1, part });
    reader.end();
  };
  if (format === 'pi') {
    const survey = piReader.survey(pass.report);
    feed(survey);
    feed(piReader.read(emit, pass.report, survey.result()));
  } else feed(ONE_PASS[format].read(emit, pass.report, undefined));
  return { lines, tail: { format } };
}

async function readPi(source: ByteSource, pass: Pass): Promise<Read> {
  const survey = piReader.survey(pass.report);
  await readThrough(source, survey, { ...pass, report: ignore, onProgress: half(pass, 0) });
  const reader = piReader.read(pass.emit, pass.report, survey.result());
  const lines = await readThrough(source, reader, { ...pass, onProgress: half(pass, 0.5) });
  return { lines, tail: { format: 'pi' } };
}

async function readCodex(source: ByteSource, pass: Pass): Promise<Read> {
  const { lines, tail } = await loadRollout(source, pass);
  return { lines, tail: { format: 'codex', state: tail } };
}

/** Receives the records and the damage of a rollout. */
export interface RolloutPass extends LoadOptions {
  readonly emit: Emit;
  readonly report: Report;
}

/** Reads a known rollout, even one without a conversation so far. */
export async function loadRollout(
  source: ByteSource,
  pass: RolloutPass,
): Promise<{ readonly lines: number; readonly tail: CodexTail }> {
  const reader = codexReader.read(pass.emit, pass.report);
  const lines = await readThrough(source, reader, pass);
  return { lines, tail: reader.tail() };
}

/** Claude Code's lines form a tree: a first pass finds the conversation, a second one reads it. */
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
  for (const [index, { value, at }] of kept.entries()) {
    if (index % VALUES_A_TURN === 0) await setImmediate();
    if (pass.signal?.aborted === true) throw new BatonError('interrupted', 'Interrupted');
    reader.accept(value, at);
  }
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

interface JsonDocument {
  readonly values: readonly JsonObject[];
  readonly lines: number;
}

/** The detected content of a file; a document is parsed by then. */
type Content =
  | { readonly format: Format; readonly document?: undefined }
  | { readonly format: ReadOnlyFormat; readonly document: JsonDocument };

async function look(source: ByteSource, report: Report, signal: AbortSignal | undefined): Promise<Content> {
  let mayBeDocument = false;
  let mayBeLongLine = false;
  let isLarge: BatonError | undefined;
  for await (const chunk of source.chunks(signal)) {
    refuseEncoding(source, chunk);
    mayBeDocument = canBeDocument(chunk);
    mayBeLongLine = source.size > LONGEST_LINE_BYTES && !chunk.includes(0x0a);
    isLarge = explainLargeDocument(source, chunk);
    break;
  }
  // What is too long for a line may be read as a document if nothing else is in the file.
  const isLongLine = mayBeLongLine && (await isOneLine(source, signal));
  if (isLarge !== undefined && isLongLine) throw isLarge;
  if (!mayBeDocument && !isLongLine) return { format: await detectLines(source, signal) };
  const document = await readDocument(source, report, signal);
  if (document.type === 'document') {
    const detection = detectFormat(document.values.slice(0, DETECTION_LINES), LIKENESS, LOOK_ALIKES);
    const { format } = detection;
    if (format === 'codex' || format === 'claude-code') {
      throw unknownFormat(
        source,
        `it contains a ${FORMAT_NAMES[format]} as one JSON array instead of one object per line`,
      );
    }
    if (format !== undefined) return { format, document };
    throw unknownFormat(source, detection.looksLike ?? 'it is a JSON document of an unknown format');
  }
  try {
    return { format: await detectLines(source, signal) };
  } catch (error) {
    throw isLarge ?? error;
  }
}

async function detectLines(source: ByteSource, signal: AbortSignal | undefined): Promise<Format> {
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
  throw unknownFormat(
    source,
    detection.looksLike ?? describeContent(head ?? Buffer.alloc(0), found.length, damaged),
  );
}

const KNOWN_FORMATS = `Baton reads ${Object.values(FORMAT_NAMES).join(', ')}; docs/formats.md explains how it recognises them.`;

function unknownFormat(source: ByteSource, what: string, cure = KNOWN_FORMATS): BatonError {
  return new BatonError('format_unknown', `${source.name} is not a session that Baton can read: ${what}`, {
    cure,
  });
}

/** File signatures of possible sessions that are not UTF-8 text, each with how to convert them. */
const ENCODINGS: readonly (readonly [start: readonly number[], what: string, cure: string])[] = [
  [[0x1f, 0x8b], 'it is compressed with gzip', unpackedBy('gzip')],
  [[0x28, 0xb5, 0x2f, 0xfd], 'it is compressed with zstd', unpackedBy('zstd')],
];

/** Text with several bytes per character: its mark, and the place of an ASCII character in a unit. */
const WIDE_TEXT = [
  // Before the two-byte encodings, whose mark begins like theirs.
  { encoding: 'UTF-32LE', mark: [0xff, 0xfe, 0, 0], unit: 4, place: 0, inPowerShell: 'utf32' },
  { encoding: 'UTF-32BE', mark: [0, 0, 0xfe, 0xff], unit: 4, place: 3, inPowerShell: 'bigendianutf32' },
  { encoding: 'UTF-16LE', mark: [0xff, 0xfe], unit: 2, place: 0, inPowerShell: 'unicode' },
  { encoding: 'UTF-16BE', mark: [0xfe, 0xff], unit: 2, place: 1, inPowerShell: 'bigendianunicode' },
] as const;

function unpackedBy(program: string): string {
  return `Unpack it: \`${program} -dc FILE | baton inspect -\`; other commands accept - as well.`;
}

/** UTF-16 must not be read as damaged UTF-8: every non-ASCII letter would be lost, and occasionally a line. */
function refuseEncoding(source: ByteSource, head: Buffer): void {
  for (const [start, what, cure] of ENCODINGS) {
    if (startsWith(head, start)) throw unknownFormat(source, what, cure);
  }
  const wide = WIDE_TEXT.find(
    ({ mark, unit, place }) => startsWith(head, mark) || beginsAsJson(head, unit, place),
  );
  if (wide === undefined) return;
  throw unknownFormat(
    source,
    `it is ${wide.encoding} text, as written by \`>\` in Windows PowerShell`,
    `Make it UTF-8: \`iconv -f ${wide.encoding} -t UTF-8 FILE > NEW\`, or in PowerShell ` +
      `\`Get-Content -Encoding ${wide.inPowerShell} FILE | Set-Content -Encoding utf8 NEW\`.`,
  );
}

function startsWith(head: Buffer, start: readonly number[]): boolean {
  return start.every((byte, at) => head[at] === byte);
}

/** Whether two units are ASCII, like the first two characters of JSON. @source RFC 4627, section 3 */
function beginsAsJson(head: Buffer, unit: number, place: number): boolean {
  const start = head.subarray(0, 2 * unit);
  return (
    start.length === 2 * unit &&
    /[[{\s]/.test(String.fromCharCode(start[place] ?? 0)) &&
    start.every((byte, at) => (byte !== 0) === (at % unit === place))
  );
}

function describeContent(head: Buffer, objects: number, damaged: number): string {
  // Programs contain fragments of JSON, too.
  if (head.includes(0) && damaged >= objects) return 'it looks like a binary file';
  const first = head.toString('utf8').trimStart()[0];
  // Parts of a truncated document may be complete on their lines.
  if (damaged > objects && (first === '{' || first === '[')) {
    return 'it looks like one JSON document that is cut off or damaged';
  }
  if (objects > 0) return 'its lines are JSON, but not of a known session format';
  if (first === '{' || first === '[') return 'its first record is cut off or damaged';
  return 'it contains no JSON object';
}
