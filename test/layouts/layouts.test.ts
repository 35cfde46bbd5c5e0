// What the model is sent before and after each step of a handover: one line per item with its role, its step and its first
// words. The tables stand beside this file, for people to read; `BATON_WRITE_LAYOUTS=1` rewrites them.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { compactFully } from '../../src/compaction/full.ts';
import { embeddedSummarizer } from '../../src/compaction/summary.ts';
import { SUMMARY_PREFIX } from '../../src/history/filter.ts';
import { HistoryFold } from '../../src/history/project.ts';
import { WHOLE_ITEMS } from '../../src/history/clear.ts';
import { callOf, resultCallId, textOfOutput, textOfParts } from '../../src/protocol/item.ts';
import type { Item, MessageItem } from '../../src/protocol/item.ts';
import { withoutMarker } from '../../src/protocol/marker.ts';
import type { LogRecord } from '../../src/protocol/record.ts';
import { approximateTokens, DEFAULT_ESTIMATE } from '../../src/tokens/estimate.ts';
import { TrailCollector } from '../../src/trail/collect.ts';
import { oneLine } from '../../src/trail/sentences.ts';
import { composeRequest, handoffMessage, packetItem, syntheticMessage } from '../../src/watcher/messages.ts';
import { acceptPacket } from '../../src/watcher/packet/accept.ts';
import { assemblePacket } from '../../src/watcher/packet/assemble.ts';
import { factLines, factsOf } from '../../src/watcher/packet/facts.ts';
import { writeTail } from '../../src/watcher/packet/tail.ts';
import type { Step } from '../../src/vocabulary.ts';
import { Story } from '../support/story.ts';

const HERE = dirname(fileURLToPath(import.meta.url));
const SEQUENCE = 's1';
const NOTES = '.scratch/agent-milo.scratch.md';
const PROMPTS = {
  headsUp: 'Heads-up: we pause here for a compaction.',
  scratch: `Write your notes to ${NOTES}.`,
  packet: 'Write the continuation packet.',
};
const FRAME = 'Here is your packet back.\n\n{packet}\n\nContinue from here.';
const ANSWER = `## Overarching goal
Import price lists of 2 GB without loading them whole.
## Just completed
Streaming reader in src/rows.ts, committed.
## Current state
The writer still buffers.
## Invariants
Never load a whole file.
## Next step
Stream the writer in src/writer.ts.
## Verbatim snippet
{{RAWR_VERBATIM_CONTINUATION_SNIPPET}}`;

/** A thread that is driven by hand through a handover; every step writes down what the model would be sent. */
class Thread {
  readonly #records: LogRecord[];
  readonly #rows: string[] = [];
  #packet: string | undefined;

  constructor({ records }: Story) {
    this.#records = [...records];
    this.#note('before');
  }

  get table(): string {
    return `${this.#rows.join('\n').trim()}\n`;
  }

  ask(...steps: [Step, ...Step[]]): this {
    const text = composeRequest({ sequenceId: SEQUENCE, steps, prompts: PROMPTS, scratchPath: NOTES });
    this.#add(syntheticMessage(text, { step: steps.at(-1) ?? steps[0], sequenceId: SEQUENCE }));
    return this.#note(`request: ${steps.join(' + ')}`);
  }

  scratch(): this {
    for (const record of new Story().call('Write', { file_path: NOTES, content: 'notes' }, 'written')
      .records) {
      this.#records.push(record);
    }
    this.#say('My notes are in the file.', 'scratch');
    return this.#note('scratch written');
  }

  answer(): this {
    this.#say(ANSWER, 'packet');
    const trail = this.#trail();
    const count = approximateTokens;
    const tail = writeTail(trail, { maxItems: 8, maxMessageChars: 1_200, roomTokens: 500, count });
    const facts = factLines(factsOf(trail, { scratchPath: NOTES }));
    const packet = acceptPacket(ANSWER, { maxTokens: 4_000, count, facts, tail, request: PROMPTS.packet });
    assert.ok(packet.type === 'packet', 'the answer is a packet');
    this.#packet = packet.text;
    return this.#note('packet');
  }

  assemble(role: 'assistant' | 'user'): this {
    const trail = this.#trail();
    const occasion = { tier: 'asap', percentRemaining: 40, signals: [], why: 'a test' } as const;
    const settings = { maxTokens: 4_000, count: approximateTokens };
    const { text } = assemblePacket(trail, occasion, factsOf(trail), settings);
    this.#packet = text;
    this.#add(packetItem(text, SEQUENCE, role));
    return this.#note('packet of the watcher');
  }

  /** The heads-up that nobody is asked to answer. */
  headsUp(): this {
    const text = composeRequest({ sequenceId: SEQUENCE, steps: ['heads_up'], prompts: PROMPTS });
    this.#add(syntheticMessage(text, { step: 'heads_up', sequenceId: SEQUENCE }));
    return this.#note('heads-up, unsampled');
  }

  compact(): this {
    const trail = this.#trail();
    const result = compactFully({
      id: 'c1',
      at: '2026-01-01T00:00:00.000Z',
      trigger: 'auto',
      reason: 'boundary',
      strategy: 'full',
      why: 'a test',
      entries: this.#fold().entries,
      window: 200_000,
      leavesInitialContext: false,
      userMessageLimit: 20_000,
      files: [],
      summaryPrefix: SUMMARY_PREFIX,
      state: [],
      estimate: DEFAULT_ESTIMATE,
      count: approximateTokens,
      counter: 'approximate',
      hash: () => '',
      summarise: embeddedSummarizer(trail, approximateTokens),
    });
    assert.ok(result.outcome === 'compacted', `it was compacted, not ${result.outcome}`);
    this.#records.push(result.record);
    return this.#note('compaction');
  }

