import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { REAL_SESSIONS_SKIP, realSessions } from '../../../test/support/real-sessions.ts';
import { Story } from '../../../test/support/story.ts';
import { textOfParts } from '../../protocol/item.ts';
import type { LogRecord } from '../../protocol/record.ts';
import { approximateTokens } from '../../tokens/estimate.ts';
import { TrailCollector } from '../../trail/collect.ts';
import { oneLine } from '../../text/sentences.ts';
import type { Trail } from '../../trail/trail.ts';
import { assemblePacket } from './assemble.ts';
import type { AssembleSettings, PacketOccasion } from './assemble.ts';
import { divide } from './sections.ts';
import { factLines, factsOf } from './facts.ts';
import { recentActivities, writeTail } from './tail.ts';
import { readSessionFile } from '../../../test/support/read-format.ts';

const occasion: PacketOccasion = {
  tier: 'asap',
  percentRemaining: 58.4,
  signals: [
    {
      id: 'c1',
      boundary: 'commit',
      evidence: {
        type: 'command',
        command: 'git commit -m x',
        exitStatus: 0,
        toldBy: 'status',
        hash: 'abc1234',
      },
      turn: 3,
      position: 20,
    },
  ],
  why: '58 % of the window is left, below the 65 % of asap.',
};
const settings: AssembleSettings = { maxTokens: 4_000, count: approximateTokens };

function trailOf(records: readonly LogRecord[]): Trail {
  const collector = new TrailCollector();
  for (const record of records) collector.add(record);
  return collector.trail();
}

const story = Story.in('/work/shop')
  .user('Build an importer for price lists. Never load a whole file into memory.')
  .agent('I chose a streaming parser because lists may have 2 GB.')
  .plan('done: read rows', 'now: validate rows', 'todo: write the report')
  .edit('src/import/rows.ts', 'a', 'export function readRows(path: string) {}')
  .sh('npm test', '4 passing\n1 failing\nrows.test.ts: expected 3 rows, got 2', 1)
  .user('Prices are in cents, use integers instead of floats.')
  .edit('src/import/price.ts', 'a', 'export const toCents = (text: string) => 0;')
  .sh('npm test', '5 passing')
  .sh('git commit -am "Read rows as a stream"', '[main abc1234] Read rows as a stream\n 2 files changed')
  .agent('The importer reads rows as a stream. Should I validate currencies too?')
  .user('yes, against the ISO list')
  .read('src/import/currency.ts', 'export const CURRENCIES = [];')
  .agent('Next I will load the ISO 4217 list into src/import/currency.ts.');

const trail = trailOf(story.records);

function text(more: Partial<AssembleSettings> = {}): string {
  return assemblePacket(trail, occasion, factsOf(trail, { scratchPath: '.scratch/agent-milo.scratch.md' }), {
    ...settings,
    ...more,
  }).text;
}

