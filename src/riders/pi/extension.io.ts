// Baton inside pi: an extension whose handlers put each step of the agent to a rider. pi's session file is the log; nothing else is
// kept.

import { homedir } from 'node:os';
import { WatchedLog } from '../../calls/watched-log.ts';
import { DEFAULT_CONFIG } from '../../config/defaults.ts';
import { loadConfig } from '../../config/load.io.ts';
import type { Config } from '../../config/schema.ts';
import { UNKNOWN_MODEL_WINDOW } from '../../tokens/models.ts';
import { approximateTokens } from '../../tokens/estimate.ts';
import { formatNumber } from '../../tokens/words.ts';
import type { HostNews, HostOrder, HostWindow, RiderAnswer, RiderEngine } from '../port.ts';
import { Rider } from '../rider.io.ts';
import type {
  PiApi,
  PiBeforeCompact,
  PiBoundaryResult,
  PiCompactAnswer,
  PiContext,
  PiTurnEnd,
} from './api.ts';
import { draftsOf, newsOf, notesOf, recordsOf } from './branch.ts';
import type { BranchMark } from './branch.ts';
import { joinItems } from '../../formats/pi/riding.ts';

/** What a test replaces. */
export interface PiRide {
  /** Absent: the watcher. */
  readonly open?: (window: HostWindow) => RiderEngine;
  readonly deadlineMs?: number;
}

/** Registers Baton with pi. */
export function ridePi(pi: PiApi, ride: PiRide = {}): void {
  const extension = new PiExtension(pi, ride);
  pi.on('session_start', (_, context) => extension.begin(context));
  pi.on('session_tree', () => extension.forget());
  pi.on('session_shutdown', () => extension.forget());
  pi.on('turn_end', (event, context) => extension.turnEnded(event, context));
  pi.on('session_before_compact', (event, context) => extension.beforeCompact(event, context));
  pi.registerCommand('baton', {
    description: 'Show what Baton knows of this context',
    handler: (_, context) => extension.show(context),
  });
}

const UNREAD: BranchMark = { lastId: undefined, ordered: 0 };

/** One running pi; its sessions come one after the other. */
class PiExtension {
  readonly #pi: PiApi;
  readonly #rider: Rider;
  #config: Config = DEFAULT_CONFIG;
  #mark = UNREAD;
  /** The newest line of the watcher's for people. */
  #line = 'nothing compacted yet';
  #told: string | undefined;

  constructor(pi: PiApi, { open, deadlineMs }: PiRide) {
    this.#pi = pi;
    this.#rider = new Rider({
      open:
        open ??
        ((window) =>
          new WatchedLog({ ...window, config: this.#config, onLine: (line) => (this.#line = line) })),
      ...(deadlineMs === undefined ? {} : { deadlineMs }),
    });
  }

  async begin(context: PiContext): Promise<undefined> {
    await this.forget();
    const world = { env: process.env, cwd: context.cwd, homeDirectory: homedir() };
    try {
      const { config, warnings } = await loadConfig({ configFile: undefined, overrides: [] }, world);
      this.#config = config;
      for (const warning of warnings) context.ui.notify(`Baton: ${warning}`, 'warning');
    } catch (error) {
      this.#config = DEFAULT_CONFIG;
      const why = error instanceof Error ? error.message : String(error);
      context.ui.notify(`Baton uses its default settings: ${why}`, 'warning');
    }
    this.#showStatus(context);
  }

  async forget(): Promise<undefined> {
    this.#mark = UNREAD;
    await this.#rider.forget();
  }

  async turnEnded(event: PiTurnEnd, context: PiContext): Promise<PiBoundaryResult | undefined> {
    const hasMore =
      event.toolResults.length > 0 || event.continue || event.context.pendingMessages.length > 0;
    // An answer that failed or was stopped is not the moment to compact; what pi makes of it is read afterwards.
    if (event.outcome !== 'completed') return undefined;
    const branch = context.sessionManager.getBranch();
    const answer = await this.#rider.stepEnded(this.#news(branch, context), hasMore ? 'under_way' : 'over');
    const order = this.#accept(answer, context);
    if (order === undefined) return undefined;
    const drafts = draftsOf(order, branch);
    this.#mark = { ...this.#mark, ordered: drafts.length };
    return { entries: [...event.entries, ...drafts], ...(order.continues ? { continue: true } : {}) };
  }

  async beforeCompact(event: PiBeforeCompact, context: PiContext): Promise<PiCompactAnswer | undefined> {
    const { reason: from, customInstructions: instructions, preparation } = event;
    const branch = context.sessionManager.getBranch();
    const compaction = { from, ...(instructions === undefined ? {} : { instructions }) };
    const answer = await this.#rider.hostCompacts(this.#news(branch, context), compaction);
    const order = this.#accept(answer, context);
    if (answer.type === 'refuse') return { cancel: true };
    if (order?.replacement === undefined) return undefined;
    const { keptFrom, items } = order.replacement;
    const notes = notesOf(order);
    for (const { customType, data } of notes) this.#pi.appendEntry(customType, data);
    this.#mark = { ...this.#mark, ordered: notes.length + 1 };
    const { tokensBefore } = preparation;
    return { compaction: { ...joinItems(items), firstKeptEntryId: keptFrom ?? null, tokensBefore } };
  }

  show(context: PiContext): Promise<void> {
    context.ui.notify(`Baton: ${this.#gauge()}; ${this.#line}`, 'info');
    return Promise.resolve();
  }

  #news(branch: readonly object[], context: PiContext): HostNews {
    const entries = branch as Parameters<typeof recordsOf>[0];
    const contextWindow = context.model?.contextWindow ?? UNKNOWN_MODEL_WINDOW;
    const window = { contextWindow, fixedTokens: approximateTokens(context.getSystemPrompt()) };
    const news = newsOf(entries, this.#mark);
    const lastId = entries.at(-1)?.['id'];
    this.#mark = { lastId: typeof lastId === 'string' ? lastId : undefined, ordered: 0 };
    if (!news.isContinued || !this.#rider.isFollowing(window)) {
      return { records: recordsOf(entries), isContinued: false, window };
    }
    const foreign = entries.filter((_, index) => !news.own.has(index));
    const known = news.from;
    return { records: recordsOf(foreign, known), isContinued: true, window };
  }

  /** Tells the user what an answer says. */
  #accept(answer: RiderAnswer, context: PiContext): HostOrder | undefined {
    this.#showStatus(context);
    if (answer.type === 'change') return answer;
    const { why } = answer;
    if (why !== undefined && why !== this.#told) context.ui.notify(why, 'warning');
    this.#told = why;
    return undefined;
  }

  #showStatus(context: PiContext): void {
    context.ui.setStatus('baton', `baton: ${this.#gauge()}`);
  }

  #gauge(): string {
    if (this.#rider.standsAside) return 'stands aside after faults';
    const usage = this.#rider.usage;
    if (usage === undefined) return 'ready';
    const { used, rawWindow = UNKNOWN_MODEL_WINDOW } = usage;
    return `${formatNumber(used)} of ${formatNumber(rawWindow)} tokens`;
  }
}
