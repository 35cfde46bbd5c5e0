// Asking a model whether a compaction that the policy allows should wait.

import type { Boundary, Tier } from '../vocabulary.ts';

/** The op that asks. Wire names, because it is logged and sent as it is. @source spec 3-watcher §3 */
export interface JudgmentRequest {
  readonly type: 'rawr_auto_compaction_judgment';
  /** Fresh for every request; an answer under another id is ignored. */
  readonly request_id: string;
  readonly tier: Tier;
  /** Null while no window is known. */
  readonly percent_remaining: number | null;
  /** Each boundary once, in the order of the vocabulary. */
  readonly boundaries_present: readonly Boundary[];
  readonly last_agent_message: string | null;
  readonly decision_prompt_path: string;
}

/** What came of asking. A failure means that the static policy stands. */
export type Judgment =
  | { readonly type: 'answer'; readonly shouldCompact: boolean; readonly reason: string }
  | { readonly type: 'failure'; readonly why: string };
