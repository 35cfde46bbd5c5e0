// Invariant 8 with the real arbiter: where the window is full whatever is done about it, the watcher comes to rest.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { dispatch } from '../compaction/dispatch.ts';
import type { DispatchSettings } from '../compaction/dispatch.ts';
import {
  beginCompaction,
  endCompaction,
  MOST_FULL_IN_TURN,
  NEW_GUARD,
  noteProgress,
  noteUserTurn,
} from '../compaction/loop-guard.ts';
import type { LoopGuard } from '../compaction/loop-guard.ts';
import { DEFAULT_CONFIG } from '../config/defaults.ts';
import { dispatchSettings } from '../compaction/dispatch.ts';
import { signal } from '../../test/support/signals.ts';
import { policyWith } from '../../test/support/watcher-policy.ts';
import type { Policy } from './policy.ts';
import { beginWatching } from './state.ts';
import type { WatcherEffect } from './effects.ts';
import type { WatcherEvent } from './events.ts';
import type { WatcherState } from './state.ts';
import { transition } from './transition.ts';

const WINDOW = 200_000;
const SETTINGS: DispatchSettings = { ...dispatchSettings(DEFAULT_CONFIG), hasMicro: false };

/** What a world does with what is asked of it. */
interface Fullness {
  /** Tokens used, at all times. */
  readonly used: number;
  /** What a compaction claims to have freed of them. */
  readonly freed: number;
  /** Something new comes between compactions. */
  readonly hasProgress: boolean;
}

const TOOL_BATCHES = 40;
const HANDOFF_TURNS = 60;

/** A host that does at once and without fail what it is asked for. */
class ObligingHost {
  #state: WatcherState = beginWatching(false);
  #guard: LoopGuard = NEW_GUARD;
  #commits = 0;
  #handoffTurn: number | undefined;
  compactions = 0;
  readonly #world: Fullness;
  readonly #policy: Policy;

  constructor(world: Fullness, policy: Policy) {
    this.#world = world;
    this.#policy = policy;
  }

  /** One message of the user, its turn, and the turns that handoffs start after it. */
  playMessage(id: string): void {
    this.#guard = noteUserTurn(this.#guard, { hasHeadroom: false });
    this.#send({ type: 'user_submitted', message: { id, text: 'go on' }, atMs: 0 });
    this.#playTurn(`turn of ${id}`, { type: 'user', messageId: id });
    for (let turns = 0; this.#handoffTurn !== undefined && turns < HANDOFF_TURNS; turns += 1) {
      const number = this.#handoffTurn;
      this.#handoffTurn = undefined;
      this.#playTurn(`turn of ${number}`, { type: 'watcher', number });
    }
  }

