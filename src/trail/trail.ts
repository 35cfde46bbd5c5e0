// The structured trail: what a session requested, did, learned and left open, in a size that does not grow with the length of
// the session. Positions count the items of the log from 0; turns count the user's requests from 1.

import type { Pin } from './pins.ts';
import type { LineRange } from '../shell/file-actions.ts';
import type { RankedIdentifier } from '../text/identifiers/identifiers.ts';

/** A message of the user. */
export interface UserRequest {
  /** 1 for the first request. Turn 0 holds what happened before any request. */
  readonly turn: number;
  readonly position: number;
  /** Verbatim; a long message keeps its head and tail around a mark that counts what was cut. */
  readonly text: string;
  /** It arrived before the agent had answered the previous request. */
  readonly isInterjected: boolean;
  /** It corrects what the agent said before, according to the user's words or the agent's first answer. */
  readonly isCorrection: boolean;
  /** How the agent's answer opens when it takes back an earlier statement; otherwise undefined. */
  readonly admission: string | undefined;
  /** For a command: the harness's one-line description of it. */
  readonly instructions: string | undefined;
  /** The explicit orders and prohibitions in these instructions, verbatim. */
  readonly orders: readonly string[];
  readonly actions: RequestActions;
}

/** An item of a numbered list. */
export interface ListedItem {
  readonly number: number;
  readonly text: string;
  /** The agent's newest sentence that names the item by its number, and the turn of that sentence; 0 without one. */
  readonly statement: string | undefined;
  readonly turn: number;
  /** The position of that sentence; −1 without one. */
  readonly position: number;
  /** Files changed after that sentence and before another item was named or the user spoke. */
  readonly changed: readonly string[];
}

/** The checkboxes of a file. */
export interface Checklist {
  readonly path: string;
  readonly ticked: number;
  /** The texts of the open boxes, in file order. */
  readonly open: readonly string[];
}

/** A numbered list that the work follows. */
export interface ItemList {
  /** The message that holds the list, or to which the agent replied with it. */
  readonly turn: number;
  readonly by: 'user' | 'agent';
  /** Ordered by the newest mention, the most recent last. */
  readonly items: readonly ListedItem[];
  /** Wanted items that no message mentions, by number or in their words. */
  readonly silent: readonly ListedItem[];
  /** Wanted items mentioned only in their words or together with all others: the log does not say whether they are done. */
  readonly others: readonly ListedItem[];
}

/** A short account of what the agent did for one request. */
export interface RequestActions {
  /** Paths edited, created, deleted or moved, ordered by first change. */
  readonly edited: readonly string[];
  readonly commands: number;
  readonly failedCommands: number;
  /** The opening sentence of the agent's last message on the request. */
  readonly outcome: string | undefined;
}

/** A sentence of the user that applies beyond the request that contains it, verbatim. */
export interface Constraint {
  readonly turn: number;
  readonly text: string;
  /** It appears to be in the middle of pasted text, so somebody else may have written it. */
  readonly isPasted: boolean;
  /** It comes from the template that a harness puts around the task; `isPasted` is true as well. */
  readonly isTemplate?: true;
}

/** A question from the agent and the user's answer. */
export interface AnsweredQuestion {
  readonly turn: number;
  readonly question: string;
  readonly answer: string;
  /** For a rejected edit: the position of the agent's last message before it. */
  readonly proposedAt?: number | undefined;
}

/** The states of a plan step, whatever names the tool uses. */
export type StepStatus = 'pending' | 'in_progress' | 'completed' | 'cancelled';

/** One step of the agent's plan or todo list. */
export interface PlanStep {
  readonly text: string;
  readonly status: StepStatus;
}

/** A plan in prose: presented to the user, or kept in a plan file. @source Claude Code, `ExitPlanMode` and `.claude/plans` */
export interface PresentedPlan {
  readonly position: number;
  readonly text: string;
  /** The file that holds it, if any. */
  readonly path?: string;
}

