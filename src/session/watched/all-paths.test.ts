// Every stage of the golden path meets everything that can happen to it, in the real thread against a real provider. What is looked
// at is what the model reads next: each request as the provider received it, above all the one with the user's next message.

import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { DEFAULT_CONFIG } from '../../config/defaults.ts';
import type { Config } from '../../config/schema.ts';
import { findBrokenPairs, pairView } from '../../history/pairs.ts';
import type { Hooks } from '../../ports.ts';
import { authorOf, textOfParts } from '../../protocol/item.ts';
import type { JsonObject } from '../../protocol/item.ts';
import type { LogRecord } from '../../protocol/record.ts';
import { STATE_NOTE } from '../../watcher/live/past.ts';
import { STAGES } from '../../watcher/state.ts';
import { CALM_SHELL, liveThread } from '../../../test/support/live-thread.ts';
import { PACKET } from '../../../test/support/packet.ts';
import { goodSummary } from '../../../test/support/summaries.ts';
import type { Reply } from '../../../test/support/provider-server/script.ts';
import type { Recorded } from '../../../test/support/provider-server/server.ts';
import { startProviderServer } from '../../../test/support/provider-server/server.ts';

const server = await startProviderServer({ replies: [{}] });
after(() => server.close());

const TASK = 'Light the lamp and fill the oil, in this order.';
const SECOND = 'Mind the fog as well: it comes at dusk.';
const LAST = 'Now say good night to the keeper.';
const QUESTION = 'The wick is trimmed. Please confirm that I may open the oil tank.';

const RETRACTED = 'no longer holds';
const HANDED_BACK = 'Here is your packet back';
const START_NOTHING = 'Start nothing new until';

type Place = 'inside of a turn' | 'between turns';

/** Where the path can be stopped, and the stage that the machine says it is in then. */
const MOMENTS = {
  work: 'idle',
  command: 'idle',
  judgment: 'awaiting_judgment',
  'heads-up': 'heads_up_injected',
  notes: 'awaiting_scratch_write',
  packet: 'awaiting_packet',
  assembly: 'assembling_packet',
  compaction: 'compacting',
  handoff: 'post_compact_handoff_pending',
} as const;
type MomentName = keyof typeof MOMENTS;

type EventName =
  | 'nothing'
  | 'a veto'
  | 'Esc'
  | 'its deadline'
  | 'a failure'
  | 'an overflow'
  | 'a message'
  | 'a steered message'
  | 'a crash';

const ANYWHERE: readonly EventName[] = ['nothing', 'Esc', 'a message', 'a steered message', 'a crash'];
const ASKING: ReadonlySet<MomentName> = new Set(['heads-up', 'notes', 'packet']);

/** Everything that can happen at a moment. */
function eventsAt(moment: MomentName, place: Place): readonly EventName[] {
  const isLate = !['work', 'command', 'handoff'].includes(moment);
  return [
    ...ANYWHERE,
    ...(isLate ? (['its deadline'] as const) : []),
    // What is known of the work tree is known or left out.
    ...(isLate && moment !== 'assembly' ? (['a failure'] as const) : []),
    ...(moment === 'judgment' ? (['a veto'] as const) : []),
    ...(ASKING.has(moment) && place === 'inside of a turn' ? (['an overflow'] as const) : []),
  ];
}

interface Cell {
  readonly place: Place;
  readonly moment: MomentName;
  readonly event: EventName;
  /** The agent ends its turn with a question. */
  readonly isWaiting?: boolean;
}

const BROKEN: Reply = { fault: { type: 'status', status: 500 } };
const TOO_LONG: Reply = { fault: { type: 'status', status: 400, code: 'context_length_exceeded' } };

