// Carries a request through: ask dispatch, read files back, ask models, rebuild, and hand over one record to append. What it
// decides it has from pure functions.

import { BatonError } from '../errors.ts';
import type { CancelSignal, Clock, Hash, Hooks, Ids, WithinDeadline, WorkspaceFiles } from '../ports.ts';
import type { Config } from '../config/schema.ts';
import type { CompactionEvent } from '../protocol/wire/event.ts';
import type { HookSession, PreCompactInput } from '../protocol/hook.ts';
import type { Item, JsonObject } from '../protocol/item.ts';
import type { CompactionPlan } from '../protocol/plan.ts';
import type { CompactedRecord, MicroCompactedRecord } from '../protocol/record.ts';
import type { Receipt, SummaryAttempt } from '../protocol/receipt.ts';
import type { CompactFailure, Phase, Reason, Strategy, Trigger } from '../vocabulary.ts';
import type { AccountFold } from '../history/account.ts';
import type { Entry } from '../history/project.ts';
import { normalizeItems } from '../history/pairs.ts';
import type { CountText } from '../tokens/estimate.ts';
import { formatNumber, plural } from '../tokens/words.ts';
import { autoCompactThreshold } from '../tokens/pressure.ts';
import { pinnedItems, pinnedNotes } from '../trail/pins.ts';
import { countRedactions } from '../text/redact.ts';
import type { Trail } from '../trail/trail.ts';
import { completedEvent } from './completed.ts';
import type { AskingWorld, Summarizers, SummaryModel } from './summarise/ask-model.io.ts';
import { stopped } from './summarise/ask-model.io.ts';
import { MESSAGE_OVERHEAD, WORTHWHILE_SHARE } from './budget.ts';
import { dispatch, dispatchSettings } from './dispatch.ts';
import { carryOut, planFull, requestSizes, withItem } from './full/full.ts';
import type { Fate, FullRefusal, FullRequest, FullResult, Summarise } from './full/full.ts';
import { askHooks, hearHooks, hookRoom, tellHooks } from './hooks.io.ts';
import { compactLegacy } from './legacy/legacy.io.ts';
import { LEAST_FREED_SHARE, NEW_GUARD } from './loop-guard.ts';
import { InputHash } from './full/input-hash.ts';
import { contextTokens, itemsTokens, measureWith } from './measure.ts';
import type { Measure } from './measure.ts';
import { microCompact } from './micro.ts';
import type { KeptItems, MicroResult } from './micro.ts';
import { compactRemotely } from './remote/remote.io.ts';
import { findRemoteObstacle, localNote } from './remote/obstacle.ts';
import type { RemoteObstacle } from './remote/obstacle.ts';
import { hasNews } from './novelty.ts';
import { limitFiles, prepareFile, restoreCandidates, restoreState } from './full/restore.ts';
import type { RestorableFile } from './full/restore.ts';
import { summariseWithModels } from './summarise/summarise.io.ts';
import { MODEL_SUMMARY_LIMIT } from './summarise/room.ts';
import { transcriptOf } from './summarise/transcript.ts';
import { modelFreeSummary, shadowedHistory } from './full/summary.ts';

/** A history to be compacted and what is known of it. */
export interface Subject {
  readonly entries: readonly Entry<Item>[];
  /** Raw window of the model. */
  readonly window: number;
  /** The agent gives its initial context again by itself when the session goes on. */
  readonly leavesInitialContext: boolean;
  /** First line of the summary message, by which the agent that goes on recognises a summary. */
  readonly summaryPrefix: string;
  /** What is written can hold the state that a provider's own compaction leaves; absent: it cannot. */
  readonly holdsProviderState?: boolean;
  /** What somebody keeps of the entries, by the count of the world in which they are compacted. */
  readonly kept?: KeptItems;
  /** What the owner of the thread says of its place and rules now, where the initial context says otherwise. */
  readonly surroundings?: readonly Item[];
  /** The gauge that every size comes from; absent: only the items count. */
  readonly gauge?: ContextGauge;
  /** A target is the size of what is written alone, without what is in every request besides. */
  readonly targetsWhatIsWritten?: true;
  /** What hooks are told of it. */
  readonly session: HookSession;
  /** The whole log: what was read and planned, what Baton itself writes a summary from and holds a model's against. */
  readonly trail: Trail;
}