/** The newest state of the agent's plan. */
export interface Plan {
  /** The name that the tool uses. */
  readonly kind: 'plan' | 'todo';
  readonly turn: number;
  readonly position: number;
  readonly steps: readonly PlanStep[];
  /** How many earlier plans with different steps this one replaced. */
  readonly revisions: number;
  /** Its steps are separate tasks, which the tool keeps across requests until they are closed. */
  readonly isKept?: true;
}

/** A line of a file at its last read or write. */
export interface FileRow {
  /** Trimmed, secrets redacted; starts with its line number where the reader gave one. */
  readonly text: string;
  readonly isWritten: boolean;
  /** Whether it introduces a name: a function, a type or a constant. */
  readonly isDefinition: boolean;
}

/** The history of one file, under its newest name. */
export interface FileTrail {
  /** Relative to the working directory if the file is inside it. */
  readonly path: string;
  readonly state: 'read' | 'edited' | 'created' | 'deleted';
  /** Whether git restored its own version after the newest edit. */
  readonly isRestored: boolean;
  readonly reads: number;
  readonly edits: number;
  /** Line ranges read since the newest edit; at most a few. */
  readonly ranges: readonly LineRange[];
  /** Length of the file in lines, if a partial read reported it. */
  readonly lines: number | undefined;
  /** Whether every read omitted parts that the log does not identify. */
  readonly hasGaps: boolean;
  /** Its earlier names, oldest first. */
  readonly renamedFrom: readonly string[];
  readonly lastTurn: number;
  readonly lastEditTurn: number;
  /** −1 if it was not changed. */
  readonly lastEditPosition: number;
  readonly lastPosition: number;
  /** New text of the newest small edits, oldest first; empty after the file was rewritten. */
  readonly snippets: readonly string[];
  /** Identifiers in edits and reads of the file, most significant first. */
  readonly symbols: readonly string[];
  /** Those of them that the file defines, each with the word that introduces it: `function`, `type`, `def`. */
  readonly definitions: ReadonlyMap<string, string>;
  /** Finds the lines that contain these names, in file order as far as that is known; repeatable. */
  readonly rows: () => readonly FileRow[];
}

/** An edit that removed the definition of a name. */
export interface Removal {
  readonly path: string;
  readonly position: number;
}

/** A command that the agent ran, or a tool call that acts like one. */
export interface CommandRun {
  readonly turn: number;
  readonly position: number;
  readonly command: string;
  /** Undefined if neither the producer nor the text reports it. */
  readonly exitCode: number | undefined;
  readonly failed: boolean;
  /** No failure is known, but the status belongs to a filter or a later command, and the output does not settle it. */
  readonly isHidden: boolean;
  /** Output lines that show the outcome: errors, test counts, names of failing tests. */
  readonly outcomeLines: readonly string[];
}

/** A later run that bears on the failure of another command. */
export interface LaterRun {
  readonly command: string;
  /**
   * - `variant`: the same command on the same operands succeeded with other options.
   * - `check`: a check that covers what the failed one covered succeeded, after an edit of a file that the failure names.
   * - `part`: the same check succeeded on a part of it.
   * - `respelled`: the misspelled command succeeded in other words, which may do something else.
   * - `understood`: it ran, and failed for another cause.
   * - `resolved`, `given up`: how a git conflict ended.
   */
  readonly as: 'variant' | 'check' | 'part' | 'respelled' | 'understood' | 'resolved' | 'given up';
}

/** A command's failure from one cause, and how it ended. */
export interface Failure {
  readonly turn: number;
  readonly position: number;
  readonly command: string;
  readonly outcomeLines: readonly string[];
  /** How often it failed from the same cause. */
  readonly times: number;
  /** `passed`: the same command succeeded later. `open`: the log shows no such success. */
  readonly outcome: 'passed' | 'open';
  /** A different command that succeeded later and bears on this one. */
  readonly later: LaterRun | undefined;
  /** Files edited between the failure and the success, newest last. */
  readonly editedBetween: readonly string[];
  /**
   * What else made it pass: permissions that it lacked before, or a command that installed, built or repaired what it needed.
   */
  readonly mendedBy: 'permissions' | { readonly command: string } | undefined;
  /** Where it ran, if the call or its script says so; relative to the working directory if inside it. */
  readonly directory: string | undefined;
}