/** Short where the cell waits for it to expire, and longer than any test elsewhere. */
function configOf({ moment, event }: Cell): Config {
  const { rawrAutoCompaction: watcher } = DEFAULT_CONFIG;
  const judged = { decisionPromptPath: 'judgment.md' };
  const seconds = (...at: readonly MomentName[]) =>
    event === 'its deadline' && at.includes(moment) ? 0.15 : 60;
  return {
    ...DEFAULT_CONFIG,
    rawrAutoCompaction: {
      ...watcher,
      combineRequests: false,
      summaryWithPacket: 'model',
      judgmentDeadlineSeconds: seconds('judgment'),
      scratchDeadlineSeconds: seconds('heads-up', 'notes'),
      packetDeadlineSeconds: seconds('packet', 'assembly'),
      compactionDeadlineSeconds: seconds('compaction'),
      policy: {
        ...watcher.policy,
        early: { ...watcher.policy.early, ...judged },
        ready: { ...watcher.policy.ready, ...judged },
        asap: { ...watcher.policy.asap, ...judged },
      },
    },
  };
}

function messagesOf({ body }: Recorded): readonly JsonObject[] {
  return (body['input'] ?? []) as readonly JsonObject[];
}

function textOf(message: JsonObject | undefined): string {
  const content = message?.['content'];
  if (!Array.isArray(content)) return '';
  return content.map((part) => String((part as JsonObject)['text'] ?? '')).join('\n');
}

/** Which moment of the path a request is. */
function momentOf(request: Recorded): MomentName | 'summary' | 'handed back' | 'other' {
  if (String(request.body['instructions']).startsWith('You write the summary')) return 'summary';
  const text = textOf(messagesOf(request).at(-1));
  if (text.includes(HANDED_BACK)) return 'handed back';
  if (text.includes('Write a continuation packet') || text.includes('answer with')) return 'packet';
  if (text.includes('put your working notes')) return 'notes';
  if (text.includes(START_NOTHING)) return 'heads-up';
  return 'other';
}

/** An agent that does as it is asked, by what it is asked last. */
function replyTo(request: Recorded, { place, isWaiting = false }: Cell): Reply {
  const isFull = request.text.includes('git commit') && !request.text.includes(HANDED_BACK);
  const usage = { input: isFull ? 62_000 : 9_000, output: 60 };
  switch (momentOf(request)) {
    case 'summary':
      return { text: goodSummary(), usage };
    case 'handed back':
      return { text: 'The oil is filled.', usage };
    case 'packet':
      return { text: PACKET, usage };
    case 'notes':
      return { text: 'The notes are in the file.', usage };
    case 'heads-up':
      return { text: 'I pause.', usage };
    default:
  }
  const last = messagesOf(request).at(-1);
  if (textOf(last) === LAST) return { text: 'Good night.', usage };
  if (textOf(last) === SECOND) return { text: 'The fog horn is ready.', usage };
  if (textOf(last) === TASK) {
    const call = { name: 'shell', arguments: { command: 'git commit -m "Trim the wick"' } };
    const input = place === 'inside of a turn' ? 62_000 : 40_000;
    return { text: 'I trim the wick.', calls: [call], fills: input };
  }
  return { text: isWaiting ? QUESTION : 'The wick is committed. The oil comes next.', usage };
}

/** Lets one moment of a path be met, and holds the path there. */
class Gate {
  readonly #moment: MomentName;
  readonly reached: Promise<void>;
  #reach: () => void = () => undefined;
  #open: () => void = () => undefined;
  readonly #opened: Promise<void>;
  #isMet = false;