/** The gauge of a session around a compaction. All in tokens. */
export interface ContextGauge {
  /** Used now. */
  readonly used: number;
  /** A provider's report anchors what is used now. */
  readonly isReported: boolean;
  /** Instructions and tools, which are in each request and in no item. */
  readonly fixed: number;
  /** What it would say of a history with so many tokens that no report has measured. */
  usedWith(tokens: number): number;
  /** What it will say of these items as the history. */
  usedAfter(items: readonly Item[]): number;
  /** What it will say once so many tokens are cleared. */
  usedWithout(tokens: number): number;
}

/** A subject's gauge, as an account has it. */
export function gaugeOf(account: AccountFold): ContextGauge {
  const { used, anchor } = account.gauge();
  return {
    used,
    isReported: anchor === 'reported',
    fixed: account.fixed,
    usedWith: (tokens) => account.usedWith(tokens),
    usedAfter: (items) => account.usedAfter(items),
    usedWithout: (tokens) => account.usedWithout(tokens),
  };
}

/** Who asks for a compaction, and for what. */
export interface Occasion {
  readonly trigger: Trigger;
  readonly reason: Reason;
  readonly phase: Phase;
  readonly strategy: Strategy;
  /** Why, with the numbers, as one sentence. */
  readonly why: string;
  /** Largest size of the whole context afterwards. */
  readonly targetTokens?: number;
  /** Nothing may stop it any more. */
  readonly isEmergency?: boolean;
  /** No model is asked, though there may be one. */
  readonly isEmbedded?: boolean;
  /** A handoff follows. */
  readonly isHandedOver?: boolean;
  /** What a model's summary shall keep above all; hooks may ask for more. */
  readonly instructions?: string;
  /** Of whoever asks, for the receipt. */
  readonly audit?: JsonObject;
}

/** What carrying it out needs. */
export interface CompactionWorld {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly hash: Hash;
  readonly count: CountText;
  readonly counter: Receipt['counter'];
  /** Ends a summary written without a model that takes too long: a plainer one follows. Absent: it is waited for. */
  readonly within?: WithinDeadline;
  readonly signal: CancelSignal;
  readonly emit: (event: CompactionEvent) => void;
  /** Where files are read back from; nothing is restored without it. */
  readonly files?: WorkspaceFiles;
  /** The user's; none runs for a preview. */
  readonly hooks?: Hooks;
  /** Without it no model is asked. */
  readonly summarizers?: Summarizers;
  /** Makes the result the history, durably, before anybody is told of it. A preview has none. */
  readonly commit?: (compaction: Compaction) => Promise<void>;
}

/** What came out. `items` is the history afterwards. */
export type Compaction =
  | {
      readonly type: 'full';
      readonly record: CompactedRecord & { readonly receipt: Receipt; readonly at: string };
      readonly items: readonly Item[];
      readonly fates: readonly Fate[];
    }
  | {
      readonly type: 'micro';
      readonly record: MicroCompactedRecord & { readonly at: string };
      readonly items: readonly Item[];
      readonly preTokens: number;
      readonly postTokens: number;
    };

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
  if (plan.type === 'none') throw turnedDown(plan, obstacle);
  return carryThrough(plan, { subject, occasion }, config, world);
}

