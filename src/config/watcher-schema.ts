// The settings of the watcher: [rawr_auto_compaction]. Their consumers are described in schema.ts.

import * as z from 'zod';
import { BOUNDARIES, INFO_LINES, MID_TURN_MODES, PACKET_AUTHORS, WATCHER_MODES } from '../vocabulary.ts';
import type { Tier } from '../vocabulary.ts';
import { about } from './about.ts';
import type { Marks } from './about.ts';
import { DEFAULT_THRESHOLDS } from './tiers.ts';

const SPEC = 'spec 3-watcher §7';
const RAWR = 'seed 000 and its fork';

const percent = () => z.int().min(0).max(100);

function flag(value: boolean, description: string, source = SPEC) {
  return z.boolean().default(value).meta(about({ description, source }));
}

function deadline(seconds: number, description: string, marks: Marks = {}) {
  return z
    .int()
    .min(1)
    .max(86_400)
    .default(seconds)
    .meta(
      about({
        description,
        unit: 'seconds',
        source: 'spec 3-watcher §4',
        userOnly: true,
        ...marks,
      }),
    );
}

function patience(awaited: string): string {
  return `How long ${awaited} may stay silent before the watcher gives it up.`;
}

function promptPath(step: string, file: string) {
  return z
    .string()
    .min(1)
    .optional()
    .meta(
      about({
        description: `The prompt of ${step}: absolute, from ~, or relative to \`auto-compact/\` in Baton's home.`,
        source: SPEC,
        whenUnset: `\`${file}\``,
        examples: [file],
        userOnly: true,
      }),
    );
}

/**
 * Limits on the phrases of one list and the characters of one phrase: each phrase is searched for throughout a message, and a
 * project's file may set them. @source decision: twenty times the longest shipped list, ten times the longest phrase
 */
const MOST_PHRASES = 200;
const LONGEST_PHRASE = 200;

function phrases(list: readonly string[], description: string) {
  return z
    .array(z.string().min(1).max(LONGEST_PHRASE))
    .max(MOST_PHRASES)
    .readonly()
    .default(list)
    .meta(about({ description, source: 'rawr-behaviour §4.3' }));
}

function thresholdAlias(tier: Tier) {
  return percent()
    .optional()
    .meta(
      about({
        description: `The older name of \`policy.${tier}.percent_remaining_lt\`, which takes precedence.`,
        unit: 'percent',
        source: 'seed 000',
        ...(tier === 'emergency' ? { userOnly: true } : {}),
        whenUnset: `\`policy.${tier}.percent_remaining_lt\` decides`,
        examples: [DEFAULT_THRESHOLDS[tier]],
      }),
    );
}

const boundaries = () => z.array(z.enum(BOUNDARIES)).readonly();

function bounds(tier: Tier) {
  return {
    percent_remaining_lt: percent()
      .optional()
      .meta(
        about({
          description: 'The tier applies while less than this is left of the window; 0: never.',
          unit: 'percent',
          source: 'seed 000; the default: docs/decisions/replay.md',
          whenUnset: `the frontmatter of \`auto-compact.md\`, else ${DEFAULT_THRESHOLDS[tier]}`,
          examples: [DEFAULT_THRESHOLDS[tier]],
        }),
      ),
    used_tokens_ge: z
      .int()
      .min(1)
      .optional()
      .meta(
        about({
          description: 'The tier also applies from this usage on, for any size of the window.',
          unit: 'tokens',
          source: 'spec 3-watcher §3',
          whenUnset: 'only the percentage counts',
          examples: [200_000],
        }),
      ),
  };
}

/** The schema of a tier that waits for a boundary. */
function tierSchema(tier: 'early' | 'ready' | 'asap', sets: string, needsBreak: boolean) {
  return z
    .strictObject({
      ...bounds(tier),
      requires_any_boundary: boundaries()
        .optional()
        .meta(
          about({
            description: 'Any of these boundaries suffices; replaces all other sets. An empty list: never.',
            source: RAWR,
            whenUnset: sets,
            examples: [['commit', 'plan_checkpoint']],
          }),
        ),
      plan_boundaries_require_semantic_break: flag(
        needsBreak,
        'A change of the plan counts only together with a commit, a checkpoint, a phase or words that signal a break.',
        RAWR,
      ),
      decision_prompt_path: z
        .string()
        .min(1)
        .optional()
        .meta(
          about({
            description: `The prompt of the judge that may veto: absolute, from ~, or relative to \`auto-compact/\` in Baton's home.`,
            source: RAWR,
            whenUnset: 'no judge',
            examples: ['judgment.md'],
            userOnly: true,
          }),
        ),
    })
    .prefault({})
    .meta({ description: `The tier \`${tier}\`.` });
}

