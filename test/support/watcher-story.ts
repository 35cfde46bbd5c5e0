// Stories of the watcher as tables that people read: the first column says what happens, the machine fills in the rest.

import type { Signal } from '../../src/protocol/signal.ts';
import type { Policy } from '../../src/watcher/policy.ts';
import { isShellLine } from '../../src/watcher/sequence.ts';
import { awaitedNumber, beginWatching } from '../../src/watcher/state.ts';
import type { WatcherEffect } from '../../src/watcher/effects.ts';
import type { WatcherEvent } from '../../src/watcher/events.ts';
import type { TaskKind, TurnOrigin, UserMessage, WatcherState } from '../../src/watcher/state.ts';
import { transition } from '../../src/watcher/transition.ts';
import { BOUNDARIES } from '../../src/vocabulary.ts';
import { judgedTiers, policyWith, turnEndTiers } from './watcher-policy.ts';

const STEP_MS = 1_000;
const WINDOW = 200_000;
/** Characters of a line that a table shows; `lines.test.ts` has the whole texts. */
const LINE_SHOWN = 80;

/** Writes the table of a story anew: title, prose and settings stay, each row is run. @throws Error for a row it cannot read */
export function renderStory(story: string): string {
  const lines = story.split('\n');
  const start = lines.findIndex((line) => line.startsWith('| '));
  if (start < 0) throw new Error('The story has no table');
  const events = lines
    .slice(start)
    .filter((line) => line.startsWith('| ') && !line.startsWith('| ---') && !line.startsWith('| event '))
    .map((line) => (line.split('|')[1] ?? '').trim());
  const settings = lines.find((line) => line.startsWith('Policy: '))?.slice('Policy: '.length) ?? '';
  const renderer = new StoryRenderer(settings);
  const rows = events.map((event) => [event, ...renderer.render(event)]);
  return [...lines.slice(0, start), ...table([HEADER, ...rows]), ''].join('\n');
}

const HEADER = ['event', 'stage', 'asks for', 'says'];