/** Why a commit no longer exists under its hash: its branch was rebased, which gave it a new one, or reset to before it. */
export type CommitFate = 'rebased' | 'thrown away';

/** A commit made by the agent. */
export interface Commit {
  readonly turn: number;
  /** Undefined if git did not print it, or has replaced it since. */
  readonly hash: string | undefined;
  readonly subject: string;
  readonly fate?: CommitFate | undefined;
}

/** The newest commit, and where in the log it was made or seen. */
export interface NewestCommit {
  readonly position: number;
  /** Undefined if git did not print it. */
  readonly hash: string | undefined;
  readonly subject: string;
}

/** The state of git in the current work tree, as far as the log shows it. */
export interface TreeState {
  readonly newest: NewestCommit | undefined;
  /**
   * - `made`: the session made the newest commit, and it is checked out.
   * - `seen`: git showed it as checked out.
   * - `before`: it is the session's last commit, but what is checked out now is unknown.
   */
  readonly as: 'made' | 'seen' | 'before';
  /** The work tree of the newest commit, if the work is elsewhere or git reported several trees. */
  readonly directory: string | undefined;
  /** Whether the session committed anything, in any tree. */
  readonly hasCommits: boolean;
  /** Number of commits that the remote does not have, and whether that number is exact. */
  readonly ahead: number;
  /** Those of them that existed before the session's first commit, according to git. */
  readonly before: number;
  readonly isExact: boolean;
  /** Those of them that the session made. */
  readonly made: number;
  /** Whether git reported the state of the remote, or a push was seen. */
  readonly isRemoteSeen: boolean;
  /** Number of commits on the remote that the branch does not have, according to git. */
  readonly behind: number;
  /** What was checked out before somebody outside the session moved it. */
  readonly movedFrom: string | undefined;
  /** Why the newest push was rejected, if no later one succeeded. */
  readonly refusal: string | undefined;
  /** The branch has since been brought up to date with the remote. */
  readonly isMended: boolean;
  /** Files with uncommitted changes, newest first. Omits those whose state is unknown. */
  readonly changed: readonly { readonly path: string; readonly isDeleted: boolean }[];
  /** The hash of the newest commit in another work tree that holds files of all these names. */
  readonly copied: string | undefined;
  /** Files whose changes are in the newest stash. */
  readonly stashed: readonly string[];
}

/** A pull request, issue, push or other external object that the session produced or worked on. */
export interface Landmark {
  readonly turn: number;
  readonly text: string;
  /** What the session did to a pull request or an issue. */
  readonly state?: 'opened' | 'merged' | 'closed' | undefined;
}

/** A sentence of the agent that is worth keeping. */
export interface Statement {
  readonly turn: number;
  readonly position: number;
  readonly text: string;
  /** `decision` states a choice or a reason, `finding` a fact, `intent` the next step; `question` asks the user. */
  readonly kind: 'decision' | 'finding' | 'intent' | 'question';
  /** The line that introduced its list. */
  readonly lead?: string | undefined;
  /** Its place in that list. */
  readonly place?: ListPlace | undefined;
  /** It precedes the last change of mind in a message that thinks aloud, outside any list. */
  readonly isMused?: boolean;
  /** Its message ends by announcing another check, which may contradict it. */
  readonly isUnchecked?: boolean;
}

/** The place of a sentence in a list. */
export interface ListPlace {
  /** The same object for all items of one list. */
  readonly list: { readonly items: number };
  /** From 1. */
  readonly item: number;
}

/** A whole message of the agent; of a long one only the end. */
export interface Reply {
  readonly turn: number;
  readonly position: number;
  readonly text: string;
}

/** One action of the agent, as a phrase. */
export interface Action {
  readonly turn: number;
  /** The position of its result. */
  readonly position: number;
  /** The position of its call, if the call had to wait for a result. */
  readonly call: number | undefined;
  readonly text: string;
  /** How often it happened with the same result for its request. */
  readonly times: number;
}

