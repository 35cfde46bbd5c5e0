// The user stops a thread, a deadline runs out, or the provider fails, at every single point of a golden path: what is left is
// a sound thread that goes on.

import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { DEFAULT_CONFIG } from '../../src/config/defaults.ts';
import type { Config } from '../../src/config/schema.ts';
import { findBrokenPairs, pairView } from '../../src/history/pairs.ts';
import type { SessionEvent } from '../../src/protocol/wire/event.ts';
import type { LogRecord } from '../../src/protocol/record.ts';
import { CALM_SHELL, liveThread } from '../support/live-thread.ts';
import type { ThreadTerms } from '../support/live-thread.ts';
import type { Fault } from '../support/provider-server/script.ts';
import { startProviderServer } from '../support/provider-server/server.ts';
import { REPLIES, says, userTexts } from './script.ts';

const server = await startProviderServer({ replies: [{}] });
after(() => server.close());

const unhandled: unknown[] = [];
process.on('unhandledRejection', (error) => unhandled.push(error));

const FIRST = 'Light the lamp and fill the oil.';
const SECOND = 'Trim the wick of the lamp.';

type Live = Awaited<ReturnType<typeof liveThread>>;
type Terms = Omit<ThreadTerms, 'baseUrl'>;

/** A thread in which one handover happens inside of a turn and one between turns; the second message comes in the first. */
class Play {
  readonly live: Live;
  #hasSaidAll = false;
  #events = 0;

