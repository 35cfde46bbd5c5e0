// What the tools of Baton's own agent give back, and what they tell while they run.

import type { SandboxMode } from '../vocabulary.ts';

/** One step of a plan or of a todo list. @source Codex, `update_plan` */
export interface PlanStepState {
  readonly step: string;
  readonly status: 'pending' | 'in_progress' | 'completed' | 'cancelled';
}

/** A change of what the session keeps for the agent; the newest of a type is the state. */
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
  readonly state?: StateChange;
}

/** What a call does to one file. Paths are relative to the workspace. */
export interface FileChangeView {
  readonly action: 'create' | 'edit' | 'delete' | 'move';
  readonly path: string;
  /** The new name of a moved file. */
  readonly to?: string;
  readonly added_lines: number;
  readonly removed_lines: number;
}

/** What a call tells while it runs, as it goes over the wire. @source spec 4-session §1, names after Codex */
export type ToolEvent =
  | {
      readonly type: 'exec_command_begin';
      readonly call_id: string;
      readonly command: string;
      readonly cwd: string;
      readonly sandbox: SandboxMode;
    }
  /** Output as it comes, standard output and error in one; the first `MAX_DELTA_CHARACTERS` of it. */
  | { readonly type: 'exec_command_output_delta'; readonly call_id: string; readonly delta: string }
  | {
      readonly type: 'exec_command_end';
      readonly call_id: string;
      readonly outcome: 'exited' | 'killed' | 'timed_out' | 'interrupted' | 'not_started';
      /** Null where the command did not end by itself. */
      readonly exit_code: number | null;
      readonly duration_ms: number;
    }
  | {
      readonly type: 'patch_apply_begin';
      readonly call_id: string;
      readonly changes: readonly FileChangeView[];
    }
  | {
      readonly type: 'patch_apply_end';
      readonly call_id: string;
      readonly success: boolean;
      /** What is on disk now; empty where nothing was changed. */
      readonly changes: readonly FileChangeView[];
    }
  | {
      readonly type: 'plan_update';
      readonly call_id: string;
      readonly kind: 'plan' | 'todo';
      readonly steps: readonly PlanStepState[];
    }
  | { readonly type: 'phase_completed'; readonly call_id: string; readonly summary: string };
