// Exact counts: all of a large history against the tokenizer alone, one more item, one line without a space.

import { setImmediate } from 'node:timers/promises';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { loadSession } from '../../src/formats/session-file.io.ts';
import { openSource } from '../../src/formats/source.io.ts';
import { AccountFold } from '../../src/history/account.ts';
import { loadPatientTokenizer, loadTokenizer } from '../../src/tokens/tokenizer.io.ts';
import { Dice, generateSteps, textsOf, toItems } from '../histories.ts';
import { mainThreadTime, median, race, timeOnce } from '../measure.ts';
import { atMost, digits, duration } from '../report.ts';
import type { Row } from '../report.ts';
import { withFolder, writeSession } from '../session-files.ts';
import { ACCOUNT_SETTINGS } from './accounting.ts';
import type { Effort } from './suite.ts';

const TOPIC = 'Exact token counts (o200k)';

/** No slower than the tokenizer alone, within the 5 % by which runs differ on a machine at work. */
const MOST_RATIO = 1.05;

/** The counting rows. */
export async function* counting(effort: Effort): AsyncGenerator<Row> {
  const steps = generateSteps(effort.isQuick ? 4000 : 20_000);
  yield await countAll(textsOf(steps), effort);
  yield await addOne(steps, effort);
  yield await countInTurns(textsOf(steps));
  yield await readInTurns(effort);
  const words = textsOf(steps).join('\n').slice(0, 1e6);
  for (const [what, text] of unbrokenRuns()) yield await countRun(what, { text, words }, effort);
}

async function countAll(texts: readonly string[], { isQuick }: Effort): Promise<Row> {
  const count = await loadTokenizer();
  const alone = (text: string): number => countTokens(text, { disallowedSpecial: new Set() });
  let exact = 0;
  const times = await race(
    {
      baton: { run: () => (exact = sum(texts, count)) },
      alone: { run: () => sum(texts, alone) },
    },
    isQuick ? 5 : 7,
  );
  const ratio = times.baton / times.alone;
  return {
    topic: TOPIC,
    what: `${digits(exact / 1e6)} M tokens`,
    baton: duration(times.baton),
    against: `gpt-tokenizer alone ${duration(times.alone)}`,
    figure: `${ratio.toFixed(2)}× its time`,
    target: atMost(Number(ratio.toFixed(2)), MOST_RATIO, '×'),
  };
}

function sum(texts: readonly string[], count: (text: string) => number): number {
  return texts.reduce((total, text) => total + count(text), 0);
}

/** Additions that warm the compiler up and do not count. */
const WARM_UPS = 8;

async function addOne(steps: Parameters<typeof toItems>[0], { rounds }: Effort): Promise<Row> {
  const items = toItems(steps);
  const fold = new AccountFold({ ...ACCOUNT_SETTINGS, count: await loadTokenizer() });
  const began = mainThreadTime();
  for (const item of items) fold.add({ type: 'item', item });
  const whole = mainThreadTime() - began;
  const times: number[] = [];
  const results = items.filter(({ type }) => type === 'function_call_output').slice(0, WARM_UPS + rounds);
  for (const item of results) {
    const run = (): unknown => {
      fold.add({ type: 'item', item });
      return fold.account();
    };
    times.push(await timeOnce({ run }, mainThreadTime));
  }
  const milliseconds = median(times.slice(WARM_UPS));
  return {
    topic: TOPIC,
    what: `one result added to ${digits(items.length)} items, whole account again`,
    baton: duration(milliseconds),
    against: `counting all of them ${duration(whole)}`,
    figure: `${digits(milliseconds / whole)}× its time`,
    target: atMost(milliseconds / whole, 0.01, '×'),
  };
}

async function countInTurns(texts: readonly string[]): Promise<Row> {
  const { countAhead } = await loadPatientTokenizer();
  return turnRow('the same tokens counted ahead, longest turn', await turnsOf(countAhead(texts)));
}

async function readInTurns({ isQuick }: Effort): Promise<Row> {
  const bytes = isQuick ? 8e6 : 24e6;
  return withFolder(async (folder) => {
    const source = await openSource(await writeSession(folder, 'codex', bytes), process.stdin);
    const fold = new AccountFold({ ...ACCOUNT_SETTINGS, count: await loadTokenizer() });
    const reading = loadSession(source, (record) => fold.add(record));
    const turns = await turnsOf(reading);
    await source.close();
    return turnRow(`session of ${digits(bytes / 1e6)} MB read and counted, longest turn`, turns);
  });
}

function turnRow(what: string, { longest, whole }: Turns): Row {
  return {
    topic: TOPIC,
    what,
    baton: duration(longest),
    against: `all turns ${duration(whole)}`,
    figure: `${digits(longest / whole)}× their time`,
    target: atMost(longest / whole, 0.05, '×'),
  };
}

interface Turns {
  /** Most milliseconds that work keeps everything else in the process waiting. */
  readonly longest: number;
  readonly whole: number;
}

async function turnsOf(work: Promise<unknown>): Promise<Turns> {
  const finished = new AbortController();
  const working = work.finally(() => finished.abort());
  let longest = 0;
  const began = mainThreadTime();
  while (!finished.signal.aborted) {
    const before = mainThreadTime();
    await setImmediate();
    longest = Math.max(longest, mainThreadTime() - before);
  }
  await working;
  return { longest, whole: mainThreadTime() - began };
}

function unbrokenRuns(): readonly (readonly [what: string, text: string])[] {
  const dice = new Dice(7);
  const random = (alphabet: string): string =>
    Array.from({ length: 1e6 }, () => alphabet[dice.below(alphabet.length)]).join('');
  return [
    ['one letter', 'a'.repeat(1e6)],
    ['spaces', ' '.repeat(1e6)],
    ['hexadecimal digits', random('0123456789abcdef')],
    ['base64', random('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/')],
    ['Chinese characters', random('的一是不了人我在有他这中大来上国个到说们为子和你地出道也时年')],
  ];
}

async function countRun(
  what: string,
  { text, words }: { readonly text: string; readonly words: string },
  { rounds }: Effort,
): Promise<Row> {
  const count = await loadTokenizer();
  const times = await race({ run: { run: () => count(text) }, words: { run: () => count(words) } }, rounds);
  return {
    topic: TOPIC,
    what: `1 M characters in one run: ${what}`,
    baton: duration(times.run),
    against: `as many of ordinary text ${duration(times.words)}`,
    figure: `${digits(times.run / times.words)}× its time`,
    target: atMost(times.run / times.words, 1, '×'),
  };
}
