import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { agentSays, userSays } from '../../test/support/records.ts';
import { findBrokenPairs, pairView } from '../history/pairs.ts';
import { callOf, resultCallId } from '../protocol/item.ts';
import type { Item, ToolOutputItem } from '../protocol/item.ts';
import { NO_LIMITS } from './limits.ts';
import { ABORTED_RESULT, CUT_RESULT, IDLE_LOOP, loopStep } from './loop.ts';
import type { LoopEffect, LoopEvent, LoopState } from './loop.ts';
import { NO_SPENDING } from './spending.ts';
import type { Spending } from './spending.ts';

function call(id: string): Item {
  return { type: 'function_call', call_id: id, name: 'read', arguments: '{}' };
}

function result(id: string): ToolOutputItem {
  return { type: 'function_call_output', call_id: id, output: 'ok' };
}

/** A thread that is driven by hand: its log, and every effect that was asked for. */
class Thread {
  state: LoopState = IDLE_LOOP;

  /** Nothing of it may pass these. */
  within(limits: Partial<LoopState['limits']>): this {
    this.state = { ...this.state, limits: { ...NO_LIMITS, ...limits } };
    return this;
  }

  spent(requests: number): this {
    return this.send({ type: 'spent', spending: requestsOf(requests) });
  }
  readonly log: Item[] = [];
  readonly effects: LoopEffect[] = [];

  send(event: LoopEvent): this {
    const { state, effects } = loopStep(this.state, event);
    this.state = state;
    for (const effect of effects) {
      if (effect.type === 'append') this.log.push(...effect.items);
      this.effects.push(effect);
    }
    return this;
  }

  /** The event that answers what is awaited. */
  answer(event: (number: number) => LoopEvent): this {
    const { stage } = this.state;
    assert.ok(stage.at !== 'idle', 'something is awaited');
    return this.send(event(stage.number));
  }

  settle(): this {
    return this.answer((number) => ({ type: 'settled', number, settlement: { type: 'fits' } }));
  }

  sampled(...items: readonly Item[]): this {
    return this.answer((number) => ({ type: 'sampled', number, items, stopReason: 'end_turn' }));
  }

  finished(id: string): this {
    return this.answer((number) => ({ type: 'tool_finished', number, result: result(id) }));
  }

  resumed(isAnswerOwed = false): this {
    return this.answer((number) => ({ type: 'resumed', number, isAnswerOwed }));
  }

  names(): readonly string[] {
    return this.effects.map((effect) => ('from' in effect ? `${effect.type} ${effect.from}` : effect.type));
  }

  ending(): string | undefined {
    const last = this.effects.at(-1);
    return last?.type === 'end' ? last.ending.type : undefined;
  }
}

function requestsOf(requests: number): Spending {
  const turn = { ...NO_SPENDING.turn, requests };
  return { turn, session: turn };
}

function started(limits: Partial<LoopState['limits']> = {}): Thread {
  return new Thread()
    .within(limits)
    .send({ type: 'start', turnId: 't1', input: [userSays('Light the lamp.')] });
}

function held(thread: Thread): boolean | undefined {
  const last = thread.effects.at(-1);
  return last?.type === 'hold' ? last.isFollowUpOwed : undefined;
}

function overflow(number: number): LoopEvent {
  return { type: 'sampling_failed', number, isOverflow: true, why: 'too long' };
}

