// Compactions of all kinds, done and taken back in any order: what Baton reads, and what Claude Code makes of the lines.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { ClaudeLines } from '../../../test/support/claude-lines.ts';
import { readClaudeLines } from '../../../test/support/read-claude.ts';
import { clearResult, isCleared, WHOLE_ITEMS } from '../../history/clear.ts';
import { HistoryFold } from '../../history/project.ts';
import type { Item, JsonObject } from '../../protocol/item.ts';
import { resultCallId } from '../../protocol/item.ts';
import { CLEARED_RESULT } from '../../protocol/record.ts';
import type { CompactedRecord } from '../../protocol/record.ts';
import type { ClaudeWriting } from './chain.ts';
import { appendClaudeCompaction, appendClaudeMicroCompaction, appendClaudeUndo } from './write.ts';
import type { ClaudeLines as Written } from './write.ts';

const AT = '2026-02-01T00:00:00.000Z';
const SMALL = 1000;
const LARGE = 6_000_000;

function summaryItem(text: string): Item {
  return {
    type: 'message',
    role: 'user',
    content: [{ type: 'input_text', text }],
    isCompactSummary: true,
    isVisibleInTranscriptOnly: true,
  };
}

function userItem(text: string): Item {
  return { type: 'message', role: 'user', content: [{ type: 'input_text', text }] };
}

function answerItem(text: string): Item {
  return { type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] };
}

/** One place of the history that is expected; places are told apart by identity. */
interface Place {
  readonly item: Item;
}

/** A change in force: the history before it, and the places that it put in. */
interface Frame {
  readonly id: string;
  readonly before: readonly Place[];
  readonly own: ReadonlySet<Place>;
}

/** A session, its lines, and the history that it should have. */
class Story {
  readonly lines = new ClaudeLines();
  history: readonly Place[] = [];
  readonly frames: Frame[] = [];
  readonly #bytes: number;
  #count = 0;

  constructor(bytes: number) {
    this.#bytes = bytes;
    this.talk();
  }

  get isLarge(): boolean {
    return this.#bytes === LARGE;
  }

  fold(): HistoryFold<Item> {
    return foldOf(this.lines);
  }

  talk(): void {
    const n = ++this.#count;
    this.lines.user(`ask ${n}`).says(`m${n}`, `answer ${n}`);
    this.#went(userItem(`ask ${n}`), answerItem(`answer ${n}`));
  }

