// The newest state of the agent's plan and todo list, whichever tools it keeps them with.

import { clip, detached, oneLine } from '../../text/sentences.ts';
import type { LogMoment } from './files.ts';
import type { FileAction, PlanChange } from '../calls/calls.ts';
import type { Plan, PlanStep, PresentedPlan } from '../trail.ts';

const MAX_STEPS = 60;
const STEP_LENGTH = 300;
/** Characters of a plan in prose: the default limit for one restored file, at four per token. */
const PRESENTED_LENGTH = 20_000;

/** Where agents keep plans in prose. @source Claude Code */
const PLAN_FILE = /(?:^|\/)\.(?:baton|claude|codex)\/plans\/[^/]+\.md$/;

/** Keeps plan and todo list apart: neither replaces the other. */
export class PlanLedger {
  readonly #lists = { plan: new ListLedger('plan'), todo: new ListLedger('todo') };
  #presented: PresentedPlan | undefined;

  add(change: PlanChange, moment: LogMoment): void {
    if (change.type === 'presented') {
      const text = detached(clip(change.text, PRESENTED_LENGTH));
      this.#presented = { position: moment.position, text };
      return;
    }
    // Task tools, which never write a whole list, keep todos.
    this.#lists[change.type === 'whole' ? change.kind : 'todo'].add(change, moment);
  }

  /** What a call did to a plan file. After an edit of unknown content the plan is dropped: an outdated plan would be false. */
  addFile({ action, path, added, replaced = [] }: FileAction, { position }: LogMoment): void {
    if (!PLAN_FILE.test(path)) return;
    if (action === 'create') {
      this.#presented = { position, path, text: detached(clip(added ?? '', PRESENTED_LENGTH)) };
      return;
    }
    const known = this.#presented;
    if (action !== 'edit' || known?.path !== path) return;
    const isKnown = replaced.length > 0 && replaced.every(({ old }) => known.text.includes(old));
    const text = replaced.reduce((now, { old, new: by }) => now.replace(old, () => by), known.text);
    this.#presented = isKnown ? { position, path, text: detached(clip(text, PRESENTED_LENGTH)) } : undefined;
  }

  /** The newest of each, todos first. */
  plans(): readonly Plan[] {
    return [this.#lists.todo.plan(), this.#lists.plan.plan()].filter((plan) => plan !== undefined);
  }

  /** The one that was written last. */
  plan(): Plan | undefined {
    const [newest] = this.plans().toSorted((a, b) => b.position - a.position);
    return newest;
  }

  /** The plan in prose that was written last; undefined if a plan tool was used since. */
  presented(): PresentedPlan | undefined {
    const { position = -1 } = this.#lists.plan.plan() ?? {};
    return this.#presented !== undefined && this.#presented.position > position ? this.#presented : undefined;
  }
}

/** Keeps one list; counts older ones with other steps, which it supersedes. */
class ListLedger {
  #steps: PlanStep[] = [];
  #moment: LogMoment | undefined;
  #revisions = 0;
  readonly #kind: Plan['kind'];
  #isKept = false;

  constructor(kind: Plan['kind']) {
    this.#kind = kind;
  }

  add(change: Exclude<PlanChange, { type: 'presented' }>, moment: LogMoment): void {
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

  #replace({ steps }: PlanChange & { type: 'whole' }): void {
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
