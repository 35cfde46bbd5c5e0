// Limits on the spending of a turn and a session, and their messages. Pure.

import type { Config } from '../config/schema.ts';
import { formatNumber } from '../tokens/words.ts';
import type { Spending, Spent } from './spending.ts';

/** `[limits]`; 0: no limit. */
export type Limits = Config['limits'];

/** No limits: a recording's requests cost nothing. */
export const NO_LIMITS: Limits = {
  turnRequests: 0,
  turnTokens: 0,
  turnDollars: 0,
  sessionRequests: 0,
  sessionTokens: 0,
  sessionDollars: 0,
  repeatedCalls: 0,
};

/** One limit. */
interface Ceiling {
  readonly key: string;
  readonly scope: keyof Spending;
  readonly measure: 'requests' | 'tokens' | 'dollars';
  readonly limit: number;
  readonly spent: Spent;
}

/** A reached limit: why the turn ends, and the cure. */
export interface ReachedLimit {
  readonly why: string;
  readonly cure: string;
}

/** Share of a limit from which the user is warned. @source docs/decisions/limits.md */
const WARNING_SHARE = 0.8;

/** The first reached limit; undefined: one more request may be sent. */
export function reachedLimit(spending: Spending, limits: Limits): ReachedLimit | undefined {
  const first = ceilings(spending, limits).find(({ spent, measure, limit }) => spent[measure] >= limit);
  if (first === undefined) return undefined;
  const { key, scope } = first;
  const again = scope === 'turn' ? 'Send another message to continue' : 'Begin a new session';
  return {
    why: `${told(first)}, so no further request is sent.`,
    cure: `${again}, or raise ${key} in your own config.toml or with -c ${key}=N (0: no limit) and resume the session.`,
  };
}

/** Warnings about nearly reached limits, by their key. */
export function nearLimits(spending: Spending, limits: Limits): ReadonlyMap<string, string> {
  return new Map(
    ceilings(spending, limits).flatMap((each): readonly [string, string][] => {
      const { key, spent, measure, limit } = each;
      const share = limit * WARNING_SHARE;
      // Requests come one by one, so a small limit can also warn before it is reached.
      const from = measure === 'requests' ? Math.max(1, Math.floor(share)) : share;
      if (spent[measure] < from || spent[measure] >= limit) return [];
      return [[key, `${told(each)}. At the limit the turn ends.`]];
    }),
  );
}

/** Every configured limit, with the spending that counts against it. */
export function setLimits(
  spending: Spending,
  limits: Limits,
): readonly { readonly key: string; readonly limit: number; readonly spent: number }[] {
  return ceilings(spending, limits).map(({ key, limit, spent, measure }) => ({
    key,
    limit,
    spent: spent[measure],
  }));
}

function ceilings({ turn, session }: Spending, limits: Limits): readonly Ceiling[] {
  const all: readonly Ceiling[] = [
    ceiling('turn_requests', limits.turnRequests, turn),
    ceiling('turn_tokens', limits.turnTokens, turn),
    ceiling('turn_dollars', limits.turnDollars, turn),
    ceiling('session_requests', limits.sessionRequests, session),
    ceiling('session_tokens', limits.sessionTokens, session),
    ceiling('session_dollars', limits.sessionDollars, session),
  ];
  return all.filter(({ limit }) => limit > 0);
}

function ceiling(name: `${keyof Spending}_${Ceiling['measure']}`, limit: number, spent: Spent): Ceiling {
  const [scope, measure] = name.split('_') as [keyof Spending, Ceiling['measure']];
  return { key: `limits.${name}`, scope, measure, limit, spent };
}

function told({ key, scope, measure, limit, spent }: Ceiling): string {
  const took: Readonly<Record<Ceiling['measure'], string>> = {
    requests: `sent ${formatNumber(spent.requests)} requests to models`,
    tokens: `used ${formatNumber(Math.round(spent.tokens))} tokens`,
    dollars: `cost about ${spent.dollars.toFixed(2)} US dollars`,
  };
  const rest = formatNumber(spent.unpriced);
  const unpriced = spent.unpriced === 0 ? '' : `; requests without a known price: ${rest}`;
  return `This ${scope} ${took[measure]} (${key} = ${formatNumber(limit)}${measure === 'dollars' ? unpriced : ''})`;
}
