// The readers of whole messages against real files, counted a second time here without them. The files are not part of
// this repository. The numbers in the table are those that were taken when the files were collected.

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { readSessionFile } from '../../test/support/read-format.ts';
import { AccountFold } from '../history/account.ts';
import { authorOf, callOf, resultCallId } from '../protocol/item.ts';
import type { Item, JsonObject } from '../protocol/item.ts';
import type { LogRecord } from '../protocol/record.ts';
import { DEFAULT_ESTIMATE } from '../tokens/estimate.ts';
import type { Format } from '../vocabulary.ts';

const ROOT = path.resolve(import.meta.dirname, '../../../shared/sessions');
const skip = !existsSync(ROOT) && `no real sessions at ${ROOT}`;

interface Counts {
  readonly user: number;
  readonly assistant: number;
  readonly calls: number;
  readonly results: number;
}

interface RealFile {
  readonly folder: string;
  /** A part of the file's name that no other one has. */
  readonly part: string;
  readonly format: Format;
  /** As counted when the files were collected. */
  readonly index: Counts;
  /** Where Baton says something else, and why. */
  readonly deviation?: { readonly counts: Partial<Counts>; readonly why: string };
  /** Counts without the reader. */
  readonly count: (text: string) => Counts;
  /** Largest median error of the gauge that is still good; absent where the producer reports no usage. */
  readonly gauge?: number;
}

type Loose = Readonly<Record<string, any>>; // oxlint-disable-line typescript/no-explicit-any -- the point is to share no code with the readers

function jsonLines(text: string): Loose[] {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line) as Loose);
}

function where(list: readonly Loose[], matches: (each: Loose) => boolean): number {
  return list.filter(matches).length;
}

function sumOf(list: readonly Loose[], size: (each: Loose) => number): number {
  return list.reduce((sum, each) => sum + size(each), 0);
}

