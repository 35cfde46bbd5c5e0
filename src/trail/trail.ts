// The structured trail: what a session asked for, did, learned and left open, in a size that does not grow with the
// length of the session. Positions count the items of the log from 0; turns count the requests of the user from 1.

import type { Pin } from './pins.ts';
import type { LineRange } from '../shell/scripts.ts';
import type { RankedIdentifier } from '../text/identifiers/identifiers.ts';

/** A message of the user. */
export interface UserRequest {
  /** 1 for the first request. Things that happened before any request belong to turn 0. */
  readonly turn: number;
  readonly position: number;
  /** Verbatim; long messages keep head and tail around a mark that says how much was left out. */
  readonly text: string;
  /** It came before the agent had answered the request before it. */
  readonly isInterjected: boolean;
  /** It corrects what the agent said before, in the words of the user or of the agent's first answer to it. */
  readonly isCorrection: boolean;
  /** How the agent's answer opens that takes back what it had said; undefined where none does. */
  readonly admission: string | undefined;
  /** Of a command: what the harness says that it stands for, in one line. */
  readonly instructions: string | undefined;
  /** What these instructions order or forbid in so many words, verbatim. */
  readonly orders: readonly string[];
  readonly actions: RequestActions;
}

/** An item of a numbered list. */
export interface ListedItem {
  readonly number: number;
  readonly text: string;
  /** The agent's newest sentence that names the item by its number, and the turn it was said in; 0 where there is none. */
  readonly said: string | undefined;
  readonly turn: number;
  /** Where it was said; −1 where nothing was. */
  readonly position: number;
  /** Files that were changed after that and before another item was named or the user spoke. */
  readonly changed: readonly string[];
}

/** The boxes of a file. */
export interface Checklist {
  readonly path: string;
  readonly ticked: number;
  /** What the others say, in their order. */
  readonly open: readonly string[];
}

/** A numbered list that the work follows. */
export interface ItemList {
  /** The message that gives the list, or that the agent answered with it. */
  readonly turn: number;
  readonly by: 'user' | 'agent';
  /** Those of which something was said last come last. */
  readonly items: readonly ListedItem[];
  /** Those that are wanted and that nobody spoke of, by number or in words of theirs. */
  readonly silent: readonly ListedItem[];
  /** Those that are wanted and were spoken of in their words or with all others only: whether they are done stands nowhere. */
  readonly others: readonly ListedItem[];
}

/** What the agent did about one request, in short. */
export interface RequestActions {
  /** Paths edited, created, deleted or moved, in order of the first time. */
  readonly edited: readonly string[];
  readonly commands: number;
  readonly failedCommands: number;
  /** The sentence that opens the agent's last message to the request. */
  readonly outcome: string | undefined;
}

/** A sentence of the user that holds beyond the request it came with, verbatim. */
export interface Constraint {
  readonly turn: number;
  readonly text: string;
  /** It stands in the middle of a text that was pasted, as it seems, and may be somebody else's. */
  readonly isPasted: boolean;
  /** It stands in the template that a harness put around the task; such a rule is pasted, too. */
  readonly isTemplate?: true;
}

/** A question of the agent and what the user said to it. */
export interface AnsweredQuestion {
  readonly turn: number;
  readonly question: string;
  readonly answer: string;
  /** Of an edit that was refused: where the agent had spoken last before it. */
  readonly proposedAt?: number | undefined;
}

/** The states of a plan step, whatever the tool calls them. */
export type StepStatus = 'pending' | 'in_progress' | 'completed' | 'cancelled';

/** One step of the agent's plan or todo list. */
export interface PlanStep {
  readonly text: string;
  readonly status: StepStatus;
}

/** A plan in prose: put before the user, or kept in a plan file. @source Claude Code, `ExitPlanMode` and `.claude/plans` */
export interface PresentedPlan {
  readonly position: number;
  readonly text: string;
  /** Of the file that holds it. */
  readonly path?: string;
}

