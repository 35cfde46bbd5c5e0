// The lines about the agent's work: statements, actions, commands.

import { identifiersByRow, SECTION, summaryLine } from '../line.ts';
import type { SummaryLine } from '../line.ts';
import { readsFailed } from '../../trail/outputs/outputs.ts';
import { SINCE } from './step-lines.ts';
import { checksIn, programOf } from '../../shell/runners.ts';
import { clip } from '../../text/sentences.ts';
import { isChoice } from '../../trail/talk/statements.ts';
import { leadText } from '../lead-in.ts';
import { supersededAmong } from '../superseded.ts';
import { isGuess } from '../speech.ts';
import type { Retractions } from '../../trail/talk/retractions.ts';
import type { Action, CommandRun, Statement, Trail } from '../../trail/trail.ts';
import { OTHER_RUNS, sentLines } from './sent-lines.ts';
import { settledOptions } from '../settled-options.ts';

/** A shorter statement must name something. */
const SHORT_STATEMENT = 60;

/** The agent's recent statements, its earlier findings and decisions, and explicit choices among those, newest first. */
export function statementLines(
  trail: Trail,
  budget: number,
  { isObsolete: isSpent, isOutdated: isOvertaken }: Retractions,
): {
  readonly now: SummaryLine[];
  readonly before: SummaryLine[];
  readonly choices: SummaryLine[];
  /** Statements that are no longer worth showing, by `saidKey`. */
  readonly passed: ReadonlySet<string>;
} {
  const context = { trail, budget, overruled: overruledTurns(trail) };
  const replies = new Set([trail.current.repliesTo?.position, trail.current.newestReply?.position]);
  const last = distinct(trail.current.statements).filter(
    (said) => said.turn === trail.turns && !replies.has(said.position) && !isOvertaken(said),
  );
  const shown = new Set(last.map(({ text }) => text));
  const now = last.map((statement, order) =>
    statementLine(statement, context, {
      section: SECTION.current,
      group: SINCE,
      order: statement.position + order / 1_000,
      mark: 'said: ',
      step: statement.position,
    }),
  );
  const isSettled = settledOptions(trail);
  const lasting = new Set(
    trail.statements.filter(
      (statement) =>
        (statement.kind === 'decision' || statement.kind === 'finding') &&
        statement.isMused !== true &&
        !isSettled(statement) &&
        isFindingAlone(statement) &&
        !isGuess(statement.text) &&
        !isSpent(statement),
    ),
  );
  const replaced = supersededAmong(trail.statements, (statement) => lasting.has(statement));
  const before = distinct(trail.statements)
    .filter(({ text, position }) => !shown.has(text) && !replies.has(position))
    .filter((statement) => lasting.has(statement) && !replaced.has(statement))
    .map((statement, at) =>
      statementLine(statement, context, {
        section: SECTION.solving,
        group: `Message ${statement.turn}:`,
        order: 1 + at,
        mark: '',
      }),
    );
  return {
    now: now.filter(isWorthShowing),
    before: before.filter(isWorthShowing),
    choices: before.filter(({ text }) => isChoice(text)).toReversed(),
    passed: new Set(
      trail.statements
        .filter((statement) => statement.isMused === true || replaced.has(statement) || isSettled(statement))
        .map(({ position, text }) => statementKey(position, text)),
    ),
  };
}

/** Identifies a sentence at its position. */
export function statementKey(position: number, text: string): string {
  return `${position} ${text}`;
}

/** A short statement without any name ("That makes sense.") means nothing without its context. */
function isWorthShowing({ text, identifiers }: SummaryLine): boolean {
  return text.length >= SHORT_STATEMENT || (identifiers[0]?.length ?? 0) > 0;
}

interface StatementPlace {
  readonly section: number;
  readonly order: number;
  readonly group: string;
  /** Precedes a statement, or the line that introduces it. */
  readonly mark: string;
  readonly step?: number;
}

function statementLine(
  statement: Statement,
  context: WorkContext,
  { section, order, group, mark, step }: StatementPlace,
): SummaryLine {
  const { lead, place, text } = statement;
  const written = lead === undefined ? `- ${mark}${text}` : `  - ${text}`;
  const identifiers = identifiersByRow(written);
  return summaryLine({
    section,
    order,
    group,
    text: written,
    quotes: text,
    step,
    value: statementValue(statement, identifiers[0]?.length ?? 0, context),
    lead: lead === undefined ? undefined : leadText(`- ${mark}${lead}`, place),
    place,
    identifiers,
  });
}

