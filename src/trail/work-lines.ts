// The lines of what the agent said and did: statements, actions, commands, newest results.

import { identifiersByRow, SECTION, summaryLine } from './line.ts';
import type { SummaryLine } from './line.ts';
import { readsFailed } from './outputs.ts';
import { chainedLines, SINCE } from './step-lines.ts';
import { clip, withoutEmphasis } from './sentences.ts';
import { isChoice } from './statements.ts';
import type { Action, CommandRun, Reply, Statement, Trail } from './trail.ts';

/** Characters below which a statement has to name something. */
const SHORT_STATEMENT = 60;

/** What the agent said lately, what it found and decided before, and which of that it says was chosen, the newest first. */
export function statementLines(
  trail: Trail,
  budget: number,
): {
  readonly now: SummaryLine[];
  readonly before: SummaryLine[];
  readonly choices: SummaryLine[];
} {
  const telling = { trail, budget, overruled: overruledTurns(trail) };
  const replies = new Set([trail.current.repliesTo?.position, trail.current.newestReply?.position]);
  const last = distinct(trail.current.statements).filter(
    ({ turn, position }) => turn === trail.turns && !replies.has(position),
  );
  const told = new Set(last.map(({ text }) => text));
  const now = last.map((statement, order) =>
    statementLine(statement, telling, {
      section: SECTION.current,
      group: SINCE,
      order: statement.position + order / 1_000,
      mark: 'said: ',
    }),
  );
  const before = distinct(trail.statements)
    .filter(({ text, position }) => !told.has(text) && !replies.has(position))
    .filter(({ kind }) => kind === 'decision' || kind === 'finding')
    .map((statement, at) =>
      statementLine(statement, telling, {
        section: SECTION.solving,
        group: `Message ${statement.turn}:`,
        order: 1 + at,
        mark: '',
      }),
    );
  return {
    now: now.filter(isWorthTelling),
    before: before.filter(isWorthTelling),
    choices: before.filter(({ text }) => isChoice(text)).toReversed(),
  };
}

/** A short statement without any name ("That makes sense.") tells nothing once its surroundings are gone. */
function isWorthTelling({ text, identifiers }: SummaryLine): boolean {
  return text.length >= SHORT_STATEMENT || (identifiers[0]?.length ?? 0) > 0;
}

interface StatementPlace {
  readonly section: number;
  readonly order: number;
  readonly group: string;
  /** What stands before a statement, or before the line that leads to it. */
  readonly mark: string;
}

function statementLine(
  statement: Statement,
  telling: Telling,
  { section, order, group, mark }: StatementPlace,
): SummaryLine {
  const { lead, text } = statement;
  const written = lead === undefined ? `- ${mark}${text}` : `  - ${text}`;
  const identifiers = identifiersByRow(written);
  return summaryLine({
    section,
    order,
    group,
    text: written,
    says: text,
    value: statementValue(statement, identifiers[0]?.length ?? 0, telling),
    lead: lead === undefined ? undefined : `- ${mark}${lead}:`,
    identifiers,
  });
}

/** What the lines are written for. */
interface Telling {
  readonly trail: Trail;
  readonly budget: number;
  readonly overruled: ReadonlySet<number>;
}

/** Sentences are worth twice as much where there is room: in a small summary the names that they lack count for more. */
function roomFactor(budget: number): number {
  return Math.min(2, Math.max(1, budget / 2_000));
}

/** What is kept of the worth of a sentence that only introduces what follows it. */
const LEAD_IN = 0.4;

/** What is kept of the worth of a sentence that thinks aloud, or that points at one that is not told. */
const THOUGHT = 0.3;
const POINTING = 0.6;
/** What is kept of what the agent said before the user or the agent itself took it back. */
const OVERRULED = 0.3;

