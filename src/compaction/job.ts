// A compaction that is being carried out: what is compacted, why and with what, and the one measure of every size in it. Pure.

import type { Config } from '../config/schema.ts';
import type { CompactionPlan } from '../protocol/plan.ts';
import type { PreCompactInput } from '../protocol/hook.ts';
import { pinnedItems, pinnedNotes } from '../trail/pins.ts';
import { WORTHWHILE_SHARE } from './budget.ts';
import { InputHash } from './full/input-hash.ts';
import type { FullRequest } from './full/request.ts';
import type { RestorableFile } from './full/restore.ts';
import { restoreState } from './full/restore.ts';
import { LEAST_FREED_SHARE } from './loop-guard.ts';
import { contextTokens, measureOnce } from './measure.ts';
import type { Measure } from './measure.ts';
import type { Compaction, CompactionWorld, ContextGauge, Occasion, Subject } from './subject.ts';

/** What the arbiter lets through. */
export type PlannedCompaction = Exclude<CompactionPlan, { type: 'none' }>;

type FullRecord = Extract<Compaction, { type: 'full' }>['record'];

/** One compaction, from its plan to its record. */
export class Job {
  readonly id: string;
  readonly startedMs: number;
  readonly plan: PlannedCompaction;
  readonly subject: Subject;
  readonly occasion: Occasion;
  readonly config: Config;
  readonly world: CompactionWorld;
  /** Tokens of an item. Each item is counted once. */
  readonly measure: Measure;

  constructor(
    plan: PlannedCompaction,
    { subject, occasion }: { readonly subject: Subject; readonly occasion: Occasion },
    config: Config,
    world: CompactionWorld,
  ) {
    this.id = world.ids.uuid();
    this.startedMs = world.clock.now();
    this.plan = plan;
    this.subject = subject;
    this.occasion = occasion;
    this.config = config;
    this.world = world;
    this.measure = measureOnce(world.count, config.compact);
  }

  /** When it began, ISO 8601. */
  get at(): string {
    return new Date(this.startedMs).toISOString();
  }

  /** Tokens in the context before it, by the gauge, or by the items where there is no gauge. */
  get preTokens(): number {
    return this.subject.gauge?.used ?? contextTokens(this.subject.entries, this.measure);
  }

  /** Whether the user names a size, so that a compaction is never too little. */
  get isOrdered(): boolean {
    return this.subject.targetsWhatIsWritten === true && this.occasion.targetTokens !== undefined;
  }

  /** The option that names a target size. */
  get targetName(): string {
    return this.occasion.targetName ?? '--target-tokens';
  }

  /** The share of the context that it has to free to be worth the change. A full window cannot wait for a quarter. */
  get leastFreedShare(): number {
    const { reason } = this.occasion;
    return reason === 'context_limit' || reason === 'overflow' ? LEAST_FREED_SHARE : 1 - WORTHWHILE_SHARE;
  }

  /** What the hooks before a compaction are told. */
  get hookInput(): PreCompactInput {
    const { subject, occasion, world } = this;
    return {
      session: subject.session,
      trigger: occasion.trigger,
      reason: occasion.reason,
      phase: occasion.phase,
      customInstructions: world.summarizers?.prompts.instructions,
      preTokens: this.preTokens,
      window: subject.window,
      mayVeto: occasion.isEmergency !== true,
    };
  }

  /**
   * The request for a history that a summary replaces.
   * @param files read back from the workspace
   * @param reserve tokens that what joins the history at last may take
   */
  fullRequest(files: readonly RestorableFile[], reserve: number): FullRequest {
    const { subject, occasion, config, world, plan } = this;
    const { trigger, reason, phase, strategy, why, targetTokens, isHandedOver } = occasion;
    return {
      id: this.id,
      at: this.at,
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
      ...(targetTokens === undefined ? {} : { targetTokens: this.#itemsWithin(targetTokens) }),
      ...this.#worth(),
      leavesInitialContext: subject.leavesInitialContext,
      summaryPrefix: subject.summaryPrefix,
      userMessageLimit: config.compact.userMessageMaxTokens,
      files,
      reserve,
      state: [...restoreState(subject.trail, config.compact), ...(subject.surroundings ?? [])],
      measure: this.measure,
      count: world.count,
      counter: world.counter,
      hash: world.hash,
      ...(world.within === undefined ? {} : { within: world.within }),
      input: new InputHash(subject.entries, world.hash),
    };
  }

  /** A record with its sizes as the gauge reports them, and the difference to its items beside them. */
  byGauge(record: FullRecord): FullRecord {
    const { gauge } = this.subject;
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
    const { targetTokens } = this.occasion;
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
  #itemsWithin(target: number): number {
    const { gauge, targetsWhatIsWritten } = this.subject;
    return gauge === undefined || targetsWhatIsWritten === true ? target : itemsByGauge(target, gauge);
  }

  /**
   * What makes a compaction worth the change: the gauge that will report its sizes. A size that is named for what is written is
   * an order: what is in every request besides does not make the compaction worthless.
   */
  #worth(): Pick<FullRequest, 'beside' | 'worthwhile'> {
    const { gauge } = this.subject;
    if (gauge === undefined || this.isOrdered) return {};
    const most = Math.floor(gauge.used * (1 - this.leastFreedShare));
    return { beside: gauge.fixed, worthwhile: itemsByGauge(most, gauge) };
  }
}

/** Tokens that items may have so that the gauge stays at `target`; 0 where not even none would do. */
function itemsByGauge(target: number, gauge: ContextGauge): number {
  const [least, most] = [gauge.usedWith(0), gauge.usedWith(target)];
  return most <= least ? 0 : Math.floor((target * Math.max(0, target - least)) / (most - least));
}