/** A call near the end of the log with the beginning of its result, verbatim. */
export interface Activity {
  readonly turn: number;
  readonly position: number;
  readonly call: string;
  /** What it changed in files, if it shows that: rows that begin with `- `, `+ ` or, for a script's commands, `~ `. */
  readonly changed: string | undefined;
  /** What it did, worded as in the actions; undefined if it only read something. */
  readonly effect: string | undefined;
  /** Whether it only read files. */
  readonly isRead: boolean;
  /** Whether a file that it only read has changed since, or git discarded its changes. */
  readonly isStale: boolean;
  /** The files that it changed. */
  readonly edited: readonly string[];
  /** Whole lines; empty if nothing was printed. */
  readonly result: string;
}

/** The most recent events: since the newest request, and just before it. */
export interface CurrentWork {
  /** The agent's last statements, oldest first. */
  readonly statements: readonly Statement[];
  /** The last actions, oldest first. */
  readonly actions: readonly Action[];
  /** The last calls with the heads of their results, oldest first, across requests. */
  readonly tail: readonly Activity[];
  /** The newest results that the agent has not yet reacted to, oldest first. */
  readonly unread: readonly Activity[];
  /** Calls at the end of the log without a result so far, oldest first. */
  readonly started: readonly Action[];
  /** The agent's newest messages, oldest first, across requests. */
  readonly messages: readonly Reply[];
  /** The agent's newest list with numbered or named items, which the user may refer to. */
  readonly newestList: Reply | undefined;
  /** Number of calls since the newest request. */
  readonly calls: number;
  /** The agent's last message before the newest request, which that request answers. */
  readonly repliesTo: Reply | undefined;
  /** The agent's newest message since the newest request. */
  readonly newestReply: Reply | undefined;
  /** Whether the agent's last message has no call after it. */
  readonly isAgentDone: boolean;
}

/** The input for a summary or a continuation packet. */
export interface Trail {
  /** The working directory that the file names. */
  readonly cwd: string | undefined;
  /** The branch of the working directory: the last that git reported there, or the one that the file names. */
  readonly gitBranch: string | undefined;
  /** Where most of the newest commands ran, if not in the working directory. */
  readonly workedIn: string | undefined;
  /** The branch there, if git reported one. */
  readonly workedInBranch: string | undefined;
  readonly turns: number;
  /** Number of compactions in the log. */
  readonly compactions: number;
  readonly requests: readonly UserRequest[];
  /** Number of requests dropped because there were too many. */
  readonly requestsDropped: number;
  readonly constraints: readonly Constraint[];
  /** Texts that the user pinned, oldest first. */
  readonly pins: readonly Pin[];
  readonly answers: readonly AnsweredQuestion[];
  /** The plan or the todo list, whichever was written last. */
  readonly plan: Plan | undefined;
  /** The newest plan of each kind, todos first. */
  readonly plans: readonly Plan[];
  readonly presentedPlan: PresentedPlan | undefined;
  /** The numbered list that the current request follows, if the agent mentioned its items. */
  readonly items: ItemList | undefined;
  /** The checklist that was read or written last for the current request. */
  readonly checklist: Checklist | undefined;
  readonly files: readonly FileTrail[];
  /** Functions and types that an edit removed and no later edit restored, by name. */
  readonly removed: ReadonlyMap<string, Removal>;
  /** Paths that the session tried to read but that did not exist, unless touched since; newest first. */
  readonly missing: readonly string[];
  readonly commands: readonly CommandRun[];
  readonly failures: readonly Failure[];
  readonly commits: readonly Commit[];
  readonly tree: TreeState;
  readonly landmarks: readonly Landmark[];
  readonly statements: readonly Statement[];
  readonly openQuestions: readonly Statement[];
  readonly current: CurrentWork;
  /** The agent's own words about what comes next; undefined if it announced nothing. */
  readonly nextStep: string | undefined;
  readonly identifiers: readonly RankedIdentifier[];
  /** A summary whose source is not in the log: the only evidence of that past. */
  readonly carriedOver: string | undefined;
  /** Reading the log took too long and was stopped: only the pins are known. */
  readonly isLost: boolean;
}