  call(): void {
    const n = ++this.#count;
    this.lines.calls(`m${n}`, `c${n}`).result(`c${n}`, `output ${n}`);
    this.#went(
      { type: 'function_call', name: 'Bash', arguments: '{"command":"ls"}', call_id: `c${n}` },
      { type: 'function_call_output', call_id: `c${n}`, output: `output ${n}`, success: true },
    );
  }

  /** Baton's own compaction, with a message of the user beside the summary. */
  compact(): void {
    const n = ++this.#count;
    const rest = [summaryItem(`sum ${n}`), userItem(`still ${n}`)];
    const record: CompactedRecord = {
      type: 'compacted',
      id: `b${n}`,
      replacement: [{ type: 'compact_boundary', uuid: `b${n}`, timestamp: AT, trigger: 'manual' }, ...rest],
    };
    this.#append(appendClaudeCompaction({ ...this.#writing(), record }));
    this.#replace(`b${n}`, places(rest));
  }

  /** As versions up to 2.1.216 did it. */
  compactBare(): void {
    const n = ++this.#count;
    this.lines.boundary({}, { uuid: `b${n}` }).summary(`sum ${n}`);
    this.#replace(`b${n}`, places([summaryItem(`sum ${n}`)]));
  }

  /** As later versions do it: with the last two lines kept behind the summary. */
  compactKeeping(): void {
    const n = ++this.#count;
    const kept = this.fold()
      .entries.filter(({ ref }) => ref !== undefined)
      .slice(-2);
    const uuids = kept.map(({ ref }) => ref ?? '');
    const anchorUuid = `s${n}`;
    this.lines
      .boundary({ preservedMessages: { anchorUuid, uuids, allUuids: uuids } }, { uuid: `b${n}` })
      .summary(`sum ${n}`, { uuid: anchorUuid })
      .from(uuids.at(-1) ?? anchorUuid);
    this.#replace(`b${n}`, places([summaryItem(`sum ${n}`)]), this.history.slice(-kept.length));
  }

  clear(): void {
    const isWhole = ({ item }: Place): boolean => resultCallId(item) !== undefined && !isCleared(item);
    const callIds = this.history.filter(isWhole).flatMap(({ item }) => resultCallId(item) ?? []);
    if (callIds.length === 0) return;
    const id = `micro${++this.#count}`;
    const { entries } = this.fold();
    const record = { type: 'micro_compacted', id, callIds } as const;
    const micro = appendClaudeMicroCompaction({ ...this.#writing(), record, entries });
    this.#append(micro);
    this.lines.from(lastListed(this.lines.lines));
    const before = this.history;
    this.history = before.map((place) => (isWhole(place) ? { item: clearResult(place.item) } : place));
    this.frames.push({ id, before, own: new Set(this.history.filter((place) => !before.includes(place))) });
  }

  undo(): void {
    const fold = this.fold();
    const frame = this.frames.pop();
    assert.equal(fold.compactions.at(-1)?.id, frame?.id);
    const undone = fold.beforeNewestCompaction();
    if (frame === undefined || undone === undefined) return;
    const restored = [...undone.before, ...undone.since];
    this.#append(appendClaudeUndo({ ...this.#writing(), compactionId: frame.id, restored }));
    this.lines.from(lastListed(this.lines.lines));
    const { before, own } = frame;
    this.history = [...before, ...this.history.filter((place) => !own.has(place) && !before.includes(place))];
  }

  #went(...items: readonly Item[]): void {
    this.history = [...this.history, ...places(items)];
  }

  #replace(id: string, put: readonly Place[], kept: readonly Place[] = []): void {
    this.frames.push({ id, before: this.history, own: new Set(put) });
    this.history = [...put, ...kept];
  }

  #append({ lines, leafUuid }: Written): void {
    this.lines.lines.push(...lines.map((line) => JSON.parse(line) as JsonObject));
    this.lines.from(leafUuid);
  }

  #writing(): ClaudeWriting & { readonly bytes: number } {
    const { tail } = readClaudeLines(this.lines.lines).survey;
    const uuid = (): string => `new-${++this.#count}`;
    return { tail, newSessionId: 's', at: AT, ids: { uuid, messageId: uuid }, bytes: this.#bytes };
  }
}

function places(items: readonly Item[]): readonly Place[] {
  return items.map((item) => ({ item }));
}

interface Preserved {
  readonly anchorUuid: string;
  readonly uuids: readonly string[];
}

function preservedOf(boundary: JsonObject | undefined): Preserved | undefined {
  return (boundary?.['compactMetadata'] as JsonObject | undefined)?.['preservedMessages'] as
    Preserved | undefined;
}

function isBoundary(line: JsonObject): boolean {
  return line['subtype'] === 'compact_boundary';
}

function lastListed(lines: readonly JsonObject[]): string | null {
  return preservedOf(lines.findLast(isBoundary))?.uuids.at(-1) ?? null;
}

/**
 * The lines that Claude Code sends of a session, by the rules measured with it (docs/real-tools.md): the newest
 * boundary decides, and in a large file nothing before a boundary that says nothing of preserved lines is there at all.
 */
function linesSent(lines: readonly JsonObject[], isLarge: boolean): readonly JsonObject[] {
  const bare = lines.findLastIndex((line) => isBoundary(line) && preservedOf(line) === undefined);
  const read = isLarge && bare !== -1 ? lines.slice(bare) : lines;
  const newest = read.findLastIndex(isBoundary);
  const after = read.slice(newest + 1);
  const preserved = preservedOf(read[newest]);
  if (preserved === undefined) return after;
  const kept = preserved.uuids.map(
    (uuid) => read.find((line) => line['uuid'] === uuid) ?? assert.fail(`${uuid} is not there`),
  );
  const anchor = after.findIndex((line) => line['uuid'] === preserved.anchorUuid);
  return [...after.slice(0, anchor + 1), ...kept, ...after.slice(anchor + 1)];
}

