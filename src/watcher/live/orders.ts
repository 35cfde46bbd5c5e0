// The compactions that the machine requests, in the terms of the arbiter. Pure.

import type { DecisionRecord } from '../../protocol/decision.ts';
import type { JsonObject } from '../../protocol/item.ts';
import { calmTokens } from '../decide.ts';
import type { Compact, PlanCompaction } from '../effects.ts';
import type { Policy } from '../policy.ts';
import type { CompactionOrder, CompactionWish, WatcherSettings } from './agent.ts';

/** What to ask the arbiter for. */
export function compactionWish({ tier, situation, place }: PlanCompaction, policy: Policy): CompactionWish {
  const target = tier === undefined ? undefined : calmTokens(tier, policy, situation.window);
  return {
    place,
    why: '',
    isEmergency: tier === 'emergency',
    ...(target === undefined ? {} : { target }),
  };
}

/** What to order. @param decision the one behind the running sequence */
export function compactionOrder(
  { number, strategy, place, trigger, packet }: Compact,
  decision: DecisionRecord | undefined,
  { config, policy }: WatcherSettings,
): CompactionOrder {
  const { tier } = trigger;
  // With a packet to hand back, clearing alone does not fulfil the decision.
  const target =
    strategy === 'micro' && tier !== undefined
      ? calmTokens(tier, policy, decision?.situation.window)
      : undefined;
  return {
    number,
    strategy,
    place,
    why: decision?.why ?? '',
    isEmergency: tier === 'emergency',
    isEmbedded: packet?.author === 'agent' && config.rawrAutoCompaction.summaryWithPacket === 'embedded',
    isHandedOver: packet !== undefined,
    audit: { ...trigger, number } as unknown as JsonObject,
    ...(target === undefined ? {} : { target }),
  };
}
