// Decisions alone: signals, open boundaries and an evaluation after every tool result and at the end of every turn, by the
// text that was read for them; and what a turn costs in a context of a million tokens.

import type { LogRecord } from '../../src/protocol/record.ts';
import { resultCallId } from '../../src/protocol/item.ts';
import type { Situation } from '../../src/protocol/decision.ts';
import { percentRemaining } from '../../src/tokens/pressure.ts';
import { utf8Length } from '../../src/tokens/estimate.ts';
import { FORMATS } from '../../src/vocabulary.ts';
import type { DecisionPoint } from '../../src/vocabulary.ts';
import {
  NO_BOUNDARIES,
  noteSignals,
  settleBoundaries,
  startTurn,
} from '../../src/watcher/signals/boundaries.ts';
import type { Boundaries } from '../../src/watcher/signals/boundaries.ts';
import { evaluate } from '../../src/watcher/decide.ts';
import { SignalDetector } from '../../src/watcher/signals/signals.ts';
import { SPEC_POLICY } from '../../test/support/policy.ts';
import { generateSteps, textsOf, toItems } from '../histories.ts';
import { race } from '../measure.ts';
import { recordedRecords, textBytes } from '../records.ts';
import { atLeast, atMost, digits, duration } from '../report.ts';
import type { Row } from '../report.ts';
import type { Effort } from './suite.ts';

/** Of the speed of `JSON.parse`. @source docs/decisions/speed.md: 50 MB/s, where it took 500 */
const LEAST_SHARE = 0.1;

const WINDOW = 190_000;
/** UTF-8 bytes of a million tokens by the estimate. */
const MILLION_TOKENS_BYTES = 4_000_000;

/** The rows of the watcher's decisions. */
export async function* deciding(effort: Effort): AsyncGenerator<Row> {
  const steps = generateSteps(effort.isQuick ? 2000 : 10_000);
  const generated = toRecords(steps);
  const bytes = textsOf(steps).reduce((sum, text) => sum + utf8Length(text), 0);
  yield await measureSpeed('generated', [generated], bytes, effort);
  for (const format of FORMATS) {
    const sessions = await recordedRecords(format);
    if (sessions.length === 0) continue;
    const size = sessions.flat().reduce((sum, record) => sum + textBytes(record), 0);
    yield await measureSpeed(`${format}, ${sessions.length} recorded sessions`, sessions, size, effort);
  }
  yield await measureTurn(effort);
}

async function measureSpeed(
  what: string,
  sessions: readonly (readonly LogRecord[])[],
  bytes: number,
  { rounds }: Effort,
): Promise<Row> {
  const run = () => {
    for (const records of sessions) new Decider().play(records);
  };
  const lines = sessions.flat().map((record) => JSON.stringify(record));
  const times = await race(
    { baton: { run }, parse: { run: () => lines.forEach((line) => void JSON.parse(line)) } },
    rounds,
  );
  const share = times.parse / times.baton;
  return {
    topic: 'Decisions of the watcher',
    what: `${what}, ${digits(bytes / 1e6)} MB of text`,
    baton: `${duration(times.baton)} (${digits(bytes / 1000 / times.baton)} MB/s)`,
    against: `\`JSON.parse\` of the same records ${duration(times.parse)}`,
    figure: `${digits(share)} of its speed`,
    target: atLeast(share, LEAST_SHARE),
  };
}

async function measureTurn({ rounds }: Effort): Promise<Row> {
  const past: LogRecord[] = [];
  for (let seed = 1, bytes = 0; bytes < MILLION_TOKENS_BYTES; seed++) {
    const steps = generateSteps(2000, seed);
    bytes += textsOf(steps).reduce((sum, text) => sum + utf8Length(text), 0);
    past.push(...toRecords(steps));
  }
  const turns = toRecords(generateSteps(1000, 99));
  const count = turns.filter((record) => record.type === 'turn_complete').length;
  let decider = new Decider();
  const prepare = () => {
    decider = new Decider();
    decider.play(past);
  };
  let fresh = new Decider();
  const renew = () => void (fresh = new Decider());
  const times = await race(
    {
      baton: { prepare, run: () => decider.play(turns) },
      fresh: { prepare: renew, run: () => fresh.play(turns) },
    },
    rounds,
  );
  const perTurn = times.baton / count;
  const ratio = times.baton / times.fresh;
  return {
    topic: 'Decisions of the watcher',
    what: `a turn after 1 M tokens, mean of ${digits(count)}`,
    baton: duration(perTurn),
    against: `after none ${duration(times.fresh / count)}`,
    figure: `${digits(ratio)}× its time`,
    target: atMost(ratio, 1.5, '×'),
  };
}

/** A generated history with the turns that its requests begin. */
function toRecords(steps: ReturnType<typeof generateSteps>): LogRecord[] {
  const records = toItems(steps).flatMap((item): LogRecord[] => {
    const isRequest = item.type === 'message' && item.role === 'user';
    const turn: LogRecord[] = isRequest ? [{ type: 'turn_complete' }, { type: 'turn_started' }] : [];
    return [...turn, { type: 'item', item }];
  });
  return [...records, { type: 'turn_complete' }];
}

/** Asks for a decision wherever the watcher would. */
class Decider {
  readonly #detector = new SignalDetector();
  #boundaries: Boundaries = NO_BOUNDARIES;
  #used = 0;
  #turn = 0;

  play(records: readonly LogRecord[]): void {
    for (const record of records) this.#add(record);
    this.#note(this.#detector.end());
    this.#decide('turn_end');
  }

  #add(record: LogRecord): void {
    if (record.type === 'turn_started') this.#boundaries = startTurn(this.#boundaries);
    this.#note(this.#detector.add(record));
    if (record.type === 'usage') this.#used = record.usage.total;
    else if (record.type === 'turn_complete') this.#decide('turn_end');
    else if (record.type === 'item') {
      this.#used += 100;
      if (resultCallId(record.item) !== undefined) this.#decide('mid_turn');
    }
  }

  #note(signals: ReturnType<SignalDetector['add']>): void {
    if (signals.length > 0) this.#boundaries = noteSignals(this.#boundaries, signals);
  }

  #decide(point: DecisionPoint): void {
    if (point === 'turn_end') this.#turn++;
    const evaluation = {
      point,
      turn: this.#turn,
      situation: this.#situation(),
      open: this.#boundaries.open,
      batchFrom: undefined,
      busyWith: [],
      rest: undefined,
      lastAgentMessage: 'x'.repeat(200),
      hasRequest: true,
      hasAction: true,
    };
    this.#boundaries = settleBoundaries(this.#boundaries, evaluate(evaluation, SPEC_POLICY));
  }

  #situation(): Situation {
    const used = this.#used % WINDOW;
    return { used, window: WINDOW, percentRemaining: percentRemaining(used, WINDOW), projected: 10_000 };
  }
}