const THINKS_ALOUD = /^(?:wait|hmm+|ah|oh|maybe|perhaps|actually|let['’]s see|if|or|what if)\b/i;
const POINTS_BACK = /^(?:so|that|this|it|but|and|then|these|those|they|which)\b/i;

function statementValue(
  { kind, turn, text, lead }: Statement,
  names: number,
  { trail, budget, overruled }: Telling,
): number {
  const fresh = 0.3 + 0.7 / (1 + (trail.turns - turn) / 3);
  const base = { decision: 1.5, finding: 0.6, intent: 0.5, question: 0.4 }[kind];
  const named = names === 0 ? 0.25 : 1;
  const leading = text.endsWith(':') ? LEAD_IN : 1;
  const thinking = THINKS_ALOUD.test(text) ? THOUGHT : 1;
  const pointing = thinking === 1 && lead === undefined && POINTS_BACK.test(text) ? POINTING : 1;
  const standing = overruled.has(turn) ? OVERRULED : 1;
  return roomFactor(budget) * base * fresh * named * leading * thinking * pointing * standing;
}

/** The requests on which the next one corrected what was said. */
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

/** Characters of one line of a message of the agent. */
const REPLY_ROW = 260;

/** What says nothing in a message once it is quoted: rules, fences, directives to the client. */
const NO_CONTENT = /^\s*(?:[\s|:=_*─━═⎯│┃-]*|```\w*|~~~\w*|::[\w-]+\{.*)$/;

/**
 * A message of the agent as it stood, line by line, its end first: there it asks, sums up or says what comes next. Each
 * line needs the one after it, so that nothing is left out in between.
 */
export function replyLines(reply: Reply | undefined, group: string, order: number): SummaryLine[] {
  if (reply === undefined) return [];
  const rows = reply.text.split('\n').map((row) => withoutEmphasis(row.trimEnd()));
  const lines: SummaryLine[] = [];
  for (const [at, row] of [...rows.entries()].toReversed()) {
    if (NO_CONTENT.test(row)) continue;
    const parent = lines.at(-1);
    const text = `  ${clip(row, REPLY_ROW)}`;
    const section = SECTION.current;
    lines.push(summaryLine({ section, order: order + at / 1_000, group, text, value: 0.5, parent }));
  }
  return lines;
}

/** A list of the agent from its head, no row without the one before it. */
export function listLines({ text }: Reply, group: string, order: number): SummaryLine[] {
  const rows = text
    .split('\n')
    .filter((row) => !NO_CONTENT.test(row))
    .map((row) => `  ${clip(withoutEmphasis(row.trimEnd()), REPLY_ROW)}`);
  // The line that introduces a list says nothing without the first of it.
  const [lead = '', first = '', ...others] = rows;
  return chainedLines([`${lead}\n${first}`, ...others], 1, {
    section: SECTION.current,
    order,
    value: 0.5,
    group,
  });
}

const NONE_TOLD: ReadonlySet<number> = new Set();

/**
 * What the agent did last, each thing once, at its newest place.
 * @param told positions of calls that are told otherwise
 */
export function actionLines(trail: Trail, told: ReadonlySet<number> = NONE_TOLD): SummaryLine[] {
  const newest = new Map<string, Action>();
  for (const action of trail.current.actions) {
    if (action.call !== undefined && told.has(action.call)) continue;
    newest.delete(action.text);
    newest.set(action.text, action);
  }
  return joinEdits([...newest.values()]).map(({ text, turn, position }, at) => {
    const isSince = turn === trail.turns;
    return summaryLine({
      section: SECTION.current,
      order: isSince ? position + 0.5 + at / 1_000 : -2e9 + at,
      text: `- ${text}`,
      value: isSince ? 0.8 : 0.4,
      group: isSince ? SINCE : 'Last actions before it:',
    });
  });
}

const EDITED = 'edited ';
/** Paths to a line. */
const JOINED_EDITS = 5;

/** Edits one after the other are one line. */
function joinEdits(actions: readonly Action[]): Action[] {
  const joined: Action[] = [];
  let paths = 0;
  for (const action of actions) {
    const before = joined.at(-1);
    const isEdit = action.text.startsWith(EDITED);
    paths = isEdit ? paths + 1 : 0;
    if (isEdit && paths > 1 && paths <= JOINED_EDITS && before?.turn === action.turn) {
      joined[joined.length - 1] = { ...action, text: `${before.text}, ${action.text.slice(EDITED.length)}` };
    } else {
      joined.push(action);
      paths = isEdit ? 1 : 0;
    }
  }
  return joined;
}

/** What was run before the last actions, newest of equal commands, with how it went. */
export function runLines(trail: Trail): SummaryLine[] {
  const told = new Set(trail.current.actions.map(({ text }) => text));
  const byCommand = new Map<string, CommandRun>();
  for (const run of trail.commands) byCommand.set(run.command, run);
  return [...byCommand.values()]
    .filter(({ command }) => ![...told].some((text) => text.includes(command)))
    .map(({ command, failed, position, turn, telling }) => {
      const said = failed ? telling[0] : (telling.find(readsFailed) ?? telling.at(-1));
      const status = failed ? 'failed' : said !== undefined && readsFailed(said) ? 'said' : 'ok';
      const went = `${status}${said === undefined ? '' : `: ${clip(said, 110)}`}`;
      return summaryLine({
        section: SECTION.solving,
        order: 1e9 + position,
        text: `- \`${clip(command, 160)}\` (message ${turn}) → ${went}`,
        value: 0.15,
        group: 'Other commands run, with how they went last:',
      });
    });
}
