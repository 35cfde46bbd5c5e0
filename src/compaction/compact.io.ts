// Carries a compaction through: asks dispatch and the hooks, has the history rewritten, commits one record and reports it. Every
// decision comes from pure functions.

import type { Config } from '../config/schema.ts';
import { BatonError } from '../errors.ts';
import { autoCompactThreshold } from '../tokens/pressure.ts';
import { MESSAGE_OVERHEAD } from './budget.ts';
import { completedEvent } from './completed.ts';
import { dispatch, dispatchSettings } from './dispatch.ts';
import { withItem } from './full/full.ts';
import type { FullResult } from './full/request.ts';
import { askHooks, hearHooks, hookRoom, notifyHooks } from './hooks.io.ts';
import { Job } from './job.ts';
import type { PlannedCompaction } from './job.ts';
import { NEW_GUARD } from './loop-guard.ts';
import { itemsTokens } from './measure.ts';
import { clearResults } from './micro/clear.ts';
import { hasNews } from './novelty.ts';
import { failureReason, fullRefused, nothingNew, planRefused } from './refusals.ts';
import { remoteObstacle, rewrite } from './rewrite.io.ts';
import type { Compaction, CompactionWorld, Occasion, Subject } from './subject.ts';
import { stopped } from './summarise/ask-model.io.ts';
import type { Summarizers } from './summarise/summarizers.ts';

/**
 * Compacts a history on a user's request.
 * @throws BatonError `compaction_disabled`, `usage` for a strategy that cannot be had here, `nothing_to_compact`,
 *   `cannot_fit`, `interrupted`
 */
export async function compactHistory(
  subject: Subject,
  occasion: Occasion,
  config: Config,
  world: CompactionWorld,
): Promise<Compaction> {
  const obstacle = remoteObstacle(subject, config, world.summarizers);
  const settings = dispatchSettings(config, { obstacle });
  const plan = dispatch({ from: 'manual', strategy: occasion.strategy }, NEW_GUARD, settings);
  if (plan.type === 'none') throw planRefused(plan, obstacle);
  return carryThrough(plan, { subject, occasion }, config, world);
}

/**
 * Carries out a plan of the arbiter, commits the result and reports it.
 * @throws BatonError `nothing_to_compact`, `cannot_fit`, `interrupted`, and what committing fails with; the history is
 *   then what it was
 */
export async function carryThrough(
  plan: PlannedCompaction,
  what: { readonly subject: Subject; readonly occasion: Occasion },
  config: Config,
  world: CompactionWorld,
): Promise<Compaction> {
  const job = new Job(plan, what, config, world);
  try {
    return plan.type === 'micro' ? await carryMicro(job) : await carryFull(job);
  } catch (error) {
    if (error instanceof BatonError) {
      world.emit({ type: 'compact_failed', reason: failureReason(error), error_message: error.message });
    }
    throw error;
  }
}

async function carryMicro(job: Job): Promise<Compaction> {
  const { id, startedMs, world } = job;
  const compaction = clearResults(job);
  await world.commit?.(compaction);
  world.emit({
    type: 'micro_compact_completed',
    id,
    tools_compacted: compaction.record.callIds.length,
    pre_compact_tokens: compaction.preTokens,
    post_compact_tokens: compaction.postTokens,
    tokens_saved: compaction.preTokens - compaction.postTokens,
    duration_ms: world.clock.now() - startedMs,
  });
  return compaction;
}

async function carryFull(job: Job): Promise<Compaction> {
  const { id, subject, config, world } = job;
  const item = { type: 'context_compaction', id } as const;
  world.emit({ type: 'item_started', item });
  const compaction = await runFull(job);
  await world.commit?.(compaction);
  world.emit({ type: 'item_completed', item });
  world.emit({ type: 'context_compacted', id });
  world.emit(completedEvent(compaction.record.receipt));
  await notifyHooks(world, subject.session, compaction.record.receipt, compaction.record.summary);
  const { postTokens } = compaction.record.receipt;
  const threshold = autoCompactThreshold(subject.window, dispatchSettings(config).thresholds);
  if (postTokens >= threshold) {
    world.emit({ type: 'compact_threshold_exceeded', post_compact_tokens: postTokens, threshold });
  }
  return compaction;
}

type FullCompaction = Extract<Compaction, { type: 'full' }>;

async function runFull(job: Job): Promise<FullCompaction> {
  const { plan, subject, occasion, world, startedMs } = job;
  // Who names a size wants that size, and the engine's own requests have a guard that counts what is new.
  const wantsWhatIsNew = occasion.trigger === 'manual' && occasion.targetTokens === undefined;
  if (wantsWhatIsNew && !hasNews(subject.entries)) throw nothingNew(job);
  const asked = await askHooks(world, () => job.hookInput);
  const isWithoutModel = plan.type === 'newest_turns' || occasion.isEmbedded === true;
  const models = isWithoutModel ? undefined : world.summarizers;
  const wished = withInstructions(models, occasion.instructions, world);
  const summarizers = withInstructions(wished, asked.instructions, world);
  const reserve = hookRoom(world, occasion.targetTokens);
  const planned = await rewrite(job, summarizers, reserve);
  // An answer may have come in the moment in which the user stopped.
  if (world.signal.aborted) throw stopped();
  if (planned.outcome !== 'compacted') throw fullRefused(job, planned);
  const room = reserve - MESSAGE_OVERHEAD;
  const heard = await hearHooks(world, subject.session, { room, count: world.count });
  const added = heard.context === undefined ? 0 : itemsTokens([heard.context], job.measure);
  const result = await withExactRoom(job, planned, { reserve, added });
  const whole = heard.context === undefined ? result : withItem(result, heard.context, job.measure);
  const hooks = [...asked.runs, ...heard.runs];
  const receipt = {
    ...whole.record.receipt,
    ...(hooks.length === 0 ? {} : { hooks }),
    ...(occasion.audit === undefined ? {} : { audit: occasion.audit }),
    durationMs: world.clock.now() - startedMs,
  };
  const record = job.byGauge({ ...whole.record, receipt });
  return { type: 'full', record, items: record.replacement, fates: whole.fates };
}

/** Rewrites a summary that no model wrote, with the room that the hooks left. */
async function withExactRoom(
  job: Job,
  planned: Extract<FullResult, { outcome: 'compacted' }>,
  { reserve, added }: { readonly reserve: number; readonly added: number },
): Promise<Extract<FullResult, { outcome: 'compacted' }>> {
  if (added >= reserve || planned.record.receipt.attempts !== undefined) return planned;
  const again = await rewrite(job, undefined, added);
  return again.outcome === 'compacted' ? again : planned;
}

/** What hooks ask of the summary joins what the user asks of it. */
function withInstructions(
  summarizers: Summarizers | undefined,
  instructions: string | undefined,
  { emit }: CompactionWorld,
): Summarizers | undefined {
  if (instructions === undefined) return summarizers;
  if (summarizers === undefined) {
    const message = 'The instructions for the summary were ignored: no model writes it.';
    emit({ type: 'warning', message });
    return undefined;
  }
  const { prompts } = summarizers;
  const joined = [...(prompts.instructions === undefined ? [] : [prompts.instructions]), instructions];
  return { ...summarizers, prompts: { ...prompts, instructions: joined.join('\n\n') } };
}