function table(rows: readonly (readonly string[])[]): string[] {
  const widths = HEADER.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const [header = [], ...body] = rows;
  const line = (row: readonly string[]): string =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  return [line(header), `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...body.map(line)];
}

class StoryRenderer {
  #state: WatcherState;
  #policy: Policy;
  #messages: UserMessage[] = [];
  #turn: { readonly turnId: string; readonly origin: TurnOrigin; readonly kind: TaskKind } | undefined;
  #turns = 0;
  #signals = 0;
  #atMs = 0;
  /** The number of the newest request that is not awaited any more. */
  #late = 0;
  /** Whose number the newest compaction had. */
  #compaction = 0;
  readonly #log = { messages: [] as string[], handoffs: [] as string[], compactions: [] as number[] };

  constructor(settings: string) {
    this.#policy = policyOf(settings);
    this.#state = beginWatching(/\bsubagent\b/.test(settings));
  }

  render(row: string): [stage: string, asks: string, says: string] {
    const later = /^\+(\d+) s: (.*)$/.exec(row);
    this.#atMs += later ? Number(later[1]) * 1_000 : STEP_MS;
    const event = this.#eventOf(later?.[2] ?? row);
    const before = awaitedNumber(this.#state);
    const { state, effects } = transition(this.#state, event, this.#policy);
    if (before !== undefined && before !== awaitedNumber(state)) this.#late = before;
    this.#state = state;
    for (const effect of effects) this.#note(effect);
    const asks = effects.filter(({ type }) => type !== 'show').map(asked);
    const says = effects.flatMap((effect) => (effect.type === 'show' ? [said(effect)] : []));
    return [state.stage.at, asks.join('; '), says.join(' · ')];
  }

  #note(effect: WatcherEffect): void {
    switch (effect.type) {
      case 'deliver':
        this.#log.messages.push(effect.message.id);
        break;
      case 'hand_off':
        this.#log.handoffs.push(effect.handover.sequenceId);
        break;
      case 'compact':
        this.#compaction = effect.number;
        break;
      default:
    }
  }

  #number(): number {
    const { stage } = this.#state;
    return stage.at === 'idle' ? -1 : stage.number;
  }

  #eventOf(row: string): WatcherEvent {
    const atMs = this.#atMs;
    const number = this.#number();
    for (const [pattern, read] of GRAMMAR) {
      const match = pattern.exec(row);
      if (match)
        return (
          read({ match, atMs, number, late: this.#late, awaited: awaitedNumber(this.#state) ?? -1 }) ??
          this.#special(row)
        );
    }
    return this.#special(row);
  }

  /** What depends on what went before. */
  #special(row: string): WatcherEvent {
    const atMs = this.#atMs;
    const user = /^user: (?!phase over)(.+)$/.exec(row)?.[1];
    if (user !== undefined) {
      const message = { id: `m${this.#messages.length + 1}`, text: user };
      this.#messages.push(message);
      return { type: 'user_submitted', message, atMs };
    }
    const set = /^settings: (.+)$/.exec(row)?.[1];
    if (set !== undefined) {
      this.#policy = { ...this.#policy, ...changesOf(set) };
      return { type: 'settings_changed', atMs };
    }
    const phase = /^user: phase over at (\d+) %$/.exec(row)?.[1];
    if (phase !== undefined) {
      const moment = { situation: situationAt(Number(phase)), lastAgentMessage: undefined, busyWith: [] };
      return { type: 'phase_completed', signals: this.#signalsOf('phase_completed'), ...moment, atMs };
    }
    const resumed = /^resumed(, nothing of the last row was done)?(, the compaction was committed)?$/.exec(
      row,
    );
    if (resumed) {
      const { messages, handoffs, compactions } = this.#log;
      this.#turn = undefined;
      const isUndone = resumed[1] !== undefined;
      return {
        type: 'resumed',
        logged: {
          messages: isUndone ? messages.slice(0, -1) : [...messages],
          handoffs: isUndone ? handoffs.slice(0, -1) : [...handoffs],
          compactions: resumed[2] === undefined ? [...compactions] : [...compactions, this.#compaction],
        },
        atMs,
      };
    }
    return this.#turnEvent(row);
  }

  #turnEvent(row: string): WatcherEvent {
    const atMs = this.#atMs;
    const starts = /^(turn|handoff turn|turn of another client|review) starts$/.exec(row);
    if (starts) {
      this.#turn = this.#nextTurn(starts[1] ?? '');
      return { type: 'turn_started', ...this.#turn, atMs };
    }
    const turn = this.#turn;
    if (turn === undefined) throw new Error(`No turn runs, so that this cannot be: ${row}`);
    const aborted = /^turn (interrupted|failed|replaced)$/.exec(row)?.[1];
    if (aborted !== undefined) {
      this.#turn = undefined;
      return { type: 'turn_aborted', ...turn, reason: aborted as 'failed', atMs };
    }
    const moment =
      /^(turn ends|tools finish|agent answers inside) at (\d+) %(?:, (.+?))?(?: saying "(.*)")?$/.exec(row);
    if (!moment) throw new Error(`Not understood: ${row}`);
    const [, what, percent, reached = '', text] = moment;
    const { turnId, origin, kind } = turn;
    const shared = {
      turnId,
      atMs,
      hadAction: true,
      busyWith: [],
      lastAgentMessage: text,
      situation: situationAt(Number(percent)),
      signals: this.#signalsOf(reached),
    } as const;
    if (what === 'turn ends') {
      this.#turn = undefined;
      return { type: 'turn_complete', origin, kind, ...shared };
    }
    const isFollowUpOwed = what === 'tools finish';
    return { type: 'sampling_complete', isFollowUpOwed, batchFrom: undefined, ...shared };
  }

  #nextTurn(what: string): { turnId: string; origin: TurnOrigin; kind: TaskKind } {
    this.#turns += 1;
    const turnId = `t${this.#turns}`;
    if (what === 'handoff turn') {
      return { turnId, origin: { type: 'watcher', number: this.#number() }, kind: 'regular' };
    }
    const { delivering } = this.#state.memory;
    if (what !== 'turn' || delivering === undefined) {
      return { turnId, origin: { type: 'user' }, kind: what === 'review' ? 'review' : 'regular' };
    }
    const kind = isShellLine(delivering) ? 'shell' : 'regular';
    return { turnId, origin: { type: 'user', messageId: delivering.id }, kind };
  }

  #signalsOf(names: string): readonly Signal[] {
    return names
      .split(', ')
      .filter((name) => name !== '')
      .map((name) => {
        const boundary = BOUNDARIES.find((each) => each === name);
        if (boundary === undefined) throw new Error(`No boundary: ${name}`);
        this.#signals += 1;
        return {
          id: `${boundary}-${this.#signals}`,
          boundary,
          evidence: { type: 'turn', turnId: undefined },
          turn: this.#state.memory.turnNumber,
          position: this.#signals,
        };
      });
  }
}

function situationAt(percentRemaining: number) {
  const used = (WINDOW * (100 - percentRemaining)) / 100;
  return { used, window: WINDOW, percentRemaining, projected: 9_000 };
}

interface Reading {
  readonly match: RegExpExecArray;
  readonly atMs: number;
  /** Of the request that is outstanding. */
  readonly number: number;
  /** Of the one before. */
  readonly late: number;
  /** Whose deadline is running. */
  readonly awaited: number;
}

/** Events that need nothing but a number. */
const GRAMMAR: readonly (readonly [pattern: RegExp, read: (reading: Reading) => WatcherEvent | undefined])[] =
  [
    [/^Esc$/, ({ atMs }) => ({ type: 'interrupted', atMs })],
    [/^shutdown$/, ({ atMs }) => ({ type: 'shutdown', atMs })],
    [
      /^review (on|off)$/,
      ({ match, atMs }) => ({ type: 'review_mode_changed', isOn: match[1] === 'on', atMs }),
    ],
    [/^somebody else compacts$/, ({ atMs }) => ({ type: 'context_compacted', strategy: 'full', atMs })],
    [
      /^(late )?arbiter: (full|micro)$/,
      ({ match, atMs, number, late }) => ({
        type: 'compaction_planned',
        number: match[1] ? late : number,
        plan: { type: match[2] as 'full', why: 'it was asked for' },
        atMs,
      }),
    ],
    [
      /^arbiter: none \((rearm|breaker_open|lease_taken)\)$/,
      ({ match, atMs, number }) => ({
        type: 'compaction_planned',
        number,
        plan: { type: 'none', reason: match[1] as 'rearm', why: 'Usage has hardly grown since the last one' },
        atMs,
      }),
    ],
    [
      /^(late )?judge: (approve|veto)$/,
      ({ match, atMs, number, late }) => ({
        type: 'judgment_result',
        number: match[1] ? late : number,
        judgment: {
          type: 'answer',
          shouldCompact: match[2] === 'approve',
          reason: match[2] === 'approve' ? 'a phase is over' : 'in the middle of a thought',
        },
        atMs,
      }),
    ],
    [
      /^judge fails$/,
      ({ atMs, number }) => ({
        type: 'judgment_result',
        number,
        judgment: { type: 'failure', why: 'the answer is no JSON' },
        atMs,
      }),
    ],
    [
      /^request starts$/,
      ({ atMs, number }) => ({
        type: 'turn_started',
        turnId: `request-${number}`,
        kind: 'regular',
        origin: { type: 'watcher', number },
        atMs,
      }),
    ],
    [
      /^(late )?request answered(?: with (nothing))?$/,
      ({ match, atMs, number, late }) =>
        requestAnswered(match[1] ? late : number, match[2] === undefined, atMs),
    ],
    [
      /^request (failed|interrupted)$/,
      ({ match, atMs, number }) => ({
        type: 'turn_aborted',
        turnId: `request-${number}`,
        kind: 'regular',
        origin: { type: 'watcher', number },
        reason: match[1] as 'failed',
        atMs,
      }),
    ],
    [
      /^packet by (agent|watcher)(, nothing left to do)?$/,
      ({ match, atMs, number }) => ({
        type: 'packet_assembled',
        number,
        result: {
          type: 'packet',
          packet: { author: match[1] as 'agent', text: 'goal, done, state, next step, facts' },
          isFinished: match[2] !== undefined,
        },
        atMs,
      }),
    ],
    [
      /^the agent has answered the user instead$/,
      ({ atMs, number }) => ({
        type: 'packet_assembled',
        number,
        result: { type: 'unusable', missing: [], why: 'an answer to the user', isForUser: true },
        atMs,
      }),
    ],
    [
      /^packet unusable$/,
      ({ atMs, number }) => ({
        type: 'packet_assembled',
        number,
        result: { type: 'unusable', missing: ['Next step'], why: 'it names no next step' },
        atMs,
      }),
    ],
    [
      /^(late )?context compacted$/,
      ({ match, atMs, number, late }) => ({
        type: 'context_compacted',
        number: match[1] ? late : number,
        strategy: 'full',
        atMs,
      }),
    ],
    [
      /^compaction task ends$/,
      ({ atMs, number }) => ({ ...requestAnswered(number, false, atMs), kind: 'compact' }),
    ],
    [
      /^compaction fails$/,
      ({ atMs, number }) => ({ type: 'compaction_failed', number, why: 'the summary is empty', atMs }),
    ],
    [/^handoff delivered$/, ({ atMs, number }) => ({ type: 'handoff_delivered', number, atMs })],
    [
      /^deadline expires$/,
      ({ atMs, awaited }) => ({ type: 'deadline_expired', which: 'packet', number: awaited, atMs }),
    ],
  ];

function requestAnswered(number: number, hasText: boolean, atMs: number): WatcherEvent & { kind: TaskKind } {
  return {
    type: 'turn_complete',
    turnId: `request-${number}`,
    kind: 'regular',
    origin: { type: 'watcher', number },
    situation: { used: 80_000, window: WINDOW, percentRemaining: 60, projected: 9_000 },
    signals: [],
    lastAgentMessage: hasText ? 'Goal: …' : undefined,
    busyWith: [],
    hadAction: true,
    atMs,
  };
}

function policyOf(settings: string): Policy {
  return policyWith({ midTurn: 'off', ...changesOf(settings) });
}

function changesOf(settings: string): Partial<Policy> {
  const change: Record<string, unknown> = {};
  for (const [, key = '', value = ''] of settings.matchAll(/(\w+)=(\w+)/g)) {
    if (key === 'judge') change['tiers'] = judgedTiers(value as 'asap');
    else if (key === 'required' && value === 'turn_complete') change['tiers'] = turnEndTiers();
    else if (!(key in policyWith())) throw new Error(`No setting of the policy: ${key}`);
    else change[key] = value === 'true' || value === 'false' ? value === 'true' : Number(value) || value;
  }
  return change;
}

function asked(effect: WatcherEffect): string {
  switch (effect.type) {
    case 'record_decision': {
      const { shouldCompact, reason } = effect.decision;
      return `record_decision ${shouldCompact ? 'yes' : 'no'}: ${reason}`;
    }
    case 'plan_compaction':
    case 'ask_judgment':
      return effect.type;
    case 'inject': {
      const reminder =
        effect.missing === undefined ? '' : ` again, missing: ${effect.missing.join(', ') || 'all'}`;
      return `inject ${effect.as} ${effect.steps.join('+')}${reminder}`;
    }
    case 'record_heads_up':
      return 'record_heads_up';
    case 'record_packet':
      return `record_packet by ${effect.packet.author}`;
    case 'assemble_packet':
      return `assemble_packet by ${effect.author}${effect.hasScratch ? ', check scratch' : ''}`;
    case 'compact': {
      const { tier, percentRemaining, signals, packetAuthor } = effect.trigger;
      const reached = signals.map(({ boundary }) => boundary).join(' ') || 'no boundary';
      const by = packetAuthor === undefined ? 'no packet' : `packet by ${packetAuthor}`;
      return `compact ${effect.strategy} (${tier ?? 'no tier'}, ${percentRemaining ?? '?'} %, ${reached}, ${by})`;
    }
    case 'hand_off': {
      const bare = effect.handover.isWrapped ? '' : 'bare ';
      return `hand_off ${bare}${effect.startsTurn ? 'starting a turn' : 'without a turn'}`;
    }
    case 'deliver':
      return `deliver ${effect.message.id} "${effect.message.text}"`;
    case 'arm_deadline':
      return `deadline ${effect.which} ${effect.ms / 1_000} s`;
    case 'abort_compaction':
    case 'cut_turn':
    case 'interrupt_turn':
      return effect.type;
    case 'resume_turn':
      return effect.isOver === true ? 'resume_turn, which ends' : effect.type;
    case 'show':
      return '';
  }
}

function said({ surface, text }: Extract<WatcherEffect, { type: 'show' }>): string {
  const line = surface === 'info' ? text : `${surface}: ${text}`;
  return line.length <= LINE_SHOWN ? line : `${line.slice(0, LINE_SHOWN - 1)}…`;
}
