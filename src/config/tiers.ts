// The thresholds of the watcher's tiers: defaults, and the rule that a more urgent tier begins later.

import { TIERS } from '../vocabulary.ts';
import type { Tier } from '../vocabulary.ts';

/** A tier holds while less than this percentage of the window remains, 0 (never) to 100. */
export type Thresholds = Readonly<Record<Tier, number>>;

/** @source seed 000: 85, 75, 65, 15 */
export const DEFAULT_THRESHOLDS: Thresholds = { early: 85, ready: 75, asap: 65, emergency: 15 };

/** The first neighbours of which the more urgent tier would begin earlier; undefined for thresholds in order. */
export function misorderedTiers(thresholds: Thresholds): readonly [Tier, Tier] | undefined {
  for (const [index, urgent] of TIERS.entries()) {
    const calm = TIERS[index - 1];
    if (calm !== undefined && thresholds[calm] < thresholds[urgent]) return [calm, urgent];
  }
  return undefined;
}