function name(description: string, whenUnset: string, example: string) {
  return z
    .string()
    .min(1)
    .optional()
    .meta(
      about({ description: `${description}`, source: RAWR, whenUnset, examples: [example], userOnly: true }),
    );
}

function count(value: number, unit: 'tokens' | 'activities', description: string) {
  return z
    .int()
    .min(1)
    .default(value)
    .meta(about({ description, unit, source: SPEC, userOnly: true }));
}

/** The only copy of the phrases; the watcher takes them from the configuration. */
const SemanticSignalsSchema = z
  .strictObject({
    agent_done_phrases: phrases(
      ['done', 'completed', 'finished', 'shipped', 'pushed'],
      'Words of the agent that say that it is done; the list replaces the default, an empty one switches the signal off.',
    ),
    agent_done_negative_phrases: phrases(
      ['not done', 'not completed', 'not finished'],
      'A message with any of these does not say that the agent is done.',
    ),
    topic_shift_phrases: phrases(
      ['moving on', 'switching to', 'next,', 'next:', 'next up', "now, let's", "now let's", "we'll now"],
      'Phrases with which the agent changes the topic; an empty list disables the signal.',
    ),
    concluding_thought_phrases: phrases(
      [
        'in summary',
        'to summarize',
        'to wrap up',
        'wrapping up',
        'conclusion',
        'concluding',
        'final thoughts',
        'next steps',
      ],
      'Phrases with which the agent concludes; an empty list disables the signal.',
    ),
  })
  .prefault({})
  .meta({ description: 'Which phrases of the agent mark a boundary.' });

