// Visits every world that can be reached, breadth first, and reports the shortest path to one that breaks an invariant.

import type { Policy } from '../../src/watcher/policy.ts';
import type { Transition, WatcherEffect } from '../../src/watcher/effects.ts';
import type { WatcherEvent } from '../../src/watcher/events.ts';
import type { WatcherState } from '../../src/watcher/state.ts';
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

/**
 * Walks at random through worlds that are too many to be seen, always the same way for a seed.
 * @returns the path to a broken invariant, if there is one
 */
export function wander(
  machine: Machine,
  bounds: Bounds,
  { seed, steps }: { readonly seed: number; readonly steps: number },
): string | undefined {
  let random = seed;
  let node: Node = {
    world: beginWorld(bounds),
    watch: NEW_WATCH,
    from: undefined,
    label: 'begin',
    effects: [],
  };
  for (let step = 0; step < steps; step += 1) {
    random = (Math.imul(random, 1_664_525) + 1_013_904_223) >>> 0;
    const moves = movesOf(node.world, bounds);
    const move = moves[Math.floor((random / 2 ** 32) * moves.length)];
    if (move === undefined) break;
    const taken = takeMove(machine, bounds, node, move);
    if ('invariant' in taken) return `invariant ${taken.invariant}: ${taken.why}\n${pathTo(taken.node)}`;
    node = taken.node;
  }
  return undefined;
}

interface Taken {
  readonly node: Node;
  readonly result?: Transition;
  /** The world before the effects are performed. */
  readonly start?: World;
}

function takeMove(machine: Machine, bounds: Bounds, node: Node, move: Move): Taken | (Taken & Objection) {
  const { event, label } = move;
  if (event === undefined) {
    return { node: { world: pruned(move.world), watch: node.watch, from: node, label, effects: [] } };
  }
  const result = machine(node.world.machine, event, move.policy ?? bounds.policy);
  const { effects } = result;
  const start: World = { ...move.world, machine: result.state };
  const after = effects.reduce(perform, start);
  const watch = watchStep(node.watch, { before: node.world, move, event, result, after, bounds });
  return 'invariant' in watch
    ? { ...watch, node: { ...node, world: after, from: node, label, effects } }
    : { node: { world: pruned(after), watch, from: node, label, effects }, result, start };
}

class Explorer {
  readonly #machine: Machine;
  readonly #bounds: Bounds;
  readonly #limit: number;
  readonly #seen = new Set<string>();
  readonly #settled = new Set<string>();
  readonly #shapes = new Shapes();
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
    const taken = takeMove(this.#machine, this.#bounds, node, move);
    if ('invariant' in taken) {
      this.#object(taken, taken.node);
      return;
    }
    this.#add(taken.node);
    const { event } = move;
    const { result, start } = taken;
    if (event === undefined || result === undefined || start === undefined) return;
    this.#cover(node.world.machine, event, result);
    this.#die(taken.node, start);
    if (this.#edges % 16 !== 0) return;
    const recorded = JSON.parse(JSON.stringify(node.world.machine)) as WatcherState;
    const again = this.#machine(recorded, event, move.policy ?? this.#bounds.policy);
    const difference = sameAgain(result, again);
    if (difference !== undefined) this.#object(difference, taken.node);
  }

  /** The state is written, and the process dies before its effects are performed, or after some of them. */
  #die({ watch, from, label, effects }: Node, start: World): void {
    let world = start;
    for (const [index, effect] of effects.entries()) {
      if (LEAVES_A_TRACE.has(effect.type)) {
        this.#add({
          world: pruned(crashed(world)),
          watch,
          from,
          label: `${label}; the process dies after ${index} of ${effects.length} effects`,
          effects: effects.slice(0, index),
        });
      }
      world = perform(world, effect);
    }
  }

  #add(node: Node): void {
    const key = this.#shapes.keyOf(node.world, node.watch);
    if (this.#seen.has(key)) return;
    this.#seen.add(key);
    this.#queue.push(node);
    const settled = this.#shapes.keyOfMachine(node.world.machine);
    if (this.#settled.has(settled)) return;
    this.#settled.add(settled);
    const expired = expireToIdle(node.world.machine, (state, event) =>
      this.#machine(state, event, this.#bounds.policy),
    );
    if (typeof expired === 'number') this.#patience = Math.max(this.#patience, expired);
    else if (!node.world.machine.memory.isShutDown) this.#object(expired, node);
  }

  #object({ invariant, why }: Objection, node: Node): void {
    this.#objection ??= { invariant, why, path: pathTo(node) };
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

/** A field of a world as text without the numbers that were given out, and these numbers in their order. */
interface Shape {
  /** One for each text. */
  readonly id: number;
  readonly numbers: readonly string[];
}

const NUMBERS =
  /("(?:number|abortNumber|compaction|nextNumber)":|decision-|sequence-|turn-|"request_id":")(\d+)/g;

/** Tells worlds apart: two are the same if they differ only in the numbers that were given out. */
class Shapes {
  readonly #ids = new Map<string, number>();
  readonly #ofJson = new Map<string, Shape>();
  /** Worlds that are looked at one after the other have most of their fields in common. */
  readonly #last = new Map<string, { value: unknown; shape: Shape }>();

  keyOf(world: World, watch: Watch): string {
    const shapes: Shape[] = [];
    this.#pushMachine(shapes, world.machine);
    this.#pushFields(shapes, world);
    this.#pushFields(shapes, watch);
    return joined(shapes);
  }

  keyOfMachine(machine: WatcherState): string {
    const shapes: Shape[] = [];
    this.#pushMachine(shapes, machine);
    return joined(shapes);
  }

  #pushMachine(shapes: Shape[], { stage, memory }: WatcherState): void {
    shapes.push(this.#field('stage', stage));
    this.#pushFields(shapes, memory);
  }

  #pushFields<Fields extends object>(shapes: Shape[], fields: Fields): void {
    for (const name of Object.keys(fields) as (keyof Fields & string)[]) {
      const value = fields[name];
      // What comes next makes no difference, as all numbers are fresh; the machine has been written.
      if (value === undefined || name === 'nextNumber' || name === 'machine') continue;
      shapes.push(this.#field(name, value));
    }
  }

  #field(name: string, value: unknown): Shape {
    const last = this.#last.get(name);
    if (last === undefined) {
      const shape = this.#write(name, value);
      this.#last.set(name, { value, shape });
      return shape;
    }
    if (last.value !== value) {
      last.shape = this.#write(name, value);
      last.value = value;
    }
    return last.shape;
  }

  #write(name: string, value: unknown): Shape {
    const json = `"${name}":${JSON.stringify(value)}`;
    const known = this.#ofJson.get(json);
    if (known !== undefined) return known;
    const numbers: string[] = [];
    const text = json.replace(NUMBERS, (_, before: string, number: string) => {
      numbers.push(number);
      return before;
    });
    const id = this.#ids.get(text) ?? this.#ids.size;
    this.#ids.set(text, id);
    const shape = { id, numbers };
    this.#ofJson.set(json, shape);
    return shape;
  }
}

function joined(shapes: readonly Shape[]): string {
  const names = new Map<string, number>();
  let ids = '';
  let numbers = '';
  for (const shape of shapes) {
    ids += `${shape.id} `;
    for (const number of shape.numbers) {
      let name = names.get(number);
      if (name === undefined) {
        name = names.size;
        names.set(number, name);
      }
      numbers += `${name} `;
    }
  }
  return `${ids}/${numbers}`;
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