  handoff(isWrapped = true): this {
    assert.ok(this.#packet !== undefined, 'there is a packet');
    const packet = this.#packet;
    const text = handoffMessage({ sequenceId: SEQUENCE, packet, isWrapped, frame: FRAME });
    assert.ok(text.includes(packet.trim()), 'the packet is in it unchanged');
    this.#add(syntheticMessage(text, { step: 'handoff', sequenceId: SEQUENCE }));
    return this.#note('handoff');
  }

  user(text: string): this {
    for (const record of new Story().user(text).records) this.#records.push(record);
    return this.#note('message of the user, as it was queued');
  }

  work(): this {
    const big = 'a row of a price list, 12.30\n'.repeat(2_000);
    this.#records.push(...new Story().sh('cat prices.csv', big).agent('The prices are read.').records);
    return this;
  }

  #trail(): ReturnType<TrailCollector['trail']> {
    const collector = new TrailCollector();
    for (const record of this.#records) collector.add(record);
    return collector.trail();
  }

  #fold(): HistoryFold<Item> {
    const fold = new HistoryFold(WHOLE_ITEMS);
    for (const record of this.#records) fold.add(record);
    return fold;
  }

  #add(item: Item): void {
    this.#records.push({ type: 'item', item });
  }

  #say(text: string, step: Step): void {
    const origin = { author: 'agent', step, sequenceId: SEQUENCE } as const;
    this.#add({ type: 'message', role: 'assistant', content: [{ type: 'output_text', text }], origin });
  }

  #note(step: string): this {
    const items = this.#fold().entries.map(({ value }) => value);
    const rows = items.filter(({ type }) => type !== 'compact_boundary').map(rowOf);
    this.#rows.push('', `== ${step}`, ...rows);
    return this;
  }
}

const WORDS = 64;

function rowOf(item: Item): string {
  const call = callOf(item);
  if (item.type === 'message') return row(item.role, stepOf(item), withoutMarker(textOfParts(item.content)));
  if (call !== undefined) return row('call', item.origin?.step ?? '', call.input);
  if (resultCallId(item) !== undefined) {
    return row('result', '', 'output' in item ? textOfOutput(item.output) : '');
  }
  return row(item.type, '', '');
}

function stepOf({ origin, isCompactSummary }: MessageItem): string {
  return isCompactSummary === true ? 'summary' : (origin?.step ?? '');
}

function row(role: string, step: string, text: string): string {
  const words = oneLine(text);
  const shown = words.length <= WORDS ? words : `${words.slice(0, WORDS)}…`;
  return `${role.padEnd(16)}${step.padEnd(16)}${shown}`.trimEnd();
}

function story(): Story {
  return Story.in('/work/shop')
    .user('Import price lists. Never load a whole file.')
    .edit('src/rows.ts', 'a', 'export function readRows() {}')
    .sh('npm test', '4 passing\n'.repeat(3_000))
    .sh('git commit -am "Read rows as a stream"', '[main abc1234] Read rows as a stream')
    .agent('The reader streams now. Next I will stream the writer.');
}

const layouts: Readonly<Record<string, () => Thread>> = {
  'agent-combined': () =>
    new Thread(story()).ask('heads_up', 'scratch', 'packet_request').scratch().answer().compact().handoff(),
  'agent-separate': () =>
    new Thread(story())
      .ask('heads_up')
      .ask('scratch')
      .scratch()
      .ask('packet_request')
      .answer()
      .compact()
      .handoff(),
  'watcher-assistant-role': () => new Thread(story()).headsUp().assemble('assistant').compact().handoff(),
  'watcher-user-role': () => new Thread(story()).headsUp().assemble('user').compact().handoff(),
  emergency: () => new Thread(story()).headsUp().assemble('assistant').compact().handoff(),
  'queued-input': () =>
    new Thread(story())
      .ask('heads_up', 'packet_request')
      .answer()
      .compact()
      .handoff()
      .user('wait, use the other list'),
  'mid-turn': () => {
    const busy = story().sh('ls src', 'rows.ts\nwriter.ts');
    return new Thread(busy).ask('heads_up', 'packet_request').answer().compact().handoff();
  },
  'not-turn-based': () => new Thread(story()).ask('packet_request').answer().compact().handoff(false),
  'second-compaction': () =>
    new Thread(story())
      .ask('packet_request')
      .answer()
      .compact()
      .handoff()
      .work()
      .assemble('assistant')
      .compact()
      .handoff(),
};

for (const [name, play] of Object.entries(layouts)) {
  test(`what the model is sent: ${name}`, () => {
    const path = join(HERE, `${name}.txt`);
    const { table } = play();
    if (process.env['BATON_WRITE_LAYOUTS'] === '1') writeFileSync(path, table);
    assert.ok(existsSync(path), `${name}.txt is missing: run with BATON_WRITE_LAYOUTS=1`);
    assert.equal(table, readFileSync(path, 'utf8'));
  });
}
