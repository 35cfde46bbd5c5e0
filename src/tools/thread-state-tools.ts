// Tools that only change state that the session keeps for the agent: plan, todo list, finished phases.

import * as z from 'zod';
import type { PlanStepState, ToolResult } from '../protocol/tool.ts';
import { defineTool } from './tool.ts';
import type { Tool } from './tool.ts';

/** @source src/trail/ledgers/plan.ts keeps at most this many */
const MAX_STEPS = 60;

const MARKS: Readonly<Record<PlanStepState['status'], string>> = {
  pending: '[ ]',
  in_progress: '[>]',
  completed: '[x]',
  cancelled: '[-]',
};

const status = z.enum(['pending', 'in_progress', 'completed', 'cancelled']);
const stepText = z.string().trim().min(1).max(300);

/** `update_plan`: replaces the whole plan, as in Codex. */
export function createUpdatePlanTool(): Tool<{
  readonly explanation?: string | undefined;
  readonly plan: readonly PlanStepState[];
}> {
  return defineTool({
    name: 'update_plan',
    kind: 'state',
    description:
      'Replaces the plan: its steps in order with their states, at most one of them in_progress. Use it for work of several steps, and again whenever a step is done.',
    arguments: {
      explanation: z.string().max(1000).optional().describe('Why the plan changed.'),
      plan: z
        .array(z.strictObject({ step: stepText, status }))
        .max(MAX_STEPS)
        .refine(hasOneInProgress, 'at most one step may be in_progress'),
    },
    run: ({ plan: steps, explanation }, context) => {
      context.emit({ type: 'plan_update', call_id: context.callId, kind: 'plan', steps });
      const state = { type: 'plan', steps, ...(explanation === undefined ? {} : { explanation }) } as const;
      return Promise.resolve({ text: describeSteps('The plan', steps), success: true, state });
    },
  });
}

/** `todo`: replaces the whole todo list. */
export function createTodoTool(): Tool<{
  readonly todos: readonly { readonly content: string; readonly status: PlanStepState['status'] }[];
}> {
  return defineTool({
    name: 'todo',
    kind: 'state',
    description:
      'Replaces the todo list: small things to remember, besides the plan. Empty: nothing is left to do.',
    arguments: {
      todos: z.array(z.strictObject({ content: stepText, status })).max(MAX_STEPS),
    },
    run: ({ todos }, context) => {
      const steps = todos.map(({ content, status: state }) => ({ step: content, status: state }));
      context.emit({ type: 'plan_update', call_id: context.callId, kind: 'todo', steps });
      const result: ToolResult = {
        text: describeSteps('The todo list', steps),
        success: true,
        state: { type: 'todo', steps },
      };
      return Promise.resolve(result);
    },
  });
}

/** `phase_checkpoint`: marks a phase of the work as done, a good moment for a compaction. */
export function createPhaseCheckpointTool(): Tool<{ readonly summary: string }> {
  return defineTool({
    name: 'phase_checkpoint',
    kind: 'state',
    description:
      'Marks a phase of the work as finished and verified: a good moment to tidy up the context. Call it only then, with what was achieved.',
    arguments: {
      summary: z.string().trim().min(1).max(2000).describe('What was achieved, in a few sentences.'),
    },
    run: ({ summary }, context) => {
      context.emit({ type: 'phase_completed', call_id: context.callId, summary });
      return Promise.resolve({
        text: `Noted that a phase is completed: ${summary}`,
        success: true,
        state: { type: 'phase_completed', summary },
      });
    },
  });
}

function hasOneInProgress(steps: readonly { readonly status: string }[]): boolean {
  return steps.filter(({ status: state }) => state === 'in_progress').length <= 1;
}

function describeSteps(name: string, steps: readonly PlanStepState[]): string {
  if (steps.length === 0) return `${name} is empty now.`;
  const lines = steps.map(({ step, status: state }) => `${MARKS[state]} ${step}`);
  return `${name} now ([x] done, [>] in progress, [ ] open, [-] cancelled):\n${lines.join('\n')}`;
}
