// Made-up histories in the proportions of real ones: three quarters of the text is tool output, half of the messages
// are tool results, results are many small and few large. The same seed gives the same history.

import type { Item } from '../src/protocol/item.ts';

/** A neutral history, to be given to Baton and to its peers in the shapes of each. */
export type Step =
  | { readonly type: 'request'; readonly text: string }
  | { readonly type: 'answer'; readonly text: string; readonly call?: Call }
  | { readonly type: 'result'; readonly callId: string; readonly tool: string; readonly text: string };

/** A tool call of an answer. */
export interface Call {
  readonly id: string;
  readonly tool: string;
  readonly input: { readonly [key: string]: string };
}

/** A small seeded generator of numbers (mulberry32). */
export class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** From 0, below 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number from 0, below `bound`. */
  below(bound: number): number {
    return Math.floor(this.next() * bound);
  }

  /**
   * One of a list.
   * @throws RangeError on an empty one
   */
  pick<T>(list: readonly T[]): T {
    const picked = list[this.below(list.length)];
    if (picked === undefined) throw new RangeError('Nothing to pick from');
    return picked;
  }
}

const WORDS = (
  'the a of to in and is that for with as on this be by it from or an at not are we which when has one all will can ' +
  'should test value index result error request response buffer stream parser token cache session record message ' +
  'invoice ledger account balance entry export import schema field column query worker queue retry timeout signal ' +
  'handler route server client config option default path folder module function class method interface check build'
).split(' ');
const FOLDERS = [
  'src/ledger',
  'src/report',
  'src/server',
  'src/format',
  'test/ledger',
  'test/report',
  'docs',
];
const CONCERNS = [
  'Ledger',
  'Report',
  'Invoice',
  'Account',
  'Balance',
  'Export',
  'Session',
  'Cursor',
  'Journal',
];
const VERBS = [
  'parse',
  'write',
  'read',
  'merge',
  'check',
  'load',
  'render',
  'count',
  'resolve',
  'close',
  'open',
];
const REQUESTS = [
  'Please make the export handle empty accounts.',
  'The totals in the report are off by one cent; find out why and fix it.',
  'Never round before the sum is taken. Use integers of cents, not floats.',
  "Add a test for the cursor and don't touch the public interface.",
  'Now go on with the journal, then run all tests.',
];

/** Exactly `count` steps of a coding session. */
export function generateSteps(count: number, seed = 1): readonly Step[] {
  const dice = new Dice(seed);
  const steps: Step[] = [];
  const callsPerTurn = 24;
  while (steps.length < count) {
    steps.push({ type: 'request', text: `${dice.pick(REQUESTS)} ${prose(dice, 10 + dice.below(60))}` });
    for (let call = 0; call < callsPerTurn && steps.length + 2 < count; call++)
      steps.push(...callSteps(dice));
    if (steps.length < count) steps.push({ type: 'answer', text: prose(dice, 40 + dice.below(160)) });
  }
  return steps;
}

function callSteps(dice: Dice): [Step, Step] {
  const id = `call_${hex(dice, 24)}`;
  const path = sourcePath(dice);
  const name = symbol(dice);
  const [call, text] = dice.pick([
    () => [{ id, tool: 'exec_command', input: { cmd: `npm test -- ${path}` } }, testRun(dice)] as const,
    () => [{ id, tool: 'exec_command', input: { cmd: `sed -n 1,120p ${path}` } }, source(dice)] as const,
    () => [{ id, tool: 'read_file', input: { path } }, source(dice)] as const,
    () => [{ id, tool: 'grep', input: { pattern: name } }, matches(dice, name)] as const,
    () => [{ id, tool: 'exec_command', input: { cmd: `cat data/${name}.json` } }, rows(dice)] as const,
    () => [{ id, tool: 'edit_file', input: { path, old: line(dice), new: source(dice, 30) } }, 'ok'] as const,
  ])();
  const said = dice.below(3) > 0 ? prose(dice, 30 + dice.below(170)) : '';
  return [
    { type: 'answer', text: said, call },
    { type: 'result', callId: id, tool: call.tool, text },
  ];
}