  /** @param onEvent told each event with its number, counted from 0, once the thread is open */
  static async open(terms: Terms = {}, onEvent: (live: Live, at: number) => void = () => undefined) {
    const holder: { play?: Play } = {};
    const live = await liveThread({
      baseUrl: server.baseUrl,
      ...terms,
      onEvent: (event) => {
        const { play } = holder;
        if (play === undefined) return;
        onEvent(play.live, play.#events++);
        if (event.type === 'user_message' && event.steps.includes('packet_request')) play.#sayAll();
      },
    });
    holder.play = new Play(live);
    return holder.play;
  }

  private constructor(live: Live) {
    this.live = live;
  }

  get events(): number {
    return this.#events;
  }

  /** Fulfilled when nothing is under way any more. */
  async run(): Promise<void> {
    const { thread } = this.live;
    await thread.submit(FIRST);
    await thread.rest();
    this.#sayAll();
    await thread.rest();
  }

  #sayAll(): void {
    if (this.#hasSaidAll) return;
    this.#hasSaidAll = true;
    void this.live.thread.submit(SECOND);
  }
}

/** Holds what is true of every thread at rest, then that it goes on. */
async function assertGoesOn(live: Live, what: string): Promise<void> {
  const { thread, records, events } = live;
  server.play({ replies: [says('Here I am.', 9_000)] });
  await thread.submit('Are you there?');
  await thread.rest();
  assert.deepEqual(thread.lastTurn, { ending: { type: 'complete' }, said: 'Here I am.' }, what);
  assertSound(thread.items, records, what);
  assertTurns(events, what);
  assert.deepEqual(unhandled, [], what);
  await thread.shutdown();
}

function assertSound(items: Live['thread']['items'], records: readonly LogRecord[], what: string): void {
  assert.deepEqual(Object.values(findBrokenPairs(items.map(pairView))).flat(), [], `${what}: torn pairs`);
  const logged = records.flatMap((record) => (record.type === 'item' ? [record.item] : []));
  const said = userTexts(logged);
  assert.deepEqual(said.toSorted(), [...new Set(said)].toSorted(), `${what}: delivered twice`);
  for (const text of [FIRST, SECOND]) assert.ok(said.includes(text), `${what}: lost ${text}`);
  const handoffs = logged.flatMap(({ origin }) => (origin?.step === 'handoff' ? [origin.sequenceId] : []));
  const compactions = records.filter(({ type }) => type === 'compacted').length;
  assert.equal(new Set(handoffs).size, handoffs.length, `${what}: handed over twice`);
  assert.ok(
    handoffs.length <= compactions,
    `${what}: ${handoffs.length} handoffs, ${compactions} compactions`,
  );
}

/** Each turn has one end, and no other one begins before it. */
function assertTurns(events: readonly SessionEvent[], what: string): void {
  let open: string | undefined;
  const ended = new Set<string>();
  for (const event of events) {
    if (event.type === 'turn_started') {
      assert.equal(open, undefined, `${what}: ${event.turn_id} began in ${open}`);
      open = event.turn_id;
    }
    if (event.type !== 'turn_complete' && event.type !== 'turn_aborted') continue;
    assert.equal(event.turn_id, open, `${what}: an end of no open turn`);
    assert.ok(!ended.has(event.turn_id), `${what}: ${event.turn_id} ended twice`);
    ended.add(event.turn_id);
    open = undefined;
  }
  assert.equal(open, undefined, `${what}: ${open} never ended`);
}

/** Plays against the whole script. */
async function played(terms?: Terms, onEvent?: (live: Live, at: number) => void): Promise<Play> {
  server.play({ replies: REPLIES });
  const play = await Play.open(terms, onEvent);
  await play.run();
  return play;
}

/** How much there is to stop. */
async function measured(): Promise<{ readonly events: number; readonly records: number }> {
  const { live, events } = await played();
  const compactions = live.records.filter(({ type }) => type === 'compacted').length;
  assert.equal(compactions, 2, 'a handover inside of a turn, and one between turns');
  return { events, records: live.records.length };
}

describe('Esc', () => {
  test('at every event', async (t) => {
    const { events } = await measured();
    t.diagnostic(`${events} events`);
    for (let at = 0; at < events; at++) {
      const { live } = await played({}, ({ thread }, now) => {
        if (now === at) thread.interrupt();
      });
      await assertGoesOn(live, `Esc at event ${at}`);
    }
  });

  test('as soon as a message for the running turn is taken, at every fourth event', async () => {
    const { events } = await measured();
    for (let at = 0; at < events; at += 4) {
      let steered: Promise<void> | undefined;
      const { live } = await played({}, ({ thread }, now) => {
        if (now !== at) return;
        steered = thread.steer('Wait.').then(() => thread.interrupt());
      });
      await steered;
      await live.thread.rest();
      await assertGoesOn(live, `a message, then Esc at event ${at}`);
      const said = userTexts(live.records.flatMap((each) => (each.type === 'item' ? [each.item] : [])));
      assert.ok(
        said.includes('Wait.'),
        `a message, then Esc at event ${at}: what was said before it is lost`,
      );
    }
  });

  test('during the write of every fourth record', async () => {
    const { records } = await measured();
    for (let at = 0; at < records; at += 4) {
      let seen = 0;
      const holder: { thread?: Live['thread'] } = {};
      const onAppend = ({ length }: readonly unknown[]): void => {
        if (seen <= at && at < seen + length) holder.thread?.interrupt();
        seen += length;
      };
      const { live } = await played({ onAppend }, ({ thread }) => (holder.thread = thread));
      await assertGoesOn(live, `Esc at record ${at}`);
    }
  });
});

test('the end of the session at every second event: another process continues', async () => {
  const { events } = await measured();
  for (let at = 0; at < events; at += 2) {
    let ended: Promise<void> | undefined;
    const { live } = await played({}, ({ thread }, now) => {
      if (now === at) ended = thread.shutdown();
    });
    await ended;
    server.play({ replies: [says('Going on.', 9_000)] });
    const next = await liveThread({ baseUrl: server.baseUrl, past: live.records });
    await next.thread.rest();
    await assertGoesOn(next, `shut down at event ${at}`);
  }
});

describe('a provider that fails', () => {
  const faults: Readonly<Record<string, Fault>> = {
    'is overloaded': { type: 'status', status: 529 },
    'refuses the request': { type: 'status', status: 400, message: 'No.' },
    'cuts its answer': { type: 'cut', afterEvents: 2 },
    'ends its answer early': { type: 'early_end', afterEvents: 2 },
    'says nonsense': { type: 'malformed', afterEvents: 1 },
  };
  for (const [name, fault] of Object.entries(faults)) {
    test(`${name}, at each request in turn`, async () => {
      for (let at = 0; at < REPLIES.length; at++) {
        server.play({ replies: REPLIES.map((reply, index) => (index === at ? { ...reply, fault } : reply)) });
        const play = await Play.open();
        await play.run();
        await assertGoesOn(play.live, `${name} at request ${at}`);
      }
    });
  }
});

describe('no patience', () => {
  const watcher = DEFAULT_CONFIG.rawrAutoCompaction;
  const config: Config = {
    ...DEFAULT_CONFIG,
    rawrAutoCompaction: { ...watcher, packetDeadlineSeconds: 0.001, judgmentDeadlineSeconds: 0.001 },
  };

  test('with a silent provider, at each request in turn', async () => {
    for (let at = 0; at < REPLIES.length; at++) {
      const replies = REPLIES.map((reply, index) =>
        index === at ? { fault: { type: 'silence' } as const } : reply,
      );
      server.play({ replies });
      const { live, run } = await silentPlay(config);
      await run();
      await assertGoesOn(live, `silent at request ${at}`);
    }
  });

  test('with slow tools', async () => {
    const tools: ThreadTerms['tools'] = {
      ...CALM_SHELL,
      run: async (...args) => {
        await new Promise((resolve) => void setTimeout(resolve, 20));
        return CALM_SHELL.run(...args);
      },
    };
    const { live } = await played({ config, tools });
    await assertGoesOn(live, 'slow tools');
  });
});

/** Where the user's own turn is what is silent, no deadline of the watcher's ends it: the user does. */
async function silentPlay(config: Config): Promise<{ live: Live; run: () => Promise<void> }> {
  const play = await Play.open({ config });
  const run = async (): Promise<void> => {
    const running = play.run();
    const impatience = setInterval(() => play.live.thread.interrupt(), 150);
    await running;
    clearInterval(impatience);
  };
  return { live: play.live, run };
}
