import assert from 'node:assert/strict';
import { test } from 'node:test';
import { climbDown, LEAST_ROOM, MOST_CHUNKS, startLadder } from './ladder.ts';
import type { Ask, AskOutcome, Ladder, LadderSetup, ModelRung } from './ladder.ts';

const SETUP: LadderSetup = { rooms: [10_000, 40_000], whole: 8_000, cleared: 3_000 };

function askOf(ladder: Ladder): Ask {
  assert.equal(ladder.type, 'ask');
  return (ladder as Extract<Ladder, { type: 'ask' }>).ask;
}

/** The ladder after a number of outcomes. */
function after(setup: LadderSetup, ...outcomes: readonly AskOutcome[]): Ladder {
  let ladder = startLadder(setup);
  for (const outcome of outcomes) {
    assert.equal(ladder.type, 'ask', `no request is left before ${outcome.type}`);
    ladder = climbDown(ladder as Extract<Ladder, { type: 'ask' }>, outcome);
  }
  return ladder;
}

const LOST: AskOutcome = { type: 'lost' };
const DEFECT: AskOutcome = { type: 'defect', reminder: 'Say more.' };
const REFUSED: AskOutcome = { type: 'refused' };
const ACCEPTED: AskOutcome = { type: 'accepted', text: 'summary' };
function tooLarge(room: number): AskOutcome {
  return { type: 'too_large', room };
}

const RUNG_ORDER: readonly ModelRung[] = [
  'whole',
  'results_cleared',
  'oldest_dropped',
  'chunked',
  'newest_turns',
];

test('an accepted answer ends it', () => {
  assert.deepEqual(after(SETUP, ACCEPTED), {
    type: 'done',
    text: 'summary',
    ask: { author: 0, rung: 'whole', room: 10_000, partials: [] },
  });
});

test('the first model that takes the transcript is asked, and where none does the one with the most room', () => {
  assert.equal(askOf(startLadder({ ...SETUP, whole: 90_000, cleared: 30_000 })).author, 1);
  assert.equal(askOf(startLadder({ ...SETUP, whole: 90_000, cleared: 30_000 })).rung, 'results_cleared');
  const huge = askOf(startLadder({ ...SETUP, whole: 900_000, cleared: 300_000 }));
  assert.deepEqual([huge.author, huge.rung, huge.room], [1, 'oldest_dropped', 40_000]);
});

test('each overflow goes one rung down, to what fits', () => {
  const rungs = [
    startLadder(SETUP),
    after(SETUP, tooLarge(4_000)),
    after(SETUP, tooLarge(2_000)),
    after(SETUP, tooLarge(4_000), tooLarge(1_500)),
    after(SETUP, tooLarge(2_000), tooLarge(1_500)),
  ].map((ladder) => askOf(ladder).rung);
  assert.deepEqual(rungs, ['whole', 'results_cleared', 'oldest_dropped', 'oldest_dropped', 'chunked']);
});

test('pieces are summarised one after the other, and their summaries become one', () => {
  const asks: Ask[] = [];
  let ladder = after(SETUP, tooLarge(2_000), tooLarge(1_500));
  while (ladder.type === 'ask') {
    asks.push(ladder.ask);
    const text = `of ${ladder.ask.chunk?.index ?? 'all'}`;
    const isSecond = ladder.ask.chunk?.index === 1;
    ladder = climbDown(ladder, isSecond ? DEFECT : { type: 'accepted', text });
  }
  assert.deepEqual(
    asks.map(({ chunk, partials }) => [chunk?.index, chunk?.count, partials]),
    [
      [0, 2, []],
      [1, 2, ['of 0']],
      [undefined, undefined, ['of 0', undefined]],
    ],
  );
  assert.deepEqual(ladder.type === 'done' && ladder.text, 'of all');
});

