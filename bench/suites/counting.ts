// Exact counts: all of a large history against the tokenizer alone, one more item, one line without a space.

import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { AccountFold } from '../../src/history/account.ts';
import { loadTokenizer } from '../../src/tokens/load.ts';
import { Dice, generateSteps, textsOf, toItems } from '../histories.ts';
import { median, race, timeOnce } from '../measure.ts';
import { atMost, digits, duration } from '../report.ts';
import type { Row } from '../report.ts';
import { ACCOUNT_SETTINGS } from './accounting.ts';
import type { Effort } from './suite.ts';

const TOPIC = 'Exact token counts (o200k)';

/** The counting rows. */
export async function* counting(effort: Effort): AsyncGenerator<Row> {
  const steps = generateSteps(effort.isQuick ? 4000 : 20_000);
  yield await countAll(textsOf(steps), effort);
  yield await addOne(steps, effort);
  for (const [what, text] of unbrokenRuns()) yield await countRun(what, text, effort);
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
    isQuick ? 3 : 5,
  );
  const ratio = times.baton / times.alone;
  return {
    topic: TOPIC,
    what: `${digits(exact / 1e6)} M tokens`,
    baton: duration(times.baton),
    against: `gpt-tokenizer alone ${duration(times.alone)}`,
    figure: `${ratio.toFixed(2)}× its time`,
    target: atMost(Number(ratio.toFixed(2)), 1, '×'),
  };
}

function sum(texts: readonly string[], count: (text: string) => number): number {
  return texts.reduce((total, text) => total + count(text), 0);
}

async function addOne(steps: Parameters<typeof toItems>[0], { rounds }: Effort): Promise<Row> {
  const items = toItems(steps);
  const fold = new AccountFold({ ...ACCOUNT_SETTINGS, count: await loadTokenizer() });
  for (const item of items) fold.add({ type: 'item', item });
  const times: number[] = [];
  const results = items.filter(({ type }) => type === 'function_call_output').slice(0, rounds);
  for (const item of results) {
    const run = (): unknown => {
      fold.add({ type: 'item', item });
      return fold.account();
    };
    times.push(await timeOnce({ run }));
  }
  const milliseconds = median(times);
  return {
    topic: TOPIC,
    what: `one result added to ${digits(items.length)} items, whole account again`,
    baton: duration(milliseconds),
    against: '',
    figure: duration(milliseconds),
    target: atMost(milliseconds, 30, ' ms'),
  };
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

async function countRun(what: string, text: string, { rounds }: Effort): Promise<Row> {
  const count = await loadTokenizer();
  const { baton } = await race({ baton: { run: () => count(text) } }, rounds);
  return {
    topic: TOPIC,
    what: `1 M characters in one run: ${what}`,
    baton: duration(baton),
    against: '',
    figure: duration(baton),
    target: atMost(baton, 100, ' ms'),
  };
}
