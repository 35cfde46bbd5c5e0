// One case for each key of `[features]` and `[compact]`.

import { messagesOf } from '../../support/exec.ts';
import type { Reply } from '../../support/provider-server/script.ts';
import { PACKET } from '../../support/packet.ts';
import { ALONE, appendItem, asked, compactions, lastSent, PLAN, receiptOf, shell, SUMMARY } from './scene.ts';
import type { KeyCase, Played, Scene } from './scene.ts';

const SUMMARISES: Reply = { text: SUMMARY, fills: 9_000 };
const GOES_ON: Reply = { text: 'On it.', fills: 9_000 };

/** Above the built-in limit of 87,000 inside of the turn, with what the call prints. */
const FULL: Scene = {
  set: [ALONE],
  replies: [{ calls: [shell('seq 1 9000')], fills: 80_000 }, SUMMARISES, GOES_ON],
};

/** Below the built-in limit, above half of the window. */
const ROOMY: Scene = {
  set: [ALONE],
  replies: [{ calls: [shell('seq 1 9000')], fills: 60_000 }, SUMMARISES, GOES_ON],
};

/** Five results of some 11,000 tokens each, which the model has seen, and a short one. */
const CLEARABLE: Scene = {
  set: [ALONE],
  replies: [
    { calls: Array.from({ length: 5 }, () => shell('seq 1 9000')), fills: 20_000 },
    { calls: [shell('true')], fills: 88_000 },
    { text: SUMMARY, fills: 50_000 },
    GOES_ON,
  ],
};

const COMMITS: Reply = {
  calls: [shell('git commit -q --allow-empty -m "Light it" && seq 1 9000')],
  fills: 62_000,
};

/** The watcher hands over inside of the turn. */
const INSIDE: Scene = {
  replies: [COMMITS, { text: PACKET, fills: 62_500 }, GOES_ON],
};

const REMOTE: Scene = {
  set: [ALONE, 'model_providers.lab-responses.remote_compaction="trigger"'],
  replies: FULL.replies,
};

const CHANGES: Scene = {
  replies: [{ calls: [shell('echo lit > lamp.txt')], fills: 9_000 }, GOES_ON],
};

function reads(...paths: readonly string[]): Reply {
  return {
    calls: [...paths.map((path) => ({ name: 'read', arguments: { path } })), shell('seq 1 9000')],
    fills: 80_000,
  };
}

/** Two files were read: one of some 1,500 tokens, and then a short one. */
const READING: Scene = {
  set: [ALONE],
  files: { 'long.txt': 'The horn is oiled.\n'.repeat(300), 'short.txt': 'The lamp is lit.\n' },
  replies: [reads('long.txt', 'short.txt'), SUMMARISES, GOES_ON],
};

const LISTS: Scene = {
  set: [ALONE],
  replies: [
    {
      calls: [
        PLAN,
        { name: 'todo', arguments: { todos: [{ content: 'Buy wicks', status: 'pending' }] } },
        shell('seq 1 9000'),
      ],
      fills: 80_000,
    },
    SUMMARISES,
    GOES_ON,
  ],
};

const WORDS = `Count ${'lamp '.repeat(4_000)}.`;

/** A message of some 5,000 tokens. */
const WORDY: Scene = { ...FULL, says: [WORDS] };

const IMAGE = {
  type: 'message',
  role: 'user',
  content: [{ type: 'input_image', image_url: 'data:image/png;base64,iVBORw0KGgo=' }],
};

const PICTURED: Scene = {
  set: [ALONE],
  says: ['Light the lamp.', 'Go on.'],
  between: (fixture) => appendItem(fixture, IMAGE),
  replies: [
    { calls: [shell('seq 1 9000')], fills: 60_000 },
    { text: 'Lit.', fills: 60_000 },
    SUMMARISES,
    GOES_ON,
  ],
};

function models({ requests }: Played): readonly unknown[] {
  return requests.map(({ path, body }) => `${path} ${String(body['model'])}`);
}

function pressures({ events }: Played): readonly string[] {
  return events.flatMap((event) =>
    event.type === 'token_count' ? [event.pressure ?? '-'] : event.type === 'warning' ? ['warned'] : [],
  );
}

function restored(played: Played): readonly string[] {
  return receiptOf(played).restoredFiles.map(({ path }) => path);
}