/** What keeps the provider from compacting this history itself; undefined: nothing does. */
export function remoteObstacle(
  { holdsProviderState }: Pick<Subject, 'holdsProviderState'>,
  { compact }: Config,
  summarizers: Summarizers | undefined,
): RemoteObstacle | undefined {
  const model = providerModel(summarizers);
  return findRemoteObstacle({
    hasModel: model !== undefined,
    canCompact: model?.model.compactRemote !== undefined,
    canHoldState: holdsProviderState === true,
    hasInstructions: summarizers?.prompts.instructions !== undefined,
    hasOwnPrompt: summarizers?.prompts.hasSections === false,
    hasSummarizationModel:
      compact.summarizationModel !== undefined || compact.summarizationModelProviderId !== undefined,
  });
}

/** The model of the session, whose provider goes on with the history: the last that is asked for a summary. */
function providerModel(summarizers: Summarizers | undefined): SummaryModel | undefined {
  return summarizers?.models.at(-1);
}

function turnedDown(
  { reason, why }: Extract<CompactionPlan, { type: 'none' }>,
  obstacle: RemoteObstacle | undefined,
): BatonError {
  switch (reason) {
    case 'remote_unavailable':
      return new BatonError('usage', `The provider cannot compact here, since ${why}`, {
        cure: obstacle?.cure ?? '',
      });
    case 'legacy_only':
      return new BatonError('usage', `Not with the legacy compaction: ${why}`, {
        cure: 'Leave --strategy out, or set features.compact_v2 = true.',
      });
    default:
      return new BatonError('compaction_disabled', `Compaction is off: ${why}`, {
        cure: 'Set the key, for this run with `-c KEY=true`.',
      });
  }
}

/**
 * Carries a plan of the arbiter out, commits the result and tells of it.
 * @throws BatonError `nothing_to_compact`, `cannot_fit`, `interrupted`, and what committing fails with; the history is
 *   then what it was
 */
export async function carryThrough(
  plan: Exclude<CompactionPlan, { type: 'none' }>,
  { subject, occasion }: { readonly subject: Subject; readonly occasion: Occasion },
  config: Config,
  world: CompactionWorld,
): Promise<Compaction> {
  const id = world.ids.uuid();
  const startedMs = world.clock.now();
  const job: Job = { id, startedMs, plan, subject, occasion, config, world };
  try {
    return plan.type === 'micro' ? await carryMicro(job) : await carryFull(job);
  } catch (error) {
    if (error instanceof BatonError) {
      const reason = FAILURES[error.code] ?? 'not_written';
      world.emit({ type: 'compact_failed', reason, error_message: error.message });
    }
    throw error;
  }
}

async function carryMicro(job: Job): Promise<Compaction> {
  const { id, startedMs, world } = job;
  const compaction = runMicro(job);
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
  await tellHooks(world, subject.session, compaction.record.receipt, compaction.record.summary);
  const { postTokens } = compaction.record.receipt;
  const threshold = autoCompactThreshold(subject.window, dispatchSettings(config).thresholds);
  if (postTokens >= threshold) {
    world.emit({ type: 'compact_threshold_exceeded', post_compact_tokens: postTokens, threshold });
  }
  return compaction;
}

const FAILURES: Readonly<Record<string, CompactFailure>> = {
  nothing_to_compact: 'nothing_to_compact',
  cannot_fit: 'cannot_fit',
  interrupted: 'interrupted',
  compaction_vetoed: 'vetoed',
  usage: 'unavailable',
};

interface Job {
  readonly id: string;
  readonly startedMs: number;
  readonly plan: Exclude<CompactionPlan, { type: 'none' }>;
  readonly subject: Subject;
  readonly occasion: Occasion;
  readonly config: Config;
  readonly world: CompactionWorld;
}

type FullCompaction = Extract<Compaction, { type: 'full' }>;
type MicroCompaction = Extract<Compaction, { type: 'micro' }>;

