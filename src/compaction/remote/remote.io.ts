// Asks a provider for its own compaction of a history. One request; whatever comes of it is a return value.

import { clearResult } from '../../history/clear.ts';
import type { CompactionItem, Item } from '../../protocol/item.ts';
import type { ModelUsage, RemoteCompaction } from '../../protocol/model.ts';
import type { SummaryAttempt } from '../../protocol/receipt.ts';
import { usableWindow } from '../../tokens/pressure.ts';
import { formatNumber } from '../../tokens/words.ts';
import type { Trail } from '../../trail/trail.ts';
import { DEFAULT_SUMMARY_TOKENS } from '../../summary/write.ts';
import {
  costsOf,
  RequestDeadline,
  nameOf,
  reconnecting,
  whyUnanswered,
  readableBy,
} from '../summarise/ask-model.io.ts';
import type { AskingWorld, Unanswered } from '../summarise/ask-model.io.ts';
import type { SummaryModel } from '../summarise/summarizers.ts';
import { carryOut, planFull, requestSizes } from '../full/full.ts';
import type { FullRequest, FullResult } from '../full/request.ts';
import { modelFreeSummary, shadowedHistory } from '../full/summary.ts';
import { withProviderState } from './layout.ts';

/** The outcome of asking a provider. */
export interface RemoteResult {
  /** Undefined where the provider gave none that is worth it: the history is what it was. */
  readonly result: Extract<FullResult, { outcome: 'compacted' }> | undefined;
  /** None where a plan without a provider is refused as well. */
  readonly attempts: readonly SummaryAttempt[];
}

/**
 * The provider's own compaction, with what Baton says of the conversation as its shadow.
 * @param material the model of the session, and the log from which the shadow is written
 * @throws BatonError `interrupted` when the user's signal fires, and nothing else
 */
export async function compactRemotely(
  request: FullRequest,
  { model, trail }: { readonly model: SummaryModel; readonly trail: Trail },
  world: AskingWorld,
): Promise<RemoteResult> {
  const plan = planFull(request);
  if (plan.outcome !== 'planned') return { result: undefined, attempts: [] };
  const history = shadowedHistory(request, trail);
  const order = { history, sizeOf: requestSizes(plan), cacheKey: request.id };
  const answer = await compactByProvider(model, order, world);
  const { attempt } = answer;
  if (answer.type === 'failed') return { result: undefined, attempts: [attempt] };
  const name = nameOf(model);
  const { summarise } = modelFreeSummary(request, trail);
  const shadow = summarise(DEFAULT_SUMMARY_TOKENS, plan.preserved.items);
  // The rung does not describe the words beside a provider's state.
  const { text, redactions, notes = [] } = shadow;
  const draft = { text, redactions, notes: [stateNote(name), ...notes] };
  const author = { implementation: 'remote', rung: 'remote', model: name, attempts: [attempt] } as const;
  const result = carryOut(withProviderState(plan, answer.item), () => draft, author);
  if (result.outcome === 'compacted') return { result, attempts: [attempt] };
  const why = `what it left is too large to be worth it, or for the target of ${formatNumber(plan.target)} tokens`;
  world.report(`${name} did not compact: ${why}.`);
  return { result: undefined, attempts: [{ ...attempt, outcome: 'defect', why }] };
}

function stateNote(name: string): string {
  return `The compaction state of ${name} now represents the conversation, and only its provider can read it; all others get the summary beside it, which was written without a model.`;
}

/** What a provider is to compact. */
interface RemoteOrder {
  /** The whole history, as a next request would hold it. */
  readonly history: readonly Item[];
  /** Tokens of one item as a request has it. */
  readonly sizeOf: (item: Item) => number;
  readonly cacheKey: string;
}

/** The provider's answer. */
type RemoteAnswer =
  | { readonly type: 'compacted'; readonly item: CompactionItem; readonly attempt: SummaryAttempt }
  /** The history is what it was. */
  | { readonly type: 'failed'; readonly attempt: SummaryAttempt };

/** One compaction by the provider of a model. */
async function compactByProvider(
  model: SummaryModel,
  order: RemoteOrder,
  world: AskingWorld,
): Promise<RemoteAnswer> {
  const name = nameOf(model);
  const history = readableBy(order.history, model);
  const items = fittingHistory({ ...order, history }, usableWindow(model.window));
  if (items === undefined) {
    const why = 'the history does not fit its window, even without the results of tools';
    world.report(`${name} was not asked to compact: ${why}.`);
    return { type: 'failed', attempt: { ...unsent(name), why } };
  }
  world.report(`Asking ${name} for its own compaction.`);
  const startedMs = world.clock.now();
  const deadline = new RequestDeadline(world);
  let retries = 0;
  const request = { model: model.name, instructions: '', items, tools: [], cacheKey: order.cacheKey };
  const answered = await (
    model.model.compactRemote?.(request, deadline, (event) => {
      retries++;
      world.report(reconnecting(event));
    }) ?? Promise.reject(new TypeError(`${name} has no compaction of its own`))
  )
    .then(
      (answer): RemoteCompaction | Unanswered => answer,
      (error: unknown): RemoteCompaction | Unanswered => whyUnanswered(error, world.signal),
    )
    .finally(() => deadline.clear());
  const attemptOf = (
    outcome: Pick<SummaryAttempt, 'outcome' | 'why'>,
    usage: ModelUsage | undefined,
  ): SummaryAttempt => ({
    model: name,
    rung: 'remote',
    ...outcome,
    retries,
    ...costsOf(usage, model),
    durationMs: world.clock.now() - startedMs,
  });
  if ('why' in answered) {
    world.report(`${name} did not compact: ${answered.why}.`);
    return { type: 'failed', attempt: attemptOf({ outcome: answered.type, why: answered.why }, undefined) };
  }
  const item = answered.items.find((each) => each.type === 'compaction');
  return item === undefined
    ? {
        type: 'failed',
        attempt: attemptOf({ outcome: 'defect', why: 'it contained no compaction' }, answered.usage),
      }
    : { type: 'compacted', item, attempt: attemptOf({ outcome: 'accepted' }, answered.usage) };
}

/** What is on record of a request that was not worth sending. */
function unsent(model: string): SummaryAttempt {
  return { model, rung: 'remote', outcome: 'too_large', retries: 0, durationMs: 0 };
}

/**
 * The history as one request takes it: whole, else with the results of its tools cleared, oldest first, as far as it has to
 * be. Undefined where even that is not enough.
 * @source codex-behaviour §4.3: Codex replaces results while its estimate exceeds the window
 */
function fittingHistory({ history, sizeOf }: RemoteOrder, room: number): readonly Item[] | undefined {
  let excess = history.reduce((sum, item) => sum + sizeOf(item), 0) - room;
  const items = history.map((item) => {
    if (excess <= 0) return item;
    const cleared = clearResult(item);
    excess -= Math.max(0, sizeOf(item) - sizeOf(cleared));
    return cleared;
  });
  return excess <= 0 ? items : undefined;
}