function cleared({ requests }: Played): number {
  return (requests.at(-1)?.text.match(/"output":"\[Old tool result content cleared/g) ?? []).length;
}

export const ENGINE_CASES: readonly KeyCase[] = [
  {
    key: 'features.micro_compact',
    value: 'false',
    scene: CLEARABLE,
    seen: compactions,
    without: ['micro'],
    with: ['full'],
  },
  {
    key: 'features.rawr_auto_compaction',
    value: 'false',
    scene: INSIDE,
    seen: (played) => [
      ...asked(played),
      played.events.some((event) => event.type === 'background_event' && event.message.startsWith('RAWR')),
    ],
    without: ['-', 'heads_up+scratch+packet_request', 'handoff', true],
    with: ['-', '-', false],
  },
  {
    key: 'features.compact_v2',
    value: 'false',
    scene: FULL,
    seen: compactions,
    without: ['full'],
    with: ['legacy'],
  },
  {
    key: 'features.remote_compaction',
    value: 'true',
    scene: REMOTE,
    replies: [...FULL.replies.slice(0, 1), { compacts: true, fills: 9_000 }, GOES_ON],
    seen: (played) => [
      ...compactions(played),
      played.requests.map((sent) => messagesOf(sent).at(-1)?.['type']).join(),
    ],
    without: ['full', 'message,message,message'],
    with: ['remote', 'message,compaction_trigger,message'],
  },
  {
    key: 'features.ghost_snapshots',
    value: 'false',
    scene: CHANGES,
    seen: ({ records }) =>
      records.flatMap((record) =>
        record.type === 'note' && record.kind.startsWith('snapshot') ? [record.kind] : [],
      ),
    without: ['snapshot', 'snapshot_after'],
    with: [],
  },
  {
    key: 'compact.enabled',
    value: 'false',
    scene: FULL,
    seen: (played) => [...compactions(played), played.requests.length],
    without: ['full', 3],
    with: [2],
  },
  {
    key: 'compact.auto_compact_enabled',
    value: 'false',
    scene: FULL,
    seen: (played) => [...compactions(played), played.requests.length],
    without: ['full', 3],
    with: [2],
  },
  {
    key: 'compact.auto_compact_threshold',
    value: '65000',
    scene: ROOMY,
    seen: (played) => [...compactions(played), played.requests.length],
    without: [2],
    with: ['full', 3],
  },
  {
    key: 'compact.auto_compact_pct_override',
    value: '65',
    scene: ROOMY,
    seen: (played) => [...compactions(played), played.requests.length],
    without: [2],
    with: ['full', 3],
  },
  {
    key: 'compact.free_space_buffer',
    value: '35000',
    scene: ROOMY,
    seen: (played) => [...compactions(played), played.requests.length],
    without: [2],
    with: ['full', 3],
  },
  {
    key: 'compact.warning_threshold',
    value: '45000',
    scene: { ...ROOMY, set: [ALONE, 'compact.error_threshold=15000'] },
    seen: pressures,
    without: ['calm', 'calm'],
    with: ['warning', 'warned', 'calm'],
  },
  {
    key: 'compact.error_threshold',
    value: '45000',
    scene: ROOMY,
    seen: pressures,
    without: ['calm', 'calm'],
    with: ['error', 'warned', 'calm'],
  },
  {
    key: 'compact.micro_compact_min_tokens_to_save',
    value: '50000',
    scene: CLEARABLE,
    seen: compactions,
    without: ['micro'],
    with: ['full'],
  },
  {
    key: 'compact.micro_compact_keep_last_n_tools',
    value: '1',
    scene: CLEARABLE,
    seen: cleared,
    without: 3,
    with: 5,
  },
  {
    key: 'compact.summarization_model',
    value: '"small-model"',
    scene: FULL,
    seen: models,
    without: ['/v1/responses gpt-5.1', '/v1/responses gpt-5.1', '/v1/responses gpt-5.1'],
    with: ['/v1/responses gpt-5.1', '/v1/responses small-model', '/v1/responses gpt-5.1'],
  },
  {
    key: 'compact.summarization_model_provider_id',
    value: '"lab-chat"',
    scene: { ...FULL, set: [ALONE, 'compact.summarization_model="small-model"'] },
    seen: models,
    without: ['/v1/responses gpt-5.1', '/v1/responses small-model', '/v1/responses gpt-5.1'],
    with: ['/v1/responses gpt-5.1', '/v1/chat/completions small-model', '/v1/responses gpt-5.1'],
  },
  {
    key: 'compact.restore_max_files',
    value: '1',
    scene: READING,
    seen: restored,
    without: ['short.txt', 'long.txt'],
    with: ['short.txt'],
  },
  {
    key: 'compact.restore_tokens_per_file',
    value: '200',
    scene: READING,
    seen: (played) => (lastSent(played).match(/The horn is oiled/g) ?? []).length,
    without: 300,
    with: 37,
  },
  {
    key: 'compact.restore_total_file_budget',
    value: '500',
    scene: READING,
    seen: restored,
    without: ['short.txt', 'long.txt'],
    with: ['short.txt'],
  },
  {
    key: 'compact.restore_todos',
    value: 'false',
    scene: LISTS,
    seen: (played) => [/The plan as it/.test(lastSent(played)), /The todo list as it/.test(lastSent(played))],
    without: [true, true],
    with: [true, false],
  },
  {
    key: 'compact.restore_plan',
    value: 'false',
    scene: LISTS,
    seen: (played) => [/The plan as it/.test(lastSent(played)), /The todo list as it/.test(lastSent(played))],
    without: [true, true],
    with: [false, true],
  },
  {
    key: 'compact.token_safety_multiplier',
    value: '4',
    scene: WORDY,
    seen: (played) => {
      const { before, after } = receiptOf(played).beside ?? { before: 0, after: 0 };
      return after - before > 5_000;
    },
    without: false,
    with: true,
  },
  {
    key: 'compact.approx_bytes_per_token',
    value: '2',
    scene: WORDY,
    seen: (played) => receiptOf(played).kept.tokens > 6_000,
    without: false,
    with: true,
  },
  {
    key: 'compact.tokens_per_image',
    value: '40000',
    scene: PICTURED,
    seen: (played) => [...compactions(played), played.requests.length],
    without: [3],
    with: ['full', 4],
  },
  {
    key: 'compact.user_message_max_tokens',
    value: '1000',
    scene: WORDY,
    seen: (played) => (lastSent(played).match(/lamp /g) ?? []).length > 1_000,
    without: true,
    with: false,
  },
];
