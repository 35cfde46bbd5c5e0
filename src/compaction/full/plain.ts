// The plain summary: what people asked and the agent said last, in their own words. It stands below the embedded summary, for a
// history over which that takes too long, so it understands nothing: it copies, cuts and counts.

import { isUserMessage } from '../../history/filter.ts';
import type { Entry } from '../../history/project.ts';
import { authorOf, callOf, textOfParts } from '../../protocol/item.ts';
import type { Item, MessageItem } from '../../protocol/item.ts';
import { cutMiddle } from '../../tokens/cut.ts';
import type { CountText } from '../../tokens/estimate.ts';
import { baseName, meaningOf } from '../../trail/calls/calls.ts';
import { redact } from '../../text/redact.ts';

/** What it is written from. */
export interface PlainMaterial {
  readonly entries: readonly Entry<Item>[];
  readonly count: CountText;
  /** Messages of the user that stay verbatim beside it, and are not told again. */
  readonly preserved: readonly MessageItem[];
}

/**
 * Shares of the budget that an earlier summary, the plan and the agent's newest message may take. The rest is the
 * requests'. @source docs/decisions/stopping.md
 */
const SHARES = { earlier: 0.3, plan: 0.1, newest: 0.2 } as const;

/** Characters of a text that are looked at: counting and cutting take no longer for a longer one. */
const MOST_CHARACTERS = 40_000;

/** Tokens below which what is left of a text says nothing. @source compaction/full/preserve.ts */
const LEAST_USEFUL_TOKENS = 24;

const OPENING =
  'This summary is plain because the usual one took too long. It quotes the requests and the newest message and omits ' +
  'what the agent did. Read the files where you need more.';

/** Writes the plain summary in at most `budget` tokens; empty where not even its opening fits. */
export function writePlainSummary({ entries, count, preserved }: PlainMaterial, budget: number): string {
  const items = entries.map(({ value }) => value);
  const paper = new PlainDraft(count, budget);
  if (!paper.add(OPENING)) return '';
  const earlier = items.findLast(
    (item): item is MessageItem => isMessage(item) && item.isCompactSummary === true,
  );
  if (earlier !== undefined) paper.quote('An earlier summary', textOf(earlier), SHARES.earlier);
  paper.quote('The plan', planOf(items), SHARES.plan);
  const newest = items.findLast(
    (item): item is MessageItem =>
      isMessage(item) &&
      item.role === 'assistant' &&
      authorOf(item) === 'agent' &&
      textOf(item).trim() !== '',
  );
  if (newest !== undefined) paper.quote("The agent's newest message", textOf(newest), SHARES.newest);
  const kept = new Set(preserved.map(textOf));
  const requests = items.filter(isUserMessage).map(textOf);
  for (const text of requests.toReversed()) {
    if (!kept.has(text) && !paper.quote('A request, older than those quoted elsewhere', text)) break;
  }
  return paper.text;
}

/** What is written so far, and the room that is left. */
class PlainDraft {
  readonly #count: CountText;
  readonly #budget: number;
  #left: number;
  text = '';

  constructor(count: CountText, budget: number) {
    this.#count = count;
    this.#budget = budget;
    this.#left = budget;
  }

  /** @returns whether it fitted */
  add(text: string): boolean {
    const next = this.text === '' ? text : `${this.text}\n\n${text}`;
    const tokens = this.#count(next);
    if (tokens > this.#budget) return false;
    this.text = next;
    this.#left = this.#budget - tokens;
    return true;
  }

  /** Adds a text under a heading, cut in its middle where it is too long. @returns whether anything of it fitted */
  quote(heading: string, text: string, share = 1): boolean {
    const title = `## ${heading}\n`;
    const room = Math.min(this.#left, Math.floor(share * this.#budget)) - this.#count(`\n\n${title}`);
    if (text === '' || room < LEAST_USEFUL_TOKENS) return false;
    const cut = cutMiddle(redact(shortened(text)), room, this.#count);
    return cut !== undefined && this.add(title + cut);
  }
}

function shortened(text: string): string {
  const half = MOST_CHARACTERS / 2;
  return text.length <= MOST_CHARACTERS ? text : `${text.slice(0, half)}…${text.slice(-half)}`;
}

function isMessage(item: Item): item is MessageItem {
  return item.type === 'message';
}

function textOf({ content }: MessageItem): string {
  return textOfParts(content);
}

/** The newest plan or todo list that was written as a whole, a step to a line. */
function planOf(items: readonly Item[]): string {
  for (const item of items.toReversed()) {
    const call = callOf(item);
    if (call === undefined || !/plan|todo/.test(baseName(call.name))) continue;
    const { plan } = meaningOf(call);
    if (plan?.type !== 'whole') continue;
    return plan.steps.map(({ status, text }) => `- ${status}: ${text}`).join('\n');
  }
  return '';
}
