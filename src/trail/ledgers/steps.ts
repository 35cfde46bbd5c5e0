// The agent's newest steps: calls with their effects and output, and which of those the agent has not yet reacted to.

import { moreRows } from '../calls/changes.ts';
import type { LogMoment } from './files.ts';
import type { Quotable } from '../../text/identifiers/identifiers.ts';
import { stripAnsi } from '../outputs/outputs.ts';
import { redact } from '../../text/redact.ts';
import { detached, headLines, keptOf } from '../../text/sentences.ts';
import type { Action, Activity } from '../trail.ts';

const MAX_ACTIONS = 24;
const MAX_TAIL = 80;
/** Quotable reports of the work tree, to be dropped once they are outdated. */
const MAX_QUOTED_REPORTS = 200;
const MAX_TAIL_LENGTH = 2_400;
/** Characters kept of one result, and shown of all together: with few results, each gets more. */
const KEPT_TAIL_LENGTH = 16_000;
const WHOLE_TAIL_LENGTH = 100_000;
const FEW_STEPS = 20;
/** Results that arrived together and await the agent, and the characters kept of each at its head and again at its tail. */
const MAX_UNREAD = 8;
const UNREAD_LENGTH = 6_000;

/** A call that has a result, before its outcome is recorded. */
export interface FinishedCall {
  readonly moment: LogMoment;
  readonly call: string;
  /** What an edit changed. */
  readonly changed: string | undefined;
  readonly isRead: boolean;
  /** The files that it reads and does not change. */
  readonly readPaths: readonly string[];
  /** It only inspected the work tree. `lines`: it showed the differing lines, which stay useful after further changes. */
  readonly report: 'none' | 'files' | 'lines';
}

/** A step whose result is being processed; its effects are recorded meanwhile. */
type OpenActivity = { -readonly [K in keyof Activity]: Activity[K] } & Pick<FinishedCall, 'readPaths'> & {
    /** Number of lines of the result that were dropped. */
    readonly beyond: number;
  };

/** Collects steps; the limits above bound its memory. */
export class StepLedger {
  readonly #actions: Action[] = [];
  readonly #tail: OpenActivity[] = [];
  #unread: OpenActivity[] = [];
  #hasResult = false;
  /** The step whose result is being processed, as it will be shown. */
  #open: readonly OpenActivity[] = [];
  /** Positions of steps whose report of the work tree is still valid, and what is quoted of them. */
  #reports: { readonly position: number; readonly isWorthKeeping: boolean }[] = [];
  #quotedReports: Quotable[] = [];

