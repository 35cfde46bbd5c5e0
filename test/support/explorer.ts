// Visits every world that can be reached, breadth first, and reports the shortest path to one that breaks an invariant.

import { createHash } from 'node:crypto';

import type { Policy } from '../../src/watcher/policy.ts';
import type { Transition, WatcherEffect, WatcherEvent, WatcherState } from '../../src/watcher/state.ts';
import { expireToIdle, NEW_WATCH, sameAgain, watchStep } from './watcher-invariants.ts';
import type { Objection, Watch } from './watcher-invariants.ts';
import { beginWorld, crashed, movesOf, perform, pruned } from './watcher-world.ts';
import type { Bounds, Move, World } from './watcher-world.ts';

/** The machine under test, or a faulty copy of it. */
export type Machine = (state: WatcherState, event: WatcherEvent, policy: Policy) => Transition;

interface Node {
  readonly world: World;
  readonly watch: Watch;
  readonly from: Node | undefined;
  readonly label: string;
  readonly effects: readonly WatcherEffect[];
}

/** What was seen on the way. */
export interface Coverage {
  /** `stage event`, for each pair that was seen. */
  readonly pairs: Set<string>;
  readonly effects: Set<string>;
  /** Stages between which a step was seen. */
  readonly steps: Set<string>;
  /** One state of each stage. */
  readonly samples: Map<string, WatcherState>;
}

export interface Exploration {
  readonly states: number;
  readonly edges: number;
  readonly coverage: Coverage;
  /** The longest chain of expired deadlines to idle. */
  readonly patience: number;
  readonly counterexample: (Objection & { readonly path: string }) | undefined;
  /** The bound was reached before everything was seen. */
  readonly isCut: boolean;
}

/** @param limit states after which to give up */
export function explore(machine: Machine, bounds: Bounds, limit = 400_000): Exploration {
  const explorer = new Explorer(machine, bounds, limit);
  return explorer.run();
}