describe('the loop', () => {
  test('an answer without calls: input recorded, room checked, sampled, done', () => {
    const thread = started().settle().sampled(agentSays('It is lit.'));
    assert.deepEqual(thread.names(), ['append', 'check pre_turn', 'sample', 'append', 'end']);
    assert.equal(thread.ending(), 'complete');
  });

  test('calls: run, held for the watcher, checked again, sampled again', () => {
    const thread = started().settle().sampled(call('a'), call('b')).finished('b').finished('a').resumed();
    assert.deepEqual(thread.names().slice(3), [
      'append',
      'run',
      'append',
      'append',
      'hold',
      'check built_in',
    ]);
    assert.deepEqual(thread.log.map(({ type }) => type).slice(1), [
      'function_call',
      'function_call',
      'function_call_output',
      'function_call_output',
    ]);
  });

  test('what the watcher asks for inside of a turn is shown to it when the agent has answered, calls aside', () => {
    const thread = started().settle().sampled(call('a')).finished('a');
    assert.equal(held(thread), true);
    thread.resumed(true).settle().sampled(call('notes')).finished('notes');
    assert.equal(held(thread), true, 'the agent still works on it');
    thread.resumed(true).settle().sampled(agentSays('The packet.'));
    assert.equal(held(thread), false, 'this is the answer');
    thread.resumed().settle().sampled(agentSays('Lit.'));
    assert.equal(thread.ending(), 'complete');
  });

  test('a message that comes while tools run stands behind their results, and keeps the turn going', () => {
    const said = userSays('Mind the fog.');
    const thread = started().settle().sampled(call('a')).send({ type: 'steer', item: said }).finished('a');
    assert.ok(!thread.log.includes(said), 'not between call and result');
    thread.resumed().settle();
    assert.equal(thread.log.at(-1), said);
    const late = userSays('And the horn.');
    thread.send({ type: 'steer', item: late }).sampled(agentSays('Done.'));
    assert.equal(thread.ending(), undefined, 'the agent has not seen it yet');
    thread.resumed().settle().sampled(agentSays('The horn, too.'));
    assert.equal(thread.ending(), 'complete');
  });

  test('an overflow is compacted for once, and a second one is told', () => {
    const thread = started().settle().answer(overflow);
    assert.equal(thread.names().at(-1), 'check overflow');
    thread.settle().answer(overflow);
    assert.equal(thread.ending(), 'failed');

    const again = started()
      .settle()
      .answer(overflow)
      .settle()
      .sampled(call('a'))
      .finished('a')
      .resumed()
      .settle();
    again.answer(overflow);
    assert.equal(again.names().at(-1), 'check overflow', 'each request has its own retry');
  });

  test('a window that stays full ends the turn and says so', () => {
    const thread = started().answer((number) => ({
      type: 'settled',
      number,
      settlement: { type: 'exhausted', why: 'images fill it' },
    }));
    assert.equal(thread.ending(), 'context_exhausted');
  });

  test('at a limit the turn ends with its results, and is warned of once before', () => {
    const thread = started({ turnRequests: 5 }).settle().spent(4).spent(4).sampled(call('a'));
    assert.equal(thread.names().filter((name) => name === 'warn').length, 1);
    thread.spent(5).finished('a');
    assert.equal(thread.ending(), undefined, 'the watcher still looks');
    thread.resumed();
    assert.equal(thread.ending(), 'limit_reached');
    assert.deepEqual(Object.values(findBrokenPairs(thread.log.map(pairView))).flat(), []);
  });

  test('a session at its limit takes a message in, and asks nobody', () => {
    const thread = new Thread().within({ sessionRequests: 2 }).spent(2);
    thread.send({ type: 'start', turnId: 't1', input: [userSays('Go on.')] });
    assert.deepEqual(thread.names(), ['append', 'end']);
    assert.equal(thread.ending(), 'limit_reached');
  });

  test('a limit that is reached by a compaction, or by a retry, ends the turn as what it is', () => {
    assert.equal(started({ turnRequests: 1 }).spent(1).settle().ending(), 'limit_reached');
    const retried = started({ turnRequests: 1 }).settle().spent(1);
    const failed = { type: 'sampling_failed', isOverflow: false, why: 'No more.' } as const;
    assert.equal(retried.answer((number) => ({ ...failed, number })).ending(), 'limit_reached');
  });

  test('the same step over and over is noted in its result, and ends the turn at last', () => {
    const thread = started({ repeatedCalls: 4 }).settle();
    for (const id of ['a', 'b', 'c', 'd']) {
      assert.equal(thread.ending(), undefined);
      thread.sampled(call(id)).finished(id);
      if (id !== 'd') thread.resumed().settle();
    }
    assert.equal(thread.ending(), 'no_progress');
    const notes = thread.log.flatMap((item) => (item.type === 'function_call_output' ? [item.output] : []));
    assert.deepEqual(
      notes.map((output) => String(output).replace('ok', '').trim() !== ''),
      [false, false, true, true],
    );
    assert.deepEqual(Object.values(findBrokenPairs(thread.log.map(pairView))).flat(), []);
  });

  test('what the user says meanwhile is a reason to do the same again', () => {
    const thread = started({ repeatedCalls: 2 }).settle().sampled(call('a')).finished('a');
    thread
      .send({ type: 'steer', item: userSays('Once more.') })
      .resumed()
      .settle();
    assert.equal(thread.sampled(call('b')).finished('b').ending(), undefined);
  });

  test('answers that pause and say nothing are no progress', () => {
    const thread = started({ repeatedCalls: 3 }).settle();
    const paused = { type: 'sampled', items: [], stopReason: 'paused' } as const;
    for (let round = 0; round < 3; round++) {
      thread.answer((number) => ({ ...paused, number }));
      if (round < 2) thread.resumed().settle();
    }
    assert.equal(thread.ending(), 'no_progress');
  });

  test('an interrupt answers the calls that were still running, stops them, and keeps what was said', () => {
    const said = userSays('Wait.');
    const thread = started().settle().sampled(call('a'), call('b')).finished('a');
    thread.send({ type: 'steer', item: said }).send({ type: 'interrupt' });
    const [answer, kept] = thread.log.slice(-2);
    assert.deepEqual(answer?.type === 'function_call_output' && [answer.call_id, answer.output], [
      'b',
      ABORTED_RESULT,
    ]);
    assert.equal(kept, said);
    assert.ok(thread.names().includes('stop'), 'the tool is stopped');
    const length = thread.log.length;
    thread.send({ type: 'tool_finished', number: 2, result: result('b') });
    assert.equal(thread.log.length, length, 'a result that comes too late is not recorded twice');
  });
});

