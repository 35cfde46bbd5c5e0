// What the live watcher needs from the agent that it watches: Baton's own session, or another program that can compact
// on request. Types only.

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
import type { Show } from '../effects.ts';
import type { SequencePlace, UserMessage } from '../state.ts';
import type { WatcherView } from '../view.ts';

/** A compaction that the watcher requests from the arbiter. */
export interface CompactionWish {
  readonly place: SequencePlace;
  /** One sentence with the numbers. */
  readonly why: string;
  readonly isEmergency: boolean;
  /** Used tokens that would suffice; undefined: clearing alone is not enough. */
  readonly target?: number;
}

/** A compaction to carry out. */
export interface CompactionOrder extends CompactionWish {
  /** The effect's number; with `strategy: 'full'` between turns, the compaction is a turn of this origin. */
  readonly number: number;
  readonly strategy: 'micro' | 'full';
  /** The agent wrote the packet, and the configuration accepts it as the summary. */
  readonly isEmbedded: boolean;
  /** A packet is handed back afterwards. */
  readonly isHandedOver: boolean;
  /** For the receipt. */
  readonly audit: JsonObject;
}

/** The outcome of an order. */
export type CompactionEnd =
  | { readonly type: 'compacted'; readonly strategy: 'micro' | 'full' }
  | { readonly type: 'failed'; readonly why: string };

/** A thread that can be watched. Every promise resolves once its result is written. */
export interface WatchedAgent {
  readonly threadId: string;
  items(): readonly Item[];
  /** What the log shows of the work so far. */
  trail(): Trail;
  situation(): Situation;
  lastAgentMessage(): string | undefined;
  /** Stores a note beside the history. */
  note(kind: string, value: JsonObject): Promise<void>;
  /** Writes items at the next moment that splits nothing. `isAsking`: the agent must answer them. */
  put(items: readonly Item[], isAsking: boolean): Promise<void>;
  startTurn(origin: TurnOrigin, input: readonly Item[]): Promise<void>;
  /** @param isOver the turn ends with the agent's last message, unless the user has sent something meanwhile */
  resumeTurn(turnId: string, isOver?: boolean): void;
  /** Ends the running turn if it has this origin, and no other. */
  interruptTurn(number: number): Promise<void> | void;
  /** Ends whatever runs in the user's turn, and holds it. Absent: the host cannot, and the turn continues to its next pause. */
  cutTurn?(turnId: string): Promise<void>;
  plan(wish: CompactionWish): CompactionPlan;
  compact(order: CompactionOrder, signal: CancelSignal): Promise<CompactionEnd>;
  /** A judge has vetoed: growth is counted from here. */
  noteVeto(): void;
}

/** The question to a judge. */
export interface JudgeQuestion {
  readonly instructions: string;
  readonly text: string;
}

/** The current configuration and prompts: read again at each evaluation. */
export interface WatcherSettings {
  readonly config: Config;
  readonly policy: Policy;
}

/** A prompt in force. */
export interface WatcherPrompt {
  readonly body: string;
  /** The text differs from the shipped one. */
  readonly isOwn: boolean;
}

/** Everything else that the watcher needs from the world. */
export interface WatcherWorld {
  settings(): Promise<WatcherSettings>;
  prompt(name: PromptName): Promise<WatcherPrompt>;
  /** The prompt that `decision_prompt_path` names. */
  judgePrompt(path: string): Promise<string>;
  /** Asks a model once, without tools, for an answer of `JUDGMENT_SCHEMA`. */
  askJudge(question: JudgeQuestion, signal: CancelSignal): Promise<string>;
  /** The state of the work tree. Never throws: unknown facts are omitted. */
  facts(): Promise<WorldFacts>;
  readonly scratch: ScratchFiles;
  nowMs(): number;
}

/** The remaining time of a wait, in milliseconds. */
export interface TimeLeft {
  /** Unless the agent shows activity. */
  readonly quietMs: number;
  readonly atMostMs: number;
}

/** Where the watcher reports. */
export interface WatcherVoice {
  show(line: Pick<Show, 'surface' | 'text'>): void;
  judged(request: JudgmentRequest, judgment: Judgment): void;
  /** The user's queue has changed. */
  queueChanged(messages: readonly UserMessage[]): void;
  /** A decision is in the log. */
  decided(decision: DecisionRecord): void;
  /** The watcher's stage or wait has changed. */
  moved(view: WatcherView, deadline: TimeLeft | undefined): void;
  /** Nothing runs and nothing waits. */
  rested(): void;
}

/** Notes inside the workspace; paths are relative to it. */
export interface ScratchFiles {
  /** Bytes; undefined: the file does not exist or may not be written. */
  size(path: string): Promise<number | undefined>;
  /** @throws the reason why it cannot be written */
  append(path: string, text: Redacted): Promise<void>;
}