test('a packet answers what was asked last and before that, and says who wrote it', () => {
  const packet = text();
  assert.match(packet, /watcher from the log of this session; the agent did not write it/);
  assert.match(packet, /tier asap; 58 % of the window left; signals: commit \(`git commit -m x`\)/);
  assert.match(packet, /\*\*Current ask\*\* \(message 3 of 3\): "yes, against the ISO list"/);
  assert.match(packet, /answers the agent's question: "Should I validate currencies too\?"/);
  assert.match(packet, /Before that \(message 2\): "Prices are in cents/);
  assert.match(packet, /The session began with: "Build an importer/);
});

test('a packet has the chain with what was done, the rules, the plan, the failures and the next step', () => {
  const packet = text();
  assert.match(packet, /1\. "Build an importer[^\n]*\n {3}→ changed src\/import\/rows\.ts/);
  assert.match(packet, /Never load a whole file into memory/);
  assert.match(
    packet,
    /2\. "Prices are in cents, use integers instead of floats\."/,
    'the chain is verbatim',
  );
  assert.match(packet, /- in progress: validate rows/);
  assert.match(packet, /abc1234 Read rows as a stream/);
  assert.match(packet, /`npm test` failed: .*Passed later after edits to src\/import\/price\.ts/);
  assert.match(packet, /because lists may have 2 GB/);
  assert.match(packet, /The agent's own words: "Next I will load the ISO 4217 list/);
  assert.match(packet, /Open in the plan of message 1, perhaps overtaken since: validate rows/);
});

test('what is next begins with the ask that the steps serve, and says which words may be overtaken', () => {
  const next = (told: Story): string =>
    /## What is next\n\n([\s\S]*?)\n\n##/.exec(
      assemblePacket(trailOf(told.records), occasion, factsOf(trailOf(told.records)), settings).text,
    )?.[1] ?? '';
  const asked = (): Story => new Story().user('Translate the menu into Danish, all 40 dishes.');
  assert.match(
    next(asked().agent('Let me look at the dishes.').sh('cat dishes.txt', 'soup')),
    /^- Finish the current ask: "Translate the menu[^\n]*\n- Announced, and its results are in: "Let me look/,
  );
  const overtaken = asked()
    .agent('Next I will translate the soups.')
    .sh('cat a', 'a')
    .agent('The soups are in the file.')
    .sh('cat b', 'b');
  assert.match(
    next(overtaken),
    /\n- Announced before, perhaps done by now: "Next I will translate the soups/,
  );
  assert.doesNotMatch(next(asked().agent('All 40 dishes are translated.')), /Finish the current ask/);
});

test('a short request is told with the whole of what it replies to', () => {
  const items = Array.from({ length: 6 }, (_, at) => `${at + 1}. The dish number ${at + 1} has no price.`);
  const told = new Story()
    .user('Check the menu.')
    .agent(`I found these:\n${items.join('\n')}`)
    .user('fix all of them');
  const trailed = trailOf(told.records);
  const packet = assemblePacket(trailed, occasion, factsOf(trailed), settings).text;
  const ask = packet.slice(
    packet.indexOf('Just before it, the agent had said:'),
    packet.indexOf('Before that'),
  );
  for (const item of items) assert.ok(ask.indexOf(item) >= 0, item);
});

test('the parts stand in the order of the spec', () => {
  const order = [
    '## What the user asked',
    '## All requests',
    '## Where we are',
    '## What is next',
    '## Rules',
    '## Recent',
    '## Harness facts',
    'Continue with',
  ];
  const packet = text();
  const places = order.map((heading) => packet.indexOf(heading));
  assert.ok(!places.includes(-1), JSON.stringify(places));
  assert.deepEqual(
    places,
    places.toSorted((a, b) => a - b),
  );
});

test('the same trail gives the same packet', () => {
  assert.equal(text(), text());
});

test('the tail shows the newest activities in order, verbatim and with their outcome', () => {
  const tail = writeTail(trail, {
    maxItems: 3,
    maxMessageChars: 100,
    roomTokens: 500,
    count: approximateTokens,
  });
  const rows = tail.split('\n').filter((row) => row.startsWith('- '));
  assert.equal(rows.length, 3, tail);
  assert.match(rows[0] ?? '', /^- said: "The importer reads rows/);
  assert.match(rows[1] ?? '', /^- Read src\/import\/currency\.ts/);
  assert.match(rows[2] ?? '', /^- said: "Next I will load/);
  const failed = recentActivities(trail).find(({ text: shown }) => shown.includes('failed'));
  assert.match(failed?.text ?? '', /- npm test → failed \(exit 1\)/);
  assert.ok(
    recentActivities(trail).some(({ kind }) => kind === 'plan'),
    'the plan is one of them',
  );
});

test('over room the oldest activity goes first, and the last message stays', () => {
  const lastMessage = 'The list is loaded and checked.';
  const whole = writeTail(trail, {
    maxItems: 8,
    maxMessageChars: 100,
    roomTokens: 5_000,
    count: approximateTokens,
    lastMessage,
  });
  const tight = writeTail(trail, {
    maxItems: 8,
    maxMessageChars: 100,
    roomTokens: 40,
    count: approximateTokens,
    lastMessage,
  });
  assert.ok(tight.length < whole.length, 'it is shorter');
  assert.ok(whole.endsWith(tight), `${tight}\nis not the end of\n${whole}`);
  assert.ok(tight.includes(lastMessage), tight);
});

test('of a long last message its end is kept, on whole characters', () => {
  const lastMessage = `${'🙂'.repeat(3_000)} and the very last words`;
  const packet = text({ lastAgentMessage: lastMessage, tailMaxChars: 1_199 });
  assert.match(packet, /last message, its end:\n {4}… 🙂/);
  assert.match(packet, /the very last words/);
  assert.doesNotMatch(packet, /\p{Surrogate}/u);
  const shown = packet.slice(packet.indexOf('its end:'), packet.indexOf('very last words'));
  assert.ok(shown.length <= 1_220, `${shown.length} characters`);
});

test('facts come from git where it was asked, else from the log, and nothing is made up', () => {
  const told = factLines(factsOf(trail)).join('\n');
  assert.match(told, /Last commit in the log: abc1234 "Read rows as a stream".*HEAD was not checked/);
  assert.match(told, /Last tests: `npm test` → passed.*5 passing/);
  assert.match(
    told,
    /Plan \(as of message 1\): 1 of 3 done; in progress: validate rows; to do: write the report/,
  );
  assert.doesNotMatch(told, /subagents|Scratch/);
  const git = {
    branch: 'main',
    head: { hash: 'f'.repeat(40), subject: 'Newest' },
    changes: [{ status: '??', path: 'notes.md' }],
  };
  const world = factLines(
    factsOf(trail, { git, subagents: [{ name: 'reviewer', task: 'reads the diff' }] }),
  ).join('\n');
  assert.match(world, /HEAD: f{12} "Newest" on main/);
  assert.match(world, /Changed files: \?\? notes\.md/);
  assert.match(world, /Running subagents: reviewer \(reads the diff\)/);
  assert.doesNotMatch(world, /not looked at/);
  const clean = factLines(factsOf(trail, { git: { ...git, changes: [] }, subagents: [] })).join('\n');
  assert.match(clean, /the work tree is clean/);
  assert.match(clean, /Running subagents: none/);
});

test('a finished agent is not told to go on', () => {
  const ended = Story.in('/w').user('Say hello').agent('Hello to you, and welcome to the project.');
  const done = trailOf(ended.records);
  const { text: packet, nextStep } = assemblePacket(done, occasion, factsOf(done), settings);
  assert.equal(nextStep, undefined);
  assert.match(packet, /Nothing is left open/);
  assert.doesNotMatch(packet, /Continue with/);
});

test('a session without a word makes a packet, too', () => {
  const { text: packet } = assemblePacket(
    trailOf([]),
    { ...occasion, signals: [] },
    factsOf(trailOf([])),
    settings,
  );
  assert.match(packet, /asked for nothing yet/);
  assert.match(packet, /no boundary/);
});

test('at no size is a packet too long, and what matters most is there as long as it fits', () => {
  for (let maxTokens = 1; maxTokens < 4_000; maxTokens += maxTokens < 300 ? 13 : 311) {
    const packet = assemblePacket(trail, occasion, factsOf(trail), { ...settings, maxTokens });
    assert.ok(packet.tokens <= maxTokens, `${packet.tokens} of ${maxTokens}`);
    assert.equal(packet.tokens, approximateTokens(packet.text));
    if (maxTokens < 600) continue;
    assert.match(packet.text, /Current ask/, `at ${maxTokens}`);
    assert.match(packet.text, /Never load a whole file/, `at ${maxTokens}`);
    assert.match(packet.text, /ISO 4217/, `at ${maxTokens}`);
  }
});

test('whatever is said, a packet keeps its limit, whole characters and no secret', () => {
  const key = `ghp_${'a1B2'.repeat(10)}`;
  const words = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom(key, '```', '\n# x\n', 'never do it', '🙂'.repeat(90)),
  );
  fc.assert(
    fc.property(
      fc.array(words, { minLength: 1, maxLength: 12 }),
      fc.integer({ min: 1, max: 900 }),
      (said, maxTokens) => {
        const told = Story.in('/w');
        said.forEach((word, at) => (at % 2 === 0 ? told.user(word) : told.agent(word)));
        const made = trailOf(told.sh(said.join(' '), said.join('\n'), 1).records);
        const packet = assemblePacket(made, occasion, factsOf(made), {
          ...settings,
          maxTokens,
          lastAgentMessage: said.at(-1),
        });
        assert.ok(packet.tokens <= maxTokens, `${packet.tokens} of ${maxTokens}`);
        assert.ok(!packet.text.includes(key), 'no key');
      },
    ),
    { seed: 20_261_121, numRuns: 100 },
  );
});

for (const file of realSessions('codex', 'claude-code')) {
  test(`packets of ${file.split('/').slice(-2).join('/')}`, async () => {
    const { records } = await readSessionFile(file);
    const collector = new TrailCollector();
    const cuts = new Set([0.3, 0.6, 1].map((share) => Math.ceil(records.length * share)));
    let lastAgentMessage: string | undefined;
    for (const [index, record] of records.entries()) {
      collector.add(record);
      if (record.type === 'item' && record.item.type === 'message' && record.item.role === 'assistant') {
        lastAgentMessage = textOfParts(record.item.content);
      }
      if (!cuts.has(index + 1)) continue;
      const made = collector.trail();
      for (const maxTokens of [500, 4_000]) {
        const { text: packet, tokens } = assemblePacket(made, occasion, factsOf(made), {
          ...settings,
          maxTokens,
          lastAgentMessage,
        });
        assert.ok(tokens <= maxTokens, `${tokens} of ${maxTokens}`);
        assert.doesNotMatch(packet, /\p{Surrogate}/u);
        const current = oneLine(made.requests.at(-1)?.text ?? '').slice(0, 40);
        assert.ok(packet.includes(current), `the current ask at ${maxTokens}: ${current}`);
        if (maxTokens < 4_000) continue;
        const kept = made.constraints.filter((rule) => packet.includes(oneLine(rule.text)));
        assert.ok(
          kept.length >= 0.9 * made.constraints.length,
          `${kept.length} of ${made.constraints.length} rules`,
        );
        assert.ok(
          divide(packet).some(({ section }) => section === 'next_step'),
          'it reads as a packet',
        );
      }
    }
  });
}

if (REAL_SESSIONS_SKIP !== false) {
  test('packets of real sessions', { skip: REAL_SESSIONS_SKIP }, () => undefined);
}
