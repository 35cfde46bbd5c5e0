// What is compacted, why, and with what; and the outcome.

import type { AccountFold } from '../history/account.ts';
import type { Entry } from '../history/project.ts';
import type { CancelSignal, Clock, Hash, Hooks, Ids, WithinDeadline, WorkspaceFiles } from '../ports.ts';
import type { HookSession } from '../protocol/hook.ts';
import type { Item, JsonObject } from '../protocol/item.ts';
import type { Receipt } from '../protocol/receipt.ts';
import type { CompactedRecord, MicroCompactedRecord } from '../protocol/record.ts';
import type { CompactionEvent } from '../protocol/wire/event.ts';
import type { CountText } from '../tokens/estimate.ts';
import type { Trail } from '../trail/trail.ts';
import type { Phase, Reason, Strategy, Trigger } from '../vocabulary.ts';
import type { Fate } from './full/request.ts';
import type { KeptItems } from './micro/micro.ts';
import type { Summarizers } from './summarise/summarizers.ts';

/** A history to be compacted and what is known of it. */
export interface Subject {
  readonly entries: readonly Entry<Item>[];
  /** Raw window of the model. */
  readonly window: number;
  /** The agent gives its initial context again by itself when the session goes on. */
  readonly leavesInitialContext: boolean;
  /** First line of the summary message, by which the agent that goes on recognises a summary. */
  readonly summaryPrefix: string;
  /** What is written can hold the state that a provider's own compaction leaves; absent: it cannot. */
  readonly holdsProviderState?: boolean;
  /** What somebody keeps of the entries, by the count of the world in which they are compacted. */
  readonly kept?: KeptItems;
  /** What the owner of the thread says of its place and rules now, where the initial context says otherwise. */
  readonly surroundings?: readonly Item[];
  /** The gauge that every size comes from; absent: only the items count. */
  readonly gauge?: ContextGauge;
  /** A target is the size of what is written alone, without what is in every request besides. */
  readonly targetsWhatIsWritten?: true;
  /** What hooks learn about it. */
  readonly session: HookSession;
  /** The whole log: what was read and planned, what Baton itself writes a summary from and holds a model's against. */
  readonly trail: Trail;
}

/** The gauge of a session around a compaction. All in tokens. */
export interface ContextGauge {
  /** Used now. */
  readonly used: number;
  /** A provider's report anchors what is used now. */
  readonly isReported: boolean;
  /** Instructions and tools, which are in each request and in no item. */
  readonly fixed: number;
  /** What it would say of a history with so many tokens that no report has measured. */
  usedWith(tokens: number): number;
  /** What it will say of these items as the history. */
  usedAfter(items: readonly Item[]): number;
  /** What it will say once so many tokens are cleared. */
  usedWithout(tokens: number): number;
}

/** A subject's gauge, as an account has it. */
export function gaugeOf(account: AccountFold): ContextGauge {
  const { used, anchor } = account.gauge();
  return {
    used,
    isReported: anchor === 'reported',
    fixed: account.fixed,
    usedWith: (tokens) => account.usedWith(tokens),
    usedAfter: (items) => account.usedAfter(items),
    usedWithout: (tokens) => account.usedWithout(tokens),
  };
}

/** Who asks for a compaction, and for what. */
export interface Occasion {
  readonly trigger: Trigger;
  readonly reason: Reason;
  readonly phase: Phase;
  readonly strategy: Strategy;
  /** Why, with the numbers, as one sentence. */
  readonly why: string;
  /** Largest size of the whole context afterwards. */
  readonly targetTokens?: number;
  /** The option that names a target, for the cure of a refusal. Absent: `--target-tokens`. */
  readonly targetName?: string;
  /** Nothing may stop it any more. */
  readonly isEmergency?: boolean;
  /** No model is asked, though there may be one. */
  readonly isEmbedded?: boolean;
  /** A handoff follows. */
  readonly isHandedOver?: boolean;
  /** What a model's summary shall keep above all; hooks may ask for more. */
  readonly instructions?: string;
  /** From the caller, for the receipt. */
  readonly audit?: JsonObject;
}

/** What carrying it out needs. */
export interface CompactionWorld {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly hash: Hash;
  readonly count: CountText;
  readonly counter: Receipt['counter'];
  /** Ends a summary written without a model that takes too long: a plainer one follows. Absent: it is waited for. */
  readonly within?: WithinDeadline;
  readonly signal: CancelSignal;
  readonly emit: (event: CompactionEvent) => void;
  /** Where files are read back from; nothing is restored without it. */
  readonly files?: WorkspaceFiles;
  /** The user's; none runs for a preview. */
  readonly hooks?: Hooks;
  /** Without it no model is asked. */
  readonly summarizers?: Summarizers;
  /** Makes the result the history, durably, before anything reports it. A preview has none. */
  readonly commit?: (compaction: Compaction) => Promise<void>;
}

/** What came out. `items` is the history afterwards. */
export type Compaction =
  | {
      readonly type: 'full';
      readonly record: CompactedRecord & { readonly receipt: Receipt; readonly at: string };
      readonly items: readonly Item[];
      readonly fates: readonly Fate[];
    }
  | {
      readonly type: 'micro';
      readonly record: MicroCompactedRecord & { readonly at: string };
      readonly items: readonly Item[];
      readonly preTokens: number;
      readonly postTokens: number;
    };