describe('a turn that is cut', () => {
  test('while the model answers is held, and the answer that comes after all counts for nothing', () => {
    const thread = started().settle();
    const late = thread.state.stage;
    thread.send({ type: 'cut' });
    assert.deepEqual(thread.names().slice(-2), ['stop', 'hold']);
    assert.equal(held(thread), true);
    const { length } = thread.log;
    const number = 'number' in late ? late.number : 0;
    thread.send({ type: 'sampled', number, items: [agentSays('Late.')], stopReason: 'end_turn' });
    assert.equal(thread.log.length, length);
    assert.equal(thread.resumed().settle().names().at(-1), 'sample');
  });

  test('while calls run gives those a result that are not done', () => {
    const thread = started().settle().sampled(call('a'), call('b')).finished('a').send({ type: 'cut' });
    assert.equal(held(thread), true);
    const last = thread.log.at(-1);
    assert.equal(last?.type === 'function_call_output' && last.output, CUT_RESULT);
    assert.deepEqual(Object.values(findBrokenPairs(thread.log.map(pairView))).flat(), []);
  });

  test('while the room is checked is held before it samples', () => {
    const thread = started().send({ type: 'cut' }).settle();
    assert.deepEqual(thread.names(), ['append', 'check pre_turn', 'hold']);
    assert.equal(thread.resumed().settle().names().at(-1), 'sample');
  });
});

/** One step of a world that may do anything. */
interface Seen {
  readonly thread: Thread;
  readonly steers: number;
  readonly cuts: number;
  readonly samplings: number;
  readonly retries: number;
}

/** How often each may be, so that there are finitely many states. */
interface Most {
  readonly steers: number;
  readonly cuts: number;
  readonly samplings: number;
}

/** Every event that can come where the loop stands, the late and doubled ones among them. */
function eventsAt({ thread, steers, cuts, samplings }: Seen, most: Most): readonly LoopEvent[] {
  const { stage, nextNumber } = thread.state;
  const always: LoopEvent[] = [
    { type: 'interrupt' },
    { type: 'spent', spending: requestsOf(thread.state.spending.turn.requests === 0 ? 4 : 5) },
  ];
  if (stage.at === 'idle') return [];
  if (cuts < most.cuts) always.push({ type: 'cut' });
  if (steers < most.steers) always.push({ type: 'steer', item: userSays(`steered ${steers}`) });
  const numbers = [stage.number, stage.number - 1, nextNumber];
  const id = `${samplings}`;
  const answers = numbers.flatMap((number): LoopEvent[] => [
    { type: 'settled', number, settlement: { type: 'fits' } },
    { type: 'settled', number, settlement: { type: 'exhausted', why: 'full' } },
    ...(samplings < 3
      ? ([
          { type: 'sampled', number, items: [call(`${id}a`), call(`${id}b`)], stopReason: 'tool_calls' },
          { type: 'sampled', number, items: [agentSays(`pause ${id}`)], stopReason: 'paused' },
          { type: 'sampling_failed', number, isOverflow: true, why: 'too long' },
        ] as const)
      : []),
    { type: 'sampled', number, items: [agentSays(`end ${id}`)], stopReason: 'end_turn' },
    { type: 'sampling_failed', number, isOverflow: false, why: 'down' },
    { type: 'resumed', number, isAnswerOwed: false },
    { type: 'resumed', number, isAnswerOwed: true },
    ...thread.log.flatMap((item): LoopEvent[] => {
      const callId = callOf(item)?.callId;
      return callId === undefined ? [] : [{ type: 'tool_finished', number, result: result(callId) }];
    }),
  ]);
  return [...always, ...answers];
}

