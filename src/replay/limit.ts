// Policies that wait for nothing: they compact when the context is larger than a limit, as agents do today.

import type { EstimateSettings } from '../tokens/estimate.ts';
import { autoCompactThreshold, percentRemaining, usableWindow } from '../tokens/pressure.ts';
import type { ThresholdSettings } from '../tokens/pressure.ts';
import type { DecisionPoint } from '../vocabulary.ts';
import type { Trail } from '../trail/trail.ts';
import { SimulatedContext } from './context.ts';
import { contextOutcome } from './outcome.ts';
import type { MeasureRecall, PolicyOutcome, SimulatedCompaction } from './outcome.ts';
import { RecentBoundaries } from './place.ts';
import type { Moment, Play } from './play.ts';
import type { SizeScale } from './sizes.ts';
import {
  clearable,
  compactAsBaton,
  compactAsClaude,
  compactAsCodex,
  MODEL_SUMMARY_TOKENS,
} from './summaries.ts';
import type { Compactable, CompactionConfig } from './summaries.ts';

/** When an agent compacts by itself, and how. */
export interface LimitRule {
  readonly policy: string;
  /** Tokens from which on it compacts, for a raw window. */
  readonly limit: (window: number) => number;
  readonly compaction: 'baton' | 'codex' | 'claude';
}

/** Shared by all players of one session. */
export interface PlayerWorld {
  readonly sizes: SizeScale;
  readonly estimate: EstimateSettings;
  /** What has happened so far, as the summarizer sees it. */
  readonly trail: () => Trail;
  readonly recall: MeasureRecall;
}

/** Plays one policy over one session. */
export interface Player {
  play(step: Play): void;
  outcome(): PolicyOutcome;
}

/** Codex compacts at 90 % of the raw window. @source codex-behaviour §3 */
export const CODEX_RULE: LimitRule = {
  policy: 'codex',
  limit: (window) => Math.floor((window * 90) / 100),
  compaction: 'codex',
};

/** Claude Code compacts 33,000 tokens before the end of the window. @source claude-code-behaviour §4, measured */
export const CLAUDE_RULE: LimitRule = {
  policy: 'claude_like',
  limit: (window) => Math.max(Math.floor(window / 2), window - 33_000),
  compaction: 'claude',
};

/** The built-in compaction of a configuration, without a watcher. @source seed 002, spec 2-engine §2 */
export function builtInRule(settings: ThresholdSettings): LimitRule {
  return {
    policy: 'built_in',
    limit: (window) => autoCompactThreshold(window, settings),
    compaction: 'baton',
  };
}

/** After a compaction that bought nothing, the context must grow by this share of the window. @source spec 2-engine §6 */
const REARM_SHARE = 0.1;

/** Nothing is ever compacted. */
export class NonePlayer implements Player {
  readonly #context: SimulatedContext;

  constructor({ sizes, estimate }: PlayerWorld) {
    this.#context = new SimulatedContext(sizes, estimate, false);
  }

  play(step: Play): void {
    if (step.type === 'request') this.#context.request(step.moment);
    else if (step.type === 'answered') this.#context.answer(step.outputTokens);
  }

  outcome(): PolicyOutcome {
    return { policy: 'none', compactions: [], decisions: [], ...contextOutcome(this.#context) };
  }
}

/** Compacts above a limit: before a message of the user is taken in, and between two requests of a turn. */
export class LimitPlayer implements Player {
  readonly #rule: LimitRule;
  readonly #config: CompactionConfig;
  readonly #world: PlayerWorld;
  readonly #context: SimulatedContext;
  readonly #recent = new RecentBoundaries();
  readonly #compactions: SimulatedCompaction[] = [];
  /** No attempt below this size: the last one bought nothing. */
  #rearmAt = 0;

  constructor(rule: LimitRule, config: CompactionConfig, world: PlayerWorld) {
    this.#rule = rule;
    this.#config = config;
    this.#world = world;
    this.#context = new SimulatedContext(world.sizes, world.estimate, true);
  }

  play(step: Play): void {
    switch (step.type) {
      case 'signals':
        this.#recent.note(step.signals);
        return;
      case 'user_arrives':
        if (!step.isSteering) this.#check(step.moment, 'preflight');
        return;
      case 'request':
        if (step.isFollowUp) this.#check(step.moment, 'mid_turn');
        this.#context.request(step.moment);
        this.#recent.pass();
        return;
      case 'answered':
        this.#context.answer(step.outputTokens);
        return;
      case 'item':
        this.#context.add(step.item);
        return;
      default:
    }
  }

  outcome(): PolicyOutcome {
    const { policy } = this.#rule;
    return { policy, compactions: this.#compactions, decisions: [], ...contextOutcome(this.#context) };
  }

  #check(moment: Moment, point: DecisionPoint): void {
    const used = this.#context.used(moment);
    const limit = this.#rule.limit(moment.window);
    if (used < limit || used < this.#rearmAt) return;
    const done = this.#compact(moment);
    if (done === undefined) {
      this.#rearmAt = used + Math.floor(moment.window * REARM_SHARE);
      return;
    }
    const pauses = this.#recent.pauses;
    this.#compactions.push({
      ...done,
      point,
      place: pauses.length > 0 ? 'boundary' : 'mid_work',
      turn: moment.turn,
      request: moment.request,
      line: moment.line,
      atMs: moment.atMs,
      step: moment.step,
      tier: undefined,
      why: `${used} tokens have reached the limit of ${limit}`,
      signals: pauses,
      percentRemaining: percentRemaining(used, usableWindow(moment.window)),
      openCalls: moment.openCalls,
      recall: this.#world.recall(
        moment,
        this.#context.entries.map(({ value }) => value),
      ),
    });
  }

  #compact(
    moment: Moment,
  ):
    { readonly kind: 'full' | 'micro'; readonly preTokens: number; readonly postTokens: number } | undefined {
    const { compaction, limit } = this.#rule;
    const context = this.#context;
    if (compaction === 'baton' && this.#config.features.microCompact) {
      const { callIds, savedTokens } = clearable(context.entries, this.#config);
      const after = context.used(moment) - this.#world.sizes.scaled(savedTokens);
      if (callIds.length > 0 && after < limit(moment.window)) {
        return { kind: 'micro', ...context.clear(moment, new Set(callIds)) };
      }
    }
    const subject: Compactable = {
      entries: context.entries,
      window: moment.window,
      atMs: moment.atMs,
      trail: this.#world.trail(),
      reason: 'context_limit',
    };
    if (compaction === 'baton') {
      const items = compactAsBaton(subject, this.#config);
      return items === undefined ? undefined : { kind: 'full', ...context.replace(moment, items) };
    }
    // Codex sends the summary's request without tools, which stand before everything else: the cache holds nothing of it.
    context.requestBeside(moment, 0, compaction === 'codex');
    context.answer(MODEL_SUMMARY_TOKENS);
    const items = compaction === 'codex' ? compactAsCodex(subject) : compactAsClaude(subject);
    return { kind: 'full', ...context.replace(moment, items) };
  }
}