async function runFull(job: Job): Promise<FullCompaction> {
  const { plan, subject, occasion, world, startedMs } = job;
  // Who names a size wants that size, and the engine's own requests have a guard that counts what is new.
  const wantsWhatIsNew = occasion.trigger === 'manual' && occasion.targetTokens === undefined;
  if (wantsWhatIsNew && !hasNews(subject.entries)) throw nothingNew(subject, measureOf(job));
  const asked = await askHooks(world, () => preCompactInput(job));
  const isWithoutModel = plan.type === 'newest_turns' || occasion.isEmbedded === true;
  const models = isWithoutModel ? undefined : world.summarizers;
  const wished = withInstructions(models, occasion.instructions, world);
  const summarizers = withInstructions(wished, asked.instructions, world);
  const reserve = hookRoom(world, occasion.targetTokens);
  const planned = await rewrite(job, summarizers, reserve);
  // An answer may have come in the moment in which the user stopped.
  if (world.signal.aborted) throw stopped();
  if (planned.outcome !== 'compacted') throw refused(job, planned);
  const room = reserve - MESSAGE_OVERHEAD;
  const heard = await hearHooks(world, subject.session, { room, count: world.count });
  const added = heard.context === undefined ? 0 : itemsTokens([heard.context], measureOf(job));
  const result = await withExactRoom(job, planned, { reserve, added });
  const whole = heard.context === undefined ? result : withItem(result, heard.context, measureOf(job));
  const hooks = [...asked.runs, ...heard.runs];
  const receipt = {
    ...whole.record.receipt,
    ...(hooks.length === 0 ? {} : { hooks }),
    ...(occasion.audit === undefined ? {} : { audit: occasion.audit }),
    durationMs: world.clock.now() - startedMs,
  };
  const record = byGauge({ ...whole.record, receipt }, subject.gauge, occasion);
  return { type: 'full', record, items: record.replacement, fates: whole.fates };
}

type FullRecord = FullCompaction['record'];

/** The sizes of a compaction as the gauge has them, with the difference to its items beside them. */
function byGauge(
  record: FullRecord,
  gauge: ContextGauge | undefined,
  { targetTokens }: Occasion,
): FullRecord {
  if (gauge === undefined) return record;
  const { receipt } = record;
  const preTokens = gauge.used;
  const postTokens = gauge.usedAfter(record.replacement);
  const beside = {
    before: preTokens - receipt.preTokens,
    after: postTokens - receipt.postTokens,
    fixed: gauge.fixed,
    isReported: gauge.isReported,
  };
  const replacement = record.replacement.map((item) =>
    item.type === 'compact_boundary' ? { ...item, preTokens } : item,
  );
  const target = targetTokens === undefined ? {} : { targetTokens };
  return {
    ...record,
    replacement,
    preTokens,
    postTokens,
    receipt: { ...receipt, ...target, preTokens, postTokens, beside },
  };
}

/** Tokens that items may have so that the target holds. */
function itemsWithin(target: number, { gauge, targetsWhatIsWritten }: Subject): number {
  return gauge === undefined || targetsWhatIsWritten === true ? target : itemsByGauge(target, gauge);
}

/** Tokens that items may have so that the gauge stays at `target`; 0 where not even none would do. */
function itemsByGauge(target: number, gauge: ContextGauge): number {
  const [least, most] = [gauge.usedWith(0), gauge.usedWith(target)];
  return most <= least ? 0 : Math.floor((target * Math.max(0, target - least)) / (most - least));
}

/** Writes a summary anew that no model wrote, with the room that the hooks did not take. */
async function withExactRoom(
  job: Job,
  planned: Extract<FullResult, { outcome: 'compacted' }>,
  { reserve, added }: { readonly reserve: number; readonly added: number },
): Promise<Extract<FullResult, { outcome: 'compacted' }>> {
  if (added >= reserve || planned.record.receipt.attempts !== undefined) return planned;
  const again = await rewrite(job, undefined, added);
  return again.outcome === 'compacted' ? again : planned;
}

function measureOf({ config, world }: Job): Measure {
  return measureWith(world.count, config.compact);
}