test('summaries of pieces are kept for the newest turns and for the next model', () => {
  const chunks = { rooms: [10_000, 5_000], cleared: 6_000, whole: 9_000 };
  const failing = [tooLarge(2_000), tooLarge(1_900), ACCEPTED, tooLarge(1_900)];
  const newest = askOf(after(chunks, ...failing));
  assert.deepEqual([newest.rung, newest.room, newest.partials], ['newest_turns', 475, ['summary']]);
  const next = askOf(after(chunks, ...failing, LOST));
  assert.deepEqual([next.author, next.rung, next.partials], [1, 'oldest_dropped', ['summary']]);
});

test('there is one reminder in all, then the next model', () => {
  const reminded = askOf(after(SETUP, DEFECT));
  assert.deepEqual([reminded.author, reminded.reminder], [0, 'Say more.']);
  assert.deepEqual([askOf(after(SETUP, DEFECT, DEFECT)).author], [1]);
  assert.equal(askOf(after(SETUP, DEFECT, DEFECT)).reminder, undefined);
  assert.equal(after(SETUP, DEFECT, DEFECT, DEFECT).type, 'exhausted');
});

test('a refusal is asked again without the output of tools, where there is any', () => {
  assert.equal(askOf(after(SETUP, REFUSED)).rung, 'results_cleared');
  assert.equal(askOf(after(SETUP, REFUSED, REFUSED)).author, 1);
  assert.equal(askOf(after({ ...SETUP, cleared: SETUP.whole }, REFUSED)).author, 1);
});

test('models without room are never asked', () => {
  assert.equal(startLadder({ ...SETUP, rooms: [LEAST_ROOM - 1, -5] }).type, 'exhausted');
  assert.equal(startLadder({ ...SETUP, rooms: [] }).type, 'exhausted');
});

/** Every state that any outcomes lead to, by depth first; each is looked at once. */
function explore(setup: LadderSetup): { readonly states: number; readonly longest: number } {
  const depths = new Map<string, number>();
  const visit = (ladder: Ladder, from: Ask | undefined): number => {
    if (ladder.type !== 'ask') return 0;
    const { ask } = ladder;
    assert.ok(ask.room >= LEAST_ROOM, `asked with room for ${ask.room}`);
    assert.ok((ask.chunk?.count ?? 0) <= MOST_CHUNKS, 'more pieces than allowed');
    if (from !== undefined && from.author === ask.author) {
      assert.ok(ask.room <= from.room, 'the room grew');
      assert.ok(RUNG_ORDER.indexOf(ask.rung) >= RUNG_ORDER.indexOf(from.rung), 'it went up');
    }
    const key = JSON.stringify([ladder.ask, ladder.memory.lost, ladder.memory.wasReminded]);
    const known = depths.get(key);
    if (known !== undefined) return known;
    const rooms = [ask.room, Math.floor(ask.room / 2), LEAST_ROOM, 0].map(tooLarge);
    const outcomes = [ACCEPTED, DEFECT, REFUSED, LOST, ...rooms];
    const depth = 1 + Math.max(...outcomes.map((outcome) => visit(climbDown(ladder, outcome), ask)));
    depths.set(key, depth);
    return depth;
  };
  const longest = visit(startLadder(setup), undefined);
  return { states: depths.size, longest };
}

test('whatever comes back it ends: 13 requests to one model, and one reminder', () => {
  const setups: LadderSetup[] = [
    { rooms: [20_000], whole: 15_000, cleared: 5_000 },
    { rooms: [2_000], whole: 90_000, cleared: 60_000 },
    { rooms: [20_000, 3_000], whole: 15_000, cleared: 9_000 },
    { rooms: [500, 100], whole: 15_000, cleared: 9_000 },
  ];
  for (const setup of setups) {
    const { states, longest } = explore(setup);
    assert.ok(states > 10, `only ${states} states were seen`);
    const perModel = 3 + MOST_CHUNKS + 1 + 1;
    assert.ok(longest <= perModel * setup.rooms.length + 1, `${longest} requests`);
  }
});
