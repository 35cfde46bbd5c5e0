import assert from 'node:assert/strict';
import { lstatSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryDirectory } from '../../test/support/program.ts';
import { DEFAULT_CONFIG } from '../config/defaults.ts';
import { parsePrompt } from '../prompts/frontmatter.ts';
import { SHIPPED_PROMPTS } from '../prompts/shipped.ts';
import type { DecisionRecord } from '../protocol/decision.ts';
import { TrailCollector } from '../trail/collect.ts';
import { HandoverWriter } from '../watcher/live/packet-writer.io.ts';
import { scratchFileOf } from '../watcher/live/words.ts';
import { WatcherSurroundings } from './watching.io.ts';

const THREAD = 'thread-1';
const PATH = scratchFileOf(DEFAULT_CONFIG, THREAD);
const SECRET = `ghp_${'a1B2c3D4e5'.repeat(4)}`;
const DECISION: DecisionRecord = {
  type: 'decision',
  id: 'd1',
  point: 'turn_end',
  turn: 1,
  tier: undefined,
  situation: { used: 1, window: undefined, percentRemaining: undefined, projected: 1 },
  required: [],
  signals: [],
  openIds: [],
  shouldCompact: true,
  reason: 'boundary',
  why: 'The user asked for it.',
};

/** Has the watcher make a packet with notes, in a folder. */
async function writeNotes(root: string): Promise<{ warnings: string[]; packet: string }> {
  const warnings: string[] = [];
  const world = new WatcherSurroundings(
    {
      root,
      env: undefined,
      clock: { now: () => 0 },
      readConfig: () => Promise.resolve(DEFAULT_CONFIG),
      prompts: {
        prompt: (_, name) =>
          Promise.resolve({
            ...parsePrompt(SHIPPED_PROMPTS[name]),
            name,
            file: '',
            text: SHIPPED_PROMPTS[name],
            state: 'shipped',
            warnings: [],
          }),
        decisionPrompt: () => Promise.reject(new Error('nobody asks')),
      },
      model: { provider: 'none', stream: () => assert.fail('no model is asked') },
      modelName: 'none',
      warn: (message) => warnings.push(message),
    },
    DEFAULT_CONFIG,
  );
  const agent = {
    threadId: THREAD,
    trail: () => new TrailCollector().trail(),
    lastAgentMessage: () => `The key is ${SECRET}.`,
  };
  const writer = new HandoverWriter(agent, world, (text) => warnings.push(text));
  const effect = {
    type: 'assemble_packet',
    number: 1,
    sequenceId: 's1',
    author: 'watcher',
    hasScratch: true,
    decision: DECISION,
  } as const;
  const packet = await writer.packet(effect, { hasEnded: true, hasQueuedInput: false });
  return { warnings, packet: JSON.stringify(packet) };
}

test('notes are for nobody else, whatever the umask, and hold no secret', async () => {
  const root = temporaryDirectory();
  const umask = process.umask(0);
  try {
    assert.deepEqual((await writeNotes(root)).warnings, []);
  } finally {
    process.umask(umask);
  }
  const file = join(root, PATH);
  assert.equal(lstatSync(file).mode & 0o777, 0o600);
  assert.equal(lstatSync(join(file, '..')).mode & 0o777, 0o700);
  const text = readFileSync(file, 'utf8');
  assert.match(text, /The key is \[redacted github_token\]/);
  assert.ok(!text.includes(SECRET));
});

for (const [what, plant] of [
  [
    'a link in the place of the file',
    (root: string, secret: string) => symlinkSync(secret, join(root, PATH)),
  ],
  ['a link to nothing', (root: string, secret: string) => symlinkSync(`${secret}.new`, join(root, PATH))],
] as const) {
  test(`notes go through no link: ${what}`, async () => {
    const root = temporaryDirectory();
    const outside = temporaryDirectory();
    const secret = join(outside, 'authorized_keys');
    writeFileSync(secret, 'mine\n');
    mkdirSync(join(root, PATH, '..'), { recursive: true });
    plant(root, secret);
    const { warnings, packet } = await writeNotes(root);
    assert.match(warnings.join(), /the scratch notes could not be written/);
    assert.ok(!packet.includes(PATH), 'the packet names no notes');
    assert.equal(readFileSync(secret, 'utf8'), 'mine\n');
    assert.throws(() => lstatSync(`${secret}.new`), { code: 'ENOENT' });
  });
}

test('notes go through no link: a link in the place of the folder', async () => {
  const root = temporaryDirectory();
  const outside = temporaryDirectory();
  symlinkSync(outside, join(root, PATH.split('/')[0] ?? ''));
  const { warnings } = await writeNotes(root);
  assert.match(warnings.join(), /the scratch notes could not be written/);
  assert.throws(() => lstatSync(join(outside, PATH.split('/').at(-1) ?? '')), { code: 'ENOENT' });
});
