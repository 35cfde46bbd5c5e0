// What a rehearsal answers where Baton asks for its own purposes, and what it says that a request took.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compactionWorld } from '../../../test/support/compactable.ts';
import { Story } from '../../../test/support/story.ts';
import { agentSays, recordsOf, toolCall, userSays } from '../../../test/support/records.ts';
import { textOfSize } from '../../../test/support/thread.ts';
import { judgeAnswer } from '../../compaction/summarise/answer.ts';
import { SHIPPED_PROMPTS } from '../../prompts/shipped.ts';
import { textOfParts } from '../../protocol/item.ts';
import type { Item } from '../../protocol/item.ts';
import type { ModelRequest } from '../../protocol/model.ts';
import type { LogRecord } from '../../protocol/record.ts';
import { approximateTokens, DEFAULT_ESTIMATE } from '../../tokens/estimate.ts';
import { TrailCollector } from '../../trail/collect.ts';
import { SUMMARY_SECTIONS } from '../../vocabulary.ts';
import { JUDGMENT_SCHEMA, parseJudgment } from '../../watcher/judgment.ts';
import { composeRequest, syntheticMessage } from '../../watcher/packet/messages.ts';
import { acceptPacket } from '../../watcher/packet/accept.ts';
import { PlaceFold } from './script-position.ts';
import { requestPurpose, replyTo, usageOf } from './reply.ts';
import type { Reply, Standing } from './reply.ts';
import { readScript } from './script.ts';

const SYSTEM = SHIPPED_PROMPTS['compact-system.md'];

const STORY = Story.in('/work/shop')
  .user('Build an importer for price lists. Never load a whole file into memory.')
  .agent('I chose a streaming parser because lists may be large.')
  .plan('done: read rows', 'now: validate rows')
  .edit('src/import/rows.ts', 'a', 'export function readRows(path: string) {}')
  .sh('npm test', 'ok', 0)
  .agent('Next I will validate the currencies in src/import/rows.ts.');

const script = scriptOf(STORY.records);

function scriptOf(records: readonly LogRecord[]) {
  return readScript(records, { estimate: DEFAULT_ESTIMATE, hash: compactionWorld().hash });
}

function request(more: Partial<ModelRequest> = {}): ModelRequest {
  return { model: 'rehearsal', instructions: 'Work.', items: [userSays('Go.')], tools: [], ...more };
}

function standing(more: Partial<Standing> = {}): Standing {
  const collector = new TrailCollector();
  for (const record of STORY.records) collector.add(record);
  return {
    place: { step: 0, part: 0 },
    unanswered: [],
    isForeignTurn: false,
    trail: () => collector.trail(),
    ...more,
  };
}

function replied(more: Partial<ModelRequest>, at: Partial<Standing> = {}): string {
  return wordsOf(replyTo(request(more), script, standing(at), SYSTEM));
}

function wordsOf({ items }: Reply): string {
  return items.map((item) => (item.type === 'message' ? textOfParts(item.content) : item.type)).join('\n');
}

function asks(step: 'heads_up' | 'scratch' | 'packet_request'): Item {
  return syntheticMessage('Anything at all.', { step, sequenceId: 'sequence-1' });
}

test("a packet is accepted as the agent's own, with every part that is asked for", () => {
  const text = replied({ items: [userSays('Go.'), asks('packet_request')] });
  const prompts = { headsUp: '', scratch: '', packet: SHIPPED_PROMPTS['auto-compact.md'] };
  const asked = composeRequest({ sequenceId: 'sequence-1', steps: ['packet_request'], prompts });
  const facts: readonly string[] = [];
  const settings = {
    maxTokens: 4_000,
    count: approximateTokens,
    facts,
    tail: '- Ran npm test',
    request: asked,
  };
  const packet = acceptPacket(text, settings);
  assert.equal(packet.type, 'packet', JSON.stringify(packet));
  assert.deepEqual(packet.missing, []);
  assert.ok(packet.type === 'packet' && packet.linesCut === 0, 'nothing of it is cut');
  for (const told of [
    'importer for price lists',
    'Never load a whole file',
    'validate the currencies',
    'rows.ts',
  ]) {
    assert.ok(text.includes(told), told);
  }
  assert.equal(text, replied({ items: [userSays('Go.'), asks('packet_request')] }), 'the same again');
});

