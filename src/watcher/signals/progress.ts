// How far the agent's plan has come, and which steps a change of it completed, for every plan tool.

import type { PlanChange } from '../../trail/calls/calls.ts';
import { clip, detached, oneLine } from '../../text/sentences.ts';
import type { StepStatus } from '../../trail/trail.ts';

/** The result of a plan change. */
export interface PlanProgress {
  /** The steps that this change completed, shortened. */
  readonly completed: readonly string[];
  /** Completed steps and all steps of the present plan. */
  readonly done: number;
  readonly steps: number;
}

interface PlanStep {
  readonly text: string;
  readonly status: StepStatus;
}

const STEP_LENGTH = 120;
/** Maximum number of kept steps; a plan that keeps growing forgets its oldest. */
const MAX_STEPS = 500;

/** Follows the plan of one thread. */
export class PlanFollower {
  /** By task id, or by position in a plan that is always rewritten whole. */
  #steps = new Map<string, PlanStep>();
  #tasks = 0;

  /** Applies a change. @param result the tool's answer, which names the task that an added step became */
  add(change: PlanChange, result: string): PlanProgress {
    switch (change.type) {
      case 'whole':
        return this.#replace(change.steps);
      case 'add':
        return this.#addTask(change.text, result);
      case 'set':
        return this.#setTask(change);
      case 'presented':
        return this.#progress([]);
    }
  }

  #replace(steps: readonly PlanStep[]): PlanProgress {
    const before = [...this.#steps.values()];
    this.#steps = new Map(
      steps
        .slice(0, MAX_STEPS)
        .map(({ text, status }, index) => [String(index + 1), { text: shortened(text), status }]),
    );
    return this.#progress(newlyCompleted(before, [...this.#steps.values()]));
  }

  #addTask(text: string, result: string): PlanProgress {
    this.#tasks = Number(/#(\d{1,6})\b/.exec(result.slice(0, 200))?.[1] ?? this.#tasks + 1);
    this.#steps.set(String(this.#tasks), { text: shortened(text), status: 'pending' });
    for (const id of this.#steps.keys()) {
      if (this.#steps.size <= MAX_STEPS) break;
      this.#steps.delete(id);
    }
    return this.#progress([]);
  }

  #setTask({ id, status, text }: PlanChange & { type: 'set' }): PlanProgress {
    const before = this.#steps.get(id);
    const step: PlanStep = {
      text: text === undefined ? (before?.text ?? `task ${id}`) : shortened(text),
      status: status ?? before?.status ?? 'pending',
    };
    this.#steps.set(id, step);
    const isCompleted = step.status === 'completed' && before?.status !== 'completed';
    return this.#progress(isCompleted ? [step.text] : []);
  }

  #progress(completed: readonly string[]): PlanProgress {
    const steps = [...this.#steps.values()];
    return { completed, done: steps.filter(isDone).length, steps: steps.length };
  }
}

/**
 * The newly completed steps. Words identify a step; reworded ones count only if more steps are completed than before,
 * because agents reword old steps when they rewrite a plan.
 */
function newlyCompleted(before: readonly PlanStep[], now: readonly PlanStep[]): string[] {
  const old = new Map<string, number>();
  for (const { text } of before.filter(isDone)) old.set(text, (old.get(text) ?? 0) + 1);
  const open = new Set(before.filter((step) => !isDone(step)).map(({ text }) => text));
  const fresh = now.filter(isDone).filter(({ text }) => {
    const count = old.get(text) ?? 0;
    if (count > 0) old.set(text, count - 1);
    return count === 0;
  });
  const known = fresh.filter(({ text }) => open.has(text));
  const gained = now.filter(isDone).length - before.filter(isDone).length;
  const reworded = fresh.filter(({ text }) => !open.has(text)).slice(0, Math.max(0, gained - known.length));
  return [...known, ...reworded].map(({ text }) => text);
}

function isDone({ status }: PlanStep): boolean {
  return status === 'completed';
}

function shortened(text: string): string {
  return detached(clip(oneLine(text), STEP_LENGTH));
}