/** The newest state of the agent's plan. */
export interface Plan {
  /** What the tool that keeps it calls it. */
  readonly kind: 'plan' | 'todo';
  readonly turn: number;
  readonly position: number;
  readonly steps: readonly PlanStep[];
  /** How many earlier plans with other steps this one replaced. */
  readonly revisions: number;
  /** Its steps were added one by one, as tasks that a tool keeps until they are closed, whatever is asked meanwhile. */
  readonly isKept?: true;
}

/** A line of a file as it was read or written last. */
export interface FileRow {
  /** Trimmed, secrets replaced; with its number in front where the reader gave one. */
  readonly text: string;
  readonly isWritten: boolean;
  /** Whether it introduces a name: a function, a type, a constant. */
  readonly isDefinition: boolean;
}

/** What happened to one file, under its newest name. */
export interface FileTrail {
  /** Relative to the working directory where it lies in it. */
  readonly path: string;
  readonly state: 'read' | 'edited' | 'created' | 'deleted';
  /** Whether git put back what it has after the newest edit. */
  readonly isRestored: boolean;
  readonly reads: number;
  readonly edits: number;
  /** Line ranges read since the newest edit, at most a few. */
  readonly ranges: readonly LineRange[];
  /** Lines of the whole file, where a reader that showed a part told. */
  readonly lines: number | undefined;
  /** Whether each read left something out, nobody says what. */
  readonly hasGaps: boolean;
  /** The names it had before, oldest first. */
  readonly renamedFrom: readonly string[];
  readonly lastTurn: number;
  readonly lastEditTurn: number;
  /** −1 where it was not changed. */
  readonly lastEditPosition: number;
  readonly lastPosition: number;
  /** New text of the newest small edits, oldest first; empty once the file was rewritten. */
  readonly snippets: readonly string[];
  /** Identifiers in edits and reads of the file, most telling first. */
  readonly symbols: readonly string[];
  /** The names among them that the file defines, with the word that introduces each: `function`, `type`, `def`. */
  readonly definitions: ReadonlyMap<string, string>;
  /** Looks for the lines that name them, in the order of the file as far as it is known; the same each time. */
  readonly rows: () => readonly FileRow[];
}

/** Where an edit took out the definition of a name. */
export interface Removal {
  readonly path: string;
  readonly position: number;
}

/** A command that the agent ran, or a tool call that behaves like one. */
export interface CommandRun {
  readonly turn: number;
  readonly position: number;
  readonly command: string;
  /** Undefined where the producer did not say and the text does not tell. */
  readonly exitCode: number | undefined;
  readonly failed: boolean;
  /** Not known to have failed, but its status is that of a filter or of what ran after it, and its output does not tell. */
  readonly isHidden: boolean;
  /** Lines of the output that tell how it went: errors, counts of tests, names of failing ones. */
  readonly telling: readonly string[];
}

/** A later run that says something of a failure of another command. */
export interface LaterRun {
  readonly command: string;
  /**
   * `variant`: the same on the same operands ran well with other options. `check`: a check that looks at all that the failed one
   * looked at, after an edit of a file that the failure names. `part`: the same check on a part of it. `respelled`: what was
   * spelled wrong ran well in other words, which may do something else. `understood`: it ran, and failed for another cause. `resolved` and
   * `given up`: what became of a conflict of git.
   */
  readonly as: 'variant' | 'check' | 'part' | 'respelled' | 'understood' | 'resolved' | 'given up';
}

/** A failure of a command for one cause, and how it ended. */
export interface Failure {
  readonly turn: number;
  readonly position: number;
  readonly command: string;
  readonly telling: readonly string[];
  /** How often it failed for the same cause. */
  readonly times: number;
  /** `passed`: the same command succeeded later. `open`: it did not, as far as the log tells. */
  readonly outcome: 'passed' | 'open';
  /** What ran well later without being the same command. */
  readonly later: LaterRun | undefined;
  /** Files edited between the failure and the success, newest last. */
  readonly editedBetween: readonly string[];
  /** What else made it pass: permissions that it had not had, or a command that brings in, builds or mends what it needs. */
  readonly mendedBy: 'permissions' | { readonly command: string } | undefined;
  /** Where it ran, as far as the call or its script told: from the working directory, where it lies in it. */
  readonly directory: string | undefined;
}

