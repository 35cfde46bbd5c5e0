// One case for each key of `[rawr_auto_compaction]`.

import { PACKET } from '../../support/packet.ts';
import type { Fault, Reply, ScriptedCall } from '../../support/provider-server/script.ts';
import { asked, compactions, decisions, lastSent, PLAN, shell, SUMMARY, textOf } from './scene.ts';
import type { KeyCase, Played, Scene } from './scene.ts';

const GOES_ON: Reply = { text: 'On it.', fills: 9_000 };
const NOTES: Reply = { text: 'Noted.', fills: 62_300 };
const GIVES: Reply = { text: PACKET, fills: 62_500 };
const SUMMARISES: Reply = { text: SUMMARY, fills: 9_000 };
const VETO: Reply = { text: '{"should_compact": false, "reason": "The oil is next."}', fills: 900 };

/** Some 11,000 tokens, which a compaction can free. */
const PRINT = shell('seq 1 9000');
const COMMIT = shell('git commit -q --allow-empty -m "Light it" && seq 1 9000');
const PUSH = shell(
  'git init -q --bare ../remote.git && git commit -q --allow-empty -m "Light it" && git push -q ../remote.git HEAD && seq 1 9000',
);

/** Calls, beside the usage of the request that they answer. */
function calls(input: number, ...made: readonly ScriptedCall[]): Reply {
  return { calls: made, fills: input };
}

/** Handed over inside of the turn: in the tier `asap`, and in `ready`. */
const INSIDE: Scene = { replies: [calls(62_000, COMMIT), GIVES, GOES_ON] };
const READY: Scene = { replies: [calls(35_000, COMMIT), GIVES, GOES_ON] };
const REQUEST = 'heads_up+scratch+packet_request';
const HANDED_OVER = ['-', REQUEST, 'handoff'];
const NOTHING = ['-', '-'];

/** A second boundary right after the handover. */
const TWICE: Scene = { replies: [calls(62_000, COMMIT), GIVES, calls(62_000, COMMIT), GOES_ON] };

/** A fifth of the window is left, and nothing is reached. */
const PRESSED: Scene = { replies: [calls(65_000, PRINT), SUMMARISES, GOES_ON] };
const EMERGENCY = ['-', '-', 'handoff'];

/** Usage at the end of a turn that leaves 35, 43, 51, 59 and 66 % of the window. */
const LATE = 62_000;
const ASAP = 54_000;
const SOON = 46_000;
const EARLY = 38_000;
const CALM = 32_000;

/** A turn that ends with so much used, and with these words. What is decided then waits for the next message. */
function ended(input: number, text: string, ...made: readonly ScriptedCall[]): Scene {
  return { replies: [calls(10_000, ...made), { text, fills: input }] };
}

/** The same, and a next message. */
function resumed(scene: Scene, ...replies: readonly Reply[]): Scene {
  return { ...scene, says: ['Light the lamp.', 'And the horn?'], replies: [...scene.replies, ...replies] };
}

const OILED = 'The horn takes oil.';
const PUSHED = ended(EARLY, OILED, PUSH);
const DONE = ended(ASAP, 'The lamp is done.', PRINT);

/** A model writes a summary beside the agent's packet. */
const WITH_MODEL: Scene = {
  set: ['rawr_auto_compaction.summary_with_packet="model"'],
  replies: [calls(62_000, COMMIT), GIVES, SUMMARISES, GOES_ON],
};

/** The answer comes over three seconds. */
function slowly(reply: Reply): Reply {
  // What the events of an answer take besides its text, and for each 12 characters of it.
  const bytes = 1_000 + 10.5 * (reply.text ?? '').length;
  const fault: Fault = { type: 'drip', bytes: Math.ceil(bytes / 30), everyMs: 100 };
  return { ...reply, fault };
}
const PATIENT = 'model_providers.lab-responses.stream_idle_timeout_ms=10000';

const OWN = 'In words of my own';
const WITH_OWN_PROMPT: Scene = { ...INSIDE, home: { 'auto-compact/own.md': `${OWN}: {packet}` } };
const hasOwnPrompt = ({ requests }: Played): boolean => requests.some((sent) => textOf(sent).includes(OWN));

/** As `asked`, with the judge's requests among them. */
function judged(played: Played): readonly string[] {
  const { requests } = played;
  return asked(played).map((step, at) => (requests[at]?.text.includes('"name":"judgment"') ? 'judge' : step));
}

