// A session as the metric sees it: the items of its log in order, each as lines with their identifiers and sizes.

import { authorOf, callOf, isResult, resultCallId } from '../../protocol/item.ts';
import type { Item } from '../../protocol/item.ts';
import type { LogRecord, SessionMetaRecord } from '../../protocol/record.ts';
import type { CountText } from '../../tokens/estimate.ts';
import { identifiersIn } from './identifiers.ts';
import { linesOf, linesOfItem, linesWritten } from './text.ts';

/**
 * The kind of an item. `written`: calls and messages of agent and user, where uses are counted. `shown`: results of
 * tools. `initial`: the harness's text before the agent's first message, repeated in every window.
 */
export type StepKind = 'written' | 'shown' | 'initial' | 'other';

/** One item of the log. */
export interface LogStep {
  readonly item: Item;
  readonly kind: StepKind;
  readonly lines: readonly string[];
  /** By `LineTable`. */
  readonly tokens: number;
  /** Identifiers of all lines, each once. */
  readonly identifiers: readonly number[];
  /** Those of the lines that an agent or a user wrote, without the text that an edit repeats; empty unless `written`. */
  readonly used: readonly number[];
  /** A call before this item still waits for its result: do not cut here. */
  readonly isInsidePair: boolean;
}

/** A compaction that really happened. */
export interface RecordedCompaction {
  /** How many steps come before it. */
  readonly step: number;
  /** Position in the list of records. */
  readonly record: number;
  /** The agent's own summary, if it is readable. */
  readonly summary: string | undefined;
}

/** A whole session, read. */
export interface SessionLog {
  readonly records: readonly LogRecord[];
  readonly steps: readonly LogStep[];
  /** Position of the record that each step came from. */
  readonly recordOfStep: readonly number[];
  readonly compactions: readonly RecordedCompaction[];
  readonly table: LineTable;
  /** Working directory without its final slash, or empty. */
  readonly root: string;
  /** How an agent without tools writes its commands; absent where it calls tools. */
  readonly textActions: SessionMetaRecord['textActions'];
  /** Identifiers of the base instructions and of every `initial` step. */
  readonly initial: ReadonlySet<number>;
}

/** What is known about a line. */
interface LoggedLine {
  readonly text: string;
  identifiers: readonly number[] | undefined;
  /** With its line feed; −1 until counted. */
  tokens: number;
}

/** Analyses each line once: many recur, in contexts as in logs. Identifiers are numbered from 0. */
export class LineTable {
  readonly #count: CountText;
  readonly #root: string;
  readonly #lines = new Map<string, LoggedLine>();
  readonly #numbers = new Map<string, number>();

  /**
   * @param count counts a line with its line feed
   * @param root working directory of the session, or empty
   */
  constructor(count: CountText, root: string) {
    this.#count = count;
    this.#root = root;
  }

  /** How many different identifiers were seen. */
  get size(): number {
    return this.#numbers.size;
  }

  /** The first instances of equal lines, so that memory holds a recurring line once. */
  kept(lines: readonly string[]): readonly string[] {
    return lines.map((line) => this.#lineOf(line).text);
  }

  /** The identifiers of a line, each once, in order. */
  identifiersOf(text: string): readonly number[] {
    const line = this.#lineOf(text);
    line.identifiers ??= identifiersIn(text, this.#root).map((name) => this.#numberOf(name));
    return line.identifiers;
  }

  /** Tokens of a line with its line feed. */
  tokensOfLine(text: string): number {
    const line = this.#lineOf(text);
    if (line.tokens < 0) line.tokens = this.#count(`${text}\n`);
    return line.tokens;
  }

  /** Tokens of a text: those of its lines. Every candidate is counted this way, so that all have the same budget. */
  readonly tokensOfText: CountText = (text) => this.tokensOfLines(linesOf(text));

  tokensOfLines(lines: readonly string[]): number {
    let tokens = 0;
    for (const line of lines) tokens += this.tokensOfLine(line);
    return tokens;
  }

  #lineOf(text: string): LoggedLine {
    let line = this.#lines.get(text);
    if (line === undefined) {
      line = { text, identifiers: undefined, tokens: -1 };
      this.#lines.set(text, line);
    }
    return line;
  }

  #numberOf(name: string): number {
    const known = this.#numbers.get(name);
    if (known !== undefined) return known;
    const number = this.#numbers.size;
    this.#numbers.set(name, number);
    return number;
  }
}