function check(before: Seen, event: LoopEvent, effects: readonly LoopEffect[], after: Seen): void {
  const { thread } = after;
  const said = JSON.stringify([before.thread.state, event]);
  const { stage } = thread.state;
  const broken = findBrokenPairs(thread.log.map(pairView));
  const open = stage.at === 'running' ? stage.open.length : 0;
  assert.equal(broken.orphanCalls.length, open, `calls without results: ${said}`);
  assert.deepEqual([broken.orphanResults, broken.duplicateResults], [[], []], said);
  const awaited = before.thread.state.stage.at === 'idle' ? undefined : before.thread.state.stage.number;
  if ('number' in event && event.number !== awaited) {
    assert.deepEqual([thread.state, effects], [before.thread.state, []], `a late answer counted: ${said}`);
  }
  const { turnRequests: most } = thread.state.limits;
  if (effects.some(({ type }) => type === 'sample' || type === 'check')) {
    assert.ok(most === 0 || thread.state.spending.turn.requests < most, `beyond the limit: ${said}`);
  }
  if (event.type === 'spent') {
    assert.equal(stage.at, before.thread.state.stage.at, `an answer that is paid for was lost: ${said}`);
  }
  const asks = effects.filter(({ type }) => type === 'sample' || type === 'check');
  assert.ok(asks.length <= 1, `two requests at once: ${said}`);
  if (effects.some(({ type }) => type === 'sample'))
    assert.equal(open, 0, `sampled with open calls: ${said}`);
  const waiting = stage.at === 'idle' ? [] : stage.turn.steered;
  for (let index = 0; index < after.steers; index++) {
    const is = (item: Item) => JSON.stringify(item) === JSON.stringify(userSays(`steered ${index}`));
    assert.equal(
      [...thread.log, ...waiting].filter(is).length,
      1,
      `message ${index} is lost or doubled: ${said}`,
    );
  }
  const ends = effects.filter(({ type }) => type === 'end').length;
  assert.equal(ends, stage.at === 'idle' && before.thread.state.stage.at !== 'idle' ? 1 : 0, `ends: ${said}`);
  const isCut = effects.some((effect) => effect.type === 'end' && effect.ending.type === 'complete');
  if (isCut && before.thread.state.stage.at !== 'idle') {
    assert.ok(
      !before.thread.state.stage.turn.isAnswerOwed,
      `ended before the watcher saw the answer: ${said}`,
    );
  }
  if (event.type === 'interrupt')
    assert.equal(stage.at, 'idle', `an interrupt ends the turn at once: ${said}`);
  assert.ok(
    thread.log.every((item, index) => resultCallId(item) === undefined || index > 0),
    said,
  );
}

function copyOf(thread: Thread): Thread {
  const copy = new Thread();
  copy.state = thread.state;
  copy.log.push(...thread.log);
  return copy;
}

test('explored: in every reachable state the history is sound and no message is lost', () => {
  const { stages, states, steps } = explore({ steers: 2, cuts: 0, samplings: 4 });
  assert.deepEqual(stages.toSorted(), ['checking', 'held', 'idle', 'running', 'sampling']);
  assert.ok(states > 1_000, `only ${states} states`);
  assert.ok(steps > 10_000, `only ${steps} steps`);
});

test('explored: so it is where the turn is cut', () => {
  const { states } = explore({ steers: 0, cuts: 1, samplings: 2 });
  assert.ok(states > 100, `only ${states} states`);
});

function explore(most: Most) {
  const first: Seen = {
    thread: started({ turnRequests: 5, repeatedCalls: 2 }),
    steers: 0,
    cuts: 0,
    samplings: 0,
    retries: 0,
  };
  const known = new Set<string>();
  const queue: Seen[] = [first];
  const stages = new Set<string>();
  let steps = 0;
  for (let seen = queue.pop(); seen !== undefined; seen = queue.pop()) {
    for (const event of eventsAt(seen, most)) {
      const thread = copyOf(seen.thread).send(event);
      const next: Seen = {
        ...seen,
        thread,
        steers: seen.steers + (event.type === 'steer' ? 1 : 0),
        cuts: seen.cuts + (event.type === 'cut' ? 1 : 0),
        samplings: seen.samplings + (thread.effects.some(({ type }) => type === 'sample') ? 1 : 0),
      };
      check(seen, event, thread.effects, next);
      steps++;
      stages.add(thread.state.stage.at);
      const key = JSON.stringify([
        thread.state,
        thread.log.map((item) => ('call_id' in item ? item.call_id : item.type)),
        next.steers,
        next.cuts,
        next.samplings,
      ]);
      if (known.has(key) || next.samplings > most.samplings) continue;
      known.add(key);
      queue.push(next);
    }
  }
  return { stages: [...stages], states: known.size, steps };
}