test('a packet of a thread without a past is one, too, though nobody has anything to tell', () => {
  const empty = { trail: () => new TrailCollector().trail() };
  assert.match(replied({ items: [asks('packet_request')] }, empty), /## Next step\n\nNone\./);
});

test("a summary passes for a model's, within what it may take", () => {
  for (const maxOutputTokens of [undefined, 2_000]) {
    const most = maxOutputTokens === undefined ? {} : { maxOutputTokens };
    const text = replied({ instructions: SYSTEM, ...most });
    const mostTokens = maxOutputTokens ?? 4_000;
    const wanted = {
      mostTokens,
      count: approximateTokens,
      hasSections: true,
      wasReminded: false,
      isPiece: false,
    };
    const verdict = judgeAnswer({ text, hasCalls: false, stopReason: 'end_turn' }, wanted);
    assert.equal(verdict.type, 'summary', JSON.stringify(verdict));
    for (const section of SUMMARY_SECTIONS) assert.ok(text.includes(section), section);
  }
});

test('a judgment leaves the decision to the policy', () => {
  const text = replied({ schema: { name: 'judgment', schema: JUDGMENT_SCHEMA } });
  const judgment = parseJudgment(text);
  assert.ok(judgment.type === 'answer' && judgment.shouldCompact, text);
});

test('what is asked for is known by origin, form and system prompt, never by what a text says', () => {
  const kind = (more: Partial<ModelRequest>): string => {
    const asked = requestPurpose(request(more), SYSTEM);
    return asked.type === 'ceremony' ? asked.step : asked.type;
  };
  const quoted = composeRequest({
    sequenceId: 's1',
    steps: ['packet_request'],
    prompts: { headsUp: '', scratch: '', packet: 'Write a packet.' },
  });
  const handoff = syntheticMessage('Go on.', { step: 'handoff', sequenceId: 's1' });
  assert.equal(kind({ items: [userSays(quoted)] }), 'work', 'the user quotes the marker');
  assert.equal(kind({ items: [asks('packet_request')] }), 'packet_request');
  assert.equal(kind({ items: [asks('scratch'), userSays('And hurry.')] }), 'scratch');
  assert.equal(kind({ items: [asks('packet_request'), agentSays('The packet.')] }), 'work', 'answered');
  assert.equal(kind({ items: [asks('packet_request'), handoff] }), 'work', 'handed over');
  assert.equal(kind({ items: [asks('heads_up'), asks('scratch')] }), 'scratch');
  const other = {
    name: 'report',
    schema: { type: 'object', properties: { title: { type: 'string' } } },
  } as const;
  assert.equal(kind({ schema: other }), 'work', 'a form of the answer is no judgment');
});

test('an answer is cut to what the thread does not have of it yet', () => {
  const recording = recordsOf(userSays('Go.'), agentSays('First.'), agentSays('Second.'));
  const reply = replyTo(request(), scriptOf(recording), standing({ place: { step: 1, part: 1 } }), SYSTEM);
  assert.equal(wordsOf(reply), 'Second.');
});

test('calls with one id are told apart, and each keeps its own result', () => {
  const recording = recordsOf(
    userSays('Go.'),
    toolCall('same', 'sound', { at: 1 }, 'one'),
    toolCall('same', 'sound', { at: 2 }, 'two'),
  );
  const { steps, results } = scriptOf(recording);
  const ids = steps.flatMap(({ items }) =>
    items.flatMap((item) => ('call_id' in item ? [item.call_id] : [])),
  );
  assert.equal(new Set(ids).size, 2);
  assert.deepEqual(
    ids.map((id) => results.get(id)?.item.output),
    ['one', 'two'],
  );
});

test('usage is the estimate of what was sent, in the tokens of the recorded provider', () => {
  const items = [userSays(textOfSize('x', 1_000))];
  const answered = [agentSays(textOfSize('y', 100))];
  const usage = usageOf(
    request({ items, instructions: textOfSize('z', 10) }),
    answered,
    1.5,
    DEFAULT_ESTIMATE,
  );
  assert.equal(usage.input, 1_515);
  assert.equal(usage.output, 150);
  assert.equal(usage.total, 1_665);
  const withTools = usageOf(
    request({ items, tools: [{ name: 'sound', description: '', parameters: {} }] }),
    [],
    1,
    DEFAULT_ESTIMATE,
  );
  assert.ok(withTools.input > 1_000, 'tools are sent as well');
});

test('the scale is what the recording reported for what we estimate', () => {
  const recording: LogRecord[] = [];
  let total = 4_000;
  for (let turn = 0; turn < 12; turn++) {
    recording.push(...recordsOf(userSays(textOfSize(`turn ${turn}`, 1_000)), agentSays('Yes.')));
    total += 2_000;
    recording.push({ type: 'usage', usage: { source: 'reported', covers: 'response', total } });
  }
  const { scale } = scriptOf(recording);
  assert.ok(Math.abs(scale - 2) < 0.02, `${scale}`);
  assert.equal(scriptOf(STORY.records).scale, 1, 'nothing was reported');
});

test('the position never moves back', () => {
  const recorded = scriptOf(
    recordsOf(userSays('Go.'), agentSays('First.'), userSays('On.'), agentSays('Second.')),
  );
  const fold = new PlaceFold(recorded);
  for (const at of [0, 1, 2, 1]) {
    for (const item of recorded.steps[at]?.items ?? []) fold.add({ type: 'item', item });
  }
  assert.deepEqual(fold.place, { step: 3, part: 0 });
});
