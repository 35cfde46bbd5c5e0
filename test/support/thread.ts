// Histories in one line: `u shell:9k a read:9k a u`. Every test of a history is written in it, and every property draws
// from it, so that a counterexample reads like a story.
//
// | word                            | items                                                               |
// | ------------------------------- | ------------------------------------------------------------------- |
// | `u` `a` `h` `dev` `sum`         | message of the user, agent, harness; developer message; summary      |
// | `u+img`                         | a user message with an image                                        |
// | `r` `r:9k`                      | reasoning, readable                                                 |
// | `todo-list`                     | attachment                                                          |
// | `boundary` `progress` `ghost`   | items that are sent to no model                                     |
// | `web`                           | a call that never has a result                                      |
// | `shell:9k` `shell:9k!`          | call and result; with `!` a failed one                              |
// | `shell:-` `shell:img`           | call and cleared result; call and result that is an image           |
// | `shell#x>` `shell#x<` `shell<`  | a call alone, a result alone; the same id makes them a pair         |
//
// Sizes are tokens of 4 bytes: `:9k` is 9,000. Without one, messages have `PLAIN` tokens.

import * as fc from 'fast-check';
import type { AttachmentItem, Item, MessageItem, ToolOutputItem } from '../../src/protocol/item.ts';
import { callOf, resultCallId, textOfOutput, textOfParts } from '../../src/protocol/item.ts';
import { CLEARED_RESULT } from '../../src/protocol/record.ts';
import type { LogRecord } from '../../src/protocol/record.ts';
import type { Entry } from '../../src/history/project.ts';

/** Tokens of a word without a size. */
export const PLAIN = 5;

const WORD = /^([a-z_+-]+)(?:#(\w+))?([<>])?(?::(-|img|\d+k?)(!)?)?$/;

/** A 1×1 picture stands for every image: what counts is the kind of the part. */
const IMAGE = { type: 'input_image', image_url: 'data:image/gif;base64,R0lGODlhAQABAAAAACw=' } as const;

/** The items of a history in mini-notation. @throws TypeError for a word that is none */
export function thread(notation: string): readonly Item[] {
  return notation
    .split(' ')
    .filter((word) => word !== '')
    .flatMap((word, index) => itemsOf(word, index));
}

/** A history in mini-notation with the places of a log. */
export function entriesOf(items: readonly Item[]): readonly Entry<Item>[] {
  return items.map((value, seq) => ({ seq, value, isReplacement: false }));
}

/** The mini-notation of a history; the inverse of `thread` but for the texts and the ids of halves. */
export function notationOf(items: readonly Item[]): string {
  const answered = new Map(
    items.flatMap((item) => (callOf(item) ? [] : [[resultCallId(item), item] as const])),
  );
  const called = new Set(items.map((item) => callOf(item)?.callId));
  return items.flatMap((item) => wordOf(item, answered, called) ?? []).join(' ');
}

function itemsOf(word: string, index: number): readonly Item[] {
  const match = WORD.exec(word);
  if (match === null) throw new TypeError(`No word of the mini-notation: ${word}`);
  const [, name = '', id, half, size, failed] = match;
  const text = textOfSize(`${name}${index}`, tokensOf(size));
  const plain = plainItem(name, index, text);
  if (plain !== undefined) return [plain];
  const callId = id ?? `call_${index}`;
  const call: Item = { type: 'function_call', name, arguments: `{"n":${index}}`, call_id: callId };
  const result: ToolOutputItem = {
    type: 'function_call_output',
    call_id: callId,
    output: size === '-' ? CLEARED_RESULT : size === 'img' ? [IMAGE] : text,
    success: failed === undefined,
  };
  if (half === '>') return [call];
  return half === '<' ? [result] : [call, result];
}

function plainItem(name: string, index: number, text: string): Item | undefined {
  switch (name) {
    case 'u':
      return message('user', text);
    case 'u+img':
      return { ...message('user', text), content: [{ type: 'input_text', text }, IMAGE] };
    case 'a':
      return { type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] };
    case 'h':
      return { ...message('user', text), origin: { author: 'harness' } };
    case 'dev':
      return message('developer', text);
    case 'sum':
      return { ...message('user', text), isCompactSummary: true };
    case 'r':
      return { type: 'reasoning', summary: [], text };
    case 'todo-list':
      return { type: 'attachment', kind: 'todo', text } satisfies AttachmentItem;
    case 'boundary':
      return {
        type: 'compact_boundary',
        uuid: `b${index}`,
        timestamp: '2026-01-01T00:00:00Z',
        trigger: 'auto',
      };
    case 'progress':
      return { type: 'progress', text };
    case 'ghost':
      return { type: 'ghost_snapshot', ghost_commit: { id: `commit${index}` } };
    case 'web':
      return { type: 'web_search_call', action: { query: text } };
    default:
      return undefined;
  }
}