  /** The agent called a tool. Calls made together have their results after the last of them. */
  noteCall(): void {
    if (this.#hasResult) this.#unread = [];
    this.#hasResult = false;
  }

  /** The agent spoke, so it has reacted to what it saw. */
  noteMessage(): void {
    this.#unread = [];
  }

  /** A result arrived; a step or a plan with its content may follow. */
  noteResult(): void {
    this.#hasResult = true;
  }

  /** Takes in a step. Until `close`, every recorded effect belongs to it. */
  open({ moment, call, changed, isRead, readPaths, report }: FinishedCall, result: string): void {
    const { turn, position } = moment;
    if (report !== 'none') {
      this.#reports = [...this.#reports, { position, isWorthKeeping: report === 'lines' }].slice(-MAX_TAIL);
    }
    const kept = this.#tail.length < FEW_STEPS ? KEPT_TAIL_LENGTH : 2 * MAX_TAIL_LENGTH;
    const effect = undefined;
    const isStale = false;
    const edited: readonly string[] = [];
    // Written out because an object spread is much slower.
    const done = {
      turn,
      position,
      call,
      changed,
      effect,
      isRead,
      isStale,
      edited,
      readPaths,
      result: keptOf(result, result.slice(0, kept)),
      beyond: linesFrom(result, kept),
    };
    const ends = keptOf(result, countedEnds(result));
    const unread = {
      turn,
      position,
      call,
      changed,
      effect,
      isRead,
      isStale,
      edited,
      readPaths,
      result: ends,
      beyond: 0,
    };
    this.#tail.push(done);
    if (this.#tail.length > MAX_TAIL) this.#tail.shift();
    this.#unread.push(unread);
    if (this.#unread.length > MAX_UNREAD) this.#unread.shift();
    this.#open = [done, unread];
  }

  close(): void {
    this.#open = [];
  }

  /** A file changed, so earlier reads of it are outdated. */
  noteChange(path: string): void {
    for (const step of this.#open) step.edited = [...step.edited, path];
    for (const step of [...this.#tail, ...this.#unread]) {
      if (!this.#open.includes(step) && step.readPaths.includes(path)) step.isStale = true;
    }
  }

  /** Git discarded the changes of some files after a position: steps that only made those changes have no effect left. */
  noteRestored(paths: readonly string[], since: number): void {
    const isUndone = ({ position, edited }: OpenActivity): boolean =>
      position > since && edited.length > 0 && edited.every((path) => paths.includes(path));
    for (const step of [...this.#tail, ...this.#unread])
      if (!this.#open.includes(step) && isUndone(step)) step.isStale = true;
    const phrases = new Set(paths.flatMap((path) => [`${EDITED}${path}`, `wrote ${path}`]));
    const stands = ({ position, text }: Action): boolean => position <= since || !phrases.has(text);
    this.#actions.splice(0, Infinity, ...this.#actions.filter(stands));
  }

  /** Records an action in words; a repeated one moves to its newest position. */
  act(phrase: string, { turn, position }: LogMoment): void {
    for (const step of this.#open) step.effect = detached(withEffect(step.effect, phrase));
    const before = this.#actions.findIndex((action) => action.text === phrase && action.turn === turn);
    const times = (this.#actions[before]?.times ?? 0) + 1;
    if (before >= 0) this.#actions.splice(before, 1);
    const call = this.#open[0]?.position;
    this.#actions.push({ turn, position, call, text: detached(phrase), times });
    if (this.#actions.length > MAX_ACTIONS) this.#actions.shift();
  }

  /** Whether the effect of the step being processed is already recorded. */
  get hasEffect(): boolean {
    return this.#open.some(({ effect }) => effect !== undefined);
  }

  /** A quotable text contains a state of the work tree. */
  quoteReport(quotable: Quotable): void {
    this.#quotedReports = [...this.#quotedReports, quotable].slice(-MAX_QUOTED_REPORTS);
  }

  /** Git's reports of the work tree are outdated once a file changes or a commit is made. */
  forgetReports(): void {
    if (this.#reports.length === 0) return;
    const stale = new Map(this.#reports.map(({ position, isWorthKeeping }) => [position, isWorthKeeping]));
    this.#tail.splice(0, Infinity, ...this.#tail.filter(({ position }) => stale.get(position) !== false));
    this.#unread = this.#unread.filter(({ position }) => !stale.has(position));
    for (const quotable of this.#quotedReports) delete quotable.outcome;
    this.#reports = [];
    this.#quotedReports = [];
  }

  /** The last actions, each once. */
  actions(): Action[] {
    return [...this.#actions];
  }

  /** The newest steps, oldest first. Paths are relative to `root`, a directory without a trailing slash, or empty. */
  tail(root: string): Activity[] {
    return this.#tail.map((activity) => activityFrom(activity, { root, count: this.#tail.length }));
  }

  /** Whether anything awaits the agent's reaction. */
  get hasUnread(): boolean {
    return this.#unread.length > 0;
  }

  /** The newest steps that the agent has not reacted to. Paths are relative to `root`. */
  unread(root: string): Activity[] {
    return this.#unread.map((activity) => redactedActivity(activity, root));
  }
}

/** What is shown of one of `count` steps. Computed on demand, because most steps are dropped unread. */
function activityFrom(
  activity: OpenActivity,
  { root, count }: { readonly root: string; readonly count: number },
): Activity {
  const { turn, position, call, result, changed, effect, isRead, isStale, edited } = activity;
  const length = Math.max(MAX_TAIL_LENGTH, Math.floor(WHOLE_TAIL_LENGTH / count));
  const whole = stripAnsi(result);
  const head = headLines(whole, length);
  const rest = whole.slice(head.length).trim();
  const cut = rest === '' ? 0 : linesFrom(rest, 0) + 1;
  const shown = [head, ...moreRows(cut + activity.beyond)].join('\n');
  return redactedActivity(
    { turn, position, call, changed, effect, isRead, isStale, edited, result: countedEnds(shown) },
    root,
  );
}

/** Head and tail of a result, with a count of the lines omitted between them. */
function countedEnds(result: string): string {
  if (result.length <= 2 * UNREAD_LENGTH) return result;
  const head = headLines(result, UNREAD_LENGTH);
  const tail = result.slice(result.length - UNREAD_LENGTH);
  const end = tail.indexOf('\n') + 1;
  const between = linesFrom(result, head.length) - linesFrom(tail, end) - 1;
  return [head, ...moreRows(Math.max(0, between)), tail.slice(end)].join('\n');
}

/** Number of line feeds after an offset in a text. */
function linesFrom(text: string, place: number): number {
  let lines = 0;
  for (let at = text.indexOf('\n', place); at >= 0; at = text.indexOf('\n', at + 1)) lines++;
  return lines;
}

function redactedActivity(activity: Activity, root: string): Activity {
  const { turn, position, call, result, changed, effect, isRead, isStale, edited } = activity;
  return {
    turn,
    position,
    effect,
    isRead,
    isStale,
    edited,
    call: redact(call),
    changed: changed === undefined ? undefined : redact(changed),
    result: redact(withoutRoot(stripAnsi(result), root)),
  };
}

function withoutRoot(text: string, root: string): string {
  return root === '' ? text : text.replaceAll(`${root}/`, '');
}

const EDITED = 'edited ';

/** A call's effect with one more added: edits of several files are one effect. */
function withEffect(effect: string | undefined, phrase: string): string {
  if (effect === undefined) return phrase;
  const isMore = effect.startsWith(EDITED) && phrase.startsWith(EDITED);
  return isMore ? `${effect}, ${phrase.slice(EDITED.length)}` : `${effect}; ${phrase}`;
}
