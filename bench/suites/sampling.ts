// What Baton spends on each request of a long turn beside sending it: a thread with its log on the disk, its watcher and its
// configuration, and a model in this process that asks for one small call after the other.

import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigReader } from '../../src/config/load.io.ts';
import type { Model } from '../../src/ports.ts';
import { loadDecisionPrompt, loadPrompt, promptPlace } from '../../src/prompts/load.io.ts';
import type { Item } from '../../src/protocol/item.ts';
import type { ModelEvent, ModelRequest } from '../../src/protocol/model.ts';
import type { LogRecord } from '../../src/protocol/record.ts';
import { modelInfo } from '../../src/providers/models.ts';
import { createRollout } from '../../src/rollout/rollout.io.ts';
import { openThread } from '../../src/thread/thread.io.ts';
import type { Thread } from '../../src/thread/terms.ts';
import { itemTokens, sumTokens } from '../../src/tokens/estimate.ts';
import { generateSteps, toItems } from '../histories.ts';
import { median, processorTime } from '../measure.ts';
import { atMost, digits, duration } from '../report.ts';
import type { Row } from '../report.ts';
import { withFolder } from '../session-files.ts';
import type { Effort } from './suite.ts';

const TOKENS = 150_000;
/** So large that nothing is compacted. */
const WINDOW = 1_000_000;
/** The least that sending takes is to write the request. @source docs/decisions/speed.md */
const MOST_OF_SENDING = 3;

/** A model that repeats itself, which a turn of a user is protected from. */
const UNLIMITED =
  '[limits]\nrepeated_calls = 0\nturn_requests = 0\nturn_tokens = 0\nsession_requests = 0\nsession_tokens = 0\n';

/** Samplings that warm the compiler up. */
const WARM_UP = 100;

/** The rows of a long turn. */
export async function* sampling({ isQuick }: Effort): AsyncGenerator<Row> {
  const samplings = isQuick ? 300 : 600;
  const { times, sending } = await withFolder((folder) => playTurn(folder, samplings));
  const counted = times.slice(WARM_UP);
  const middle = counted.length >> 1;
  const written = meanOf(sending.slice(WARM_UP));
  const [mean, early, late] = [counted, counted.slice(0, middle), counted.slice(middle)].map(meanOf);
  yield {
    topic: 'One request of a long turn',
    what: `processor time beside sending it, ${digits(TOKENS)} tokens, mean of ${counted.length}`,
    baton: duration(mean ?? Number.NaN),
    against: `\`JSON.stringify\` of the request ${duration(written)} (first half ${duration(early ?? Number.NaN)}, second ${duration(late ?? Number.NaN)}, median ${duration(median(counted))})`,
    figure: `${digits((mean ?? Number.NaN) / written)}× its time`,
    target: atMost((mean ?? Number.NaN) / written, MOST_OF_SENDING, '×'),
  };
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** @returns processor time from each request to the next one, and what writing each as JSON takes */
async function playTurn(folder: string, samplings: number): Promise<Pick<BusyModel, 'times' | 'sending'>> {
  const home = join(folder, 'home');
  const directory = join(folder, 'project');
  mkdirSync(home);
  mkdirSync(directory);
  writeFileSync(join(directory, 'notes.txt'), 'The totals are sums of cents.\n');
  writeFileSync(join(home, 'config.toml'), UNLIMITED);
  const model = new BusyModel(samplings);
  const thread = await openAt(home, directory, model);
  await thread.turn('Go through it all.');
  await thread.close();
  return model;
}

async function openAt(home: string, directory: string, model: Model): Promise<Thread> {
  const world = {
    env: { BATON_HOME: home, PATH: process.env['PATH'] ?? '' },
    homeDirectory: home,
    cwd: directory,
  };
  const reader = new ConfigReader({ overrides: [] }, world);
  const readConfig = async () => (await reader.read()).config;
  const clock = { now: () => Date.now() };
  const ids = { uuid: () => randomUUID() };
  const past = await createRollout(
    home,
    { cwd: directory, producerVersion: '0.0.0', instructions: 'Do what is asked for.' },
    { clock, ids },
  );
  await past.append(pastOf(TOKENS));
  await past.close();
  return openThread(
    {
      resume: past.threadId,
      directory,
      config: await readConfig(),
      model: {
        model,
        provider: model.provider,
        name: 'busy',
        info: modelInfo('busy'),
        window: WINDOW,
        warnings: [],
      },
      instructions: 'Do what is asked for.',
    },
    {
      home,
      env: world.env,
      platform: process.platform,
      version: '0.0.0',
      keyVariables: [],
      clock,
      ids,
      ask: () => Promise.resolve({ type: 'denied', why: 'Nobody is here.' }),
      readConfig,
      prompts: {
        prompt: (config, name) => loadPrompt(promptPlace(config, world), name),
        decisionPrompt: (config, path) => loadDecisionPrompt(promptPlace(config, world), path),
      },
      emit: () => undefined,
      signal: new AbortController().signal,
    },
  );
}

function pastOf(tokens: number): readonly LogRecord[] {
  const items: Item[] = [];
  let sum = 0;
  for (const item of toItems(generateSteps(tokens / 20))) {
    if (sum >= tokens) break;
    sum += sumTokens(itemTokens(item));
    items.push(item);
  }
  return [
    { type: 'turn_started', turnId: 'turn-1', kind: 'regular', origin: { type: 'user' } },
    ...items.map((item) => ({ type: 'item', item }) as const),
    { type: 'turn_complete', turnId: 'turn-1', kind: 'regular', origin: { type: 'user' } },
  ];
}

/** Answers at once: a small call, and after enough of them a sentence. */
class BusyModel implements Model {
  readonly provider = 'busy';
  readonly times: number[] = [];
  readonly sending: number[] = [];
  readonly #samplings: number;
  #asked: number | undefined;

  constructor(samplings: number) {
    this.#samplings = samplings;
  }

  async *stream(request: ModelRequest): AsyncGenerator<ModelEvent> {
    const now = processorTime();
    if (this.#asked !== undefined) this.times.push(now - this.#asked);
    const number = this.times.length;
    const before = processorTime();
    JSON.stringify(request);
    this.sending.push(processorTime() - before);
    const item: Item =
      number < this.#samplings
        ? {
            type: 'function_call',
            call_id: `call-${number}`,
            name: 'read',
            arguments: JSON.stringify({ path: 'notes.txt' }),
          }
        : { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'That was all.' }] };
    await Promise.resolve();
    yield { type: 'item_done', item };
    yield { type: 'completed', stopReason: number < this.#samplings ? 'tool_calls' : 'end_turn' };
    this.#asked = processorTime();
  }
}