/** What the request for the summary asks for besides it. */
function summaryTerms({ requests }: Played): unknown {
  const { model, reasoning, text } = requests[2]?.body ?? {};
  const { effort = '-' } = (reasoning ?? {}) as { effort?: string };
  const { verbosity = '-' } = (text ?? {}) as { verbosity?: string };
  return [model, effort, verbosity];
}

/** How often words stand in the handoff. */
function counted(played: Played, words: RegExp): number {
  const [, handoff = ''] = lastSent(played).split('Here is your packet back');
  return (handoff.match(words) ?? []).length;
}

type Rest = Partial<KeyCase> & Pick<KeyCase, 'seen' | 'without' | 'with'>;

function keyed(key: string, value: unknown, scene: Scene, rest: Rest): KeyCase {
  return { key: `rawr_auto_compaction.${key}`, value: JSON.stringify(value), scene, ...rest };
}

/** A key that changes what the agent is asked for in a turn in which it is handed over. */
function asks(key: string, value: unknown, withKey: readonly string[], replies?: readonly Reply[]): KeyCase {
  const more = replies === undefined ? {} : { replies };
  return keyed(key, value, INSIDE, { seen: asked, without: HANDED_OVER, with: withKey, ...more });
}

/** A key that changes the decision at the end of a turn. */
function decides(
  key: string,
  value: unknown,
  scene: Scene,
  [without, withKey]: readonly [string, string],
): KeyCase {
  const seen = (played: Played): string | undefined => decisions(played).at(-1);
  return keyed(key, value, scene, { seen, without, with: withKey });
}

