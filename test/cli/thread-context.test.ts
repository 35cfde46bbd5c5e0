// The next context of a thread after compactions: nothing of the user's lost, nothing twice, nothing that is not true.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { CLEARED_RESULT } from '../../src/protocol/record.ts';
import { NOT_BUILT } from '../support/built.ts';
import { messagesOf } from '../support/exec.ts';
import { PACKET } from '../support/packet.ts';
import type { Reply } from '../support/provider-server/script.ts';
import {
  ALONE,
  appendItem,
  asked,
  compactions,
  lastSent,
  play,
  receiptOf,
  shell,
  SUMMARY,
  textOf,
} from './keys/scene.ts';
import type { Played, Scene } from './keys/scene.ts';

before(() => assert.equal(NOT_BUILT, false, String(NOT_BUILT)));

const PRINTS: Reply = { calls: [shell('seq 1 9000')], fills: 20_000 };
const FILLS: Reply = { calls: [shell('seq 1 9000')], fills: 80_000 };
const COMMITS: Reply = {
  calls: [shell('git commit -q --allow-empty -m "Light it" && seq 1 9000')],
  fills: 62_000,
};
const SUMMARISES: Reply = { text: SUMMARY, fills: 9_000 };
const ANSWERS: Reply = { text: 'It is lit.', fills: 9_000 };
const FULL: Reply = { text: 'It is lit.', fills: 94_000 };
const GIVES: Reply = { text: PACKET, fills: 62_500 };
const FAILS: Reply = { fault: { type: 'status', status: 500 } };

/** How often words stand in what is sent last. */
function counted(played: Played, words: string): number {
  return lastSent(played).split(words).length - 1;
}

describe(
  'a message of the user that begins as a summary or a notice of a client does',
  { concurrency: 2 },
  () => {
    for (const prefix of [
      'This session is being continued from a previous conversation that ran out of context.',
      'Another language model started to solve this problem and produced a summary of its thinking process.',
      'API Error of the lamp: find out why.',
    ]) {
      test(`stays the user's, with its request and its rule, over --resume: ${prefix.slice(0, 24)}`, async () => {
        const pasted = `${prefix}\nPolish the brass of the horn.\nNever touch the red lever.`;
        const played = await play({
          set: [ALONE],
          says: [pasted, 'And the door?', 'Go on.'],
          replies: [PRINTS, FULL, FAILS, PRINTS, FULL, FAILS, ANSWERS],
        });
        assert.deepEqual(compactions(played), ['embedded', 'embedded']);
        const messages = messagesOf(played.requests.at(-1) ?? assert.fail());
        const own = messages.filter((message) =>
          JSON.stringify(message).includes(JSON.stringify(pasted).slice(1, -1)),
        );
        assert.equal(own.length, 1, 'as a message of its own');
        assert.match(lastSent(played), /Never touch the red lever/);
        assert.match(lastSent(played), /Messages 1–3 follow verbatim after this summary\./);
      });
    }
  },
);

describe('the sentence that tells the agent to go on without asking', { concurrency: 2 }, () => {
  const SENTENCE = /without asking the user any further questions/;
  const scenes: readonly (readonly [string, Scene, boolean])[] = [
    ['stands where the agent was interrupted', { set: [ALONE], replies: [FILLS, SUMMARISES, ANSWERS] }, true],
    ['not where a handoff follows', { replies: [COMMITS, GIVES, ANSWERS] }, false],
    [
      'not where the agent had finished',
      { set: [ALONE], says: ['Light it.', 'Thanks.'], replies: [PRINTS, FULL, SUMMARISES, ANSWERS] },
      false,
    ],
  ];
  for (const [name, scene, isExpected] of scenes) {
    test(name, async () => {
      const played = await play(scene);
      assert.equal(compactions(played).length, 1);
      assert.equal(SENTENCE.test(lastSent(played)), isExpected);
    });
  }
});

test('five compactions in a row lose no rule, no request and no edited file, and repeat none of them', async () => {
  const says = [
    'Light the lamp. Never touch the glass.',
    ...['oil', 'wick', 'door', 'horn'].map((part) => `Look after the ${part} in ${part}.txt.`),
    'What is left?',
  ];
  const work = says
    .slice(0, 5)
    .flatMap((_, turn): readonly Reply[] => [
      { calls: [shell(`echo ${turn} > made-${turn}.txt && seq 1 9000`)], fills: 20_000 },
      FULL,
      ...(turn === 4 ? [FAILS] : [SUMMARISES]),
    ]);
  const played = await play({ set: [ALONE], says, replies: [...work, ANSWERS] });
  assert.equal(compactions(played).length, 5);
  assert.equal(counted(played, 'The conversation is summarized below'), 1, 'one summary');
  assert.match(lastSent(played), /Never touch the glass/);
  const messages = messagesOf(played.requests.at(-1) ?? assert.fail()).map((message) =>
    JSON.stringify(message),
  );
  for (const said of says) {
    const own = messages.filter((message) => message.includes(`"text":${JSON.stringify(said)}`));
    assert.equal(own.length, 1, said);
  }
  for (let turn = 0; turn < 5; turn++) assert.match(lastSent(played), new RegExp(`made-${turn}\\.txt`));
});

