// All golden stories: the bundled session, and those that we made up.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '../../src/protocol/item.ts';
import { OUTCOME_STORIES } from './stories/outcomes.ts';
import { RULES_STORIES } from './stories/rules.ts';
import { TALK_STORIES } from './stories/talk.ts';
import { TREE_STORIES } from './stories/trees.ts';
import type { SessionStory } from './story.ts';

/** The stories that we made up: 10 to 60 records each. */
export const MADE_STORIES: readonly SessionStory[] = [
  ...RULES_STORIES,
  ...OUTCOME_STORIES,
  ...TREE_STORIES,
  ...TALK_STORIES,
];

/**
 * The bundled session with its key. It ends in the middle of its eighth request.
 * @param root folder of the repository
 */
export function bundledStory(root: string): SessionStory {
  const text = readFileSync(join(root, 'examples', 'sessions', 'tally.jsonl'), 'utf8');
  return {
    name: 'tally',
    lines: text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as JsonObject),
    key: {
      first: 'tally only prints one total at the moment. I need hours per project for invoicing',
      rules: [
        'never add a dependency, not even for development',
        'keep every function under 30 lines',
        'use UTC, not local time, wherever a date or a time is computed',
        'round to 6 minutes instead of 5, still per entry',
        'never edit anything in timesheets/',
        'Commit each working step on main.',
        'An entry with equal start and end is a mistake, not a whole day.',
        'Decimal hours with two digits and a point, separator is a semicolon.',
        'Quote a field only if it needs it.',
        'A project that is not in there is an error too.',
        'Use rounded minutes.',
      ],
      state: [
        ['Last one for today: budgets'],
        ['judges a long year above its budget'],
        ['fe2e537', 'Read budgets by project'],
      ],
      decisions: [
        { what: 'The report as CSV has no total line', why: 'because an import would count it as a project' },
      ],
      requests: [
        'tenths of an hour',
        'tally check FILE',
        'tally compare FILE FILE',
        'Two things before we go on',
      ],
      runs: [{ command: 'test/budget.test.js', ended: 'failed' }],
      hasFailure: true,
      git: { newest: 'Read budgets by project', branch: 'main' },
      changed: ['src/budget.js', 'test/budget.test.js', 'src/compare.js'],
      replaced: [{ old: 'round to 5 minutes', by: 'round to 6 minutes' }],
      untrue: [
        'compare timesheets/2026-01.txt timesheets/2026-03.txt` failed',
        'test/lengths.test.js; git checkout -q src/round.js; exit "$s"` failed',
        'compare "timesheets/2026-$p.txt"',
      ],
    },
  };
}