const FILES: readonly RealFile[] = [
  {
    folder: 'pi',
    part: 'large-session',
    format: 'pi',
    index: { user: 88, assistant: 453, calls: 391, results: 373 },
    gauge: 0.01,
    count(text) {
      const messages = jsonLines(text).flatMap(({ message }) =>
        message === undefined ? [] : [message as Loose],
      );
      return {
        user: where(messages, ({ role }) => role === 'user'),
        assistant: where(messages, ({ role }) => role === 'assistant'),
        calls: sumOf(messages, ({ content }) => where(content as Loose[], ({ type }) => type === 'toolCall')),
        results: where(messages, ({ role }) => role === 'toolResult'),
      };
    },
  },
  {
    folder: 'gemini-cli',
    part: 'session-bridge',
    format: 'gemini',
    index: { user: 4, assistant: 38, calls: 40, results: 40 },
    gauge: 0.01,
    count(text) {
      const { messages } = JSON.parse(text) as { messages: Loose[] };
      const calls = messages.flatMap(({ toolCalls }) => (toolCalls ?? []) as Loose[]);
      return {
        user: where(messages, ({ type }) => type === 'user'),
        assistant: where(messages, ({ type }) => type === 'gemini'),
        calls: calls.length,
        results: where(calls, ({ result }) => Array.isArray(result)),
      };
    },
  },
  {
    folder: 'copilot-cli',
    part: 'agentv',
    format: 'copilot',
    index: { user: 1, assistant: 54, calls: 68, results: 68 },
    deviation: { counts: { user: 2 }, why: 'a notice of the client goes to the model in the user role' },
    count(text) {
      const events = jsonLines(text);
      return {
        user: where(events, ({ type }) => type === 'user.message' || type === 'system.notification'),
        assistant: where(events, ({ type }) => type === 'assistant.message'),
        calls: sumOf(events, ({ data }) => (data.toolRequests ?? []).length as number),
        results: where(events, ({ type }) => type === 'tool.execution_complete'),
      };
    },
  },
  ...['pytest-6197', 'sympy-13091'].map((part): RealFile => {
    const user = part === 'pytest-6197' ? 93 : 130;
    return {
      folder: 'mini-swe-agent',
      part,
      format: 'mini-swe-agent',
      index: { user, assistant: user - 1, calls: 0, results: 0 },
      gauge: 0.01,
      count(text) {
        const { messages } = JSON.parse(text) as { messages: Loose[] };
        const of = (role: string): number => where(messages, (message) => message['role'] === role);
        return { user: of('user'), assistant: of('assistant'), calls: 0, results: of('tool') };
      },
    };
  }),
  {
    folder: 'swe-agent',
    part: 'pydicom',
    format: 'swe-agent',
    index: { user: 13, assistant: 12, calls: 12, results: 0 },
    deviation: {
      counts: { calls: 0 },
      why: 'the action is a copy of what the text of the answer says; no tool was called, and nothing would pair with it',
    },
    count(text) {
      const { history } = JSON.parse(text) as { history: Loose[] };
      const of = (role: string): number => where(history, (message) => message['role'] === role);
      return {
        user: of('user'),
        assistant: of('assistant'),
        calls: sumOf(history, ({ tool_calls: calls }) => ((calls as Loose[] | undefined) ?? []).length),
        results: of('tool'),
      };
    },
  },
  {
    folder: 'openhands',
    part: 'resolver',
    format: 'openhands',
    index: { user: 0, assistant: 2, calls: 26, results: 24 },
    deviation: {
      counts: { user: 2, assistant: 26 },
      why: 'events without a source were counted as the agent\u2019s: the two messages are the tasks, and what the agent says stands with its actions',
    },
    count(text) {
      const events = jsonLines(text).flatMap(({ history }) => history as Loose[]);
      const actions = events.filter(({ action }) => action !== undefined && action !== 'message');
      return {
        user: where(events, ({ action }) => action === 'message'),
        assistant: actions.length,
        calls: actions.length,
        results: where(events, ({ observation }) => observation !== undefined),
      };
    },
  },
  ...['deepseek', 'claude-sonnet'].map((part): RealFile => ({
    folder: 'chat',
    part,
    format: 'chat',
    index:
      part === 'deepseek'
        ? { user: 1, assistant: 3, calls: 3, results: 3 }
        : { user: 1, assistant: 5, calls: 5, results: 5 },
    count(text) {
      const log = JSON.parse(text) as { messages: Loose[]; raw_messages?: Loose[] };
      const messages = log.raw_messages ?? log.messages;
      const of = (role: string): number => where(messages, (message) => message['role'] === role);
      return {
        user: of('user'),
        assistant: of('assistant'),
        calls: sumOf(messages, ({ tool_calls: calls }) => ((calls as Loose[] | undefined) ?? []).length),
        results: of('tool'),
      };
    },
  })),
  {
    folder: 'opencode',
    part: 'gatomia',
    format: 'opencode',
    index: { user: 1, assistant: 48, calls: 47, results: 47 },
    gauge: 0.01,
    count(text) {
      const { messages } = JSON.parse(text) as { messages: Loose[] };
      const parts = messages.flatMap((message) => message['parts'] as Loose[]);
      const tools = parts.filter(({ type }) => type === 'tool');
      return {
        user: where(messages, ({ info }) => info.role === 'user'),
        assistant: where(messages, ({ info }) => info.role === 'assistant'),
        calls: tools.length,
        results: where(tools, ({ state }) => state.output !== undefined || state.error !== undefined),
      };
    },
  },
];

/**
 * The same from records. Reasoning, a text and calls of one place and time are one answer; where neither is known, calls
 * end it. An answer without anything in it is opaque.
 */
function countRecords(records: readonly LogRecord[]): Counts {
  const counts = { user: 0, assistant: 0, calls: 0, results: 0 };
  let wasAnswering = false;
  let hadCall = false;
  let lastPlace = '';
  for (const record of records) {
    if (record.type === 'opaque' && record.kind === 'message/assistant') counts.assistant++;
    // A report of usage stands before the answer that it belongs to.
    if (record.type === 'usage' || record.type === 'settings') wasAnswering = false;
    if (record.type !== 'item' && record.type !== 'side_item') continue;
    const { item } = record;
    const isAgent = authorOf(item) === 'agent';
    const place = `${record.line}/${record.at}`;
    const startsAnswer = place !== lastPlace || !wasAnswering || (hadCall && callOf(item) === undefined);
    if (isAgent && startsAnswer) counts.assistant++;
    if (isAgent && startsAnswer) hadCall = false;
    if (isAgent) lastPlace = place;
    wasAnswering = isAgent;
    countItem(item, counts);
    hadCall ||= callOf(item) !== undefined;
  }
  return counts;
}

