// The calls of the library, as a program uses them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compactMessages } from './compact-messages.ts';
import { watch } from './watch.ts';

type Message = Readonly<Record<string, unknown>>;

function user(content: string): Message {
  return { role: 'user', content };
}

/** A call of the shell and its result, as the Chat Completions API takes them. */
function shell(id: string, command: string, output: string): readonly Message[] {
  return [
    {
      role: 'assistant',
      content: null,
      tool_calls: [
        { id, type: 'function', function: { name: 'shell', arguments: JSON.stringify({ command }) } },
      ],
    },
    { role: 'tool', tool_call_id: id, content: output },
  ];
}

function lines(count: number): string {
  return Array.from(
    { length: count },
    (_, index) => `high water at ${index}, low water at ${index * 7}`,
  ).join('\n');
}

function assertSound(messages: readonly Message[]): void {
  const calls = messages.flatMap(
    ({ tool_calls: each }) => (each ?? []) as readonly { readonly id: string }[],
  );
  const results = messages.flatMap(({ tool_call_id: id }) => (id === undefined ? [] : [id]));
  assert.deepEqual(
    results,
    calls.map(({ id }) => id),
    'each call has its result',
  );
}

/** The texts of messages. Messages of one role that follow each other are parts of one. */
function textsOf(messages: readonly Message[]): readonly unknown[] {
  return messages.flatMap(({ content }) =>
    Array.isArray(content) ? content.map((part: { readonly text?: string }) => part.text) : [content],
  );
}

const LONG: readonly Message[] = [
  { role: 'system', content: 'You tend a lighthouse.' },
  user('Never touch the glass. Find out why the lamp flickers.'),
  ...Array.from({ length: 12 }, (_, hour) => shell(`call_${hour}`, `cat log/${hour}.txt`, lines(60))).flat(),
  { role: 'assistant', content: 'The wick is too short.' },
  user('Then trim a new one.'),
];

test('compactMessages shortens an array in the form in which it was given', async () => {
  const { messages, isCompacted, tokensBefore, tokensAfter, receipt } = await compactMessages(LONG, {
    targetTokens: 1500,
  });
  assert.ok(
    isCompacted && tokensBefore > 6000 && tokensAfter <= 1500,
    `${tokensBefore} became ${tokensAfter}`,
  );
  assert.equal(receipt?.postTokens, tokensAfter);
  assert.deepEqual(messages[0], LONG[0]);
  const texts = textsOf(messages);
  assert.equal(texts.at(-1), 'Then trim a new one.');
  assert.ok(texts.includes(LONG[1]?.['content']), 'the rule stays word for word');
  assertSound(messages);
});

test('a summary in the array is material of the next one, which never quotes it as a whole', async () => {
  let messages: readonly Message[] = LONG;
  for (let round = 0; round < 3; round++) {
    const work = Array.from({ length: 12 }, (_, hour) =>
      shell(`call_${round}_${hour}`, `cat buoy/${round}-${hour}.txt`, lines(60)),
    ).flat();
    const day = [
      user(`Read the buoys of day ${round}.`),
      ...work,
      { role: 'assistant', content: `The bell of buoy ${round} is cracked because of the frost.` },
    ];
    ({ messages } = await compactMessages(messages.concat(day), { targetTokens: 1500 }));
  }
  const texts = textsOf(messages).map(String);
  const summary = texts.find((text) => text.startsWith('This session is being continued')) ?? '';
  const frame = [
    'This session is being continued',
    'The conversation is summarized below:',
    'Carried over from an earlier summary',
    'Primary Request and Intent:',
    'Optional Next Step:',
  ];
  for (const line of frame) assert.equal(summary.split(line).length, 2, `${line}\n${summary}`);
  assert.doesNotMatch(summary, /^- None\.$/m);
  for (const day of [0, 1, 2]) {
    assert.ok(
      texts.includes(`Read the buoys of day ${day}.`),
      'what a merged message holds stays word for word',
    );
  }
  assert.match(summary, /The bell of buoy 0 is cracked/);
});

test('compactMessages takes the Messages and the Responses API, too', async () => {
  const anthropic = [
    user('Never touch the glass.'),
    ...Array.from({ length: 12 }, (_, hour) => [
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: `t${hour}`, name: 'bash', input: { command: `cat ${hour}` } }],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: `t${hour}`, content: lines(60) }] },
    ]).flat(),
    user('Go on.'),
  ];
  const responses = [
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Never touch the glass.' }] },
    ...Array.from({ length: 12 }, (_, hour) => [
      { type: 'function_call', call_id: `c${hour}`, name: 'shell', arguments: `{"command":"cat ${hour}"}` },
      { type: 'function_call_output', call_id: `c${hour}`, output: lines(60) },
    ]).flat(),
  ];
  const a = await compactMessages(anthropic, { targetTokens: 1500 });
  const r = await compactMessages<object>(responses, { targetTokens: 1500 });
  assert.ok(a.isCompacted && r.isCompacted);
  assert.equal(a.messages.at(-1)?.role, 'user');
  assert.match(JSON.stringify(a.messages), /Never touch the glass\./);
  assert.match(JSON.stringify(r.messages), /"input_text","text":"Never touch the glass\."/);
});

