// What the model is sent before and after each step of a handover: one line per item with its role, its step and its first
// words. The tables stand beside this file, for people to read; `BATON_WRITE_LAYOUTS=1` rewrites them.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { measureOnce } from '../../src/compaction/measure.ts';
import { compactFully } from '../../src/compaction/full/full.ts';
import { embeddedSummarizer } from '../../src/compaction/full/summary.ts';
import { SUMMARY_PREFIX } from '../../src/history/filter.ts';
import { HistoryFold } from '../../src/history/project.ts';
import { WHOLE_ITEMS } from '../../src/history/clear.ts';
import { callOf, resultCallId, textOfOutput, textOfParts } from '../../src/protocol/item.ts';
import type { Item, MessageItem } from '../../src/protocol/item.ts';
import { withoutMarker } from '../../src/protocol/marker.ts';
import type { LogRecord } from '../../src/protocol/record.ts';
import { approximateTokens, DEFAULT_ESTIMATE } from '../../src/tokens/estimate.ts';
import { TrailCollector } from '../../src/trail/collect.ts';
import { oneLine } from '../../src/text/sentences.ts';
import {
  composeRequest,
  handoffMessage,
  packetItem,
  syntheticMessage,
} from '../../src/watcher/packet/messages.ts';
import { acceptPacket } from '../../src/watcher/packet/accept.ts';
import { assemblePacket } from '../../src/watcher/packet/assemble.ts';
import { factLines, factsOf } from '../../src/watcher/packet/facts.ts';
import { writeTail } from '../../src/watcher/packet/tail.ts';
import type { Policy } from '../../src/watcher/policy.ts';
import { beginWatching } from '../../src/watcher/state.ts';
import type { Inject, WatcherEffect } from '../../src/watcher/effects.ts';
import type { WatcherEvent } from '../../src/watcher/events.ts';
import type { TurnOrigin } from '../../src/watcher/state.ts';
import { transition } from '../../src/watcher/transition.ts';
import type { DecisionRecord } from '../../src/protocol/decision.ts';
import type { Step } from '../../src/vocabulary.ts';
import { SPEC_POLICY } from '../support/policy.ts';
import { signal } from '../support/signals.ts';
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

/** A thread that is handed over; every step writes down what the model would be sent. */
class Thread {
  readonly #records: LogRecord[];
  readonly #rows: string[] = [];
  compactions = 0;

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

  /** What the agent answers to the request for a packet. */
  answer(): string {
    this.#say(ANSWER, 'packet');
    this.#note('packet');
    return ANSWER;
  }

  /** The agent's answer as a packet. */
  accept(answer: string): string {
    const trail = this.#trail();
    const count = approximateTokens;
    const tail = writeTail(trail, { maxItems: 8, maxMessageChars: 1_200, roomTokens: 500, count });
    const facts = factLines(factsOf(trail, { scratchPath: NOTES }));
    const packet = acceptPacket(answer, { maxTokens: 4_000, count, facts, tail, request: PROMPTS.packet });
    assert.ok(packet.type === 'packet', 'the answer is a packet');
    return packet.text;
  }

  /** The watcher's own packet. */
  assemble({ tier, situation, signals, why }: DecisionRecord): string {
    const trail = this.#trail();
    const occasion = { tier, percentRemaining: situation.percentRemaining, signals, why };
    return assemblePacket(trail, occasion, factsOf(trail), { maxTokens: 4_000, count: approximateTokens })
      .text;
  }

