// The newest state of the agent's plan or todo list, whichever tool it keeps it with.

import { clip, detached, oneLine } from './sentences.ts';
import type { Moment } from './files.ts';
import type { PlanChange } from './calls.ts';
import type { Plan, PlanStep } from './trail.ts';

const MAX_STEPS = 60;
const STEP_LENGTH = 300;

/** Keeps the plan; an older one with other steps is superseded and only counted. */
export class PlanLedger {
  #steps: PlanStep[] = [];
  #moment: Moment | undefined;
  #revisions = 0;
  /** Task tools, which never write a whole list, keep todos. */
  #kind: Plan['kind'] = 'todo';
  #isKept = false;

  add(change: PlanChange, moment: Moment): void {
    this.#moment = moment;
    if (change.type === 'whole') this.#replace(change);
    else if (change.type === 'add') {
      this.#isKept = true;
      if (this.#steps.length < MAX_STEPS) this.#steps.push(bounded({ text: change.text, status: 'pending' }));
    } else this.#set(change);
  }

  plan(): Plan | undefined {
    if (this.#moment === undefined || this.#steps.length === 0) return undefined;
    const plan = { ...this.#moment, kind: this.#kind, steps: [...this.#steps], revisions: this.#revisions };
    return this.#isKept ? { ...plan, isKept: true } : plan;
  }

  #replace({ kind, steps }: PlanChange & { type: 'whole' }): void {
    this.#kind = kind;
    this.#isKept = false;
    const known = new Set(this.#steps.map(({ text }) => text));
    const next = steps.slice(0, MAX_STEPS).map(bounded);
    if (known.size > 0 && !next.some(({ text }) => known.has(text))) this.#revisions++;
    this.#steps = next;
  }

  /** Task tools number their tasks from 1 in the order of creation. */
  #set({ id, status, text }: PlanChange & { type: 'set' }): void {
    const at = Number(id) - 1;
    const step = this.#steps[at];
    if (step === undefined) return;
    this.#steps[at] = bounded({ text: text ?? step.text, status: status ?? step.status });
  }
}

function bounded({ text, status }: PlanStep): PlanStep {
  return { text: detached(clip(oneLine(text), STEP_LENGTH)), status };
}