  #playTurn(turnId: string, origin: Extract<WatcherEvent, { type: 'turn_started' }>['origin']): void {
    this.#send({ type: 'turn_started', turnId, kind: 'regular', origin, atMs: 0 });
    for (let batch = 0; batch < TOOL_BATCHES; batch += 1) {
      this.#send({
        type: 'sampling_complete',
        isFollowUpOwed: true,
        batchFrom: undefined,
        ...this.#moment(turnId),
      });
    }
    this.#send({ type: 'turn_complete', kind: 'regular', origin, ...this.#moment(turnId) });
  }

  #moment(turnId: string) {
    this.#commits += 1;
    if (this.#world.hasProgress) this.#guard = noteProgress(this.#guard);
    const { used } = this.#world;
    const percentRemaining = Math.floor((100 * (WINDOW - used)) / WINDOW);
    return {
      turnId,
      situation: { used, window: WINDOW, percentRemaining, projected: 1_000 },
      signals: [signal('commit', this.#commits)],
      lastAgentMessage: 'Committed; the next one follows.',
      busyWith: [],
      hadAction: true,
      // An hour passes each time, so that no cooldown stands in the way.
      atMs: this.#commits * 3_600_000,
    } as const;
  }

  #send(event: WatcherEvent): void {
    const { state, effects } = transition(this.#state, event, this.#policy);
    this.#state = state;
    for (const effect of effects) this.#perform(effect);
  }

  #perform(effect: WatcherEffect): void {
    const atMs = this.#commits * 3_600_000;
    switch (effect.type) {
      case 'plan_compaction': {
        const pressure = { used: this.#world.used, rawWindow: WINDOW, usedAfterMicro: undefined };
        const isEmergency = effect.tier === 'emergency';
        const request = { from: 'watcher', pressure, isEmergency, target: undefined } as const;
        const plan = dispatch(request, this.#guard, SETTINGS);
        this.#send({ type: 'compaction_planned', number: effect.number, plan, atMs });
        break;
      }
      case 'inject':
        this.#answer(effect.number, effect.as);
        break;
      case 'assemble_packet': {
        const packet = { author: effect.author, text: 'packet' };
        const result = { type: 'packet', packet, isFinished: false } as const;
        this.#send({ type: 'packet_assembled', number: effect.number, result, atMs });
        break;
      }
      case 'compact':
        this.#compact(effect);
        break;
      case 'hand_off':
        if (effect.startsTurn) this.#handoffTurn = effect.number;
        else this.#send({ type: 'handoff_delivered', number: effect.number, atMs });
        break;
      default:
    }
  }

  #answer(number: number, as: 'turn' | 'item'): void {
    const { turnId, ...moment } = this.#moment(this.#state.memory.turn?.turnId ?? `turn of ${number}`);
    const quiet = { ...moment, signals: [] };
    if (as === 'item') {
      this.#send({
        type: 'sampling_complete',
        turnId,
        isFollowUpOwed: false,
        batchFrom: undefined,
        ...quiet,
      });
      return;
    }
    const origin = { type: 'watcher', number } as const;
    this.#send({ type: 'turn_complete', turnId: `turn of ${number}`, kind: 'regular', origin, ...quiet });
  }

  #compact({ number, strategy, place }: Extract<WatcherEffect, { type: 'compact' }>): void {
    this.compactions += 1;
    const atMs = this.#commits * 3_600_000;
    const { used, freed } = this.#world;
    const begun = beginCompaction(this.#guard, 'watcher', strategy);
    const epoch = begun.lease?.epoch ?? 0;
    this.#guard = endCompaction(begun, epoch, {
      type: 'compacted',
      preTokens: used,
      postTokens: used - freed,
    });
    this.#send({ type: 'context_compacted', number, strategy, atMs });
    if (place === 'inside_turn') return;
    const origin = { type: 'watcher', number } as const;
    const { turnId: _, ...moment } = this.#moment('');
    this.#send({
      type: 'turn_complete',
      turnId: `turn of ${number}`,
      kind: 'compact',
      origin,
      ...moment,
      signals: [],
    });
  }
}

function compactionsOf(world: Fullness, messages: number, policy: Partial<Policy> = {}): number {
  const host = new ObligingHost(world, policyWith({ cooldownTurns: 0, cooldownMs: 0, ...policy }));
  for (let message = 1; message <= messages; message += 1) host.playMessage(`m${message}`);
  return host.compactions;
}

const EMERGENCY = 190_000;
const PRESSED = 90_000;

test('a window that nothing empties sees two compactions, and then none until it has headroom', () => {
  for (const used of [EMERGENCY, PRESSED]) {
    for (const midTurn of ['golden', 'off', 'tiered', 'emergency_only'] as const) {
      const count = compactionsOf({ used, freed: 0, hasProgress: true }, 5, { midTurn });
      assert.ok(count <= 2, `${count} compactions at ${used}, ${midTurn}`);
    }
  }
});

test('without progress, compactions that claim to free half come to rest, too', () => {
  const count = compactionsOf({ used: EMERGENCY, freed: EMERGENCY / 2, hasProgress: false }, 1);
  assert.ok(count >= 1 && count <= 3, `${count} compactions`);
});

test('with progress and effect there is still a bound for each message of the user', () => {
  for (const messages of [1, 3]) {
    const count = compactionsOf({ used: EMERGENCY, freed: EMERGENCY / 2, hasProgress: true }, messages);
    assert.ok(count <= MOST_FULL_IN_TURN * messages, `${count} compactions in ${messages} turns of the user`);
    assert.ok(count > messages, `only ${count}: the bound is not what held it`);
  }
});