describe('images', { concurrency: 2 }, () => {
  test('a kept message says that it had one', async () => {
    const item = {
      type: 'message',
      role: 'user',
      content: [
        { type: 'input_text', text: 'This is the lamp:' },
        { type: 'input_image', image_url: 'data:image/png;base64,iVBORw0KGgo=' },
      ],
    };
    const played = await play({
      set: [ALONE],
      says: ['Light the lamp.', 'Go on.'],
      between: (fixture) => appendItem(fixture, item),
      replies: [PRINTS, FULL, SUMMARISES, ANSWERS],
    });
    assert.deepEqual(compactions(played), ['full']);
    assert.doesNotMatch(played.requests.at(-1)?.text ?? '', /input_image/);
    assert.match(lastSent(played), /This is the lamp:\n\[image\]/);
  });
});

/** A hook that keeps what it is told in a file, and then does as the line says. */
function hook(event: string, line: string): string {
  const file = `~/told-${event}`;
  const command = `cat >> ${file}; echo >> ${file}; ${line}`;
  return `hooks.${event}=[{command=${JSON.stringify(command)}}]`;
}

/** A line that answers with one key. */
function answer(key: string): string {
  return `echo '{"${key}": "The glass is new."}'`;
}

describe('hooks of a thread', { concurrency: 2 }, () => {
  const told = (
    { fixture }: Played,
    event: string,
  ): readonly { readonly transcript_path: string | null }[] => {
    const path = join(fixture.home, `told-${event}`);
    if (!existsSync(path)) return [];
    return readFileSync(path, 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as { transcript_path: string | null });
  };
  const COMPACTED: Scene = { set: [ALONE], replies: [FILLS, SUMMARISES, ANSWERS] };

  const cases: readonly (readonly [
    event: string,
    command: string,
    scene: Scene,
    check: (played: Played) => void,
  ])[] = [
    [
      'pre_compact',
      answer('veto'),
      COMPACTED,
      (played) => {
        assert.deepEqual(compactions(played), []);
        assert.equal(played.requests.length, 2, 'no summary');
        assert.match(played.requests.at(-1)?.text ?? '', /8999/);
      },
    ],
    [
      'pre_compact',
      answer('instructions'),
      COMPACTED,
      (played) => assert.match(textOf(played.requests[1] ?? assert.fail()), /The glass is new/),
    ],
    ['post_compact', 'exit 3', COMPACTED, (played) => assert.deepEqual(compactions(played), ['full'])],
    [
      'session_start',
      answer('context'),
      COMPACTED,
      (played) => {
        assert.equal(told(played, 'session_start').length, 2, 'startup and compact');
        assert.equal(played.requests[0]?.text.split('The glass is new').length, 2);
        assert.match(lastSent(played), /From the user's hooks, after the compaction:\nThe glass is new/);
      },
    ],
    [
      'user_prompt_submit',
      answer('context'),
      COMPACTED,
      (played) => assert.match(textOf(played.requests[0] ?? assert.fail()), /The glass is new/),
    ],
    ['turn_complete', 'true', COMPACTED, (played) => assert.equal(told(played, 'turn_complete').length, 1)],
  ];
  for (const [event, command, scene, check] of cases) {
    test(`${event}: ${command}`, async () => {
      const played = await play(scene, [hook(event, command)]);
      check(played);
      const inputs = told(played, event);
      assert.ok(inputs.length > 0, 'it ran');
      for (const { transcript_path: path } of inputs) assert.equal(path, played.fixture.rollouts()[0]);
    });
  }

  test('what is said at the start is in the next context once, also where a hook spoke of a message', async () => {
    const atStart = `hooks.session_start=[{command=${JSON.stringify(answer('context'))}, matcher="startup"}]`;
    const ofMessage = `hooks.user_prompt_submit=[{command=${JSON.stringify(`echo '{"context": "The oil is low."}'`)}}]`;
    const played = await play(COMPACTED, [atStart, ofMessage]);
    assert.deepEqual(compactions(played), ['full']);
    assert.equal(counted(played, 'The glass is new.'), 1);
  });

  for (const [kept, limit] of [
    [true, 20_000],
    [false, 40],
  ] as const) {
    test(`what a hook says of the first message ${kept ? 'stays' : 'goes'} with it`, async () => {
      const once = `if [ ! -e ~/told-once ]; then touch ~/told-once; echo '{"context": "The oil is low."}'; fi`;
      const long = 'Light the lamp, and then write down how the flame behaves in the draught. '.repeat(20);
      const played = await play(
        {
          ...COMPACTED,
          says: [long, 'Go on.', 'Polish the brass of the lamp, and then paint the door of the tower red.'],
        },
        [
          `hooks.user_prompt_submit=[{command=${JSON.stringify(once)}}]`,
          `compact.user_message_max_tokens=${limit}`,
        ],
      );
      assert.deepEqual(compactions(played), ['full']);
      assert.match(textOf(played.requests[0] ?? assert.fail()), /The oil is low/);
      assert.equal(counted(played, 'The oil is low.'), kept ? 1 : 0);
    });
  }

  test('user_prompt_submit: a veto sends nothing, and the thread goes on without the message', async () => {
    const vetoed = `if grep -q wrong ~/told-user_prompt_submit; then rm ~/told-user_prompt_submit; ${answer('veto')}; fi`;
    const played = await play(
      { says: ['Light the lamp.', 'A wrong word.', 'Go on.'], replies: [ANSWERS], exits: [0, 1, 0] },
      [hook('user_prompt_submit', vetoed)],
    );
    assert.equal(played.requests.length, 2);
    assert.doesNotMatch(lastSent(played), /wrong word/);
    assert.match(lastSent(played), /Go on/);
  });
});

test('a plan file that the agent keeps comes back as it is after its edits', async () => {
  const path = '.claude/plans/brave-lamp.md';
  const plan = '# The tower\n\n1. Oil the horn.\n2. Polish the brass.\n';
  const played = await play({
    set: [ALONE],
    files: { [path]: 'An older plan.\n' },
    replies: [
      { calls: [{ name: 'read', arguments: { path } }], fills: 9_000 },
      { calls: [{ name: 'write', arguments: { path, content: plan } }], fills: 9_000 },
      {
        calls: [
          {
            name: 'edit',
            arguments: { path, old_string: 'Polish the brass', new_string: 'Paint the door' },
          },
          shell('seq 1 9000'),
        ],
        fills: 80_000,
      },
      { fault: { type: 'status', status: 500 } },
      ANSWERS,
    ],
  });
  assert.deepEqual(compactions(played), ['embedded']);
  const restored = plan.replace('Polish the brass', 'Paint the door').trim();
  assert.ok(lastSent(played).includes(`The plan as recorded in your file ${path}:\n${restored}`));
});

test('a packet is in the next context once, its placeholder filled', async () => {
  const played = await play({ replies: [COMMITS, GIVES, ANSWERS] });
  assert.deepEqual(asked(played).at(-1), 'handoff');
  assert.equal(counted(played, 'Light the lamp of the tower'), 1);
  assert.doesNotMatch(lastSent(played), /RAWR_VERBATIM/);
});

test('a packet comes back with the todo list and the plan, whichever was written last', async () => {
  const todos = [{ content: 'Fill the oil', status: 'pending' }];
  const plan = [{ step: 'Trim the wick', status: 'in_progress' }];
  const lists = [
    { name: 'todo', arguments: { todos } },
    { name: 'update_plan', arguments: { plan } },
  ];
  const played = await play({ replies: [{ calls: lists, fills: 9_000 }, COMMITS, GIVES, ANSWERS] });
  assert.deepEqual(asked(played).at(-1), 'handoff');
  assert.match(lastSent(played), /Todo list \(as of message 1\): 0 of 1 done; to do: Fill the oil/);
  assert.match(lastSent(played), /Plan \(as of message 1\): 0 of 1 done; in progress: Trim the wick/);
});

test('a compaction after which the limit is still exceeded says so, by the numbers of its receipt', async () => {
  // What the items do not explain stays, and what the command prints can go.
  const usage = { input: 86_500, output: 60 };
  const almostFull: Reply = { calls: [shell('seq 1 9000'), shell('seq 1 9001')], usage };
  const played = await play({ set: [ALONE], replies: [almostFull, SUMMARISES, ANSWERS] });
  const exceeded = played.events.find((event) => event.type === 'compact_threshold_exceeded');
  const { preTokens, postTokens } = receiptOf(played);
  assert.ok(preTokens > postTokens && postTokens > 87_000, `${preTokens} to ${postTokens}`);
  assert.ok(exceeded?.type === 'compact_threshold_exceeded');
  assert.deepEqual([exceeded.post_compact_tokens, exceeded.threshold], [postTokens, 87_000]);
});

test('clearing saves what the plain estimate says, without the margin of an unanchored one', async () => {
  const played = await play({
    set: [ALONE],
    replies: [
      { calls: Array.from({ length: 5 }, () => shell('seq 1 9000')), fills: 20_000 },
      { calls: [shell('true')], fills: 88_000 },
      ANSWERS,
    ],
  });
  const outputs = messagesOf(played.requests[1] ?? assert.fail()).flatMap(({ output }) =>
    typeof output === 'string' ? [output] : [],
  );
  const placeholder = Math.ceil(Buffer.byteLength(CLEARED_RESULT) / 4);
  const [first = ''] = outputs;
  const saved = played.events.find((event) => event.type === 'micro_compact_completed');
  assert.equal(saved?.tools_compacted, 3);
  assert.equal(saved.tokens_saved, 3 * (Math.ceil(Buffer.byteLength(first) / 4) - placeholder));
  assert.deepEqual(compactions(played), ['micro'], 'and no summary right after it');
});