function prose(dice: Dice, words: number): string {
  const sentence: string[] = [];
  for (let word = 0; word < words; word++) {
    const kind = dice.below(24);
    sentence.push(kind === 0 ? symbol(dice) : kind === 1 ? `${sourcePath(dice)}.` : dice.pick(WORDS));
  }
  return sentence.join(' ');
}

function symbol(dice: Dice): string {
  return `${dice.pick(VERBS)}${dice.pick(CONCERNS)}${dice.below(3) === 0 ? dice.pick(CONCERNS) : ''}`;
}

function sourcePath(dice: Dice): string {
  return `${dice.pick(FOLDERS)}/${dice.pick(CONCERNS).toLowerCase()}-${dice.pick(VERBS)}.ts`;
}

function hex(dice: Dice, length: number): string {
  return Array.from({ length }, () => dice.below(16).toString(16)).join('');
}

/** Lines of a result: mostly tens, now and then hundreds. */
function lineCount(dice: Dice): number {
  return dice.below(14) === 0 ? 120 + dice.below(240) : 8 + dice.below(60);
}

function lines(count: number, make: () => string): string {
  return Array.from({ length: count }, make).join('\n');
}

function line(dice: Dice): string {
  return `const ${symbol(dice)} = await ${symbol(dice)}(${dice.pick(WORDS)}, { ${dice.pick(WORDS)}: ${dice.below(500)} });`;
}

function source(dice: Dice, count = lineCount(dice)): string {
  return lines(count, () => {
    const kind = dice.below(6);
    if (kind === 0) return `// ${prose(dice, 8)}`;
    if (kind === 1) return `export function ${symbol(dice)}(${dice.pick(WORDS)}: string): number {`;
    return kind === 2 ? '}' : `  ${line(dice)}`;
  });
}

function testRun(dice: Dice): string {
  const failing = dice.below(3) === 0;
  const log = lines(lineCount(dice), () => `✔ ${prose(dice, 6)} (${dice.below(900) / 10}ms)`);
  const failure = `✖ ${prose(dice, 6)}\n  AssertionError: ${dice.below(99)} !== ${dice.below(99)}\n    at ${sourcePath(dice)}:${dice.below(300)}:7`;
  return `${log}\n${failing ? `${failure}\n` : ''}# pass ${dice.below(400)}\n# fail ${failing ? 1 : 0}`;
}

function matches(dice: Dice, name: string): string {
  return lines(
    lineCount(dice),
    () => `${sourcePath(dice)}:${1 + dice.below(400)}:  return ${name}(${prose(dice, 3)});`,
  );
}

function rows(dice: Dice): string {
  return lines(
    lineCount(dice),
    () => `{"id":"${hex(dice, 12)}","account":${dice.below(99_999)},"note":"${prose(dice, 7)}","ok":true}`,
  );
}

/** A history in Baton's shapes. An answer with text and call is two items. */
export function toItems(steps: readonly Step[]): readonly Item[] {
  return steps.flatMap((step): Item[] => {
    switch (step.type) {
      case 'request':
        return [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: step.text }] }];
      case 'answer':
        return answerItems(step);
      case 'result':
        return [{ type: 'function_call_output', call_id: step.callId, output: step.text }];
    }
  });
}

function answerItems({ text, call }: Step & { readonly type: 'answer' }): Item[] {
  const message: Item = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] };
  if (call === undefined) return [message];
  const { id, tool, input } = call;
  const made: Item = { type: 'function_call', name: tool, arguments: JSON.stringify(input), call_id: id };
  return text === '' ? [made] : [message, made];
}

/** The same history with damage: one result in a hundred is gone, and so is one call in a hundred. */
export function breakPairs(steps: readonly Step[]): readonly Step[] {
  return steps.flatMap((step, index): Step[] => {
    if (step.type === 'result' && index % 101 < 2) return [];
    if (step.type === 'answer' && step.call !== undefined && index % 101 > 98) {
      return step.text === '' ? [] : [{ type: 'answer', text: step.text }];
    }
    return [step];
  });
}

/** All text of a history, in order. */
export function textsOf(steps: readonly Step[]): readonly string[] {
  return steps.flatMap((step) =>
    step.type === 'answer' && step.call !== undefined
      ? [step.text, step.call.tool, JSON.stringify(step.call.input)]
      : [step.text],
  );
}