  recordPacket(text: string, role: 'assistant' | 'user'): this {
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
    const result = compactFully(
      {
        id: 'c1',
        at: '2026-01-01T00:00:00.000Z',
        trigger: 'auto',
        reason: 'boundary',
        phase: 'post_turn',
        strategy: 'full',
        why: 'a test',
        entries: this.#fold().entries,
        window: 200_000,
        leavesInitialContext: false,
        userMessageLimit: 20_000,
        files: [],
        summaryPrefix: SUMMARY_PREFIX,
        state: [],
        measure: measureOnce(approximateTokens, DEFAULT_ESTIMATE),
        count: approximateTokens,
        counter: 'approximate',
        hash: () => '',
      },
      embeddedSummarizer(trail, approximateTokens),
    );
    assert.ok(result.outcome === 'compacted', `it was compacted, not ${result.outcome}`);
    this.#records.push(result.record);
    this.compactions++;
    return this.#note('compaction');
  }

  handoff(packet: string, isWrapped: boolean): this {
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

/** What a layout is played with: the policy's changes, the moment, and what the user submits while the agent is asked. */
interface Play {
  readonly policy?: Partial<Policy>;
  readonly percent?: number;
  /** Inside of a turn, after the tools of a sampling. */
  readonly isMidTurn?: boolean;
  /** The role that the host can give a packet of the watcher. */
  readonly packetRole?: 'assistant' | 'user';
  readonly submitted?: string;
}

const WINDOW = 100_000;
/** Worth a packet by itself: before the second compaction nobody asks for anything. */
const LAST_MESSAGE = 'The reader streams now, and its tests pass. '.repeat(5);

interface Turn {
  readonly turnId: string;
  readonly kind: 'regular' | 'compact';
  readonly origin: TurnOrigin;
}

/** Drives a thread as the state machine asks for it; every answer comes at once. */
class Host {
  readonly thread: Thread;
  readonly #play: Play;
  readonly #policy: Policy;
  #state = beginWatching(false);
  #turn: Turn = { turnId: 't1', kind: 'regular', origin: { type: 'user' } };
  #reached = 0;
  #submitted: string | undefined;

  constructor(thread: Thread, play: Play = {}) {
    this.thread = thread;
    this.#play = play;
    this.#policy = { ...SPEC_POLICY, ...play.policy };
    this.#submitted = play.submitted;
    this.#tell({ type: 'turn_started', ...this.#turn, atMs: 0 });
  }

  /** The turn, or a sampling of it, ends just behind a commit. */
  reach(): this {
    const atMs = ++this.#reached * 600_000;
    const position = 10 * this.#reached;
    const moment = { ...this.#moment(), signals: [signal('commit', position)], hadAction: true, atMs };
    const isMidTurn = this.#play.isMidTurn === true;
    this.#tell(
      isMidTurn
        ? {
            type: 'sampling_complete',
            turnId: this.#turn.turnId,
            ...moment,
            isFollowUpOwed: true,
            batchFrom: position,
          }
        : { type: 'turn_complete', ...this.#turn, ...moment },
    );
    assert.equal(this.#state.stage.at, 'idle', 'the sequence has come to its end');
    assert.equal(this.thread.compactions, this.#reached, 'each boundary led to a compaction');
    return this;
  }

  #moment() {
    const { percent = 50 } = this.#play;
    const used = (WINDOW * (100 - percent)) / 100;
    const situation = { used, window: WINDOW, percentRemaining: percent, projected: 1_000 };
    return {
      situation,
      busyWith: [],
      lastAgentMessage: LAST_MESSAGE,
      atMs: this.#reached * 600_000,
    };
  }

  #tell(event: WatcherEvent): void {
    const { state, effects } = transition(this.#state, event, this.#policy);
    this.#state = state;
    for (const effect of effects) for (const answer of this.#perform(effect)) this.#tell(answer);
  }

  #perform(effect: WatcherEffect): readonly WatcherEvent[] {
    const { atMs } = this.#moment();
    switch (effect.type) {
      case 'plan_compaction':
        return [
          { type: 'compaction_planned', number: effect.number, plan: { type: 'full', why: 'a test' }, atMs },
        ];
      case 'inject':
        return [...this.#submissions(), ...this.#answer(effect)];
      case 'record_heads_up':
        this.thread.headsUp();
        return [];
      case 'assemble_packet': {
        const { number, author, agentText, decision } = effect;
        const text = agentText === undefined ? this.thread.assemble(decision) : this.thread.accept(agentText);
        const packet = { author, text };
        return [
          { type: 'packet_assembled', number, result: { type: 'packet', packet, isFinished: false }, atMs },
        ];
      }
      case 'record_packet':
        this.thread.recordPacket(effect.packet.text, this.#play.packetRole ?? 'assistant');
        return [];
      case 'compact': {
        const { number, place } = effect;
        this.thread.compact();
        const done = { type: 'context_compacted', number, strategy: 'full', atMs } as const;
        return place === 'inside_turn' ? [done] : [done, ...this.#turnOf(number, 'compact')];
      }
      case 'hand_off': {
        const { number, handover, startsTurn } = effect;
        this.thread.handoff(handover.packet.text, handover.isWrapped);
        const delivered = { type: 'handoff_delivered', number, atMs } as const;
        if (!startsTurn) return [delivered];
        this.#turn = ownTurn(number, 'regular');
        return [{ type: 'turn_started', ...this.#turn, atMs }];
      }
      case 'deliver':
        this.thread.user(effect.message.text);
        return [];
      default:
        return [];
    }
  }

  #answer({ number, steps, as }: Inject): readonly WatcherEvent[] {
    const [first = 'heads_up', ...later] = steps;
    this.thread.ask(first, ...later);
    if (steps.includes('scratch')) this.thread.scratch();
    const lastAgentMessage = steps.includes('packet_request') ? this.thread.answer() : 'Understood.';
    if (as === 'turn') return this.#turnOf(number, 'regular', lastAgentMessage);
    const answered = { ...this.#moment(), signals: [], lastAgentMessage, hadAction: false };
    return [
      {
        type: 'sampling_complete',
        turnId: this.#turn.turnId,
        ...answered,
        isFollowUpOwed: false,
        batchFrom: undefined,
      },
    ];
  }

  #turnOf(number: number, kind: Turn['kind'], lastAgentMessage?: string): readonly WatcherEvent[] {
    const own = ownTurn(number, kind);
    const moment = { ...this.#moment(), signals: [], lastAgentMessage, hadAction: false };
    return [
      { type: 'turn_started', ...own, atMs: moment.atMs },
      { type: 'turn_complete', ...own, ...moment },
    ];
  }

  #submissions(): readonly WatcherEvent[] {
    const text = this.#submitted;
    this.#submitted = undefined;
    if (text === undefined) return [];
    return [{ type: 'user_submitted', message: { id: 'm1', text }, atMs: this.#moment().atMs }];
  }
}

function ownTurn(number: number, kind: Turn['kind']): Turn {
  return { turnId: `own-${number}`, kind, origin: { type: 'watcher', number } };
}

function played(play: Play, told = story()): Thread {
  return new Host(new Thread(told), play).reach().thread;
}

const layouts: Readonly<Record<string, () => Thread>> = {
  'agent-combined': () => played({}),
  'agent-separate': () => played({ policy: { combinesRequests: false } }),
  'watcher-assistant-role': () => played({ policy: { packetAuthor: 'watcher', writesScratch: false } }),
  'watcher-user-role': () =>
    played({ policy: { packetAuthor: 'watcher', writesScratch: false }, packetRole: 'user' }),
  emergency: () => played({ percent: 10 }),
  'queued-input': () => played({ submitted: 'wait, use the other list' }),
  'mid-turn': () => played({ isMidTurn: true }, story().sh('ls src', 'rows.ts\nwriter.ts')),
  'not-turn-based': () => played({ policy: { isTurnBased: false, writesScratch: false } }),
  'second-compaction': () => {
    const host = new Host(new Thread(story())).reach();
    host.thread.work();
    return host.reach().thread;
  },
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
