// How the real tools read what the watcher leaves in their files: messages with a marker line, a packet in the agent's
// name, the handoff, and records of types that only Baton knows. The findings are in docs/real-tools.md.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { markerOf } from '../../src/protocol/marker.ts';
import { textOfParts, type JsonObject, type MessageItem } from '../../src/protocol/item.ts';
import {
  composeRequest,
  handoffMessage,
  packetItem,
  syntheticMessage,
} from '../../src/watcher/packet/messages.ts';
import {
  assistantLine,
  boundaryLine,
  sessionText,
  SUMMARY,
  summaryLine,
  TIDES as CLAUDE_TIDES,
  TIDES_SENT as CLAUDE_TIDES_SENT,
  userLine,
  uuidOf,
} from './claude-sessions.ts';
import {
  assistantMessage,
  compacted,
  responseItem,
  rolloutText,
  TIDES_SENT,
  tidesRollout,
  tokenCount,
  userMessage,
  type HistoryMode,
  type RolloutLine,
} from './codex-rollouts.ts';
import { assertClaudeSends, assertCodexSends } from './contract.ts';
import type { SentItem } from './sent.ts';
import { skipReason } from './tools.ts';

const skip = await skipReason();

const SEQUENCE = '7f3c';
const REQUEST = composeRequest({
  sequenceId: SEQUENCE,
  steps: ['heads_up', 'packet_request'],
  prompts: { headsUp: 'A pause is near.', scratch: '', packet: 'Write your packet.' },
});
const ANSWER = '## Current state\nHeights are in metres.\n\n## Next step\nAdd the moon phase.';
const PACKET = textOf(packetItem('# Continuation packet\n\nNext: the moon phase.', SEQUENCE, 'assistant'));
const HANDOFF = handoffMessage({
  sequenceId: SEQUENCE,
  packet: ANSWER,
  isWrapped: true,
  frame: 'Here is your packet back.\n\n{packet}\n\nContinue from here.',
});

function textOf({ content }: MessageItem): string {
  return textOfParts(content);
}

/** As it goes to a rollout: what Baton knows of its origin is in the marker line alone. */
function wireUser(text: string): JsonObject {
  const message = syntheticMessage(text, { step: 'handoff', sequenceId: SEQUENCE });
  assert.notEqual(markerOf(textOf(message)), undefined);
  return userMessage(text);
}

/** Records of the watcher, in the shapes that a reader of other products might stumble over. */
const RECORDS: readonly RolloutLine[] = [
  { type: 'baton_decision', payload: { id: 'd1', point: 'turn_end', shouldCompact: true, why: 'a commit' } },
  { type: 'baton_watcher', payload: { type: 'message', role: 'user', content: 'Not for the model.' } },
  { type: 'event_msg', payload: { type: 'baton_state', state: 'compacting' } },
];

const user = (text: string): SentItem => ({ role: 'user', text });
const assistant = (text: string): SentItem => ({ role: 'assistant', text });