/** What a line says, as plainly as can be. */
function said(line: JsonObject): string {
  const { content } = line['message'] as JsonObject;
  if (typeof content === 'string') return content;
  const [block] = content as readonly JsonObject[];
  return String(block?.['text'] ?? block?.['name'] ?? block?.['content']);
}

function saidItem(item: Item): string {
  if (item.type === 'function_call') return item.name;
  if (item.type === 'function_call_output') return String(item.output);
  const [part] = item.type === 'message' ? item.content : [];
  return part !== undefined && 'text' in part ? part.text : assert.fail(item.type);
}

function assertHolds(story: Story): void {
  const fold = story.fold();
  const items = fold.entries.map(({ value }) => value).filter(({ type }) => type !== 'compact_boundary');
  const expected = story.history.map(({ item }) => item);
  assert.deepEqual(items, expected);
  assert.deepEqual(
    fold.compactions.map(({ id }) => id),
    story.frames.map(({ id }) => id),
  );
  assert.deepEqual(fold.problems, []);
  assert.deepEqual(readClaudeLines(story.lines.lines).notes, []);
  assert.deepEqual(linesSent(story.lines.lines, story.isLarge).map(said), expected.map(saidItem));
}

const STEPS = ['talk', 'call', 'compact', 'compactBare', 'compactKeeping', 'clear', 'undo', 'undo'] as const;

test('whatever was compacted and taken back, Baton and Claude Code read the same history', () => {
  const undone = { small: 0, large: 0 };
  fc.assert(
    fc.property(
      fc.constantFrom(SMALL, LARGE),
      fc.array(fc.constantFrom(...STEPS), { maxLength: 14, size: 'max' }),
      (bytes, steps) => {
        const story = new Story(bytes);
        for (const step of steps) {
          if (step === 'undo' && story.frames.length > 0) undone[bytes === LARGE ? 'large' : 'small']++;
          story[step]();
          assertHolds(story);
        }
      },
    ),
    { seed: 20_261_121, numRuns: 300 },
  );
  assert.ok(undone.small > 100 && undone.large > 100, JSON.stringify(undone));
});

test('an undo is one line where lines can be named, and copies where they cannot', () => {
  const added = (bytes: number, compact: 'compact' | 'compactBare'): readonly JsonObject[] => {
    const story = new Story(bytes);
    story[compact]();
    const { length } = story.lines.lines;
    story.undo();
    return story.lines.lines.slice(length);
  };
  assert.deepEqual(added(SMALL, 'compact').length, 1);
  assert.deepEqual(added(LARGE, 'compact').length, 1);
  assert.deepEqual(added(SMALL, 'compactBare').length, 1);
  const [ask, answer, boundary] = added(LARGE, 'compactBare');
  assert.deepEqual(
    [ask, answer].map((line) => said(line ?? {})),
    ['ask 1', 'answer 1'],
  );
  assert.deepEqual(preservedOf(boundary)?.uuids, [ask?.['uuid'], answer?.['uuid']]);
});

test('every boundary says what it preserves, if only nothing', () => {
  const story = new Story(LARGE);
  story.call();
  story.compact();
  story.call();
  story.clear();
  story.undo();
  story.undo();
  const boundaries = story.lines.lines.filter(isBoundary);
  assert.equal(boundaries.length, 4);
  for (const boundary of boundaries) {
    const { preservedMessages, baton, ...numbers } = boundary['compactMetadata'] as JsonObject;
    assert.deepEqual(Object.keys(preservedMessages as JsonObject), ['anchorUuid', 'uuids', 'allUuids']);
    assert.ok(baton !== undefined);
    assert.deepEqual(Object.keys(numbers).toSorted(), [
      'cumulativeDroppedTokens',
      'durationMs',
      'postTokens',
      'preTokens',
      'trigger',
    ]);
  }
});

