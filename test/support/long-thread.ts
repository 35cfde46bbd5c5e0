// A thread of many turns, with its log on the disk, its watcher, and a model in the process: what is left to grow is Baton's.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Model } from '../../src/ports.ts';
import { authorOf } from '../../src/protocol/item.ts';
import type { Item } from '../../src/protocol/item.ts';
import type { ModelEvent, ModelRequest, ModelUsage } from '../../src/protocol/model.ts';
import type { Thread } from '../../src/thread/terms.ts';
import { openThreadIn } from './opened-thread.ts';
import { agentSays } from './records.ts';

/** Turns between two handovers. */
const PERIOD = 25;
/** Tokens that are reported on a calm day, and before a handover; of a window of 100,000. */
const CALM = 20_000;
const PRESSED = 62_000;

const PACKET = `## Overarching goal
Keep the log of the tower.
## Just completed
The newest watch is written down and committed.
## Current state
The lamp is lit.
## Invariants
Never touch the glass.
## Next step
Wait for the next watch.
## Verbatim snippet
{{RAWR_VERBATIM_CONTINUATION_SNIPPET}}`;

/** What has happened so far. */
export interface Counts {
  turns: number;
  compactions: number;
  handoffs: number;
}

/** A thread that is told of one watch after the other: each turn is one call and one answer. */
export class LongThread {
  readonly counts: Readonly<Counts>;
  readonly #thread: Thread;
  readonly #counts: Counts;

  /** @param folder for Baton's home and the directory of the agent */
  static async open(folder: string): Promise<LongThread> {
    const [home, work] = [join(folder, 'home'), join(folder, 'work')];
    mkdirSync(home);
    mkdirSync(work);
    const counts: Counts = { turns: 0, compactions: 0, handoffs: 0 };
    const thread = await openThreadIn({
      home,
      work,
      model: watchKeeper(),
      modelName: 'keeper',
      emit: (event) => {
        if (event.type === 'context_compacted') counts.compactions++;
        if (event.type === 'user_message' && event.steps.includes('handoff')) counts.handoffs++;
      },
    });
    return new LongThread(thread, counts);
  }

  private constructor(thread: Thread, counts: Counts) {
    this.#thread = thread;
    this.#counts = counts;
    this.counts = counts;
  }

  /** Runs turns until it has had as many. */
  async playUntil(turns: number): Promise<void> {
    while (this.#counts.turns < turns) {
      const number = ++this.#counts.turns;
      const { ending } = await this.#thread.turn(`Watch ${number}: write down the light and the wind.`);
      if (ending.type !== 'complete') throw new Error(`turn ${number} ended ${JSON.stringify(ending)}`);
    }
  }

  close(): Promise<void> {
    return this.#thread.close();
  }
}

/** Calls once and answers once in each turn; in every `PERIOD`th it reports a full window. */
function watchKeeper(): Model {
  let requests = 0;
  let turns = 0;
  return {
    provider: 'tower',
    // eslint-disable-next-line @typescript-eslint/require-await
    async *stream({ items }: ModelRequest): AsyncGenerator<ModelEvent> {
      const number = ++requests;
      const last = items.at(-1);
      const step = last?.type === 'message' ? last.origin?.step : undefined;
      const isWatch = last?.type === 'message' && authorOf(last) === 'user';
      if (isWatch) turns++;
      const said = step === undefined || step === 'handoff' ? `Watch ${turns} is written down.` : PACKET;
      yield { type: 'item_done', item: isWatch ? planOf(turns, `call_${number}`) : agentSays(said) };
      const isPressed = turns % PERIOD === 0 && step !== 'handoff';
      yield { type: 'usage', usage: usageOf(isPressed ? PRESSED : CALM) };
      yield { type: 'completed', stopReason: 'end_turn' };
    },
  };
}

function planOf(turn: number, callId: string): Item {
  const plan = [
    { step: `Write down watch ${turn}`, status: 'completed' },
    { step: `Write down watch ${turn + 1}`, status: 'pending' },
  ];
  return { type: 'function_call', name: 'update_plan', arguments: JSON.stringify({ plan }), call_id: callId };
}

function usageOf(input: number): ModelUsage {
  return {
    source: 'reported',
    covers: 'response',
    total: input + 60,
    input,
    cachedInput: 0,
    cacheWrite: 0,
    output: 60,
    reasoningOutput: 0,
  };
}