function message(role: 'user' | 'developer', text: string): MessageItem {
  return { type: 'message', role, content: [{ type: 'input_text', text }] };
}

function tokensOf(size: string | undefined): number {
  if (size === undefined || size === '-' || size === 'img') return PLAIN;
  return size.endsWith('k') ? Number(size.slice(0, -1)) * 1000 : Number(size);
}

/** A text of words that begins with a label and takes exactly `tokens` × 4 bytes. */
export function textOfSize(label: string, tokens: number): string {
  return `${label} `.padEnd(tokens * 4, 'lorem ipsum dolor ').slice(0, tokens * 4);
}

type Results = ReadonlyMap<string | undefined, Item>;

function wordOf(item: Item, answered: Results, called: ReadonlySet<string | undefined>): string | undefined {
  const call = callOf(item);
  if (call !== undefined && call.callId !== undefined) {
    const result = answered.get(call.callId);
    if (result === undefined) return `${call.name}>`;
    return result.type === 'function_call_output' ? `${call.name}${sizeOfResult(result)}` : call.name;
  }
  const resultOf = resultCallId(item);
  if (resultOf !== undefined) return called.has(resultOf) ? undefined : 'result<';
  switch (item.type) {
    case 'message':
      return wordOfMessage(item);
    case 'reasoning':
      return `r${sizeOf(item.text ?? '')}`;
    case 'attachment':
      return 'todo-list';
    case 'compact_boundary':
      return 'boundary';
    case 'ghost_snapshot':
      return 'ghost';
    case 'web_search_call':
      return 'web';
    default:
      return item.type;
  }
}

function wordOfMessage(item: MessageItem): string {
  const size = sizeOf(textOfParts(item.content));
  if (item.role === 'assistant') return `a${size}`;
  if (item.role === 'developer') return `dev${size}`;
  if (item.isCompactSummary === true) return 'sum';
  if (item.origin?.author === 'harness') return `h${size}`;
  return item.content.some(({ type }) => type === 'input_image') ? `u+img${size}` : `u${size}`;
}

function sizeOfResult(item: ToolOutputItem): string {
  if (item.output === CLEARED_RESULT) return ':-';
  if (typeof item.output !== 'string') return ':img';
  return `${sizeOf(textOfOutput(item.output)) || `:${PLAIN}`}${item.success === false ? '!' : ''}`;
}

function sizeOf(text: string): string {
  const tokens = Math.ceil(text.length / 4);
  if (tokens === PLAIN) return '';
  return tokens % 1000 === 0 && tokens > 0 ? `:${tokens / 1000}k` : `:${tokens}`;
}

const ELIGIBLE = ['shell', 'read', 'grep', 'glob', 'list_dir', 'web_fetch'] as const;
const INELIGIBLE = ['todo', 'apply_patch', 'ask_user'] as const;
const SIZES = ['', ':1', ':40', ':400', ':3k', ':9k'] as const;

const anyCallWord = fc
  .tuple(
    fc.constantFrom(...ELIGIBLE, ...INELIGIBLE),
    fc.constantFrom(':40', ':400', ':3k', ':9k', ':9k!', ':-', ':img'),
  )
  .map(([name, size]) => name + size);

const anyPlainWord = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...SIZES).map((size) => `u${size}`) },
  { weight: 3, arbitrary: fc.constantFrom(...SIZES).map((size) => `a${size}`) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      'r',
      'h',
      'h:400',
      'dev',
      'sum:400',
      'u+img',
      'todo-list',
      'progress',
      'ghost',
      'web',
      'boundary',
    ),
  },
);