/** Finds the items of a log in order: those that were recorded, and what a file that starts in the middle starts with. */
export class StepReader {
  #steps = 0;
  #hasAgentSpoken = false;

  /** How many items were found. */
  get steps(): number {
    return this.#steps;
  }

  /** The items of the next record, each with its kind. */
  read(record: LogRecord): readonly Pick<LogStep, 'item' | 'kind'>[] {
    if (record.type === 'item') return [this.#step(record.item)];
    // The file starts in the middle of a session: what the compaction kept is all that remains of its past.
    if (record.type === 'compacted' && this.#steps === 0)
      return record.replacement.map((item) => this.#step(item));
    return [];
  }

  #step(item: Item): Pick<LogStep, 'item' | 'kind'> {
    this.#hasAgentSpoken ||= authorOf(item) === 'agent';
    this.#steps++;
    return { item, kind: kindOf(item, this.#hasAgentSpoken) };
  }
}

/** Reads the records of a session once. Linear in their text. */
export function readLog(records: readonly LogRecord[], count: CountText): SessionLog {
  const root = workingDirectory(records);
  const table = new LineTable(count, root);
  const steps: LogStep[] = [];
  const recordOfStep: number[] = [];
  const compactions: RecordedCompaction[] = [];
  const open = new Set<string>();
  const reader = new StepReader();
  const add = ({ item, kind }: Pick<LogStep, 'item' | 'kind'>, record: number): void => {
    const isInsidePair = open.size > 0;
    const call = callOf(item)?.callId;
    const answered = resultCallId(item);
    if (call !== undefined) open.add(call);
    if (answered !== undefined) open.delete(answered);
    // A user who continues no longer waits for an interrupted call.
    else if (item.type === 'message' && authorOf(item) === 'user') open.clear();
    steps.push(stepOf(item, kind, table, isInsidePair));
    recordOfStep.push(record);
  };
  records.forEach((record, at) => {
    if (record.type === 'compacted' && reader.steps > 0) {
      compactions.push({ step: reader.steps, record: at, summary: record.summary });
    }
    for (const step of reader.read(record)) add(step, at);
  });
  const initial = initialIdentifiers(records, steps, table);
  const textActions = records
    .flatMap((record) => (record.type === 'session_meta' ? (record.textActions ?? []) : []))
    .at(-1);
  return { records, steps, recordOfStep, compactions, table, root, textActions, initial };
}

function stepOf(item: Item, kind: StepKind, table: LineTable, isInsidePair: boolean): LogStep {
  const lines = table.kept(linesOfItem(item));
  return {
    item,
    kind,
    lines,
    tokens: table.tokensOfLines(lines),
    identifiers: identifiersOf(lines, table),
    used: kind === 'written' ? identifiersOf(linesWritten(item), table) : [],
    isInsidePair,
  };
}

function identifiersOf(lines: readonly string[], table: LineTable): readonly number[] {
  return [...new Set(lines.flatMap((line) => table.identifiersOf(line)))];
}

function kindOf(item: Item, hasAgentSpoken: boolean): StepKind {
  if (isResult(item)) return 'shown';
  const author = authorOf(item);
  if (author === 'harness') {
    const isSummary = item.type === 'message' && item.isCompactSummary === true;
    return hasAgentSpoken || isSummary ? 'other' : 'initial';
  }
  if (item.type === 'message' && item.isApiErrorMessage === true) return 'other';
  return item.type !== 'reasoning' && (author === 'agent' || author === 'user') ? 'written' : 'other';
}

function workingDirectory(records: readonly LogRecord[]): string {
  for (const record of records) {
    const root = rootIn(record);
    if (root !== undefined) return root;
  }
  return '';
}

/** The working directory that a record names, without its final slash. The first one of a log is its root. */
export function rootIn(record: LogRecord): string | undefined {
  return record.type === 'session_meta' || record.type === 'settings'
    ? record.cwd?.replace(/\/$/, '')
    : undefined;
}

function initialIdentifiers(
  records: readonly LogRecord[],
  steps: readonly LogStep[],
  table: LineTable,
): ReadonlySet<number> {
  const found = new Set<number>();
  for (const { kind, identifiers } of steps) {
    if (kind === 'initial') for (const identifier of identifiers) found.add(identifier);
  }
  for (const record of records) {
    if (record.type !== 'session_meta' || record.instructions === undefined) continue;
    for (const line of linesOf(record.instructions)) {
      for (const identifier of table.identifiersOf(line)) found.add(identifier);
    }
  }
  return found;
}
