// One call that returns what fills the context of a session file.

import { DEFAULT_CONFIG } from '../config/defaults.ts';
import type { Config } from '../config/schema.ts';
import { loadSession } from '../formats/session-file.io.ts';
import type { DamageNote } from '../formats/reader.ts';
import type { CompactionMark, ContextAccount } from '../history/context-account.ts';
import type { CancelSignal } from '../ports.ts';
import { percentRemaining } from '../tokens/pressure.ts';
import { TIERS } from '../vocabulary.ts';
import type { Format, Tier } from '../vocabulary.ts';
import { calmTokens, tierOf } from '../watcher/decide.ts';
import { resolvePolicy } from '../watcher/policy.ts';
import { withProcess } from './call-process.io.ts';
import { partsOf } from './context-parts.ts';
import type { ContextPart } from './context-parts.ts';
import type { Top } from './inspect-top.ts';
import { inspectRecords } from './inspection.ts';
import type { Inspection } from './inspection.ts';
import { withSource } from './session-source.ts';

/** How detailed the inspection of a session is. */
export interface InspectSessionOptions {
  /** Length of each list in `top`. Absent: 10, as for `baton inspect --top`: both lists fit on a screen. */
  readonly top?: number;
  /**
   * `precise`: counts parts with the o200k tokenizer of the optional package `gpt-tokenizer`. Absent: `approximate`,
   * UTF-8 bytes / 4.
   */
  readonly counter?: 'precise' | 'approximate';
  /** Absent: the defaults. The user's configuration files are not read. */
  readonly config?: Config;
  /** Ends the call with `interrupted`. */
  readonly signal?: CancelSignal;
}

/** What `baton inspect` shows, as data. All sizes in tokens. */
export interface SessionInspection {
  readonly format: Format;
  readonly sessionId: string | undefined;
  readonly model: string | undefined;
  readonly cwd: string | undefined;
  /** The context window; `usable` is the part of `raw` that a session may fill. */
  readonly window: {
    readonly raw: number;
    readonly usable: number;
    readonly knownFrom: ContextAccount['windowFrom'];
  };
  readonly usedTokens: number;
  /** Free share of the usable window, 0 to 100, rounded down. */
  readonly percentRemaining: number;
  /** What fills the context. The parts add up to `usedTokens`; a part can be negative if the provider counts less. */
  readonly parts: readonly { readonly kind: ContextPart['kind']; readonly tokens: number }[];
  /** Where the agent that wrote the file compacts, else where Baton would; undefined if automatic compaction is off. */
  readonly compactsFrom: number | undefined;
  /** The next tier of the watcher's pressure, and the tokens from which it applies; undefined in the last tier. */
  readonly nextTier: { readonly tier: Tier; readonly fromTokens: number } | undefined;
  readonly turns: number;
  /** In the order of the file, including undone ones. */
  readonly compactions: readonly CompactionMark[];
  /** What takes up most of the context. */
  readonly top: Top;
  /** What was repaired or could not be read. */
  readonly damage: readonly DamageNote[];
}

/**
 * Inspects a session file of any format that Baton reads: what fills its context, when it was compacted, what takes most.
 *
 * @example
 * ```ts
 * import { inspectSession } from 'baton-agent';
 *
 * const { usedTokens, percentRemaining, parts, top } = await inspectSession('session.jsonl');
 * const shares = parts.map(({ kind, tokens }) => `${kind}: ${tokens} of ${usedTokens} tokens`);
 * const largest = top.results.map(({ tool, subject, tokens }) => `${tokens} tokens: ${tool} ${subject}`);
 * const isNearlyFull = percentRemaining < 15;
 * ```
 *
 * @param path `-` reads standard input
 * @throws BatonError `file_not_found`, `not_a_file`, `file_unreadable`, `file_empty`, `file_changed` where the file cannot be
 *   read; `format_unknown`, `session_empty` where it does not hold a session; `tokenizer_missing` with `precise`;
 *   `interrupted`
 * @throws RangeError where `top` is not a whole number from 0
 */
export async function inspectSession(
  path: string,
  options: InspectSessionOptions = {},
): Promise<SessionInspection> {
  const { top = DEFAULT_TOP, counter = 'approximate', config = DEFAULT_CONFIG, signal } = options;
  if (!Number.isSafeInteger(top) || top < 0) {
    throw new RangeError(`top is ${top}; it must be a whole number from 0`);
  }
  return withProcess(signal, async (world) => {
    const inspection = await withSource(world, path, (source) =>
      inspectRecords((emit) => loadSession(source, emit, { signal: world.signal }), config, {
        precise: counter === 'precise',
        top,
      }),
    );
    return dataOf(inspection, config);
  });
}

/** @source `DEFAULT_TOP` of `baton inspect --top`: both lists fit on a screen */
const DEFAULT_TOP = 10;

function dataOf(
  { report, account, agentLimit, threshold, isAutoCompactOn, top }: Inspection & { readonly top: Top },
  config: Config,
): SessionInspection {
  const { used } = account.usage;
  return {
    format: report.format,
    sessionId: account.sessionId,
    model: account.model,
    cwd: account.cwd,
    window: { raw: account.window, usable: account.usableWindow, knownFrom: account.windowFrom },
    usedTokens: used,
    percentRemaining: account.percentRemaining,
    parts: partsOf(account).map(({ kind, tokens }) => ({ kind, tokens })),
    compactsFrom: agentLimit ?? (isAutoCompactOn ? threshold.autoCompactThreshold : undefined),
    nextTier: nextTier(account, config),
    turns: account.turns,
    compactions: account.compactions,
    top,
    damage: report.damage,
  };
}

/** The tier that starts at the fewest tokens above the used ones. */
function nextTier(
  { usage, usableWindow: usable }: ContextAccount,
  config: Config,
): SessionInspection['nextTier'] {
  const policy = resolvePolicy(config);
  const beginnings = TIERS.flatMap((tier) => {
    const calm = calmTokens(tier, policy, usable);
    return calm === undefined || calm < usage.used || calm >= usable ? [] : [calm + 1];
  });
  if (beginnings.length === 0) return undefined;
  const fromTokens = Math.min(...beginnings);
  const tier = tierOf({ used: fromTokens, percentRemaining: percentRemaining(fromTokens, usable) }, policy);
  return tier === undefined ? undefined : { tier, fromTokens };
}