/** A few ids only, so that halves meet, repeat and come in the wrong order. */
const anyHalf = fc
  .tuple(
    fc.constantFrom(...ELIGIBLE, ...INELIGIBLE),
    fc.constantFrom('x', 'y', 'z'),
    fc.constantFrom('>', '<', '<:3k', '<:-'),
  )
  .map(([name, id, half]) => `${name}#${id}${half}`);

/** A word of the mini-notation that keeps its pairs whole. */
const anyWord = fc.oneof({ weight: 3, arbitrary: anyPlainWord }, { weight: 2, arbitrary: anyCallWord });

/** A history in mini-notation whose pairs are whole. */
export const anyThread = fc.array(anyWord, { maxLength: 40, size: 'max' }).map((words) => words.join(' '));

/** A history in mini-notation with calls and results that may lack their other half, repeat or stand in the wrong order. */
export const anyBrokenThread = fc
  .array(fc.oneof(anyWord, anyHalf), { maxLength: 40, size: 'max' })
  .map((words) => words.join(' '));

/** Any text: words, unbroken runs, control characters, lone surrogates. */
export const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 40, size: 'max' })
    .map((units) => String.fromCharCode(...units)),
);

/** Any single item, with any text in it. */
export const anyItem: fc.Arbitrary<Item> = fc
  .tuple(fc.oneof(anyPlainWord, anyHalf), anyText)
  .map(([word, text]): Item => {
    const [item] = thread(word);
    if (item === undefined) throw new TypeError(word);
    if (item.type === 'message') return { ...item, content: [{ type: 'input_text', text }, ...item.content] };
    return item.type === 'function_call_output'
      ? { ...item, output: [{ type: 'input_text', text }, IMAGE] }
      : item;
  });

/** What happens to a thread, before ids and places are known. */
type LogStep =
  | { readonly do: 'say'; readonly word: string }
  | { readonly do: 'compact'; readonly keepEvery: number }
  | { readonly do: 'clear'; readonly results: number }
  | { readonly do: 'undo'; readonly which: 'newest' | 'oldest' | 'unknown' };

const anyLogStep: fc.Arbitrary<LogStep> = fc.oneof(
  { weight: 8, arbitrary: anyWord.map((word) => ({ do: 'say' as const, word })) },
  { weight: 2, arbitrary: fc.nat(3).map((keepEvery) => ({ do: 'compact' as const, keepEvery })) },
  { weight: 2, arbitrary: fc.nat(4).map((results) => ({ do: 'clear' as const, results })) },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom('newest', 'newest', 'oldest', 'unknown')
      .map((which) => ({ do: 'undo' as const, which })),
  },
);

/** A log with compactions that keep some of the past, micro-compactions, and undos that can and cannot be followed. */
export const anyLog: fc.Arbitrary<readonly LogRecord[]> = fc
  .array(anyLogStep, { maxLength: 40, size: 'max' })
  .map((steps) => logOf(steps));

function logOf(steps: readonly LogStep[]): readonly LogRecord[] {
  const records: LogRecord[] = [];
  const inForce: string[] = [];
  const refs: string[] = [];
  const results: string[] = [];
  steps.forEach((step, index) => {
    const at = { line: records.length + 1 };
    const id = `c${index}`;
    switch (step.do) {
      case 'say':
        for (const [part, item] of itemsOf(step.word, index).entries()) {
          const ref = `r${index}.${part}`;
          refs.push(ref);
          const answered = resultCallId(item);
          if (answered !== undefined) results.push(answered);
          records.push({ type: 'item', item, ref, line: records.length + 1 });
        }
        break;
      case 'compact': {
        const keptRefs = step.keepEvery === 0 ? [] : refs.filter((_, nth) => nth % step.keepEvery === 0);
        const replacement = [...itemsOf('sum', index), ...itemsOf('u', index)];
        records.push({ type: 'compacted', id, replacement, keptRefs, ...at });
        inForce.push(id);
        break;
      }
      case 'clear':
        records.push({ type: 'micro_compacted', id, callIds: results.slice(0, step.results), ...at });
        break;
      case 'undo': {
        const compactionId = { newest: inForce.at(-1), oldest: inForce[0], unknown: undefined }[step.which];
        if (compactionId !== undefined && compactionId === inForce.at(-1)) inForce.pop();
        records.push({ type: 'undo_compaction', compactionId: compactionId ?? 'nowhere', ...at });
      }
    }
  });
  return records;
}