function preCompactInput(job: Job): PreCompactInput {
  const { subject, occasion, world } = job;
  return {
    session: subject.session,
    trigger: occasion.trigger,
    reason: occasion.reason,
    phase: occasion.phase,
    customInstructions: world.summarizers?.prompts.instructions,
    preTokens: subject.gauge?.used ?? contextTokens(subject.entries, measureOf(job)),
    window: subject.window,
    mayVeto: occasion.isEmergency !== true,
  };
}

/** What hooks ask of the summary joins what the user asks of it. */
function withInstructions(
  summarizers: Summarizers | undefined,
  instructions: string | undefined,
  { emit }: CompactionWorld,
): Summarizers | undefined {
  if (instructions === undefined) return summarizers;
  if (summarizers === undefined) {
    const message = 'The instructions for the summary are left out: no model writes it.';
    emit({ type: 'warning', message });
    return undefined;
  }
  const { prompts } = summarizers;
  const joined = [...(prompts.instructions === undefined ? [] : [prompts.instructions]), instructions];
  return { ...summarizers, prompts: { ...prompts, instructions: joined.join('\n\n') } };
}

async function rewrite(job: Job, summarizers: Summarizers | undefined, reserve: number): Promise<FullResult> {
  const { plan, subject, config, world } = job;
  const startedMs = world.clock.now();
  if (!config.features.compactV2) {
    const material = { trail: subject.trail, compactPrompt: config.compactPrompt, summarizers };
    return compactLegacy(fullRequest(job, [], reserve), material, askingWorld(world, summarizers));
  }
  // What hooks ask of the summary was not known when the plan was made.
  const obstacle = plan.type === 'remote' ? remoteObstacle(subject, config, summarizers) : undefined;
  const request = noted(fullRequest(job, await readBack(job), reserve), forcedLocal(job, obstacle));
  const model = plan.type === 'remote' && obstacle === undefined ? providerModel(summarizers) : undefined;
  const remote =
    model === undefined
      ? NOTHING_WRITTEN
      : await compactRemotely(request, { model, trail: subject.trail }, askingWorld(world, summarizers));
  if (remote.result !== undefined) return remote.result;
  const spentMs = world.clock.now() - startedMs;
  const written =
    summarizers === undefined
      ? undefined
      : await writeWithModels(
          job,
          request,
          { ...summarizers, deadlineMs: Math.max(0, summarizers.deadlineMs - spentMs) },
          remote.attempts,
        );
  return written?.result ?? writeEmbedded(job, request, written);
}

/** The note on what keeps the provider from compacting after all. @throws BatonError `usage` where the user asked for it by name */
function forcedLocal({ occasion }: Job, obstacle: RemoteObstacle | undefined): readonly string[] {
  if (obstacle === undefined) return [];
  const { why } = obstacle;
  if (occasion.strategy === 'remote') {
    throw turnedDown({ type: 'none', reason: 'remote_unavailable', why }, obstacle);
  }
  return [localNote(obstacle)];
}

function noted(request: FullRequest, notes: readonly string[]): FullRequest {
  return { ...request, notes: [...(request.notes ?? []), ...notes] };
}

function fullRequest(
  { id, startedMs, plan, subject, occasion, config, world }: Job,
  files: readonly RestorableFile[],
  reserve: number,
): FullRequest {
  const { trigger, reason, phase, strategy, why, targetTokens, isHandedOver } = occasion;
  return {
    id,
    at: new Date(startedMs).toISOString(),
    trigger,
    reason,
    phase,
    strategy,
    ...(isHandedOver === undefined ? {} : { isHandedOver }),
    why,
    notes: [...('note' in plan ? [plan.note] : []), ...pinnedNotes(subject.trail.pins)],
    pins: pinnedItems(subject.trail.pins),
    entries: subject.entries,
    window: subject.window,
    ...(targetTokens === undefined ? {} : { targetTokens: itemsWithin(targetTokens, subject) }),
    ...worthOf(subject, occasion),
    leavesInitialContext: subject.leavesInitialContext,
    summaryPrefix: subject.summaryPrefix,
    userMessageLimit: config.compact.userMessageMaxTokens,
    files,
    reserve,
    state: [...restoreState(subject.trail, config.compact), ...(subject.surroundings ?? [])],
    estimate: config.compact,
    count: world.count,
    counter: world.counter,
    hash: world.hash,
    ...(world.within === undefined ? {} : { within: world.within }),
    input: new InputHash(subject.entries, world.hash),
  };
}

