// The thresholds of the watcher's tiers: the defaults, and the rule that a more urgent tier begins later.

import { TIERS } from '../vocabulary.ts';
import type { Tier } from '../vocabulary.ts';

/** A tier applies while less than this percentage of the window remains, 0 (never) to 100. */
export type Thresholds = Readonly<Record<Tier, number>>;

/**
 * @source docs/decisions/replay.md: compared with the seed's 85, 75, 65 and 15, half as many full compactions for 5 % higher
 * cost. `preset = "seed"` sets the seed's.
 */
export const DEFAULT_THRESHOLDS: Thresholds = { early: 65, ready: 55, asap: 45, emergency: 15 };

/** The first pair of neighbouring tiers where the more urgent one would begin earlier; undefined for thresholds in order. */
export function misorderedTiers(thresholds: Thresholds): readonly [Tier, Tier] | undefined {
  for (const [index, urgent] of TIERS.entries()) {
    const calm = TIERS[index - 1];
    if (calm !== undefined && thresholds[calm] < thresholds[urgent]) return [calm, urgent];
  }
  return undefined;
}
