// Interprets the end of a hook's process. Hook output reaches a model only through a known key of a JSON answer.

import { redact } from '../text/redact.ts';
import { clip, oneLine } from '../text/sentences.ts';
import type { HookOutcome } from '../protocol/hook.ts';
import type { HookEvent } from '../vocabulary.ts';

/** The exit status of a veto. @source both Codex and Claude Code */
const VETO_STATUS = 2;

/** Longest text from one hook for a model, in characters. @source the limit of Claude Code and, in tokens, of Codex */
export const MAX_TEXT_CHARACTERS = 10_000;

/** Longest quotation of a hook in a warning or a veto, in characters. */
const MAX_QUOTE_CHARACTERS = 300;

/** Longest command in a warning or a receipt, in characters. */
const MAX_COMMAND_CHARACTERS = 80;

/** How the process of a hook ended. */
export type HookEnd =
  | {
      readonly type: 'exited';
      readonly status: number;
      readonly stdout: string;
      /** Bytes of `stdout` beyond the cap, which were discarded. */
      readonly droppedBytes: number;
      /** The first part of standard error. */
      readonly stderr: string;
    }
  | { readonly type: 'killed'; readonly signal: string }
  | { readonly type: 'timed_out'; readonly seconds: number }
  /** `why` completes "could not be started: …". */
  | { readonly type: 'not_started'; readonly why: string }
  | { readonly type: 'interrupted' };

/** The answer of a hook. */
export interface HookAnswer {
  readonly outcome: Exclude<HookOutcome, 'overruled'>;
  /** Why the compaction or the message is vetoed; undefined without a veto. */
  readonly veto: string | undefined;
  /** Text for a model. */
  readonly text: string | undefined;
  /** What is wrong with the answer; each completes "the hook …". */
  readonly complaints: readonly string[];
}

/** The known keys of an answer. */
const KEYS = {
  pre_compact: ['veto', 'instructions'],
  post_compact: [],
  session_start: ['context'],
  user_prompt_submit: ['veto', 'context'],
  turn_complete: [],
} as const satisfies Readonly<Record<HookEvent, readonly AnswerKey[]>>;

type AnswerKey = 'veto' | TextKey;
type TextKey = 'instructions' | 'context';

function canVeto(event: HookEvent): boolean {
  return keysOf(event).includes('veto');
}

/** The key whose text is meant for a model. */
function textKey(event: HookEvent): TextKey | undefined {
  return keysOf(event).find((key) => key !== 'veto');
}

function keysOf(event: HookEvent): readonly AnswerKey[] {
  return KEYS[event];
}

/**
 * Reads the answer of a hook. Status 0: empty or one JSON object on standard output. Status 2: a veto, with its reason on
 * standard error. Anything else is a complaint, and its output is ignored.
 */
export function readAnswer(event: HookEvent, end: HookEnd): HookAnswer {
  switch (end.type) {
    case 'interrupted':
      return { ...failure([]), outcome: 'interrupted' };
    case 'timed_out':
      return {
        ...failure([`timed out after ${end.seconds} ${end.seconds === 1 ? 'second' : 'seconds'}`]),
        outcome: 'timed_out',
      };
    case 'not_started':
      return failure([`could not be started: ${end.why}`]);
    case 'killed':
      return failure([`was ended by ${end.signal}`]);
    case 'exited':
      if (end.status === 0) return readOutput(event, end.stdout, end.droppedBytes);
      if (end.status === VETO_STATUS && canVeto(event)) return readVeto(end.stderr);
      return failure([describeStatus(event, end.status, end.stderr)]);
  }
}

/** The command of a hook for people: one line, shortened, known secrets replaced. */
export function describeCommand(command: string | readonly string[]): string {
  return clip(printable(typeof command === 'string' ? command : command.join(' ')), MAX_COMMAND_CHARACTERS);
}

function failure(complaints: readonly string[]): HookAnswer {
  return { outcome: 'failed', veto: undefined, text: undefined, complaints };
}

function readVeto(stderr: string): HookAnswer {
  const reason = quote(stderr);
  return {
    outcome: 'vetoed',
    veto: reason === '' ? 'it gave no reason' : reason,
    text: undefined,
    complaints: [],
  };
}

function describeStatus(event: HookEvent, status: number, stderr: string): string {
  const told = quote(stderr);
  const means = status === VETO_STATUS ? `, but ${event} cannot be vetoed` : '';
  return `ended with status ${status}${means}${told === '' ? '' : `: ${told}`}`;
}

function readOutput(event: HookEvent, stdout: string, droppedBytes: number): HookAnswer {
  if (droppedBytes > 0) {
    return failure([`exceeded the longest answer by ${droppedBytes} bytes, so its output was ignored`]);
  }
  if (stdout.trim() === '') return { ...failure([]), outcome: 'done' };
  const answer = parseObject(stdout);
  if (answer === undefined) {
    return failure([`printed something other than a JSON object, which was ignored: ${quote(stdout)}`]);
  }
  const complaints = unknownKeys(event, answer);
  const veto = canVeto(event) ? textAt(answer, 'veto', complaints) : undefined;
  const key = textKey(event);
  const text = key === undefined ? undefined : textAt(answer, key, complaints);
  return {
    outcome: veto === undefined ? 'done' : 'vetoed',
    veto: veto === undefined ? undefined : quote(veto),
    text: text === undefined ? undefined : limit(key ?? '', text, complaints),
    complaints,
  };
}

type HookObject = Readonly<Record<string, unknown>>;

function parseObject(text: string): HookObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as HookObject) : undefined;
  } catch {
    return undefined;
  }
}

function unknownKeys(event: HookEvent, answer: HookObject): string[] {
  const known: readonly string[] = keysOf(event);
  const unknown = Object.keys(answer).filter((key) => !known.includes(key));
  if (unknown.length === 0) return [];
  const allowed = known.length === 0 ? 'none' : known.map((key) => `\`${key}\``).join(' and ');
  return [`answered with unknown keys: ${quote(unknown.join(', '))} (${event} knows ${allowed})`];
}

/** The text at a key; blank texts and null, which templates produce, count as missing. */
function textAt(answer: HookObject, key: string, complaints: string[]): string | undefined {
  const value = Object.hasOwn(answer, key) ? answer[key] : undefined;
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') {
    complaints.push(`answered with a \`${key}\` that is not text, which was ignored`);
    return undefined;
  }
  const text = redact(value.replace(/[^\P{Cc}\n\t]/gu, '')).trim();
  return text === '' ? undefined : text;
}

function limit(key: string, text: string, complaints: string[]): string {
  if (text.length <= MAX_TEXT_CHARACTERS) return text;
  complaints.push(
    `answered with \`${key}\` of ${text.length} characters; only the first ${MAX_TEXT_CHARACTERS} count`,
  );
  return clip(text, MAX_TEXT_CHARACTERS);
}

function quote(text: string): string {
  return clip(printable(text), MAX_QUOTE_CHARACTERS);
}

/** One line without known secrets, terminal sequences and other invisible characters. */
function printable(text: string): string {
  // oxlint-disable-next-line no-control-regex -- these are what is to be removed
  const plain = text.replace(/\u001B\[[0-?]*[ -/]*[@-~]/g, '');
  return oneLine(redact(plain)).replace(/\p{Cc}/gu, '\uFFFD');
}
