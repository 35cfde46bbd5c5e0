// The recent-activity tail: the agent's last actions and messages, verbatim, to refresh its memory.

import type { CountText } from '../../tokens/estimate.ts';
import { redact } from '../../text/redact.ts';
import { clip, headLines, oneLine } from '../../text/sentences.ts';
import type { CommandRun, Trail } from '../../trail/trail.ts';

/** One internal activity of the agent. */
export interface RecentActivity {
  readonly kind: 'call' | 'statement' | 'plan';
  /** The item of the log where it happened, counted from 0. */
  readonly position: number;
  /** May contain line feeds. */
  readonly text: string;
}

/** How much of the recent past to show. */
export interface TailLimits {
  /** `tail_max_items`; 0 shows none. */
  readonly maxItems: number;
  /** `packet_max_tail_chars`: bounds the agent's last message. */
  readonly maxMessageChars: number;
  /** Maximum tokens of the tail, by `count`. */
  readonly roomTokens: number;
  readonly count: CountText;
  /** The agent's last message, complete. Otherwise its sentences in the trail have to do. */
  readonly lastMessage?: string | undefined;
}

/** @source seed 003 and spec 3-watcher §7: `tail_max_items`, `packet_max_tail_chars`. */
export const DEFAULT_TAIL_ITEMS = 8;
export const DEFAULT_TAIL_CHARS = 1_200;

/** Maximum characters and lines of one result: the tail is a reminder, and the tool can run again. */
const RESULT_LENGTH = 480;
const RESULT_LINES = 8;

/** The activities of a trail in order: calls with outcome, plan updates, and the agent's words beside them. */
export function recentActivities(trail: Trail): readonly RecentActivity[] {
  const runs = new Map(trail.commands.map((run) => [run.position, run]));
  const shown = new Set(trail.current.tail.map(({ position }) => position));
  const calls = trail.current.tail.map(({ position, call, result }) => ({
    kind: 'call' as const,
    position,
    text: callText(call, result, runs.get(position)),
  }));
  // The trail's tail omits commands without output, but they ran.
  const silent = trail.commands
    .filter(({ position }) => !shown.has(position))
    .map((run) => ({
      kind: 'call' as const,
      position: run.position,
      text: callText(`ran ${run.command}`, '', run),
    }));
  return [...calls, ...silent, ...planActivity(trail), ...saidActivities(trail)].toSorted(
    (a, b) => a.position - b.position,
  );
}

function callText(call: string, result: string, run: CommandRun | undefined): string {
  const rows = headLines(result, RESULT_LENGTH).split('\n');
  const isCut =
    rows.length > RESULT_LINES || headLines(result, RESULT_LENGTH).length < result.trimEnd().length;
  const shown = rows.slice(0, RESULT_LINES).map((row) => `    ${clip(row.trimEnd(), 200)}`);
  const body = result.trim() === '' ? [] : [...shown, ...(isCut ? ['    …'] : [])];
  return [`- ${call}${outcomeText(run)}`, ...body].join('\n');
}

function outcomeText(run: CommandRun | undefined): string {
  if (run === undefined) return '';
  const status = run.exitCode === undefined ? '' : ` (exit ${run.exitCode})`;
  const telling = run.failed
    ? run.outcomeLines.slice(0, 1).map((line) => `: ${clip(oneLine(line), 160)}`)
    : [];
  return ` → ${run.failed ? 'failed' : 'ok'}${status}${telling.join('')}`;
}

function planActivity({ plan }: Trail): RecentActivity[] {
  if (plan === undefined) return [];
  const marks = { completed: 'x', in_progress: '>', pending: ' ', cancelled: '-' } as const;
  const steps = plan.steps
    .slice(0, 20)
    .map(({ text, status }) => `    [${marks[status]}] ${clip(text, 120)}`);
  return [
    { kind: 'plan', position: plan.position, text: [`- updated its ${plan.kind}:`, ...steps].join('\n') },
  ];
}

/** Sentences of one message are one activity. */
function saidActivities({ statements }: Trail): RecentActivity[] {
  const messages = new Map<number, string[]>();
  for (const { position, text } of statements) {
    messages.set(position, [...(messages.get(position) ?? []), text]);
  }
  return [...messages].map(([position, sentences]) => ({
    kind: 'statement',
    position,
    text: `- said: "${clip(sentences.join(' '), RESULT_LENGTH)}"`,
  }));
}

/**
 * The tail as text: the newest activities in order, without the oldest if it exceeds its room, then the agent's last
 * message. Redacted; empty if nothing happened or nothing fits.
 */
export function writeTail(trail: Trail, limits: TailLimits): string {
  const { maxItems, roomTokens, count } = limits;
  const said = lastSaid(trail);
  const message = messageText(limits);
  const newest = recentActivities(trail)
    .filter(({ kind, position }) => message === '' || kind !== 'statement' || position < said)
    .slice(maxItems === 0 ? Infinity : -maxItems)
    .map(({ position, text }) => ({ position, text: redact(text) }))
    .toReversed();
  const kept: { readonly position: number; readonly text: string }[] = [];
  let left = roomTokens;
  for (const activity of message === '' ? newest : [{ position: said, text: message }, ...newest]) {
    left -= count(`${activity.text}\n`);
    if (left < 0) break;
    kept.push(activity);
  }
  return kept
    .toSorted((a, b) => a.position - b.position)
    .map(({ text }) => text)
    .join('\n');
}

function lastSaid({ statements }: Trail): number {
  return statements.at(-1)?.position ?? Infinity;
}

function messageText({ lastMessage = '', maxMessageChars }: TailLimits): string {
  const text = endOf(redact(lastMessage.trim()), maxMessageChars);
  if (text === '') return '';
  return `- The agent's last message${text.startsWith('…') ? ', its end' : ''}:\n${text
    .split('\n')
    .map((row) => `    ${row}`.trimEnd())
    .join('\n')}`;
}

/** The last `limit` characters of a text at most, cut before a word and never inside a character. */
export function endOf(text: string, limit: number): string {
  if (text.length <= limit) return text;
  if (limit < 3) return '';
  const end = text.slice(text.length - limit + 2);
  const space = end.search(/\s/);
  const cut = space >= 0 && space < limit / 2 ? end.slice(space + 1) : withoutLeadingHalf(end);
  return `… ${cut.trimStart()}`;
}

function withoutLeadingHalf(text: string): string {
  const first = text.charCodeAt(0);
  return first >= 0xdc00 && first <= 0xdfff ? text.slice(1) : text;
}
