// Made-up signals: by name where only the boundary matters, with evidence where sentences are shown.

import * as fc from 'fast-check';
import { BOUNDARIES } from '../../src/vocabulary.ts';
import type { Boundary } from '../../src/vocabulary.ts';
import type { Evidence, Signal } from '../../src/protocol/signal.ts';

/** A signal of a boundary; `at` is its position, by which it is told from others of its kind. */
export function signal(boundary: Boundary, at = 1, evidence = evidenceOf(boundary)): Signal {
  return { id: `${boundary}@${at}`, boundary, evidence, turn: 1, position: at };
}

/** Signals by names: `commit plan_update` or, with positions, `commit@4`. @throws TypeError for a name that is none */
export function signals(names: string): readonly Signal[] {
  return names
    .split(' ')
    .filter((name) => name !== '')
    .map((word) => {
      const [name = '', at] = word.split('@');
      const boundary = BOUNDARIES.find((each) => each === name);
      if (boundary === undefined) throw new TypeError(`No boundary: ${name}`);
      return signal(boundary, Number(at ?? 1));
    });
}

export const anySignal: fc.Arbitrary<Signal> = fc
  .tuple(fc.constantFrom(...BOUNDARIES), fc.nat(30))
  .map(([boundary, at]) => signal(boundary, at));

function evidenceOf(boundary: Boundary): Evidence {
  switch (boundary) {
    case 'commit':
      return command('git commit -m "Füge Zähler hinzu 🎉"');
    case 'pr_checkpoint':
      return command('gh pr create --fill');
    case 'plan_checkpoint':
    case 'plan_update':
      return { type: 'plan', completed: ['Write the reader'], done: 2, steps: 5 };
    case 'phase_completed':
      return { type: 'phase', summary: 'The reader is written' };
    case 'turn_complete':
      return { type: 'turn', turnId: 't1' };
    default:
      return { type: 'phrase', phrase: 'done', sentence: 'All of it is done.' };
  }
}

function command(text: string): Evidence {
  return { type: 'command', command: text, exitStatus: 0, toldBy: 'status', hash: undefined };
}
