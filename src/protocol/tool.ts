// What the tools of Baton's own agent return, and what they report while they run.

import type { FileChangeView, PlanStepState } from './wire/event.ts';

export type { FileChangeView, PlanStepState, ToolEvent } from './wire/event.ts';

/** A change of the state that the session keeps for the agent; the newest change of a type is the state. */
export type StateChange =
  | {
      readonly type: 'plan' | 'todo';
      readonly steps: readonly PlanStepState[];
      readonly explanation?: string;
    }
  | { readonly type: 'phase_completed'; readonly summary: string };

/** The result of one call. */
export interface ToolResult {
  /** For the model; at most `RESULT_TOKENS` tokens. */
  readonly text: string;
  readonly success: boolean;
  /** Exit status of a command that ended by itself. */
  readonly exitCode?: number;
  /** The changes that the call made to files. */
  readonly changes?: readonly FileChangeView[];
  readonly state?: StateChange;
}
