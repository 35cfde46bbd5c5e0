// The summary of a compaction: who writes it without a model, and the message that carries it.

import { textOfParts } from '../../protocol/item.ts';
import type { Item, MessageItem } from '../../protocol/item.ts';
import { summaryText, withShadows } from '../../history/shadow.ts';
import type { CountText } from '../../tokens/estimate.ts';
import type { Trail } from '../../trail/trail.ts';
import { countRedactions } from '../../text/redact.ts';
import { DEFAULT_SUMMARY_TOKENS, writeSummary } from '../../summary/write.ts';
import type { Summary } from '../../summary/write.ts';
import type { FullRequest, Summarise } from './request.ts';
import { writePlainSummary } from './plain.ts';

/** Said after the summary of an automatic compaction. @source seed 001 §5. */
const CONTINUE_SENTENCE =
  'Please continue the conversation from where we left it off without asking the user any further questions. ' +
  'Continue with the last task that you were asked to work on.';

/**
 * A model's answer as plain text: analysis and summary tags become headings, runs of blank lines collapse. Not for what Baton
 * writes: there the tags are quoted, and a heading on a line of its own would pass for Baton's.
 * @source seed 001 §5 `cleanup_summary_tags`
 */
export function cleanSummary(raw: string): string {
  return replaceTag(replaceTag(raw, 'analysis', 'Analysis:'), 'summary', 'Summary:')
    .replaceAll(BLANK_LINES, '\n\n')
    .trim();
}

const BLANK_LINES = /\n\n\n*/g;

function replaceTag(text: string, tag: string, heading: string): string {
  const open = text.indexOf(`<${tag}>`);
  const close = text.lastIndexOf(`</${tag}>`);
  if (open === -1 || close < open) return text;
  const body = text.slice(open + tag.length + 2, close).trim();
  return `${text.slice(0, open)}${heading}\n${body}${text.slice(close + tag.length + 3)}`;
}

/** How a summary is worded. */
export interface SummaryWording {
  /** First line, by which the agent that goes on recognises a summary: `SUMMARY_PREFIX`, or its own. */
  readonly prefix: string;
  /** Whether the continue-without-asking sentence follows: the agent was interrupted, and nothing else says how it goes on. @source seed 001 §5, spec 2-engine §4.7 */
  readonly continuesWithoutAsking: boolean;
}

/** The summary as the user message that the next model reads. @source seed 001 §5. */
export function summaryMessage(summary: string, wording: SummaryWording): MessageItem {
  const text = summaryText(wording.prefix, summary.replaceAll(BLANK_LINES, '\n\n').trim());
  return {
    type: 'message',
    role: 'user',
    content: [
      { type: 'input_text', text: wording.continuesWithoutAsking ? `${text}\n${CONTINUE_SENTENCE}` : text },
    ],
    isCompactSummary: true,
    isVisibleInTranscriptOnly: true,
    origin: { author: 'harness' },
  };
}

/** The embedded summarizer over a trail, as a compaction asks for it. Deterministic; needs no model. */
export function embeddedSummarizer(
  trail: Trail,
  count: CountText,
): (budget: number, preserved: readonly MessageItem[]) => Summary {
  return (budgetTokens, preserved) =>
    writeSummary(trail, {
      budgetTokens,
      count,
      preserved: preserved.map(({ content }) => textOfParts(content)),
    });
}

/** What is said where nothing can be: no model gave a summary, and no words of anybody are on record. @source seed 002 */
export const CANNED_SUMMARY =
  'There is no summary: the older turns were removed because they did not fit the context window, and no record of them ' +
  'remains. To find out what was done, read the files or ask the user.';

/** The best summary that needs no model, and the rung of the ladder that it is. */
export interface ModelFreeSummary {
  readonly rung: 'embedded' | 'canned';
  /** Each draft names its own rung where that is below. */
  readonly summarise: Summarise;
}

/** What a summary without a model is made of besides the trail. */
export type ModelFreeMaterial = Pick<FullRequest, 'entries' | 'count' | 'within'>;

/**
 * The embedded summarizer, or the canned words for a trail that holds nothing at all. Where the embedded one takes too long,
 * the plain summary replaces it, and the canned words that.
 */
export function modelFreeSummary(
  { entries, count, within = (work) => ({ value: work() }) }: ModelFreeMaterial,
  trail: Trail,
): ModelFreeSummary {
  const embedded = embeddedSummarizer(trail, count);
  let isSlow = trail.isLost;
  const summarise: Summarise = (budget, preserved) => {
    const draft = isSlow ? undefined : within(() => embedded(budget, preserved));
    if (draft !== undefined) return draft.value;
    isSlow = true;
    const plain = within(() => {
      const text = writePlainSummary({ entries, count, preserved }, budget);
      return { text, redactions: countRedactions(text) };
    });
    return plain === undefined || plain.value.text === ''
      ? { ...CANNED, rung: 'canned', notes: [CANNED_NOTE] }
      : { ...plain.value, rung: 'plain', notes: [PLAIN_NOTE] };
  };
  const isCanned = () =>
    isEmptyTrail(trail) && within(() => embedded(DEFAULT_SUMMARY_TOKENS, []).sections.length === 0)?.value;
  return !isSlow && isCanned() === true
    ? { rung: 'canned', summarise: () => CANNED }
    : { rung: 'embedded', summarise };
}

const CANNED = { text: CANNED_SUMMARY, redactions: {} };

const PLAIN_NOTE =
  'The summary is plain because the usual one took too long: it contains the requests and the newest message, but not what was done.';

const CANNED_NOTE = 'No summary covers the older turns: each one took too long or did not fit.';

/** Whether a trail has none of what most sessions have: spares them a summary that is written only to be looked at. */
function isEmptyTrail({ requests, files, commands }: Trail): boolean {
  return requests.length === 0 && files.length === 0 && commands.length === 0;
}

/**
 * The history that a model is asked about. Compactions by an agent's own provider come without words; a reader that cannot decrypt
 * them gets what Baton's records say about the same time.
 */
export function shadowedHistory(material: ModelFreeMaterial, trail: Trail): readonly Item[] {
  return withShadows(
    material.entries.map(({ value }) => value),
    () => {
      const { rung, summarise } = modelFreeSummary(material, trail);
      return rung === 'canned' ? '' : summarise(DEFAULT_SUMMARY_TOKENS, []).text;
    },
  );
}