function countItem(item: Item, counts: { user: number; calls: number; results: number }): void {
  if (item.type === 'message' && item.role === 'user') counts.user++;
  if (callOf(item) !== undefined) counts.calls++;
  if (resultCallId(item) !== undefined) counts.results++;
}

function pathOf({ folder, part }: RealFile): string {
  const name = readdirSync(path.join(ROOT, folder)).find((each) => each.includes(part));
  assert.ok(name !== undefined, part);
  return path.join(ROOT, folder, name);
}

for (const file of FILES) {
  test(`${file.folder}/${file.part} is read without a loss`, { skip }, async (t) => {
    const { records, report } = await readSessionFile(pathOf(file));
    assert.equal(report.format, file.format);
    assert.deepEqual(report.damage, []);
    const expected = { ...file.index, ...file.deviation?.counts };
    assert.deepEqual(file.count(readFileSync(pathOf(file), 'utf8')), expected, 'counted without the reader');
    assert.deepEqual(countRecords(records), expected);
    if (file.deviation !== undefined) t.diagnostic(file.deviation.why);
  });

  test(`${file.folder}/${file.part}: every text is told`, { skip }, async () => {
    const { records } = await readSessionFile(pathOf(file));
    const told = JSON.stringify(
      records.flatMap((record) =>
        record.type === 'item' || record.type === 'side_item' ? [withParsedArguments(record.item)] : [],
      ),
    );
    const texts = conversationTexts(file, readFileSync(pathOf(file), 'utf8'));
    assert.ok(texts.length > 0);
    const lost = texts.filter((text) => !told.includes(JSON.stringify(text).slice(1, -1)));
    assert.deepEqual(
      lost.map((text) => text.length),
      [],
    );
  });

  const { gauge: limit } = file;
  if (limit === undefined) continue;
  test(`${file.folder}/${file.part}: the gauge predicts what the provider reports`, { skip }, async (t) => {
    const fold = new AccountFold({ estimate: DEFAULT_ESTIMATE, safetyMultiplier: 1.33 });
    for (const record of (await readSessionFile(pathOf(file))).records) fold.add(record);
    const account = fold.account();
    assert.deepEqual(account.rejectedSamples, []);
    const errors = account.predictions
      .filter(({ anchored }) => anchored)
      .map(({ relativeError }) => relativeError)
      .toSorted((a, b) => a - b);
    const median = errors[errors.length >> 1] ?? 1;
    t.diagnostic(`median ${(median * 100).toFixed(2)} % of ${errors.length} samples`);
    assert.ok(errors.length > 20 && median < limit);
  });
}

function withParsedArguments(item: Item): unknown {
  return item.type === 'function_call' ? [item, JSON.parse(item.arguments)] : item;
}

/** Keys under which each producer keeps what a person, the agent or a tool said. */
const TEXT_KEYS: Readonly<Record<string, readonly string[]>> = {
  pi: ['text'],
  'gemini-cli': ['text', 'output'],
  'copilot-cli': ['content'],
  'mini-swe-agent': ['content'],
  'swe-agent': ['content'],
  openhands: ['content', 'thought', 'code', 'command'],
  chat: ['content', 'text', 'arguments'],
  opencode: ['text', 'output'],
};

/** Keys below which everything is a copy or a setting. */
const COPIES: ReadonlySet<string> = new Set([
  'extra',
  'trajectory',
  'response',
  'raw_response',
  'tools',
  'kwargs',
  'metadata',
  'hookInput',
  'input',
  'issue',
  'promptRequest',
]);

function conversationTexts({ folder }: RealFile, text: string): string[] {
  const isLines = folder === 'pi' || folder === 'copilot-cli' || folder === 'openhands';
  const root = isLines ? jsonLines(text) : (JSON.parse(text) as Loose);
  // Where native calls were rewritten into text, the rewritten copy is not read.
  const { messages: _, ...rawOnly } = root as Loose;
  const found: string[] = [];
  collect(
    (root as JsonObject)['raw_messages'] === undefined ? root : rawOnly,
    new Set(TEXT_KEYS[folder]),
    found,
  );
  return found;
}

function collect(value: unknown, keys: ReadonlySet<string>, found: string[]): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, each] of Object.entries(value)) {
    if (typeof each === 'string' && each !== '' && keys.has(key)) found.push(each);
    else if (!COPIES.has(key)) collect(each, keys, found);
  }
}
