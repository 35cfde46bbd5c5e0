// What a summarizer receives, and why the rest is left out.

import { authorOf, callOf, textOfParts } from '../protocol/item.ts';
import type { Item, MessageItem, Origin } from '../protocol/item.ts';

/** Why an item is not part of a summary's input. */
export type FilterReason =
  'progress' | 'system' | 'synthetic_error' | 'thinking_only' | 'injected' | 'ghost_snapshot';

/** How Baton's own summaries begin. @source seed 001 §5. */
export const SUMMARY_PREFIX =
  'This session is being continued from a previous conversation that ran out of context.';

/**
 * The prefix that Codex puts before its own summaries and by which it later recognises them: it drops a user message that
 * starts with this and a line feed at the next compaction. @source codex-behaviour §4.2.
 */
export const CODEX_SUMMARY_PREFIX =
  'Another language model started to solve this problem and produced a summary of its thinking process. You also have access to the state of the tools that were used by that language model. Use this to build on the work that has already been done and avoid duplicating work. Here is the summary produced by the other language model, use the information in this summary to assist with your own analysis:';

/** What follows the name of a list of steps that a compaction gives back, and by which a message array knows it again. */
export const STEPS_LEGEND = ' as it stands ([x] done, [>] in progress, [ ] open, [-] cancelled):';

/** Whether a message is the summary of an earlier compaction: by its flag, else by a prefix that producers write. */
export function isSummary(item: Item): boolean {
  if (item.type !== 'message' || item.role !== 'user') return false;
  if (item.isCompactSummary !== undefined) return item.isCompactSummary;
  // A person may quote a summary.
  if (item.origin?.author === 'user') return false;
  const first = item.content[0];
  return (
    first?.type === 'input_text' &&
    (first.text.startsWith(SUMMARY_PREFIX) || first.text.startsWith(CODEX_SUMMARY_PREFIX))
  );
}

/**
 * The reason why an item is left out of a summary's input; undefined if it belongs there. The newest packet and earlier
 * summaries belong there: a second compaction must not lose anything of the first.
 * @param isThinkingOnly the item is reasoning that no message or call of its turn follows
 * @source seed 001 §4, spec 2-engine §4.3
 */
export function filterReason(item: Item, isThinkingOnly: boolean): FilterReason | undefined {
  switch (item.type) {
    case 'progress':
      return 'progress';
    case 'ghost_snapshot':
      return 'ghost_snapshot';
    case 'reasoning':
      return isThinkingOnly ? 'thinking_only' : undefined;
    case 'message':
      return messageFilterReason(item);
    default:
      return undefined;
  }
}

function messageFilterReason(item: MessageItem): FilterReason | undefined {
  if (isSummary(item)) return undefined;
  if (item.isApiErrorMessage === true || item.model === '<synthetic>') return 'synthetic_error';
  if (item.role === 'system' || item.role === 'developer') return 'system';
  if (item.isToolOutput === true) return undefined;
  if (item.origin?.author === 'harness') return 'system';
  return isCeremony(item.origin) && !isPacketStep(item.origin) ? 'injected' : undefined;
}

/** The watcher's messages, and the notes that the agent wrote at its request: the notes are in their file. */
function isCeremony(origin: Origin | undefined): boolean {
  return origin?.author === 'synthetic' || origin?.step === 'scratch';
}

/** A handoff contains the packet, and is all that remains of it after the context was compacted. */
function isPacketStep(origin: Origin | undefined): boolean {
  return origin?.step === 'packet' || origin?.step === 'handoff';
}

/** An item with the reason why a summarizer does not see it; `reason` is undefined if it does. */
export interface Filtered {
  readonly index: number;
  readonly reason: FilterReason | undefined;
}

/**
 * Classifies a history for a summarizer, in order. Only the newest packet is seen: as its handoff if it was handed back,
 * otherwise as it was written.
 */
export function filterForSummary(items: readonly Item[]): readonly Filtered[] {
  const filtered: Filtered[] = [];
  let isFollowedByOutput = false;
  let hasPacket = false;
  for (let index = items.length - 1; index >= 0; index--) {
    const item = items[index];
    if (item === undefined) continue;
    const isPacket = item.type === 'message' && isPacketStep(item.origin);
    const reason = isPacket && hasPacket ? 'injected' : filterReason(item, !isFollowedByOutput);
    hasPacket ||= isPacket;
    filtered.push({ index, reason });
    if (item.type === 'message') isFollowedByOutput = item.role === 'assistant';
    else if (callOf(item) !== undefined) isFollowedByOutput = true;
  }
  return filtered.toReversed();
}

/** Whether a person wrote a message: a compaction preserves these verbatim. */
export function isUserMessage(item: Item): item is MessageItem {
  return (
    item.type === 'message' &&
    item.role === 'user' &&
    (item.origin === undefined || item.origin.author === 'user') &&
    !isSummary(item) &&
    (textOfParts(item.content).trim() !== '' || item.content.some((part) => part.type === 'input_image'))
  );
}

/**
 * The initial context, as a half-open range: the first unbroken run of the harness's messages to the model (permissions,
 * environment, instruction files) before the agent's first words. Codex puts it first in a fresh session and, after a
 * compaction, before the last user message. Later messages of the harness (a skill, a notification) do not belong to it.
 */
export function initialContextRange(items: readonly Item[]): { readonly from: number; readonly to: number } {
  const first = items.findIndex((item) => isInitialContext(item) || authorOf(item) === 'agent');
  const from = first === -1 ? 0 : first;
  let to = from;
  for (let item = items[to]; item !== undefined && isInitialContext(item); item = items[to]) to++;
  return to === from ? { from: 0, to: 0 } : { from, to };
}

/** How the text of a hook about one message starts. @source Claude Code's name for the same */
export const MESSAGE_CONTEXT_OPENING = '<user-prompt-submit-hook>';

/** Whether an item is what a hook said about the user's next message: it stays as long as that message does. */
export function isMessageContext(item: Item): boolean {
  return (
    item.type === 'message' &&
    item.origin?.author === 'harness' &&
    textOfParts(item.content).startsWith(MESSAGE_CONTEXT_OPENING)
  );
}

function isInitialContext(item: Item): boolean {
  if (isMessageContext(item)) return false;
  if (item.type !== 'message' || item.role === 'assistant' || isSummary(item)) return false;
  if (item.isToolOutput === true) return false;
  return item.role !== 'user' || item.origin?.author === 'harness';
}