class Explorer {
  readonly #machine: Machine;
  readonly #bounds: Bounds;
  readonly #limit: number;
  readonly #seen = new Set<string>();
  readonly #settled = new Set<string>();
  readonly #coverage: Coverage = {
    pairs: new Set(),
    effects: new Set(),
    steps: new Set(),
    samples: new Map(),
  };
  #queue: Node[] = [];
  #edges = 0;
  #patience = 0;
  #objection: (Objection & { path: string }) | undefined;

  constructor(machine: Machine, bounds: Bounds, limit: number) {
    this.#machine = machine;
    this.#bounds = bounds;
    this.#limit = limit;
  }

  run(): Exploration {
    const first = beginWorld(this.#bounds);
    this.#add({ world: first, watch: NEW_WATCH, from: undefined, label: 'begin', effects: [] });
    for (let at = 0; at < this.#queue.length && this.#objection === undefined; at += 1) {
      const node = this.#queue[at];
      if (node === undefined || this.#seen.size > this.#limit) break;
      for (const move of movesOf(node.world, this.#bounds)) {
        this.#edges += 1;
        this.#take(node, move);
        if (this.#objection !== undefined) break;
      }
    }
    return {
      states: this.#seen.size,
      edges: this.#edges,
      coverage: this.#coverage,
      patience: this.#patience,
      counterexample: this.#objection,
      isCut: this.#seen.size > this.#limit,
    };
  }

  #take(node: Node, move: Move): void {
    const { event, label } = move;
    if (event === undefined) {
      this.#add({ world: pruned(move.world), watch: node.watch, from: node, label, effects: [] });
      return;
    }
    const policy = move.policy ?? this.#bounds.policy;
    const result = this.#machine(node.world.machine, event, policy);
    this.#cover(node.world.machine, event, result);
    const { effects } = result;
    const start: World = { ...move.world, machine: result.state };
    const after = effects.reduce(perform, start);
    const step = { before: node.world, move, event, result, after, bounds: this.#bounds };
    const watch = watchStep(node.watch, step);
    if ('invariant' in watch) {
      this.#object(watch, { ...node, world: after, from: node, label, effects });
      return;
    }
    this.#add({ world: pruned(after), watch, from: node, label, effects });
    this.#die({ node, label, effects }, start, watch);
    if (this.#edges % 16 === 0) {
      const recorded = JSON.parse(JSON.stringify(node.world.machine)) as WatcherState;
      const difference = sameAgain(result, this.#machine(recorded, event, policy));
      if (difference !== undefined) this.#object(difference, { ...node, from: node, label, effects });
    }
  }

  /** The state is written, and the process dies before its effects are performed, or after some of them. */
  #die(
    {
      node,
      label,
      effects,
    }: { readonly node: Node; readonly label: string; readonly effects: readonly WatcherEffect[] },
    start: World,
    watch: Watch,
  ): void {
    let world = start;
    for (const [index, effect] of effects.entries()) {
      if (LEAVES_A_TRACE.has(effect.type)) {
        const dead = pruned(crashed(world));
        this.#add({
          world: dead,
          watch,
          from: node,
          label: `${label}; the process dies after ${index} of ${effects.length} effects`,
          effects: effects.slice(0, index),
        });
      }
      world = perform(world, effect);
    }
  }

  #add(node: Node): void {
    const key = keyOf(node.world, node.watch);
    if (this.#seen.has(key)) return;
    this.#seen.add(key);
    this.#queue.push(node);
    const settled = hashed(canonical(JSON.stringify(node.world.machine)));
    if (this.#settled.has(settled)) return;
    this.#settled.add(settled);
    const expired = expireToIdle(node.world.machine, (state, event) =>
      this.#machine(state, event, this.#bounds.policy),
    );
    if (typeof expired === 'number') this.#patience = Math.max(this.#patience, expired);
    else if (!node.world.machine.memory.isShutDown) this.#object(expired, node);
  }

  #object(objection: Objection, node: Node): void {
    this.#objection ??= { ...objection, path: pathTo(node) };
  }

  #cover(before: WatcherState, event: WatcherEvent, { state, effects }: Transition): void {
    this.#coverage.pairs.add(`${before.stage.at} ${event.type}`);
    if (!this.#coverage.samples.has(state.stage.at)) this.#coverage.samples.set(state.stage.at, state);
    this.#coverage.steps.add(`${before.stage.at} -> ${state.stage.at}`);
    for (const { type } of effects) this.#coverage.effects.add(type);
  }
}

/** Effects whose loss in a crash the log can tell. */
const LEAVES_A_TRACE = new Set(['deliver', 'hand_off', 'compact', 'inject']);

/** Two worlds are the same if they differ only in the numbers that were given out. */
function keyOf(world: World, watch: Watch): string {
  return hashed(canonical(JSON.stringify([world, watch])));
}

function hashed(text: string): string {
  return createHash('md5').update(text).digest('base64');
}

const NUMBERS =
  /("(?:number|abortNumber|compaction|nextNumber)":|decision-|sequence-|turn-|"request_id":")(\d+)/g;

function canonical(json: string): string {
  const names = new Map<string, number>();
  return json.replace(NUMBERS, (_, before: string, number: string) => {
    if (before === '"nextNumber":') return before;
    let name = names.get(number);
    if (name === undefined) {
      name = names.size;
      names.set(number, name);
    }
    return before + name;
  });
}

/** A path as a table: what happened, where it led, and what was asked for. */
function pathTo(last: Node): string {
  const nodes: Node[] = [];
  for (let node: Node | undefined = last; node !== undefined; node = node.from) nodes.unshift(node);
  return nodes
    .map(({ label, world, effects }, index) => {
      const done = effects.map(({ type, ...rest }) =>
        type === 'show' || type === 'arm_deadline' || type === 'record_decision'
          ? ''
          : `${type}${'number' in rest ? ` ${rest.number}` : ''}`,
      );
      return `${String(index).padStart(3)}. ${label}\n     -> ${world.machine.stage.at}: ${done.filter(Boolean).join(', ') || '-'}`;
    })
    .join('\n');
}