const NOTHING_WRITTEN: Omit<WrittenSummary, 'why'> = { result: undefined, attempts: [] };

interface WrittenSummary {
  /** Undefined where no model gave a summary that fits. */
  readonly result: Extract<FullResult, { outcome: 'compacted' }> | undefined;
  readonly attempts: readonly SummaryAttempt[];
  /** Why there is no result. */
  readonly why: string;
}

function askingWorld(
  { clock, signal, emit }: CompactionWorld,
  { deadlineMs = 0 }: Partial<Summarizers> = {},
): AskingWorld {
  const tell = (message: string): void => emit({ type: 'background_event', message });
  return { clock, signal, deadlineMs, tell };
}

async function writeWithModels(
  { subject, world }: Job,
  request: FullRequest,
  { models, prompts, deadlineMs }: Summarizers,
  before: readonly SummaryAttempt[],
): Promise<WrittenSummary> {
  const plan = planFull({ ...request, summaryLimit: MODEL_SUMMARY_LIMIT });
  if (plan.outcome !== 'planned') return { result: undefined, attempts: before, why: 'none was asked' };
  const { items: preserved } = plan.preserved;
  const { summarise: digest } = modelFreeSummary(request, subject.trail);
  const sizeOf = requestSizes(plan);
  hashMeanwhile(request);
  const { summary, attempts: made } = await summariseWithModels(
    models,
    {
      transcript: transcriptOf(shadowedHistory(request, subject.trail), sizeOf),
      sizeOf,
      count: world.count,
      mostTokens: plan.summaryTokens,
      preserved,
      constraints: subject.trail.constraints,
      prompts,
      digest: (budget) => digest(budget, []).text,
      cacheKey: request.id,
    },
    askingWorld(world, { deadlineMs }),
  );
  const attempts = [...before, ...made];
  if (summary === undefined) {
    return { result: undefined, attempts, why: attempts.at(-1)?.why ?? 'none has room for a request' };
  }
  const { text, model, rung, notes } = summary;
  const draft = { text, redactions: countRedactions(text), notes };
  const result = carryOut(plan, () => draft, { implementation: 'full', rung, model, attempts });
  return {
    result: result.outcome === 'compacted' ? result : undefined,
    attempts,
    why: 'its summary did not fit',
  };
}

/** Gets the receipt's hash done while a model thinks, a piece at a time, so that the request is on its way first. */
function hashMeanwhile({ input }: FullRequest): void {
  if (input === undefined) return;
  const step = (): void => {
    if (input.step()) setImmediate(step);
  };
  setImmediate(step);
}

function writeEmbedded(
  { subject }: Job,
  request: FullRequest,
  tried: WrittenSummary | undefined,
): FullResult {
  const plan = planFull(request);
  if (plan.outcome !== 'planned') return plan;
  const { rung, summarise } = modelFreeSummary(request, subject.trail);
  if (tried === undefined)
    return carryOut(plan, summarise, { implementation: 'embedded', rung, attempts: [] });
  const { attempts, why } = tried;
  const author = { implementation: 'embedded', rung, attempts } as const;
  const note = `No model gave a summary (${why}); this one was written without a model.`;
  const withNote: Summarise = (budget, preserved) => {
    const { notes = [], ...draft } = summarise(budget, preserved);
    return { ...draft, notes: [note, ...notes] };
  };
  return carryOut(plan, withNote, author);
}