/** [rawr_auto_compaction] */
export const WatcherSchema = z
  .strictObject({
    preset: z
      .enum(['seed'])
      .optional()
      .meta(
        about({
          description:
            "Sets every number and rule to the seeds'; keys that you set override it. Table: docs/decisions/watcher-config.md.",
          source: SPEC,
          whenUnset: "Baton's own defaults",
          examples: ['seed'],
          userOnly: true,
        }),
      ),
    mode: z
      .enum(WATCHER_MODES)
      .default('auto')
      .meta(
        about({
          description:
            'What happens when the watcher would compact: a note, a recommendation, or the compaction.',
          source: SPEC,
        }),
      ),
    turn_based_handoff: flag(
      true,
      'Announces the handover and wraps the packet; off: no heads-up, and the bare packet.',
    ),
    packet_author: z
      .enum(PACKET_AUTHORS)
      .default('agent')
      .meta(about({ description: 'Who writes the continuation packet.', source: SPEC })),
    combine_requests: flag(
      true,
      'Combines heads-up, scratch and packet request into one message and one turn.',
    ),
    scratch_write_enabled: flag(
      true,
      'The agent writes its notes to a scratch file before it writes the packet.',
    ),
    scratch_file_template: z
      .string()
      .min(1)
      .default('.scratch/agent-{agentName}.scratch.md')
      .meta(
        about({ description: `Where the notes go, inside the workspace.`, source: RAWR, userOnly: true }),
      ),
    packet_max_tail_chars: z
      .int()
      .min(1)
      .optional()
      .meta(
        about({
          description: `The length of the agent's last message in a packet that the watcher writes, at most.`,
          unit: 'characters',
          source: RAWR,
          whenUnset: 'the frontmatter of `auto-compact.md`, else 1200',
          examples: [1200],
          userOnly: true,
        }),
      ),
    packet_max_tokens: count(4_000, 'tokens', `The size of a packet, at most.`),
    tail_max_items: count(8, 'activities', `The newest activities that a packet repeats verbatim.`),
    summary_with_packet: z
      .enum(['model', 'embedded'])
      .default('embedded')
      .meta(
        about({
          description: `Who writes the summary when the agent has written a packet.`,
          source: 'docs/decisions/watcher-config.md',
          userOnly: true,
        }),
      ),
    mid_turn: z
      .enum(MID_TURN_MODES)
      .default('golden')
      .meta(about({ description: 'What the watcher may do inside a turn.', source: SPEC })),
    cooldown_turns: z
      .int()
      .min(0)
      .default(2)
      .meta(
        about({
          description:
            'User turns that must have ended since the last compaction or veto, unless `cooldown_seconds` have passed.',
          unit: 'turns',
          source: SPEC,
          userOnly: true,
        }),
      ),
    cooldown_seconds: z
      .int()
      .min(0)
      .default(120)
      .meta(
        about({
          description:
            'The time that must have passed since the last compaction or veto, unless `cooldown_turns` have ended.',
          unit: 'seconds',
          source: SPEC,
          userOnly: true,
        }),
      ),
    turn_complete_suffices_below: percent()
      .default(40)
      .meta(
        about({
          description:
            'The end of a turn suffices as a boundary while less than this is left of the window; 0: never on its own.',
          unit: 'percent',
          source: SPEC,
        }),
      ),
    judgment_deadline_seconds: deadline(30, patience('the judge')),
    scratch_deadline_seconds: deadline(120, patience('the scratch write')),
    packet_deadline_seconds: deadline(180, patience('the packet')),
    compaction_deadline_seconds: deadline(
      300,
      'How long all requests to models for one summary may take together; then Baton writes the summary without a model.',
    ),
    // Baton's own threads hand over at once; only a program watched from outside can delay it.
    handoff_deadline_seconds: deadline(30, patience('the handoff'), { isUndocumented: true }),
    compaction_model: name(
      "The model of the watcher's compactions.",
      '`compact.summarization_model`, else the model of the session',
      'small-model',
    ),
    compaction_reasoning_effort: z
      .enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh'])
      .optional()
      .meta(
        about({
          description: `The reasoning effort of the watcher's compactions.`,
          source: RAWR,
          whenUnset: 'as in the session',
          examples: ['high'],
          userOnly: true,
        }),
      ),
    compaction_verbosity: z
      .enum(['low', 'medium', 'high'])
      .optional()
      .meta(
        about({
          description: `The verbosity of the watcher's compactions.`,
          source: RAWR,
          whenUnset: 'as in the session',
          examples: ['high'],
          userOnly: true,
        }),
      ),
    auto_compact_prompt_path: promptPath('the packet request', 'auto-compact.md'),
    scratch_write_prompt_path: promptPath('the scratch write', 'scratch-write.md'),
    watcher_packet_prompt_path: promptPath("the watcher's own packet", 'watcher-packet.md'),
    judgment_context_prompt_path: promptPath("the judge's user message", 'judgment-context.md'),
    heads_up_prompt_path: promptPath('the heads-up', 'heads-up.md'),
    handoff_prompt_path: promptPath('the handoff', 'handoff.md'),
    push_is_pr_checkpoint: flag(true, 'A `git push` is a checkpoint of the pull request.'),
    info_lines: z
      .enum(INFO_LINES)
      .default('all')
      .meta(about({ description: `Which of the watcher's lines go into the transcript.`, source: SPEC })),
    trigger: z
      .strictObject({
        early_percent_remaining_lt: thresholdAlias('early'),
        ready_percent_remaining_lt: thresholdAlias('ready'),
        asap_percent_remaining_lt: thresholdAlias('asap'),
        emergency_percent_remaining_lt: thresholdAlias('emergency'),
        auto_requires_any_boundary: boundaries()
          .optional()
          .meta(
            about({
              description:
                "Restricts every tier's set to these; `turn_complete` in the list counts in every tier. An empty list restricts nothing.",
              source: RAWR,
              whenUnset: 'the frontmatter of `auto-compact.md`, else the sets of the tiers',
              examples: [['commit', 'pr_checkpoint']],
            }),
          ),
      })
      .prefault({})
      .meta({ description: 'The older keys of the tiers.' }),
    policy: z
      .strictObject({
        early: tierSchema(
          'early',
          '`plan_checkpoint`, `plan_update`, `pr_checkpoint`, `phase_completed`, `topic_shift`',
          true,
        ),
        ready: tierSchema('ready', 'those of `early`, and `commit`', true),
        asap: tierSchema('asap', 'those of `ready`, `agent_done` and `concluding_thought`', false),
        emergency: z
          .strictObject(bounds('emergency'))
          .prefault({})
          .meta({
            ...about({ userOnly: true }),
            description: 'The tier `emergency`: it waits for nothing and skips the judge.',
          }),
      })
      .prefault({})
      .meta({ description: 'The tiers of pressure.' }),
    semantic_signals: SemanticSignalsSchema,
  })
  .prefault({})
  .meta({ description: 'The watcher: when it compacts, and how it hands over.' });
