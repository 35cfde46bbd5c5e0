// The lines of what the agent said and did: statements, actions, commands, newest results.

import { SECTION, summaryLine } from './line.ts';
import type { SummaryLine } from './line.ts';
import { readsFailed } from './outputs.ts';
import { clip, withoutEmphasis } from './sentences.ts';
import type { Action, CommandRun, Reply, Statement, Trail } from './trail.ts';

/** Characters below which a statement has to name something. */
const SHORT_STATEMENT = 60;

/** What the agent said lately, what it found, and what it decided before. */
export function statementLines(trail: Trail): { now: SummaryLine[]; before: SummaryLine[] } {
  const replies = new Set([trail.current.repliesTo?.position, trail.current.newestReply?.position]);
  const last = distinct(trail.current.statements).filter(
    ({ turn, position }) => turn === trail.turns && !replies.has(position),
  );
  const told = new Set(last.map(({ text }) => text));
  const now = last.map((statement, order) =>
    statementLine(statement, trail, {
      section: SECTION.current,
      group: 'The agent said, since the current request:',
      order,
    }),
  );
  const before = distinct(trail.statements)
    .filter(({ text, position }) => !told.has(text) && !replies.has(position))
    .filter(({ kind }) => kind === 'decision' || kind === 'finding')
    .map((statement, at) =>
      statementLine(statement, trail, {
        section: SECTION.solving,
        group: `Message ${statement.turn}:`,
        order: 1 + at,
      }),
    );
  return { now: now.filter(isWorthTelling), before: before.filter(isWorthTelling) };
}

/** A short statement without any name ("That makes sense.") tells nothing once its surroundings are gone. */
function isWorthTelling({ text, identifiers }: SummaryLine): boolean {
  return text.length >= SHORT_STATEMENT || (identifiers[0]?.length ?? 0) > 0;
}

function statementLine(
  statement: Statement,
  trail: Trail,
  place: Pick<SummaryLine, 'section' | 'order'> & { readonly group: string },
): SummaryLine {
  const { lead, text } = statement;
  const bare = summaryLine({
    ...place,
    text: lead === undefined ? `- ${text}` : `  - ${text}`,
    value: 0,
    ...(lead === undefined ? {} : { lead: `- ${lead}:` }),
  });
  return { ...bare, value: statementValue(statement, bare.identifiers[0]?.length ?? 0, trail) };
}

/** What is kept of the worth of a sentence that only introduces what follows it. */
const LEAD_IN = 0.4;

function statementValue({ kind, turn, text }: Statement, names: number, trail: Trail): number {
  const fresh = 0.3 + 0.7 / (1 + (trail.turns - turn) / 3);
  const base = { decision: 1.5, finding: 0.6, intent: 0.5, question: 0.4 }[kind];
  return base * fresh * (names === 0 ? 0.25 : 1) * (text.endsWith(':') ? LEAD_IN : 1);
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
const NO_CONTENT = /^\s*(?:[\s|:=_*-]*|```\w*|~~~\w*|::[\w-]+\{.*)$/;

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
    const place = { section: SECTION.current, order: order + at / 1_000, group };
    lines.push(summaryLine({ ...place, text, value: 0.5, ...(parent === undefined ? {} : { parent }) }));
  }
  return lines;
}

/** What the agent did last, each thing once, at its newest place. */
export function actionLines(trail: Trail): SummaryLine[] {
  const newest = new Map<string, Action>();
  for (const action of trail.current.actions) {
    newest.delete(action.text);
    newest.set(action.text, action);
  }
  return joinEdits([...newest.values()]).map(({ text, turn }, at) => {
    const isSince = turn === trail.turns;
    return summaryLine({
      section: SECTION.current,
      order: (isSince ? 2e9 : -2e9) + at,
      text: `- ${text}`,
      value: isSince ? 0.8 : 0.4,
      group: isSince
        ? 'Last actions on the current request, in order:'
        : 'Last actions before the current request, in order:',
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
      joined[joined.length - 1] = { ...before, text: `${before.text}, ${action.text.slice(EDITED.length)}` };
    } else {
      joined.push(action);
      paths = isEdit ? 1 : 0;
    }
  }
  return joined;
}

/** Rows of a result in one line of the summary; the rest follows in a line of its own. */
const ROWS_PER_TAIL_LINE = 12;

/** The newest results, verbatim: they use room that nothing else has a claim to. */
export function tailLines(trail: Trail): SummaryLine[] {
  return trail.current.tail.flatMap(({ call, result, position }) => {
    const rows = result.split('\n').map((row) => `    ${clip(row.trimEnd(), 160)}`);
    const lines: SummaryLine[] = [];
    for (let at = 0; at < rows.length; at += ROWS_PER_TAIL_LINE) {
      const parent = lines.at(-1);
      const code = rows.slice(at, at + ROWS_PER_TAIL_LINE).join('\n');
      lines.push(
        summaryLine({
          section: SECTION.current,
          order: 3e9 + position + at / 100,
          text: parent === undefined ? `- ${call}\n${code}` : code,
          value: 0.02,
          group: 'Newest results, as they began:',
          ...(parent === undefined ? {} : { parent }),
        }),
      );
    }
    return lines;
  });
}

/** What was run before the last actions, newest of equal commands, with how it went. */
export function runLines(trail: Trail): SummaryLine[] {
  const told = new Set(trail.current.actions.map(({ text }) => text));
  const byCommand = new Map<string, CommandRun>();
  for (const run of trail.commands) byCommand.set(run.command, run);
  return [...byCommand.values()]
    .filter(({ command }) => ![...told].some((text) => text.includes(command)))
    .map(({ command, failed, position, turn, telling }) => {
      const said = telling.at(failed ? 0 : -1);
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