/**
 * What makes a compaction worth the change: the gauge that will report its sizes. A size that is named for what is written is
 * an order: what stays beside it does not make the compaction worthless.
 */
function worthOf(
  { gauge, targetsWhatIsWritten }: Subject,
  { targetTokens, reason }: Occasion,
): Pick<FullRequest, 'beside' | 'worthwhile'> {
  const isOrdered = targetsWhatIsWritten === true && targetTokens !== undefined;
  if (gauge === undefined || isOrdered) return {};
  const most = Math.floor(gauge.used * (1 - leastFreedShare(reason)));
  return { beside: gauge.fixed, worthwhile: itemsByGauge(most, gauge) };
}

/** The share of the context that a compaction has to free. A full window cannot wait for a quarter. */
function leastFreedShare(reason: Reason): number {
  return reason === 'context_limit' || reason === 'overflow' ? LEAST_FREED_SHARE : 1 - WORTHWHILE_SHARE;
}

function refused({ occasion, subject }: Job, refusal: FullRefusal): BatonError {
  const { gauge, targetsWhatIsWritten } = subject;
  if (refusal.outcome === 'nothing_to_compact') return nothingToCompact(refusal.preTokens, subject, occasion);
  const { leastTarget, parts } = refusal;
  if (gauge === undefined || targetsWhatIsWritten === true) return cannotFit(occasion, leastTarget, parts);
  return cannotFit(occasion, gauge.usedWith(leastTarget), { ...parts, instructionsAndTools: gauge.fixed });
}

function runMicro(job: Job): MicroCompaction {
  const { id, startedMs, subject, occasion, config, world } = job;
  const measure = measureOf(job);
  const { gauge } = subject;
  const result = clearSubject(subject, config, world);
  const preTokens = gauge?.used ?? contextTokens(subject.entries, measure);
  if (!result.wasEffective) throw nothingToClear(job, result.tokensSaved, preTokens);
  const normalized = normalizeItems(result.items).items;
  const postTokens = gauge?.usedWithout(result.tokensSaved) ?? itemsTokens(normalized, measure);
  if (occasion.targetTokens !== undefined && postTokens > occasion.targetTokens) {
    const left = `Clearing old tool results leaves ${formatNumber(postTokens)} tokens`;
    throw new BatonError(
      'cannot_fit',
      `${left}, more than the ${formatNumber(occasion.targetTokens)} asked for`,
      {
        cure: `Ask for --target-tokens ${postTokens} or more, or use --strategy full.`,
        data: { leastTarget: postTokens, parts: { contextAfterClearing: postTokens } },
      },
    );
  }
  return {
    type: 'micro',
    record: {
      type: 'micro_compacted',
      id,
      at: new Date(startedMs).toISOString(),
      trigger: occasion.trigger,
      callIds: result.callIds,
      preTokens,
      tokensSaved: result.tokensSaved,
    },
    items: normalized,
    preTokens,
    postTokens,
  };
}

/** Why nothing is cleared, with a cure that is none of another refusal. @param saved tokens that clearing would save */
function nothingToClear(job: Job, saved: number, preTokens: number): BatonError {
  const { subject, config, world } = job;
  const { microCompactMinTokensToSave: least, microCompactKeepLastNTools: kept } = config.compact;
  const cures: string[] = [];
  let why = 'No tool result is left here that could be cleared';
  if (saved > 0) {
    why = `Clearing old tool results would save ${formatNumber(saved)} tokens, less than the ${formatNumber(least)} that are worth it`;
    cures.push(`set compact.micro_compact_min_tokens_to_save = ${saved}`);
  } else {
    const compact = { ...config.compact, microCompactKeepLastNTools: 0, microCompactMinTokensToSave: 1 };
    const all = clearSubject(subject, { ...config, compact }, world);
    if (all.wasEffective) {
      why = `The only tool results that could be cleared are among the newest ${kept}, which stay`;
      if (all.tokensSaved >= least) cures.push('lower compact.micro_compact_keep_last_n_tools');
    }
  }
  if (planFull(fullRequest(job, [], 0)).outcome === 'planned') cures.push('use --strategy full');
  const cure = cures.length === 0 ? 'Nothing needs to be done' : cures.join(', or ');
  return new BatonError('nothing_to_compact', why, {
    cure: `${cure.charAt(0).toUpperCase()}${cure.slice(1)}.`,
    data: { preTokens },
  });
}

