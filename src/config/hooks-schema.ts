// The settings of hooks: [[hooks.EVENT]]. Their consumers are described in schema.ts.

import * as z from 'zod';
import { SESSION_SOURCES, TRIGGERS } from '../vocabulary.ts';
import { about } from './about.ts';

const SPEC = 'spec 4-session §5';

/** Default time limit of a hook, in seconds. @source docs/decisions/hooks.md */
const DEFAULT_TIMEOUT_SECONDS = 60;

/** Words of a list, joined by `|`. Unknown words are errors, because a misspelt one would silently never match. */
function matcher(words: readonly [string, ...string[]], what: string) {
  const word = `(?:${words.join('|')})`;
  return z
    .string()
    .regex(new RegExp(`^${word}(?:\\|${word})*$`))
    .optional()
    .meta(
      about({
        description: `Runs the hook only for these ${what}.`,
        source: 'Codex and Claude Code',
        allowed: `any of ${words.map((name) => JSON.stringify(name)).join(', ')}, joined by "|"`,
        whenUnset: 'always',
        examples: [words[0]],
      }),
    );
}

const command = z.union([z.string().regex(/\S/), z.array(z.string()).min(1).readonly()]).meta(
  about({
    description: 'A line for `/bin/sh`, or a program and its arguments.',
    source: SPEC,
    allowed: 'a non-empty string in quotes, or a list of a program and its arguments',
    whenUnset: 'an error',
    examples: ['~/bin/hook.sh'],
  }),
);

const timeout = z
  .int()
  .min(1)
  .max(3_600)
  .default(DEFAULT_TIMEOUT_SECONDS)
  .meta(
    about({
      description: 'The time after which Baton ends the hook and everything it started.',
      unit: 'seconds',
      source: 'docs/decisions/hooks.md',
    }),
  );

const plainHook = z.strictObject({ command, timeout_seconds: timeout });

function hook(words: readonly [string, ...string[]], what: string) {
  return plainHook.extend({ matcher: matcher(words, what) });
}

function hooks<Hook extends z.ZodType>(occasion: string, each: Hook) {
  return z
    .array(each)
    .readonly()
    .optional()
    .meta(
      about({
        description: `Commands that run ${occasion}, in order; see docs/hooks.md.`,
        source: SPEC,
        whenUnset: 'nothing runs',
        examples: [[{ command: '~/bin/hook.sh', timeout_seconds: 10 }]],
      }),
    );
}

export const HooksSchema = z
  .strictObject({
    pre_compact: hooks('before a compaction and may veto it or add instructions', hook(TRIGGERS, 'triggers')),
    post_compact: hooks('after a compaction', hook(TRIGGERS, 'triggers')),
    session_start: hooks(
      'when a session begins, resumes or restarts after a compaction, and may add context',
      hook(SESSION_SOURCES, 'sources'),
    ),
    user_prompt_submit: hooks('before Baton accepts your message, and may veto it or add context', plainHook),
    turn_complete: hooks('after your turn completed', plainHook),
  })
  .prefault({})
  .meta({ ...about({ userOnly: true }), description: 'Your own commands that run beside a session.' });
