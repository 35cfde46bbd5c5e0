// `[limits]`: what a turn and a session may spend before Baton ends them.

import * as z from 'zod';
import { about } from './about.ts';

const SOURCE = 'docs/decisions/limits.md';

function count(known: number, description: string, unit: 'requests' | 'tokens' | 'times') {
  return z
    .int()
    .min(0)
    .default(known)
    .meta(about({ description: `${description}; 0: no limit.`, unit, source: SOURCE }));
}

function dollars(known: number, description: string) {
  return z
    .number()
    .min(0)
    .default(known)
    .meta(
      about({
        description: `${description}; 0: no limit.`,
        unit: 'US dollars',
        source: SOURCE,
      }),
    );
}

/** [limits] */
export const LimitsSchema = z
  .strictObject({
    turn_requests: count(
      500,
      'Requests to models, retries, summaries and judgments included, that one message of the user may cause',
      'requests',
    ),
    turn_tokens: count(60_000_000, 'Tokens that those requests may send and receive together', 'tokens'),
    turn_dollars: dollars(50, "Their cost by list price, if the model's price is known"),
    session_requests: count(2_000, 'Requests of a whole session, over all its resumptions', 'requests'),
    session_tokens: count(200_000_000, 'Tokens that those requests may send and receive together', 'tokens'),
    session_dollars: dollars(150, "Their cost by list price, if the model's price is known"),
    repeated_calls: count(
      10,
      'How often in a row the same calls may return the same results before the turn ends; Baton warns the model from the third time on',
      'times',
    ),
  })
  .prefault({})
  .meta({
    ...about({ userOnly: true }),
    description: 'What a turn and a session may spend. The turn ends at the first limit it reaches.',
  });