/** What became of a commit: its branch was put on another base, which gave it a new hash, or reset to before it. */
export type CommitFate = 'rebased' | 'thrown away';

/** A commit that the agent made. */
export interface Commit {
  readonly turn: number;
  /** Undefined where git did not print it, or has given it another since. */
  readonly hash: string | undefined;
  readonly subject: string;
  readonly fate?: CommitFate | undefined;
}

/** The newest commit, and where in the log it was made or seen. */
export interface NewestCommit {
  readonly position: number;
  /** Undefined where git did not print it. */
  readonly hash: string | undefined;
  readonly subject: string;
}

/** The state of git where the work is, as far as the log tells. */
export interface TreeState {
  readonly newest: NewestCommit | undefined;
  /**
   * `made`: the session made the newest commit, and it is checked out. `seen`: git showed it as what is checked out. `before`:
   * it is the last that the session made; what is checked out by now is not known.
   */
  readonly as: 'made' | 'seen' | 'before';
  /** The work tree of the newest commit, where that is not where the work is, or where git told of another one, too. */
  readonly directory: string | undefined;
  /** Whether the session committed anything, anywhere. */
  readonly hasCommits: boolean;
  /** Commits that the remote does not have, and whether there can be no more. */
  readonly ahead: number;
  /** Of these, those that were there before the session made its first, as git told. */
  readonly before: number;
  readonly isExact: boolean;
  /** Of these, those that the session made. */
  readonly made: number;
  /** Whether git told of the remote, or a push was seen. */
  readonly isRemoteSeen: boolean;
  /** Commits of the remote that the branch does not have, as git told. */
  readonly behind: number;
  /** What was checked out before somebody else moved it. */
  readonly movedFrom: string | undefined;
  /** Why the newest push was refused, while no other went well. */
  readonly refusal: string | undefined;
  /** The branch was put on what the remote has since then. */
  readonly isMended: boolean;
  /** Files with changes that no commit holds, the newest first. What nobody knows is left out. */
  readonly changed: readonly { readonly path: string; readonly isDeleted: boolean }[];
  /** The hash of the newest commit, where it holds files of all these names in another work tree. */
  readonly copied: string | undefined;
  /** Files whose changes the newest stash holds. */
  readonly stashed: readonly string[];
}

/** A pull request, issue, push or other thing of the outer world that the session produced or was about. */
export interface Landmark {
  readonly turn: number;
  readonly text: string;
  /** What the session made of a pull request or an issue. */
  readonly state?: 'opened' | 'merged' | 'closed' | undefined;
}

/** A sentence of the agent that is worth keeping. */
export interface Statement {
  readonly turn: number;
  readonly position: number;
  readonly text: string;
  /** `decision` gives a choice or a reason, `finding` a fact, `intent` what comes next, `question` asks the user. */
  readonly kind: 'decision' | 'finding' | 'intent' | 'question';
  /** The line that introduced the list in which it stood. */
  readonly lead?: string | undefined;
  /** Its place in that list. */
  readonly place?: ListPlace | undefined;
  /** It stands before the last turn of a message that thinks aloud, in no list. */
  readonly isMused?: boolean;
  /** Its message ends with what the agent looks at next: what is said there may come out otherwise. */
  readonly isUnchecked?: boolean;
}

/** Where something stands in a list. */
export interface ListPlace {
  /** The same for all items of one list. */
  readonly list: { readonly items: number };
  /** From 1. */
  readonly item: number;
}

/** A whole message of the agent, its end where it was long. */
export interface Reply {
  readonly turn: number;
  readonly position: number;
  readonly text: string;
}

/** Something the agent did, as one phrase. */
export interface Action {
  readonly turn: number;
  /** Where its result stands. */
  readonly position: number;
  /** Where its call stands, if the call waited for a result. */
  readonly call: number | undefined;
  readonly text: string;
  /** How often it was done with the same result on its request. */
  readonly times: number;
}