export const WATCHER_CASES: readonly KeyCase[] = [
  asks('preset', 'seed', ['-', '-', 'handoff'], [calls(62_000, COMMIT), SUMMARISES, GOES_ON]),
  asks('mode', 'suggest', NOTHING),
  asks('turn_based_handoff', false, ['-', 'scratch+packet_request', 'handoff']),
  asks(
    'packet_author',
    'watcher',
    ['-', 'heads_up+scratch', '-', 'handoff'],
    [calls(62_000, COMMIT), NOTES, SUMMARISES, GOES_ON],
  ),
  asks(
    'combine_requests',
    false,
    ['-', 'scratch', 'packet_request', 'handoff'],
    [calls(62_000, COMMIT), NOTES, GIVES, GOES_ON],
  ),
  asks('scratch_write_enabled', false, ['-', 'heads_up+packet_request', 'handoff']),
  asks('mid_turn', 'emergency_only', NOTHING),
  asks('trigger.auto_requires_any_boundary', ['pr_checkpoint'], NOTHING),
  asks('policy.asap.requires_any_boundary', ['pr_checkpoint'], NOTHING),
  keyed('scratch_file_template', '.scratch/notes.md', INSIDE, {
    seen: ({ requests }) => requests.map((sent) => /\.scratch\/(agent|notes)/.exec(textOf(sent))?.[1] ?? '-'),
    without: ['-', 'agent', 'agent'],
    with: ['-', 'notes', 'notes'],
  }),
  keyed(
    'packet_max_tail_chars',
    100,
    {
      set: [
        'rawr_auto_compaction.packet_author="watcher"',
        'rawr_auto_compaction.scratch_write_enabled=false',
      ],
      replies: [
        { ...calls(62_000, COMMIT), text: `Here: ${'wick '.repeat(200)}` },
        { text: SUMMARY, fills: 9_000 },
        GOES_ON,
      ],
    },
    { seen: (played) => counted(played, /wick /g) > 100, without: true, with: false },
  ),
  keyed(
    'packet_max_tokens',
    300,
    {
      replies: [
        calls(62_000, COMMIT),
        { ...GIVES, text: PACKET.replace('The oil is low', 'The oil is low.\n'.repeat(200)) },
        GOES_ON,
      ],
    },
    { seen: (played) => counted(played, /The oil is low/g) > 100, without: true, with: false },
  ),
  keyed(
    'tail_max_items',
    1,
    { replies: [calls(62_000, shell('echo first'), COMMIT), GIVES, GOES_ON] },
    { seen: (played) => counted(played, /^- echo first$/gm), without: 1, with: 0 },
  ),
  keyed('summary_with_packet', 'model', INSIDE, {
    replies: WITH_MODEL.replies,
    seen: compactions,
    without: ['embedded'],
    with: ['full'],
  }),
  ...['cooldown_turns', 'cooldown_seconds'].map((key) =>
    keyed(key, 0, TWICE, {
      replies: [calls(62_000, COMMIT), GIVES, calls(66_000, COMMIT), { ...GIVES, fills: 76_000 }, GOES_ON],
      seen: asked,
      without: [...HANDED_OVER, '-'],
      with: [...HANDED_OVER, REQUEST, 'handoff'],
    }),
  ),
  keyed('turn_complete_suffices_below', 0, resumed(ended(LATE, OILED, PRINT), GIVES, GOES_ON), {
    seen: asked,
    without: ['-', '-', 'heads_up+packet_request', '-'],
    with: ['-', '-', '-'],
  }),
  keyed(
    'judgment_deadline_seconds',
    1,
    {
      set: ['rawr_auto_compaction.policy.asap.decision_prompt_path="judgment.md"', PATIENT],
      replies: [calls(62_000, COMMIT), slowly(VETO), GOES_ON],
    },
    {
      replies: [calls(62_000, COMMIT), slowly(VETO), GIVES, GOES_ON],
      seen: judged,
      without: ['-', 'judge', '-'],
      with: ['-', 'judge', REQUEST, 'handoff'],
    },
  ),
  keyed(
    'scratch_deadline_seconds',
    1,
    {
      ...resumed(ended(LATE, OILED, COMMIT), GOES_ON, slowly(NOTES), GIVES, GOES_ON),
      set: ['rawr_auto_compaction.combine_requests=false', PATIENT],
    },
    {
      seen: ({ records }) => records.filter(({ type }) => type === 'turn_aborted').length,
      without: 0,
      with: 1,
    },
  ),
  keyed(
    'packet_deadline_seconds',
    1,
    { set: [PATIENT], replies: [calls(62_000, COMMIT), slowly(GIVES), GOES_ON] },
    {
      replies: [calls(62_000, COMMIT), slowly(GIVES), SUMMARISES, GOES_ON],
      seen: (played) => [...asked(played), counted(played, /the agent did not write it/g)],
      without: [...HANDED_OVER, 0],
      with: ['-', REQUEST, '-', 'handoff', 1],
    },
  ),
  keyed(
    'compaction_deadline_seconds',
    1,
    {
      set: ['rawr_auto_compaction.summary_with_packet="model"', PATIENT],
      replies: [calls(62_000, COMMIT), GIVES, slowly(SUMMARISES), GOES_ON],
    },
    {
      seen: (played) => [...asked(played), ...compactions(played)],
      without: ['-', REQUEST, '-', 'handoff', 'full'],
      with: ['-', REQUEST, '-', 'handoff', 'embedded'],
    },
  ),
  keyed('compaction_model', 'small-model', WITH_MODEL, {
    seen: summaryTerms,
    without: ['gpt-5.1', '-', '-'],
    with: ['small-model', '-', '-'],
  }),
  keyed('compaction_reasoning_effort', 'high', WITH_MODEL, {
    seen: summaryTerms,
    without: ['gpt-5.1', '-', '-'],
    with: ['gpt-5.1', 'high', '-'],
  }),
  keyed('compaction_verbosity', 'high', WITH_MODEL, {
    seen: summaryTerms,
    without: ['gpt-5.1', '-', '-'],
    with: ['gpt-5.1', '-', 'high'],
  }),
  ...['auto_compact', 'scratch_write', 'heads_up', 'handoff'].map((step) =>
    keyed(`${step}_prompt_path`, 'own.md', WITH_OWN_PROMPT, {
      seen: hasOwnPrompt,
      without: false,
      with: true,
    }),
  ),
  keyed(
    'watcher_packet_prompt_path',
    'own.md',
    {
      home: { 'auto-compact/own.md': OWN },
      set: [
        'rawr_auto_compaction.packet_author="watcher"',
        'rawr_auto_compaction.scratch_write_enabled=false',
      ],
      replies: [calls(62_000, COMMIT), SUMMARISES, GOES_ON],
    },
    { seen: hasOwnPrompt, without: false, with: true },
  ),
  keyed(
    'judgment_context_prompt_path',
    'own.md',
    {
      home: { 'auto-compact/own.md': OWN },
      set: ['rawr_auto_compaction.policy.asap.decision_prompt_path="judgment.md"'],
      replies: [calls(62_000, COMMIT), VETO, GOES_ON],
    },
    { seen: hasOwnPrompt, without: false, with: true },
  ),
  decides('push_is_pr_checkpoint', false, PUSHED, ['early boundary pr_checkpoint', 'early no_boundary']),
  keyed('info_lines', 'off', INSIDE, {
    seen: ({ events }) =>
      events.some(
        (event) =>
          event.type === 'background_event' && event.surface === 'info' && event.message.startsWith('[rawr]'),
      ),
    without: true,
    with: false,
  }),
  ...(['trigger.early_percent_remaining_lt', 'policy.early.percent_remaining_lt'] as const).map((key) =>
    decides(key, 56, PUSHED, ['early boundary pr_checkpoint', '- above_threshold']),
  ),
  ...(['trigger.ready_percent_remaining_lt', 'policy.ready.percent_remaining_lt'] as const).map((key) =>
    keyed(key, 46, READY, { seen: asked, without: HANDED_OVER, with: NOTHING }),
  ),
  ...(['trigger.asap_percent_remaining_lt', 'policy.asap.percent_remaining_lt'] as const).map((key) =>
    decides(key, 40, DONE, ['asap boundary agent_done', 'ready no_boundary']),
  ),
  ...(['trigger.emergency_percent_remaining_lt', 'policy.emergency.percent_remaining_lt'] as const).map(
    (key) => keyed(key, 30, PRESSED, { seen: asked, without: NOTHING, with: EMERGENCY }),
  ),
  decides('policy.early.used_tokens_ge', 30_000, ended(CALM, OILED, PUSH), [
    '- above_threshold',
    'early boundary pr_checkpoint',
  ]),
  decides('policy.ready.used_tokens_ge', 36_000, ended(EARLY, OILED, COMMIT), [
    'early no_boundary',
    'ready boundary commit',
  ]),
  decides('policy.asap.used_tokens_ge', 45_000, ended(SOON, 'The lamp is done.', PRINT), [
    'ready no_boundary',
    'asap boundary agent_done',
  ]),
  keyed('policy.emergency.used_tokens_ge', 70_000, PRESSED, {
    seen: asked,
    without: NOTHING,
    with: EMERGENCY,
  }),
  decides('policy.early.requires_any_boundary', ['commit'], ended(EARLY, OILED, COMMIT), [
    'early no_boundary',
    'early boundary commit',
  ]),
  keyed('policy.ready.requires_any_boundary', ['pr_checkpoint'], READY, {
    seen: asked,
    without: HANDED_OVER,
    with: NOTHING,
  }),
  ...[['early', EARLY, false] as const, ['ready', SOON, false] as const, ['asap', ASAP, true] as const].map(
    ([tier, input, value]) => {
      const seen = [`${tier} needs_semantic_break plan_update`, `${tier} boundary plan_update`] as const;
      const [without, withKey] = value ? seen.toReversed() : seen;
      return decides(
        `policy.${tier}.plan_boundaries_require_semantic_break`,
        value,
        ended(input, OILED, PLAN, PRINT),
        [without ?? '', withKey ?? ''],
      );
    },
  ),
  keyed('policy.early.decision_prompt_path', 'judgment.md', resumed(PUSHED, GIVES, GOES_ON), {
    replies: [...PUSHED.replies, VETO, GOES_ON],
    seen: judged,
    without: ['-', '-', REQUEST, '-'],
    with: ['-', '-', 'judge', '-'],
  }),
  ...[['ready', READY] as const, ['asap', INSIDE] as const].map(([tier, scene]) =>
    keyed(`policy.${tier}.decision_prompt_path`, 'judgment.md', scene, {
      replies: [...scene.replies.slice(0, 1), VETO, GOES_ON],
      seen: judged,
      without: HANDED_OVER,
      with: ['-', 'judge', '-'],
    }),
  ),
  decides('semantic_signals.agent_done_phrases', [], DONE, ['asap boundary agent_done', 'asap no_boundary']),
  decides(
    'semantic_signals.agent_done_negative_phrases',
    ['not full'],
    ended(ASAP, 'The lamp is done, the oil is not full.', PRINT),
    ['asap boundary agent_done', 'asap no_boundary'],
  ),
  decides(
    'semantic_signals.topic_shift_phrases',
    [],
    ended(EARLY, 'It burns. Moving on to the horn.', PRINT),
    ['early boundary topic_shift', 'early no_boundary'],
  ),
  decides('semantic_signals.concluding_thought_phrases', [], ended(ASAP, 'To wrap up: it burns.', PRINT), [
    'asap boundary concluding_thought',
    'asap no_boundary',
  ]),
];
