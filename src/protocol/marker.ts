// The first line of every message that Baton inserts into a thread. It identifies synthetic messages in logs that do
// not store the origin of items, such as Codex rollouts.

import { STEPS } from '../vocabulary.ts';
import type { Step } from '../vocabulary.ts';
import type { Origin } from './item.ts';

/** Which steps of which sequence a message contains. */
export interface Marker {
  /** In the order of the golden path, at least one. */
  readonly steps: readonly [Step, ...Step[]];
  /** Letters, digits, `_` and `-`; 1 to 64 characters. */
  readonly sequenceId: string;
}

const OPENING = '[baton:';
const LINE = /^\[baton:([a-z_+]{1,80}) sequence=([\w-]{1,64})\](?:\r?\n|$)/;

/**
 * The line without its line feed: `[baton:heads_up+packet_request sequence=7f3c]`.
 * @throws RangeError for a sequence id that `markerOf` could not read back
 */
export function markerLine({ steps, sequenceId }: Marker): string {
  if (!/^[\w-]{1,64}$/.test(sequenceId)) throw new RangeError(`No id of a sequence: ${sequenceId}`);
  return `${OPENING}${steps.join('+')} sequence=${sequenceId}]`;
}

/** The marker at the start of a text, or undefined. A marker anywhere else is a quotation. */
export function markerOf(text: string): Marker | undefined {
  if (!text.startsWith(OPENING)) return undefined;
  const match = LINE.exec(text.slice(0, 200));
  if (match === null) return undefined;
  const [, names = '', sequenceId = ''] = match;
  const steps = names.split('+').flatMap((name) => STEPS.find((step) => step === name) ?? []);
  const [first, ...rest] = steps;
  return first === undefined ? undefined : { steps: [first, ...rest], sequenceId };
}

/** A text without the marker at its start. */
export function withoutMarker(text: string): string {
  return markerOf(text) === undefined ? text : text.replace(LINE, '');
}

/** The origin of a message with a text, where its marker tells one: the last step, for which the others prepare. */
export function markedOrigin(text: string): Origin | undefined {
  const marker = markerOf(text);
  if (marker === undefined) return undefined;
  const { steps, sequenceId } = marker;
  return { author: 'synthetic', step: steps.at(-1) ?? steps[0], sequenceId };
}

/** The line below the prefix of a summary message of Baton's. @source seed 001 §5 */
export const SUMMARY_INTRODUCTION = 'The conversation is summarized below:';

/** A summary message without its prefix and introduction; any other text as it is. */
export function withoutIntroduction(text: string): string {
  const [, introduction, ...summary] = text.split('\n');
  return introduction === SUMMARY_INTRODUCTION ? summary.join('\n') : text;
}