describe('codex resumes what the watcher wrote', { skip, concurrency: 2 }, () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'baton-rollouts-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  async function write(mode: HistoryMode, appended: readonly RolloutLine[]): Promise<string> {
    const path = join(folder, `${randomUUID()}.jsonl`);
    const lines = [...tidesRollout(mode), ...appended];
    await writeFile(path, rolloutText(lines, mode === 'paginated' ? 0 : undefined));
    return path;
  }

  for (const mode of ['paginated', 'legacy'] as const) {
    it(`${mode}: the request and its answer like any exchange, without the records around them`, async () => {
      const appended = [
        ...RECORDS,
        responseItem(wireUser(REQUEST)),
        ...RECORDS,
        responseItem(assistantMessage(ANSWER)),
        tokenCount(900),
        ...RECORDS,
      ];
      const path = await write(mode, appended);
      await assertCodexSends({ path, items: [...TIDES_SENT, user(REQUEST), assistant(ANSWER)] });
    });

    it(`${mode}: a packet in the agent's name and the handoff, in a replaced history and after it`, async () => {
      const history = [userMessage(SUMMARY), assistantMessage(PACKET), wireUser(HANDOFF)];
      const sent = [user(SUMMARY), assistant(PACKET), user(HANDOFF)];
      const path = await write(mode, [
        ...RECORDS,
        compacted(history),
        tokenCount(40),
        ...RECORDS,
        responseItem(assistantMessage(PACKET)),
        responseItem(wireUser(HANDOFF)),
        ...RECORDS,
      ]);
      await assertCodexSends({ path, items: [...sent, assistant(PACKET), user(HANDOFF)] });
    });
  }

  it('a record without payload, and one that is not an object: skipped', async () => {
    const odd = ['{"type":"baton_bare","ordinal":90}', '{"type":"baton_list","ordinal":91,"payload":[1]}'];
    const path = join(folder, `${randomUUID()}.jsonl`);
    const end = rolloutText([tokenCount(900)], 92);
    await writeFile(path, `${rolloutText(tidesRollout('paginated'), 0)}${odd.join('\n')}\n${end}`);
    await assertCodexSends({ path, items: TIDES_SENT });
  });

  it('records at the end of a paginated rollout: without ordinals, or with ordinals that Codex then uses again', async () => {
    for (const ordinal of [undefined, 8, 500]) {
      const path = join(folder, `${randomUUID()}.jsonl`);
      const text = rolloutText(tidesRollout('paginated'), 0) + rolloutText(RECORDS.slice(0, 2), ordinal);
      await writeFile(path, text);
      await assertCodexSends({ path, items: TIDES_SENT });
    }
  });
});

describe('claude resumes what the watcher wrote', { skip, concurrency: 2 }, () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'baton-sessions-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  async function write(text: string): Promise<string> {
    const path = join(folder, `${randomUUID()}.jsonl`);
    await writeFile(path, text);
    return path;
  }

  /** Records beside the chain: none has a uuid. */
  const beside: readonly JsonObject[] = RECORDS.map(({ type, payload }) => ({
    type,
    payload,
    sessionId: '00000000-0000-4000-8000-000000000000',
    timestamp: '2026-01-02T03:04:05.000Z',
  }));
  const say = (name: string, behind: string, text: string) =>
    assistantLine({ name, after: behind }, { type: 'text', text });
  const exchange = [userLine({ name: 'request', after: 'done' }, REQUEST), say('packet', 'request', ANSWER)];
  const compaction = (names: readonly string[]): readonly JsonObject[] => [
    boundaryLine('boundary', { anchor: 'summary', names }),
    summaryLine({ name: 'summary', after: 'boundary' }),
  ];
  const after1 = [say('b1', 'summary', PACKET), userLine({ name: 'handoff', after: 'b1' }, HANDOFF)];

  it('the request and its answer like any exchange, without the records around them', async () => {
    const path = await write(
      sessionText(
        ...CLAUDE_TIDES,
        ...beside,
        ...exchange.slice(0, 1),
        ...beside,
        ...exchange.slice(1),
        ...beside,
      ),
    );
    await assertClaudeSends({ path, items: [...CLAUDE_TIDES_SENT, user(REQUEST), assistant(ANSWER)] });
  });

  it("a packet in the agent's name and the handoff after a compaction", async () => {
    const path = await write(
      sessionText(...CLAUDE_TIDES, ...beside, ...compaction([]), ...beside, ...after1, ...beside),
    );
    await assertClaudeSends({ path, items: [user(SUMMARY), assistant(PACKET), user(HANDOFF)] });
  });

  const chained = { ...beside[0], uuid: uuidOf('record'), parentUuid: uuidOf('done'), isSidechain: false };

  it('a record with a uuid that nothing follows', async () => {
    await assertClaudeSends({
      path: await write(sessionText(...CLAUDE_TIDES, chained)),
      items: CLAUDE_TIDES_SENT,
    });
  });

  it('wrongly if a message follows a record by its uuid: all but the first message before it is lost', async () => {
    const behind = [
      userLine({ name: 'request', after: 'record' }, REQUEST),
      say('packet', 'request', ANSWER),
    ];
    const path = await write(sessionText(...CLAUDE_TIDES, chained, ...behind));
    await assertClaudeSends({
      path,
      items: [...CLAUDE_TIDES_SENT.slice(0, 1), user(REQUEST), assistant(ANSWER)],
      times: 1,
    });
  });
});
