// The request for a full compaction, what is settled before there is a summary, and the outcome.

import type { FilterReason } from '../../history/filter.ts';
import type { Entry } from '../../history/project.ts';
import type { Hash, WithinDeadline } from '../../ports.ts';
import type { Item, MessageItem } from '../../protocol/item.ts';
import type { Receipt, RestoredFile, SummaryAttempt, TokensByCategory } from '../../protocol/receipt.ts';
import type { CompactedRecord } from '../../protocol/record.ts';
import type { CountText } from '../../tokens/estimate.ts';
import type { Implementation, Phase, Reason, Rung, Strategy, Trigger } from '../../vocabulary.ts';
import type { Measure } from '../measure.ts';
import type { InputHash } from './input-hash.ts';
import type { Preserved } from './preserve.ts';
import type { RestorableFile } from './restore.ts';

/** A summary as its author gives it. */
export interface SummaryDraft {
  readonly text: string;
  /** Known secrets that were replaced, by kind. */
  readonly redactions: Readonly<Record<string, number>>;
  /** What a receipt says of the summary besides. */
  readonly notes?: readonly string[];
  /** The rung that gave it, where that is below its author's. */
  readonly rung?: Rung;
}

/** Who wrote a summary, and what was tried before. */
export interface Authorship {
  readonly implementation: Implementation;
  readonly rung: Rung;
  /** `PROVIDER/MODEL`; absent where no model wrote it. */
  readonly model?: string;
  /** Every request to a model, in order. */
  readonly attempts: readonly SummaryAttempt[];
}

/** The summarizer that needs no model, asked first. */
export const EMBEDDED: Authorship = { implementation: 'embedded', rung: 'embedded', attempts: [] };

/** Writes a summary in at most `budget` tokens. @param preserved user messages that stay verbatim beside it */
export type Summarise = (budget: number, preserved: readonly MessageItem[]) => SummaryDraft;

/** Everything that a full compaction depends on but the summary. */
export interface FullRequest {
  readonly id: string;
  /** ISO 8601. */
  readonly at: string;
  readonly trigger: Trigger;
  readonly reason: Reason;
  readonly phase: Phase;
  readonly strategy: Strategy;
  /** A handoff follows, which says itself how the agent goes on. */
  readonly isHandedOver?: boolean;
  /** Why it was asked for, with the numbers, as one sentence. */
  readonly why: string;
  /** What the receipt says besides, one sentence each. */
  readonly notes?: readonly string[];
  readonly entries: readonly Entry<Item>[];
  /** Raw window of the model in tokens. */
  readonly window: number;
  /** Largest size of the whole context afterwards. */
  readonly targetTokens?: number;
  /** The agent gives its initial context again by itself when the session goes on, so that keeping it doubles it. */
  readonly leavesInitialContext: boolean;
  /** Counts only what is written, as an evaluation does, and not what the agent gives again by itself. Absent: counts both. */
  readonly isWrittenAlone?: true;
  /** `user_message_max_tokens`. */
  readonly userMessageLimit: number;
  /** Largest size of the summary where no target says otherwise; the embedded summarizer's unless given. */
  readonly summaryLimit?: number;
  /** Files read back from the workspace, newest first, already within their own limits. */
  readonly files: readonly RestorableFile[];
  /** Largest size of the items afterwards at which the gauge sees a compaction worth the change. Absent: the items alone decide. */
  readonly worthwhile?: number;
  /** What each request holds besides its items, before and afterwards, in tokens: instructions, tools. */
  readonly beside?: number;
  /** Room to be left for what joins the history at last, in tokens: the words of hooks. */
  readonly reserve?: number;
  /** First line of the summary message. */
  readonly summaryPrefix: string;
  /** What the user pinned, as attachments: in every layout, whatever the summary says. */
  readonly pins?: readonly Item[];
  /** Todo list and plan, as attachments. */
  readonly state: readonly Item[];
  /** Tokens of an item, by `count`. */
  readonly measure: Measure;
  readonly count: CountText;
  readonly counter: Receipt['counter'];
  readonly hash: Hash;
  /** Ends a summary written without a model that takes too long. Absent: nothing does. */
  readonly within?: WithinDeadline;
  /** Of `entries` with `hash`, begun already; absent: not begun. */
  readonly input?: InputHash;
}

/** What became of one entry. */
export interface Fate {
  readonly entry: Entry<Item>;
  readonly fate: 'kept' | 'summarised' | 'dropped';
  /** Why it was dropped. */
  readonly why?: FilterReason | 'initial_context';
  /** Of the entry, in tokens; of a kept one as it stays. */
  readonly tokens: TokensByCategory;
  /** What a kept message lost: its images, or the middle of its text. */
  readonly cut?: TokensByCategory;
}

/** A compaction that cannot be, and why. */
export type FullRefusal =
  | { readonly outcome: 'nothing_to_compact'; readonly preTokens: number }
  | {
      readonly outcome: 'cannot_fit';
      /** A larger target that does fit and is worth it. */
      readonly leastTarget: number;
      readonly parts: Readonly<Record<string, number>>;
    };

export type FullResult =
  | {
      readonly outcome: 'compacted';
      readonly record: CompactedRecord & { readonly receipt: Receipt; readonly at: string };
      readonly fates: readonly Fate[];
      readonly preserved: Preserved;
    }
  | FullRefusal;

/** What is settled before there is a summary. */
export interface FullPlan extends SizesBefore {
  readonly outcome: 'planned';
  readonly request: FullRequest;
  /** Largest size of everything afterwards. */
  readonly target: number;
  /** Room for the summary's text, in tokens by the request's `count`. */
  readonly summaryTokens: number;
  /** The user's messages that stay verbatim. */
  readonly preserved: Preserved;
  readonly frame: SummaryFrame;
  readonly layout: Layout;
  readonly files: readonly RestoredFile[];
  readonly parts: Readonly<Record<'fixed' | 'userMessages' | 'files', number>>;
}

/** What a compaction looks like from outside. */
export interface Layout {
  /** The item that a summary becomes. */
  readonly carry: (summary: string) => Item;
  readonly arrange: (frame: SummaryFrame, boundary: Item, summary: Item) => readonly Item[];
  /** Hides from the summarizer what a summary should not mention (`filterForSummary`). */
  readonly isFiltered: boolean;
}

/** What a compaction is compared with, in tokens. */
export interface SizesBefore {
  /** The whole context. */
  readonly preTokens: number;
  /** Its part that is left out, as the agent gives it again: it is in the context afterwards all the same. */
  readonly givenAgain: number;
  /** As of the request. */
  readonly worthwhile: number | undefined;
}

/** What surrounds a summary. */
export interface SummaryFrame {
  readonly initialContext: readonly Entry<Item>[];
  readonly files: readonly Item[];
  readonly state: readonly Item[];
  readonly preserved: Preserved;
  readonly ghosts: readonly Entry<Item>[];
}