  constructor(moment: MomentName) {
    this.#moment = moment;
    this.reached = new Promise((resolve) => (this.#reach = resolve));
    this.#opened = new Promise((resolve) => (this.#open = resolve));
  }

  get isMet(): boolean {
    return this.#isMet;
  }

  open(): void {
    this.#open();
  }

  /** @returns whether this is the moment, met for the first time */
  async pass(moment: MomentName): Promise<boolean> {
    if (moment !== this.#moment || this.#isMet) return false;
    this.#isMet = true;
    this.#reach();
    await this.#opened;
    return true;
  }
}

const VETOED_BY_HOOK = {
  veto: { command: 'no', reason: 'not now' },
  instructions: undefined,
  warnings: [],
  runs: [],
};

/** Stops a compaction, as a hook of the user may. */
const REFUSING: Hooks = {
  preCompact: () => Promise.resolve(VETOED_BY_HOOK),
  postCompact: () => Promise.resolve({ warnings: [], runs: [] }),
  startsWith: () => false,
  sessionStart: () => Promise.reject(new Error('nobody asks')),
  userPromptSubmit: () => Promise.reject(new Error('nobody asks')),
  turnComplete: () => Promise.resolve({ warnings: [], runs: [] }),
};

type Open = Awaited<ReturnType<typeof liveThread>>;

interface Played {
  readonly records: readonly LogRecord[];
  /** Requests to the agent, those for summaries left out. */
  readonly sent: readonly Recorded[];
  readonly thread: Open['thread'];
  readonly stage: string | undefined;
}

function newestStage(records: readonly LogRecord[]): string | undefined {
  const note = records.findLast((record) => record.type === 'note' && record.kind === STATE_NOTE);
  const stage = note?.type === 'note' ? (note.value['stage'] as JsonObject) : undefined;
  return stage === undefined ? undefined : String(stage['at']);
}

/** Plays a path to its moment, lets the event happen, and has the user say one thing more. */
async function play(cell: Cell): Promise<Played> {
  const { moment, event } = cell;
  const gate = new Gate(moment);
  const from = server.requests.length;
  const hasFailed = event === 'a failure';
  server.play({ replies: [{}] }, async (request) => {
    const at = momentOf(request);
    const met =
      at === 'summary' ? 'compaction' : at === 'other' ? 'work' : at === 'handed back' ? undefined : at;
    const isMet = met !== undefined && (await gate.pass(met));
    if (isMet && hasFailed && met !== 'compaction') return BROKEN;
    if (isMet && event === 'an overflow') return TOO_LONG;
    return replyTo(request, cell);
  });
  const open = (past: readonly LogRecord[]): Promise<Open> =>
    liveThread({
      baseUrl: server.baseUrl,
      config: configOf(cell),
      past,
      ...(hasFailed && moment === 'compaction' && !gate.isMet ? { hooks: refusingAt(gate) } : {}),
      tools: {
        ...CALM_SHELL,
        run: async (call, signal, report) => {
          await gate.pass('command');
          return CALM_SHELL.run(call, signal, report);
        },
      },
      watcher: {
        askJudge: async () => {
          const isMet = await gate.pass('judgment');
          if (isMet && hasFailed) throw new Error('connection refused');
          return JSON.stringify({ should_compact: !(isMet && event === 'a veto'), reason: 'so it seems' });
        },
        facts: async () => {
          await gate.pass('assembly');
          return {};
        },
      },
      onAppend: async (added) => {
        const isHandoff = added.some((each) => each.type === 'item' && each.item.origin?.step === 'handoff');
        if (isHandoff) await gate.pass('handoff');
      },
    });
  let at = await open([]);
  await at.thread.submit(TASK);
  await Promise.race([gate.reached, at.thread.rest()]);
  assert.ok(gate.isMet, 'the moment is met');
  const stage = newestStage(at.records) ?? 'idle';
  let taken: Promise<unknown> = Promise.resolve();
  if (event === 'Esc') at.thread.interrupt();
  else if (event === 'a message') taken = at.thread.submit(SECOND);
  else if (event === 'a steered message') taken = at.thread.steer(SECOND);
  else if (event === 'a crash') {
    const left = at.records.slice();
    void at.thread.shutdown();
    at = await open(left);
  }
  // Where the log itself is held it can be taken only afterwards.
  await Promise.race([taken, delay(50)]);
  if (event === 'its deadline') await Promise.race([at.thread.rest(), delay(1_500)]);
  gate.open();
  await taken;
  await at.thread.rest();
  await at.thread.submit(LAST);
  await at.thread.rest();
  const sent = server.requests.slice(from).filter((request) => momentOf(request) !== 'summary');
  return { records: at.records, thread: at.thread, sent, stage };
}

/** The compaction is refused when its moment is met. */
function refusingAt(gate: Gate): Hooks {
  return {
    ...REFUSING,
    preCompact: async () => {
      await gate.pass('compaction');
      return VETOED_BY_HOOK;
    },
  };
}

function times(text: string, words: string): number {
  return text.split(words).length - 1;
}

/** What holds for each request, and for what is left, whatever happened. */
function assertTrue({ records, sent, thread }: Played, said: readonly string[]): void {
  for (const request of sent) {
    assert.equal(request.invalid, undefined);
    const texts = messagesOf(request).map(textOf);
    const whole = texts.join('\n');
    assert.ok(times(whole, 'Never touch the glass') <= 1, `the packet once:\n${whole}`);
    if (!whole.includes('Write a continuation packet')) assert.doesNotMatch(whole, /RAWR_VERBATIM/);
    if (whole.includes(RETRACTED)) {
      assert.ok(whole.indexOf(START_NOTHING) >= 0, 'what is taken back can be read');
      assert.ok(whole.indexOf(START_NOTHING) < whole.indexOf(RETRACTED), 'and stands before it');
    }
    for (const text of said) assert.ok(texts.filter((each) => each === text).length <= 1, `once: ${text}`);
  }
  const next = sent.findLast((request) => textOf(messagesOf(request).at(-1)) === LAST);
  assert.ok(next, 'the next message is sent');
  const texts = messagesOf(next).map(textOf);
  const places = said.map((text) => texts.indexOf(text));
  assert.deepEqual(
    places,
    places.toSorted((a, b) => a - b),
    'messages in order',
  );
  assert.ok(!places.includes(-1), `each message verbatim: ${places.join()}\n${texts.join('\n---\n')}`);
  const whole = texts.join('\n');
  const isOpen =
    Math.max(whole.lastIndexOf(RETRACTED), whole.lastIndexOf(HANDED_BACK)) < whole.lastIndexOf(START_NOTHING);
  assert.equal(isOpen, false, `a request stands that nothing came of:\n${whole}`);
  const users = records.flatMap((record) =>
    record.type === 'item' && record.item.type === 'message' && authorOf(record.item) === 'user'
      ? [textOfParts(record.item.content)]
      : [],
  );
  assert.deepEqual(users, said, 'each message is recorded once, in order');
  const handoffs = records.filter(
    (each) => each.type === 'item' && each.item.origin?.step === 'handoff',
  ).length;
  const compactions = records.filter(
    (each) => each.type === 'compacted' && each.receipt?.audit?.['type'] === 'auto_watcher',
  ).length;
  assert.equal(handoffs, compactions, 'one handoff for each compaction of the watcher');
  assert.ok(handoffs <= 1);
  assert.deepEqual(Object.values(findBrokenPairs(thread.items.map(pairView))).flat(), []);
  assert.deepEqual(thread.lastTurn, { ending: { type: 'complete' }, said: 'Good night.' });
}

const seen = new Set<string>();

for (const place of ['inside of a turn', 'between turns'] as const) {
  for (const moment of Object.keys(MOMENTS) as readonly MomentName[]) {
    // Inside of a turn a heads-up asks for nothing of its own.
    if (moment === 'heads-up' && place === 'inside of a turn') continue;
    describe(`${place}, at the ${moment}`, () => {
      for (const event of eventsAt(moment, place)) {
        test(event, async () => {
          const played = await play({ place, moment, event });
          assert.equal(played.stage, MOMENTS[moment]);
          seen.add(played.stage);
          const isSaid = event === 'a message' || event === 'a steered message';
          assertTrue(played, isSaid ? [TASK, SECOND, LAST] : [TASK, LAST]);
        });
      }
    });
  }
}

describe('an agent that waits for the user is not sent on', () => {
  for (const moment of Object.keys(MOMENTS) as readonly MomentName[]) {
    for (const event of ['nothing', 'its deadline', 'a crash'] as const) {
      if (!eventsAt(moment, 'between turns').includes(event)) continue;
      test(`${event} at the ${moment}`, async () => {
        const played = await play({ place: 'between turns', moment, event, isWaiting: true });
        assertTrue(played, [TASK, LAST]);
        const wentOn = played.sent.filter((request) => momentOf(request) === 'handed back');
        assert.equal(wentOn.length, 0, 'no turn begins on the handoff');
      });
    }
  }
});

test('every stage that lasts was met', () => {
  // The arbiter answers within the step in which it is asked.
  assert.deepEqual([...seen].toSorted(), STAGES.filter((stage) => stage !== 'assessing').toSorted());
});