test('cleared results are repeated, and nothing else', () => {
  const story = new Story(SMALL);
  story.call();
  const { length } = story.lines.lines;
  story.clear();
  const [copy, boundary] = story.lines.lines.slice(length);
  assert.equal(said(copy ?? {}), CLEARED_RESULT);
  assert.deepEqual(preservedOf(boundary)?.uuids, ['uuid-1', 'uuid-2', 'uuid-3', copy?.['uuid']]);
  const { records } = readClaudeLines(story.lines.lines);
  const micro = records.find((record) => record.type === 'micro_compacted');
  assert.deepEqual([micro?.callIds, micro?.newRefs], [['c2'], [['uuid-4', copy?.['uuid']]]]);
});

/** A boundary that lists lines, as somebody else might write it. */
function list(uuids: readonly string[], baton?: JsonObject): (lines: ClaudeLines) => ClaudeLines {
  const metadata = { preservedMessages: { anchorUuid: 'list', uuids, allUuids: uuids } };
  return (lines) => lines.boundary(baton === undefined ? metadata : { ...metadata, baton }, { uuid: 'list' });
}

function foldOf(lines: ClaudeLines): HistoryFold<Item> {
  const fold = new HistoryFold(WHOLE_ITEMS);
  for (const record of readClaudeLines(lines.lines).records) fold.add(record);
  return fold;
}

function textsOf(fold: HistoryFold<Item>): readonly string[] {
  const items = fold.entries.map(({ value }) => value);
  return items.filter(({ type }) => type !== 'compact_boundary').map(saidItem);
}

test('a list of unknown purpose is a compaction to these lines, and can be taken back', () => {
  const lines = new ClaudeLines().user('one').says('m1', 'two').user('three').says('m2', 'four');
  list(['uuid-1', 'uuid-4'])(lines).from('uuid-4').user('five');
  const fold = foldOf(lines);
  assert.deepEqual(textsOf(fold), ['one', 'four', 'five']);
  assert.equal(fold.add({ type: 'undo_compaction', compactionId: 'list' }), 'undone');
  assert.deepEqual(textsOf(fold), ['one', 'two', 'three', 'four', 'five']);
});

test('an undo of what is not the newest compaction is a compaction to the lines it lists', () => {
  const lines = new ClaudeLines().user('one').says('m1', 'two');
  list(['uuid-2'], { undo: 'nothing known' })(lines).from('uuid-2').user('three');
  assert.deepEqual(textsOf(foldOf(lines)), ['two', 'three']);
});

test('a summary after a list stands for the end of the conversation', () => {
  const lines = new ClaudeLines().user('one').says('m1', 'two').user('three').says('m2', 'four');
  list(['uuid-1', 'uuid-2'])(lines).summary('of the rest').user('five');
  const fold = foldOf(lines);
  assert.deepEqual(textsOf(fold), ['one', 'two', 'of the rest', 'five']);
  assert.equal(fold.add({ type: 'undo_compaction', compactionId: 'list' }), 'undone');
  assert.deepEqual(textsOf(fold), ['one', 'two', 'three', 'four', 'five']);
});

test('who goes back to a listed line takes back the listed prompts after it', () => {
  const lines = new ClaudeLines().user('one').says('m1', 'two').user('three').says('m2', 'four');
  list(['uuid-1', 'uuid-2', 'uuid-3', 'uuid-4'])(lines).from('uuid-2').user('instead');
  assert.deepEqual(textsOf(foldOf(lines)), ['one', 'two', 'instead']);
});

test('a later `last-prompt` on a kept line does not lead around the compaction', () => {
  const lines = new ClaudeLines().user('one').says('m1', 'two');
  const uuids = ['uuid-2'];
  lines.boundary({ preservedMessages: { anchorUuid: 'uuid-4', uuids, allUuids: uuids } }).summary('sum');
  lines.lastPrompt('uuid-2');
  assert.deepEqual(textsOf(foldOf(lines)).slice(-2), ['sum', 'two']);
});
