// Policies that do not wait: they compact when the context exceeds a limit, as agents do today.

import type { EstimateSettings } from '../../tokens/estimate.ts';
import { claudeLimit, codexLimit, percentRemaining, usableWindow } from '../../tokens/pressure.ts';
import { formatNumber } from '../../tokens/words.ts';
import type { DecisionPoint } from '../../vocabulary.ts';
import type { Trail } from '../../trail/trail.ts';
import type { CompactionSizes } from './arbiter.ts';
import { SimulatedContext } from './context.ts';
import { contextOutcome } from './outcome.ts';
import type { MeasureRecall, PolicyOutcome, SimulatedCompaction } from './outcome.ts';
import { RecentBoundaries } from './recording-place.ts';
import type { RecordingMoment, Play } from './play.ts';
import type { SizeScale } from './sizes.ts';
import { compactAsClaude, compactAsCodex, MODEL_SUMMARY_TOKENS } from './summaries.ts';
import type { Compactable } from './summaries.ts';

/** When and how an agent compacts by itself. */
export interface LimitRule {
  readonly policy: string;
  /** Tokens from which it compacts, for a raw window. */
  readonly limit: (window: number) => number;
  readonly compaction: 'codex' | 'claude';
}

/** Shared by all players of one session. */
export interface PlayerWorld {
  readonly sizes: SizeScale;
  readonly estimate: EstimateSettings;
  /** What the gauge of a live thread would say of a history with so many tokens that no report has measured. */
  readonly usedWith: (tokens: number) => number;
  /** What has happened so far, as the summarizer sees it. */
  readonly trail: () => Trail;
  readonly recall: MeasureRecall;
}

/** Plays one policy over one session. */
export interface Player {
  play(step: Play): void;
  outcome(): PolicyOutcome;
}

/** Like Codex. */
export const CODEX_RULE: LimitRule = { policy: 'codex', limit: codexLimit, compaction: 'codex' };

/** Like Claude Code. */
export const CLAUDE_RULE: LimitRule = { policy: 'claude_like', limit: claudeLimit, compaction: 'claude' };

/** Never compacts. */
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

/** Compacts above a limit: before it accepts a user message, and between two requests of a turn. */
export class LimitPlayer implements Player {
  readonly #rule: LimitRule;
  readonly #world: PlayerWorld;
  readonly #context: SimulatedContext;
  readonly #recent = new RecentBoundaries();
  readonly #compactions: SimulatedCompaction[] = [];

  constructor(rule: LimitRule, world: PlayerWorld) {
    this.#rule = rule;
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

  #check(moment: RecordingMoment, point: DecisionPoint): void {
    const used = this.#context.used(moment);
    const limit = this.#rule.limit(moment.window);
    if (used < limit) return;
    const done = this.#compact(moment);
    const pauses = this.#recent.pauses;
    this.#compactions.push({
      kind: 'full',
      ...done,
      point,
      place: pauses.length > 0 ? 'boundary' : 'mid_work',
      turn: moment.turn,
      request: moment.request,
      line: moment.line,
      atMs: moment.atMs,
      step: moment.step,
      tier: undefined,
      why: `${formatNumber(used)} tokens are used, and the limit is ${formatNumber(limit)}`,
      signals: pauses,
      percentRemaining: percentRemaining(used, usableWindow(moment.window)),
      openCalls: moment.openCalls,
      recall: this.#world.recall(moment, this.#context.items),
    });
  }

  #compact(moment: RecordingMoment): CompactionSizes {
    const { compaction } = this.#rule;
    const context = this.#context;
    const subject: Compactable = {
      entries: context.entries,
      window: moment.window,
      atMs: moment.atMs,
      trail: this.#world.trail(),
      reason: 'context_limit',
    };
    // Codex sends the request for the summary without tools, which precede everything else: nothing of it is in the
    // cache.
    context.requestBeside(moment, 0, compaction === 'codex');
    context.answer(MODEL_SUMMARY_TOKENS);
    const items = compaction === 'codex' ? compactAsCodex(subject) : compactAsClaude(subject);
    return context.replace(moment, items);
  }
}
