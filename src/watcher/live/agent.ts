// What the live watcher needs of the agent that it watches, whoever that is: Baton's own session, or another program that
// can be told to compact. Types only.

import type { CancelSignal } from '../../ports.ts';
import type { DecisionRecord, Situation } from '../../protocol/decision.ts';
import type { Item, JsonObject } from '../../protocol/item.ts';
import type { Judgment, JudgmentRequest } from '../../protocol/judgment.ts';
import type { CompactionPlan } from '../../protocol/plan.ts';
import type { Config } from '../../config/schema.ts';
import type { TurnOrigin } from '../../protocol/turn.ts';
import type { Redacted } from '../../text/redact.ts';
import type { Trail } from '../../trail/trail.ts';
import type { WorldFacts } from '../packet/facts.ts';
import type { Policy } from '../policy.ts';
import type { PromptName } from '../../prompts/shipped.ts';
import type { SequencePlace, Show, UserMessage } from '../state.ts';
import type { WatcherView } from '../view.ts';

/** A compaction that the watcher asks the arbiter for. */
export interface CompactionWish {
  readonly place: SequencePlace;
  /** One sentence with the numbers. */
  readonly why: string;
  readonly isEmergency: boolean;
  /** Used tokens with which it would be content; undefined: clearing alone does not do. */
  readonly target?: number;
}

/** A compaction that is to be carried out. */
export interface CompactionOrder extends CompactionWish {
  /** Of the effect; with `strategy: 'full'` between turns, the compaction is a turn of this origin. */
  readonly number: number;
  readonly strategy: 'micro' | 'full';
  /** The packet is the agent's own, and the configuration says that this is summary enough. */
  readonly isEmbedded: boolean;
  /** A packet is handed back afterwards. */
  readonly isHandedOver: boolean;
  /** For the receipt. */
  readonly audit: JsonObject;
}

/** What became of an order. */
export type CompactionEnd =
  | { readonly type: 'compacted'; readonly strategy: 'micro' | 'full' }
  | { readonly type: 'failed'; readonly why: string };

/** A thread that can be watched. Every promise is fulfilled once what was asked for is written. */
export interface WatchedAgent {
  readonly threadId: string;
  items(): readonly Item[];
  /** What the log tells of the work so far. */
  trail(): Trail;
  situation(): Situation;
  lastAgentMessage(): string | undefined;
  /** Remembers something beside the history. */
  note(kind: string, value: JsonObject): Promise<void>;
  /** Writes items at the next moment at which nothing is torn apart. `isAsking`: the agent is to answer them. */
  put(items: readonly Item[], isAsking: boolean): Promise<void>;
  startTurn(origin: TurnOrigin, input: readonly Item[]): Promise<void>;
  /** @param isOver the turn ends with what the agent said last, unless the user has said something meanwhile */
  resumeTurn(turnId: string, isOver?: boolean): void;
  /** Ends the running turn if this is its origin, and no other. */
  interruptTurn(number: number): Promise<void> | void;
  /** Ends whatever runs in the user's turn, and holds it. Absent: the host cannot, and the turn runs to its next moment. */
  cutTurn?(turnId: string): Promise<void>;
  plan(wish: CompactionWish): CompactionPlan;
  compact(order: CompactionOrder, signal: CancelSignal): Promise<CompactionEnd>;
  /** A judge has vetoed: growth is counted from here. */
  noteVeto(): void;
}

/** What a judge is asked. */
export interface JudgeQuestion {
  readonly instructions: string;
  readonly text: string;
}

/** Configuration and prompts as they are now: read anew at each evaluation. */
export interface WatcherSettings {
  readonly config: Config;
  readonly policy: Policy;
}

/** A prompt in force. */
export interface WatcherPrompt {
  readonly body: string;
  /** Somebody has written another text than the shipped one. */
  readonly isOwn: boolean;
}

/** Everything else that is needed of the world. */
export interface WatcherWorld {
  settings(): Promise<WatcherSettings>;
  prompt(name: PromptName): Promise<WatcherPrompt>;
  /** The prompt that `decision_prompt_path` names. */
  judgePrompt(path: string): Promise<string>;
  /** Asks a model once, without tools, for an answer of `JUDGMENT_SCHEMA`. */
  askJudge(question: JudgeQuestion, signal: CancelSignal): Promise<string>;
  /** How the work tree stands. Never throws: what cannot be known is left out. */
  facts(): Promise<WorldFacts>;
  readonly scratch: ScratchFiles;
  nowMs(): number;
}

/** How long something is still waited for, in milliseconds. */
export interface TimeLeft {
  /** Unless the agent shows a sign of life. */
  readonly quietMs: number;
  readonly atMostMs: number;
}

/** Where the watcher's words go. */
export interface WatcherVoice {
  show(line: Pick<Show, 'surface' | 'text'>): void;
  judged(request: JudgmentRequest, judgment: Judgment): void;
  /** The user's queue has changed. */
  queueChanged(messages: readonly UserMessage[]): void;
  /** A decision is in the log. */
  decided(decision: DecisionRecord): void;
  /** The watcher is elsewhere, or waits for something else. */
  moved(view: WatcherView, deadline: TimeLeft | undefined): void;
  /** Nothing is under way any more, and nothing waits. */
  rested(): void;
}

/** Notes inside of the workspace; paths are relative to it. */
export interface ScratchFiles {
  /** Bytes; undefined: there is no such file, or none that may be written. */
  size(path: string): Promise<number | undefined>;
  /** @throws what keeps it from being written */
  append(path: string, text: Redacted): Promise<void>;
}