/** What clearing old results comes to. Counts only what nobody has counted yet. */
export function clearSubject(
  { entries, kept }: Subject,
  { compact }: Config,
  { count }: Pick<CompactionWorld, 'count'>,
): MicroResult {
  const items = entries.map(({ value }) => value);
  return microCompact(items, {
    minTokensToSave: compact.microCompactMinTokensToSave,
    keepLastTools: compact.microCompactKeepLastNTools,
    approxBytesPerToken: compact.approxBytesPerToken,
    tokensPerImage: compact.tokensPerImage,
    count,
    ...(kept === undefined ? {} : { kept }),
  });
}

async function readBack({ subject, config, world }: Job): Promise<readonly RestorableFile[]> {
  const { files } = world;
  if (files === undefined) return [];
  const settings = {
    maxFiles: config.compact.restoreMaxFiles,
    tokensPerFile: config.compact.restoreTokensPerFile,
    totalFileBudget: config.compact.restoreTotalFileBudget,
    count: world.count,
    hash: world.hash,
  };
  const prepared: RestorableFile[] = [];
  for (const { path } of restoreCandidates(subject.trail.files)) {
    if (limitFiles(prepared, settings).length >= settings.maxFiles) break;
    const file = prepareFile(path, await files.read(path), settings);
    if (file !== undefined) prepared.push(file);
  }
  return limitFiles(prepared, settings);
}

function nothingToCompact(
  itemTokens: number,
  { gauge, targetsWhatIsWritten }: Subject,
  { targetTokens, reason }: Occasion,
): BatonError {
  const preTokens = gauge?.used ?? itemTokens;
  const fixed = gauge?.fixed ?? 0;
  const share = leastFreedShare(reason) === LEAST_FREED_SHARE ? 'a tenth' : 'a quarter';
  const beside = fixed === 0 ? '' : `; ${formatNumber(fixed)} are instructions and tools, which stay`;
  const canOrder = fixed > 0 && targetsWhatIsWritten === true && targetTokens === undefined;
  return new BatonError(
    'nothing_to_compact',
    `The context holds ${formatNumber(preTokens)} tokens, and a compaction would not free ${share} of them${beside}`,
    {
      cure: `Nothing needs to be done${canOrder ? '; to compact all the same, name a size with --target-tokens' : ''}.`,
      data: { preTokens },
    },
  );
}

function nothingNew({ entries, gauge }: Subject, measure: Measure): BatonError {
  return new BatonError(
    'nothing_to_compact',
    'Nothing was said or done since the last compaction, so another one would only lose detail',
    {
      cure: 'Go on first, undo the last compaction, or name a size with --target-tokens.',
      data: { preTokens: gauge?.used ?? contextTokens(entries, measure) },
    },
  );
}

function cannotFit(
  { targetTokens = 0 }: Occasion,
  leastTarget: number,
  parts: Readonly<Record<string, number>>,
): BatonError {
  const { fixed = 0, instructionsAndTools } = parts;
  const beside =
    instructionsAndTools === undefined
      ? ''
      : `, and ${formatNumber(instructionsAndTools)} for instructions and tools, which are in every request`;
  return new BatonError(
    'cannot_fit',
    `The context cannot be compacted to ${plural(targetTokens, 'token')}; it needs at least ${formatNumber(leastTarget)}, ${formatNumber(fixed)} of them for what stays as it is, like instructions at the start${beside}`,
    { cure: `Ask for --target-tokens ${leastTarget} or more.`, data: { leastTarget, parts } },
  );
}
