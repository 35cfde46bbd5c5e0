// The question to a model whether a compaction that the policy allows should wait.

import type { Op } from './wire/op.ts';

/** The op that asks; logged and sent unchanged. @source spec 3-watcher §3 */
export type JudgmentRequest = Extract<Op, { readonly type: 'rawr_auto_compaction_judgment' }>;

/** The outcome of asking. After a failure, the static policy decides. */
export type Judgment =
  | { readonly type: 'answer'; readonly shouldCompact: boolean; readonly reason: string }
  | { readonly type: 'failure'; readonly why: string };