/** The context of the lines. */
interface WorkContext {
  readonly trail: Trail;
  readonly budget: number;
  readonly overruled: ReadonlySet<number>;
}

/** Sentences are worth twice as much if there is room: in a small summary, the names that they lack count for more. */
function roomFactor(budget: number): number {
  return Math.min(2, Math.max(1, budget / 2_000));
}

/** Factor for the worth of a sentence that only introduces the next one. */
const LEAD_IN = 0.4;

/** Factor for the worth of a sentence that thinks aloud, refers to one that is not shown, or says little. */
const THOUGHT = 0.3;
const POINTING = 0.6;
const REMARK = 0.3;
/** Factor for the worth of what the agent said before the user or the agent itself withdrew it. */
const OVERRULED = 0.3;
/** Factor for the worth of a sentence that states an outcome. */
const CONCLUSION = 1.5;

const THINKS_ALOUD =
  /^(?:(?:but|so|no|ok(?:ay)?|well|and),? )?(?:wait|hmm+|ah|oh|maybe|perhaps|actually|let['’]?s (?:see|look|check|try)|let me|if|or|what if|I (?:think|assume|guess|suspect|wonder|need to|should|can|could|will|see|just)|should I|it (?:seems|looks|might|may|could|should)|(?:this|that) (?:might|may|could|should))\b/i;
const POINTS_BACK = /^(?:so|that|this|it|but|and|then|these|those|they|which|however|also|anyway)\b/i;
const CONCLUDES =
  /\b(?:because|root cause|turns? out|turned out|(?:works?|pass(?:es)?|fixed|green) (?:now|again)|fixed by|caused by|due to|(?:problem|issue|bug|cause|reason|culprit|fix) (?:is|was)|confirm(?:s|ed)|that['’]s why|which (?:is why|means)|weil|wegen|parce que|porque)\b|因为|原因|ため|때문/i;

/** Whether a sentence is informative to readers who did not follow the thought around it. */
function isFindingAlone({ text, lead }: Statement): boolean {
  if (lead !== undefined || CONCLUDES.test(text) || isChoice(text)) return true;
  return text.length >= REMARK_LENGTH && !THINKS_ALOUD.test(text) && !POINTS_BACK.test(text);
}

/** A shorter sentence without a conclusion is just a remark on its neighbours. */
const REMARK_LENGTH = 60;

function statementValue(
  { kind, turn, text, lead }: Statement,
  names: number,
  { trail, budget, overruled }: WorkContext,
): number {
  const fresh = 0.3 + 0.7 / (1 + (trail.turns - turn) / 3);
  const base = { decision: 1.5, finding: 0.6, intent: 0.5, question: 0.4 }[kind];
  const concludes = CONCLUDES.test(text);
  const factors = [
    names === 0 ? 0.25 : 1,
    text.endsWith(':') ? LEAD_IN : 1,
    THINKS_ALOUD.test(text) ? THOUGHT : lead === undefined && POINTS_BACK.test(text) ? POINTING : 1,
    concludes ? CONCLUSION : lead === undefined && text.length < REMARK_LENGTH ? REMARK : 1,
    overruled.has(turn) ? OVERRULED : 1,
  ];
  return factors.reduce((value, factor) => value * factor, roomFactor(budget) * base * fresh);
}

/** The requests after which the user corrected the answer. */
function overruledTurns({ requests }: Trail): ReadonlySet<number> {
  return new Set(requests.filter(({ isCorrection }) => isCorrection).map(({ turn }) => turn - 1));
}

/** The newest of equal statements. */
function distinct(statements: readonly Statement[]): Statement[] {
  const byText = new Map<string, Statement>();
  for (const statement of statements) {
    byText.delete(statement.text);
    byText.set(statement.text, statement);
  }
  return [...byText.values()];
}

const NONE_SHOWN: ReadonlySet<number> = new Set();

/**
 * The agent's last actions, each once, at its newest place.
 * @param shown positions of calls that other lines show
 */
export function actionLines(trail: Trail, shown: ReadonlySet<number> = NONE_SHOWN): SummaryLine[] {
  const newest = new Map<string, Action>();
  for (const action of trail.current.actions) {
    if (action.call !== undefined && shown.has(action.call)) continue;
    newest.delete(action.text);
    newest.set(action.text, action);
  }
  const actions = [...newest.values()];
  const folded = [
    ...foldRuns(actions.filter(({ turn }) => turn < trail.turns)),
    ...actions.filter(({ turn }) => turn >= trail.turns),
  ];
  const newestBefore = folded.findLast(({ turn }) => turn < trail.turns)?.turn;
  return joinEdits(folded, trail.turns).map(({ text, turn, position, call, times }, at) => {
    const isSince = turn === trail.turns;
    return summaryLine({
      section: SECTION.current,
      order: isSince ? position + 0.5 + at / 1_000 : -2e9 + at,
      text: `- ${text}${times >= COUNTED_RUNS && text.startsWith('ran ') ? ` (${times}×)` : ''}`,
      step: call,
      value: isSince ? 0.8 : 0.4,
      group: isSince
        ? SINCE
        : turn === newestBefore
          ? 'Last actions before it:'
          : `Actions on message ${turn}:`,
    });
  });
}

/** Runs with the same result are counted from this number on: two may be before and after an edit. */
const COUNTED_RUNS = 3;

/** A run of which only the command is shown. */
const BARE_RUN = /^ran `(.*)`$/s;
/** Bare runs of one program that are shown if there are more than twice as many. */
const SHOWN_RUNS = 2;

/** Of many runs of one program without a shown result, the newest, and the number of others. Each check is shown. */
function foldRuns(actions: readonly Action[]): Action[] {
  const runs = new Map<string, Action[]>();
  for (const action of actions) {
    const command = BARE_RUN.exec(action.text)?.[1];
    if (command === undefined || checksIn(command).length > 0) continue;
    const program = programOf(command);
    runs.set(program, [...(runs.get(program) ?? []), action]);
  }
  const merged = new Set<Action>();
  const more = new Map<Action, string>();
  for (const [program, same] of runs) {
    const old = same.length > 2 * SHOWN_RUNS ? same.slice(0, -SHOWN_RUNS) : [];
    const [first] = same.slice(old.length);
    if (first === undefined || old.length === 0) continue;
    for (const action of old) merged.add(action);
    more.set(first, `${first.text} (and before it ${old.length} more of \`${program}\`)`);
  }
  return actions
    .filter((action) => !merged.has(action))
    .map((action) => ({ ...action, text: more.get(action) ?? action.text }));
}

const EDITED = 'edited ';
/** Paths per line. */
const JOINED_EDITS = 5;

/**
 * Consecutive edits are one line; since the current request only those of one call, because each may appear with its changes.
 */
function joinEdits(actions: readonly Action[], current: number): Action[] {
  const joined: Action[] = [];
  let paths = 0;
  for (const action of actions) {
    const before = joined.at(-1);
    const isEdit = action.text.startsWith(EDITED);
    paths = isEdit ? paths + 1 : 0;
    const isOne = before?.turn === action.turn && (action.turn < current || before.call === action.call);
    if (isEdit && paths > 1 && paths <= JOINED_EDITS && before !== undefined && isOne) {
      joined[joined.length - 1] = {
        ...action,
        text: `${before.text}, ${action.text.slice(EDITED.length)}`,
      };
    } else {
      joined.push(action);
      paths = isEdit ? 1 : 0;
    }
  }
  return joined;
}

/** The runs before the last actions, the newest of equal commands, with their results. */
export function runLines(trail: Trail): SummaryLine[] {
  const shown = new Set(trail.current.actions.map(({ text }) => text));
  const byCommand = new Map<string, CommandRun>();
  for (const run of trail.commands) byCommand.set(run.command, run);
  const sent = sentLines(trail.commands);
  const others = [...byCommand.values()]
    .filter(({ command }) => !sent.covered.has(command) && ![...shown].some((text) => text.includes(command)))
    .map((run) =>
      summaryLine({
        section: SECTION.solving,
        order: 1e9 + run.position,
        text: `- \`${clip(run.command, 160)}\` (message ${run.turn})${resultSuffix(run)}`,
        value: 0.15,
        group: OTHER_RUNS,
      }),
    );
  return [...sent.lines, ...others];
}

/** The result of a run as a suffix; empty if unknown. */
function resultSuffix({ failed, isHidden, outcomeLines: telling }: CommandRun): string {
  const shown = failed ? telling[0] : (telling.find(readsFailed) ?? telling.at(-1));
  if (shown === undefined) return failed ? ' → failed' : isHidden ? '' : ' → ok';
  const status = failed ? 'failed' : readsFailed(shown) || isHidden ? 'said' : 'ok';
  return ` → ${status}: ${clip(shown, 110)}`;
}