/** A call near the end of the log with the beginning of its result, verbatim. */
export interface Activity {
  readonly turn: number;
  readonly position: number;
  readonly call: string;
  /** What it changed in files, as far as it tells that: rows that begin with `- `, `+ ` or, of a script's orders, `~ `. */
  readonly changed: string | undefined;
  /** What it did, as the actions tell it; undefined where it only looked. */
  readonly effect: string | undefined;
  /** Whether all it did was to read files. */
  readonly isRead: boolean;
  /** Whether a file that it only looked at was changed since, or git threw away what it changed. */
  readonly isStale: boolean;
  /** The files that it changed. */
  readonly edited: readonly string[];
  /** Whole lines; empty where nothing was printed. */
  readonly result: string;
}

/** What happened last: since the newest request, and just before it. */
export interface CurrentWork {
  /** The last statements of the agent, oldest first. */
  readonly statements: readonly Statement[];
  /** The last actions, oldest first. */
  readonly actions: readonly Action[];
  /** The last calls with the heads of their results, oldest first, whatever the request. */
  readonly tail: readonly Activity[];
  /** The newest results, to which the agent has neither said nor done anything yet, oldest first. */
  readonly unread: readonly Activity[];
  /** Calls at the end of the log that have no result yet, oldest first. */
  readonly started: readonly Action[];
  /** The newest messages of the agent, oldest first, whatever the request. */
  readonly said: readonly Reply[];
  /** The newest list of the agent whose items have numbers or names, by which the user may refer to them. */
  readonly newestList: Reply | undefined;
  /** Calls since the newest request. */
  readonly calls: number;
  /** The last message of the agent before the newest request: what that request replies to. */
  readonly repliesTo: Reply | undefined;
  /** The agent's newest message since the newest request. */
  readonly newestReply: Reply | undefined;
  /** Whether the agent ended its last message without a call after it. */
  readonly isAgentDone: boolean;
}

/** Everything that a summary or a continuation packet is written from. */
export interface Trail {
  /** The working directory that the file names. */
  readonly cwd: string | undefined;
  /** The branch of the working directory: what git named there last, or what the file names. */
  readonly gitBranch: string | undefined;
  /** Where most of the newest commands ran, when that is elsewhere. */
  readonly workedIn: string | undefined;
  /** The branch of that place, where git named one there. */
  readonly workedInBranch: string | undefined;
  readonly turns: number;
  /** Compactions seen in the log. */
  readonly compactions: number;
  readonly requests: readonly UserRequest[];
  /** Requests too many to keep: how many were let go. */
  readonly requestsDropped: number;
  readonly constraints: readonly Constraint[];
  /** What the user pinned, oldest first. */
  readonly pins: readonly Pin[];
  readonly answers: readonly AnsweredQuestion[];
  /** The plan or the todo list, whichever was written last. */
  readonly plan: Plan | undefined;
  /** The newest of each kind, todos first. */
  readonly plans: readonly Plan[];
  readonly presentedPlan: PresentedPlan | undefined;
  /** The numbered list that the current request follows, where the agent spoke of its items. */
  readonly items: ItemList | undefined;
  /** The checklist that was read or written last on the current request. */
  readonly checklist: Checklist | undefined;
  readonly files: readonly FileTrail[];
  /** By name, functions and types that an edit took out and none brought back since. */
  readonly removed: ReadonlyMap<string, Removal>;
  /** Paths that were to be looked at and did not exist, unless they were touched since; the newest first. */
  readonly missing: readonly string[];
  readonly commands: readonly CommandRun[];
  readonly failures: readonly Failure[];
  readonly commits: readonly Commit[];
  readonly tree: TreeState;
  readonly landmarks: readonly Landmark[];
  readonly statements: readonly Statement[];
  readonly openQuestions: readonly Statement[];
  readonly current: CurrentWork;
  /** The agent's own words about what comes next, or undefined where it named nothing. */
  readonly nextStep: string | undefined;
  readonly identifiers: readonly RankedIdentifier[];
  /** A summary whose past is not in the log: the only evidence of it. */
  readonly carriedOver: string | undefined;
  /** Reading the log took too long and was ended: nothing is known but the pins. */
  readonly isLost: boolean;
}