test('compactMessages leaves alone what fits, and says what cannot be done', async () => {
  const small = await compactMessages(LONG, { targetTokens: 100_000 });
  assert.equal(small.messages, LONG);
  assert.equal(small.isCompacted, false);
  await assert.rejects(compactMessages(LONG, { targetTokens: 10 }), {
    code: 'cannot_fit',
    cure: /^Ask for targetTokens \d+ or more\.$/,
  });
  await assert.rejects(compactMessages(LONG, { targetTokens: 0 }), RangeError);
  await assert.rejects(compactMessages([{ speaker: 'me' }], { targetTokens: 10 }), {
    code: 'format_unknown',
  });
  const holed = [...LONG, null as unknown as Message];
  await assert.rejects(compactMessages(holed, { targetTokens: 1500 }), { code: 'format_unknown' });
});

/** A loop whose agent reads much and commits; each turn is one message of the user. */
async function runLoop(turns: number, read: number) {
  const said: string[] = [];
  const sent: (readonly Message[])[] = [];
  const context = watch({ contextWindow: 40_000, onLine: (line) => said.push(line) });
  let messages: Message[] = [{ role: 'system', content: 'You write an almanac.' }];
  let compactions = 0;
  for (let turn = 0; turn < turns; turn++) {
    messages.push(user(`Write chapter ${turn}.`));
    const steps = [
      shell(`r${turn}`, 'cat tides.txt', lines(read)),
      shell(`c${turn}`, `git commit -am 'Add chapter ${turn}'`, `[main 1a2b3c${turn}] Add chapter ${turn}`),
      [{ role: 'assistant', content: `Chapter ${turn} is written and committed. The next one comes next.` }],
    ];
    for (const step of steps) {
      const next = await context.next(messages);
      if (next !== messages) compactions++;
      sent.push([...next]);
      messages = next;
      messages.push(...step);
    }
  }
  return { said, sent, compactions };
}

test('watch compacts an agent loop after a commit, hands over, and keeps it below its window', async () => {
  const { said, sent, compactions } = await runLoop(12, 350);
  assert.ok(compactions >= 2 && compactions < 8, `${compactions} compactions: ${said.join('\n')}`);
  for (const [index, messages] of sent.entries()) {
    assertSound(messages);
    assert.ok(JSON.stringify(messages).length / 4 < 40_000, 'never above the window');
    assert.deepEqual(messages[0], { role: 'system', content: 'You write an almanac.' });
    const turn = Math.floor(index / 3);
    const asked = textsOf(messages).filter((text) => text === `Write chapter ${turn}.`).length;
    assert.equal(asked, 1, `the message of turn ${turn}, in request ${index}`);
  }
  assert.ok(
    said.some((line) => line.includes('triggering compaction')),
    said.join('\n'),
  );
});

test('watch returns the very array where nothing is due, and begins anew with another one', async () => {
  const context = watch({ contextWindow: 200_000 });
  const first = [user('Hello.')];
  assert.equal(await context.next(first), first);
  const grown = [...first, { role: 'assistant', content: 'Hello.' }, user('What is the time?')];
  assert.equal(await context.next(grown, { usedTokens: 500 }), grown);
  const other = [user('Another conversation.')];
  assert.equal(await context.next(other), other);
  // An array that its owner appends to is the same conversation.
  other.push({ role: 'assistant', content: 'Yes.' }, user('Go on.'));
  assert.equal(await context.next(other), other);
});

test('watch begins with a long conversation, and compacts at once where its window is full', async () => {
  const context = watch({ contextWindow: 9000 });
  const messages = await context.next([...LONG]);
  assert.notEqual(messages, LONG);
  assert.ok(JSON.stringify(messages).length / 4 < 8000);
  assert.ok(textsOf(messages).includes('Then trim a new one.'), 'the request stays word for word');
  assertSound(messages);
});

test('watch believes the provider’s count', async () => {
  const context = watch({ contextWindow: 60_000 });
  const start = [user('Write a chapter.'), ...shell('a', 'cat tides.txt', lines(150))];
  assert.equal(await context.next(start, { usedTokens: 2000 }), start);
  const more = [
    ...start,
    ...shell('b', 'cat more-tides.txt', lines(1000)),
    ...shell('c', "git commit -am 'Add it'", '[main 1a2b3c4] Add it'),
  ];
  assert.notEqual(await context.next(more, { usedTokens: 40_000 }), more);
});
