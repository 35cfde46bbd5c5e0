// What a summary could say, line by line: the trail turned into sentences and compact lists, each with what it is worth.

import { identifiersOf } from './identifiers.ts';
import type { Floor, SummaryLine } from './salience.ts';
import { clip, clipMiddle, oneLine, proseLines } from './sentences.ts';
import type { Failure, FileTrail, LineRange, Statement, Trail, UserRequest } from './trail.ts';

/** Positions in `SUMMARY_SECTIONS`. */
const REQUEST = 0;
const CONCEPTS = 1;
const FILES = 2;
const ERRORS = 3;
const SOLVING = 4;
const MESSAGES = 5;
const PENDING = 6;
const CURRENT = 7;
const NEXT = 8;

/** Lines by how they are picked. */
export interface Lines {
  /** Taken first, in this order, each within its share. */
  readonly floors: readonly Floor[];
  /** Taken by worth per token. */
  readonly rest: readonly SummaryLine[];
}

/** Everything a summary of about `budget` tokens could say; texts are clipped to lengths that suit the budget. */
export function linesOf(trail: Trail, budget: number): Lines {
  const files = fileLines(trail, budget);
  const statements = statementLines(trail);
  const rules = ruleLines(trail);
  return {
    floors: [
      { lines: askLines(trail, budget), share: 0.3 },
      { lines: nextLines(trail, budget), share: 0.08 },
      { lines: rules, share: 0.5 },
      { lines: pendingLines(trail), share: 0.15 },
      { lines: files.edited, share: 0.25 },
      { lines: actionLines(trail).toReversed().slice(0, 4), share: 0.06 },
      { lines: statements.now.toReversed().slice(0, 3), share: 0.08 },
    ],
    rest: [
      ...rules,
      ...files.edited,
      ...files.details,
      ...statements.now,
      ...statements.before,
      ...actionLines(trail),
      ...messageLines(trail, budget),
      ...failureLines(trail),
      ...deliveredLines(trail),
      ...pendingLines(trail),
      ...carriedLines(trail),
    ],
  };
}

function line(section: number, order: number, text: string, value: number, group?: string): SummaryLine {
  return {
    section,
    order,
    text,
    value,
    identifiers: text.split('\n').map((row) => identifiersOf(row)),
    ...(group === undefined ? {} : { group }),
  };
}

function quoted(text: string): string {
  return `"${oneLine(text)}"`;
}

function askLines(trail: Trail, budget: number): SummaryLine[] {
  const requests = trail.requests;
  const current = requests.at(-1);
  if (current === undefined) return [];
  const ask = clipMiddle(current.text, Math.max(160, budget * 0.5));
  const lines = [
    line(
      REQUEST,
      0,
      `The user's current request (message ${current.turn} of ${trail.turns}): ${quoted(ask)}`,
      9,
    ),
  ];
  const before = requests.at(-2);
  if (before !== undefined) {
    const text = clipMiddle(before.text, Math.max(120, budget * 0.2));
    lines.push(line(REQUEST, 1, `Before that, message ${before.turn} asked: ${quoted(text)}`, 4));
  }
  const first = requests[0];
  if (first !== undefined && requests.length > 2) {
    const text = clipMiddle(first.text, Math.max(120, budget * 0.15));
    lines.push(line(REQUEST, 2, `The session began with: ${quoted(text)}`, 3));
  }
  if (trail.cwd !== undefined) {
    const branch = trail.gitBranch === undefined ? '' : `, branch ${trail.gitBranch}`;
    lines.push(line(REQUEST, 3, `Working directory: ${trail.cwd}${branch}`, 2));
  }
  return lines;
}

const RULES = 'Rules and corrections of the user, verbatim:';

/** Newest first: where the room does not suffice, what was said last holds. */
function ruleLines(trail: Trail): SummaryLine[] {
  return trail.constraints
    .map(({ text, turn }, at) => line(REQUEST, 10 + at, `- ${quoted(text)} (message ${turn})`, 4, RULES))
    .toReversed();
}

function nextLines(trail: Trail, budget: number): SummaryLine[] {
  const lines: SummaryLine[] = [];
  const active = trail.plan?.steps.find(({ status }) => status === 'in_progress');
  const pending = trail.plan?.steps.find(({ status }) => status === 'pending');
  if (trail.nextStep !== undefined) {
    const text = clip(oneLine(trail.nextStep), Math.max(120, budget * 0.25));
    lines.push(line(NEXT, 0, `The agent's own words: ${quoted(text)}`, 5));
  }
  const step = active ?? pending;
  if (step !== undefined) lines.push(line(NEXT, 1, `From the plan: ${clip(step.text, 240)}`, 4));
  if (trail.current.isAgentDone) {
    lines.push(line(NEXT, 2, 'The agent had answered the current request and was waiting for the user.', 2));
  } else if (lines.length === 0 && trail.turns > 0) {
    lines.push(line(NEXT, 2, 'Continue with the current request above.', 2));
  }
  return lines;
}

function pendingLines(trail: Trail): SummaryLine[] {
  const lines: SummaryLine[] = [];
  const plan = trail.plan;
  if (plan !== undefined) {
    const open = plan.steps.filter(({ status }) => status === 'pending' || status === 'in_progress');
    const done = plan.steps.filter(({ status }) => status === 'completed');
    open.forEach(({ text, status }, at) => {
      const mark = status === 'in_progress' ? ' (in progress)' : '';
      lines.push(line(PENDING, at, `- ${text}${mark}`, 3));
    });
    if (done.length > 0) {
      const names = clip(done.map(({ text }) => text).join('; '), 400);
      lines.push(
        line(PENDING, 100, `Done of the same plan (${done.length} of ${plan.steps.length}): ${names}`, 2),
      );
    }
  }
  for (const question of trail.openQuestions) {
    lines.push(line(PENDING, 200, `- The user has not answered yet: ${quoted(question.text)}`, 5));
  }
  return lines;
}

/** Symbols named in the first line of a file and in each further one. */
const SYMBOLS_PER_LINE = 5;

function fileLines(trail: Trail, budget: number): { edited: SummaryLine[]; details: SummaryLine[] } {
  const changed = trail.files
    .filter(({ state }) => state !== 'read')
    .toSorted((a, b) => salienceOf(b, trail) - salienceOf(a, trail));
  const read = trail.files.filter(({ state }) => state === 'read');
  const detailed = Math.max(2, Math.floor(budget / 260));
  const edited = [
    ...changed.slice(0, detailed).map((file, at) => fileLine(file, at, 4)),
    ...compactLines(changed.slice(detailed)),
  ];
  const details = [
    ...changed.flatMap((file, at) => [...symbolLines(file, at), ...snippetLines(file, at, trail)]),
    ...read.slice(0, 120).map((file, at) => fileLine(file, 1_000 + at, 0.5)),
    ...read.slice(0, 60).flatMap((file, at) => symbolLines(file, 1_000 + at)),
  ];
  return { edited, details };
}

/** Files edited in the current turn first, then those edited often and lately. */
function salienceOf(file: FileTrail, trail: Trail): number {
  const turnsAgo = trail.turns - file.lastEditTurn;
  return (1 + Math.log1p(file.edits)) / (1 + turnsAgo) - (file.state === 'deleted' ? 0.5 : 0);
}

function fileLine(file: FileTrail, at: number, value: number): SummaryLine {
  const facts = [editPhrase(file), ...(file.reads > 0 ? [readPhrase(file)] : [])].filter(
    (fact) => fact !== '',
  );
  const renamed = file.renamedFrom.at(-1);
  if (renamed !== undefined) facts.unshift(`was ${renamed}`);
  const symbols = file.state === 'deleted' ? [] : file.symbols.slice(0, SYMBOLS_PER_LINE);
  const names = symbols.length === 0 ? '' : `: ${symbols.map((symbol) => `\`${symbol}\``).join(', ')}`;
  return line(FILES, at * 10, `- ${file.path} (${facts.join('; ')})${names}`, value);
}

function editPhrase({ state, edits }: FileTrail): string {
  if (state === 'read') return '';
  if (state === 'deleted') return 'deleted';
  const times = edits > 1 ? ` ${edits}×` : '';
  return state === 'created' ? (edits > 1 ? `created, edited${times}` : 'created') : `edited${times}`;
}

function readPhrase({ ranges, reads }: FileTrail): string {
  if (ranges.length === 0) return reads > 1 ? `read ${reads}×` : 'read';
  return `read lines ${ranges.map(rangeText).join(', ')}`;
}

function rangeText({ from, to }: LineRange): string {
  if (to === undefined) return `${from}–end`;
  return from === to ? String(from) : `${from}–${to}`;
}

/** Six paths per line: as a list of everything that was changed. */
function compactLines(files: readonly FileTrail[]): SummaryLine[] {
  const lines: SummaryLine[] = [];
  for (let at = 0; at < files.length; at += 6) {
    const names = files
      .slice(at, at + 6)
      .map(({ path, state }) => (state === 'deleted' ? `${path} (deleted)` : path));
    lines.push(line(FILES, 5_000 + at, `- Also changed: ${names.join(', ')}`, 2));
  }
  return lines;
}

function symbolLines(file: FileTrail, at: number): SummaryLine[] {
  if (file.state === 'deleted') return [];
  const lines: SummaryLine[] = [];
  const name = file.path.slice(file.path.lastIndexOf('/') + 1);
  for (let from = SYMBOLS_PER_LINE; from < file.symbols.length; from += 6) {
    const symbols = file.symbols.slice(from, from + 6).map((symbol) => `\`${symbol}\``);
    lines.push(line(FILES, at * 10 + 1 + from / 100, `  - also in ${name}: ${symbols.join(', ')}`, 0));
  }
  return lines;
}

function snippetLines(file: FileTrail, at: number, trail: Trail): SummaryLine[] {
  const isFresh = trail.turns - file.lastEditTurn <= 1;
  return file.snippets.slice(-2).map((snippet, index) => {
    const code = snippet
      .replace(/\s+$/, '')
      .split('\n')
      .map((row) => `    ${row}`)
      .join('\n');
    const title = `  - newest text of an edit in ${file.path.slice(file.path.lastIndexOf('/') + 1)}:`;
    return line(FILES, at * 10 + 5 + index, `${title}\n${code}`, isFresh ? 0.6 : 0.1);
  });
}

function failureLines(trail: Trail): SummaryLine[] {
  return trail.failures
    .filter(({ telling }) => telling.length > 0)
    .map((failure) => line(ERRORS, failure.position, failureText(failure), failureValue(failure, trail)));
}

function failureText({ command, telling, times, outcome, editedBetween }: Failure): string {
  const often = times > 1 ? ` ${times} times` : '';
  const said = telling
    .slice(0, 3)
    .map((text) => clip(text, 160))
    .join(' | ');
  const fixed = editedBetween.length === 0 ? '' : ` after edits to ${editedBetween.join(', ')}`;
  const ended = outcome === 'passed' ? `It passed later${fixed}.` : 'Not seen to pass since.';
  return `- \`${clip(command, 120)}\` failed${often}: ${said}. ${ended}`;
}

function failureValue({ outcome, turn }: Failure, trail: Trail): number {
  const isNow = turn === trail.turns;
  return outcome === 'open' ? (isNow ? 3 : 1) : isNow ? 1 : 0.4;
}

function deliveredLines(trail: Trail): SummaryLine[] {
  const commits = trail.commits.map(({ hash, subject, turn }, at) => {
    const name = hash === undefined ? '' : `${hash} `;
    return line(
      SOLVING,
      at / 1_000,
      `- ${name}${subject} (message ${turn})`,
      turn === trail.turns ? 2 : 1,
      'Commits:',
    );
  });
  const landmarks = trail.landmarks.map(({ text }, at) =>
    line(SOLVING, 0.5 + at / 1_000, `- ${text}`, 0.6, 'Links and pushes:'),
  );
  return [...commits, ...landmarks];
}

const DECIDED = 'Decisions and findings, in order:';

function statementLines(trail: Trail): { now: SummaryLine[]; before: SummaryLine[] } {
  const now = trail.current.statements.map((statement) =>
    line(
      CURRENT,
      statement.position,
      `- ${statement.text}`,
      statementValue(statement, trail),
      'The agent said since then:',
    ),
  );
  const told = new Set(trail.current.statements.map(({ text }) => text));
  const before = distinct(trail.statements)
    .filter(({ text }) => !told.has(text))
    .map((statement) =>
      line(SOLVING, statement.position, `- ${statement.text}`, statementValue(statement, trail), DECIDED),
    );
  return { now, before };
}

/** The newest of equal statements. */
function distinct(statements: readonly Statement[]): Statement[] {
  const byText = new Map<string, Statement>();
  for (const statement of statements) byText.set(statement.text.toLowerCase(), statement);
  return [...byText.values()];
}

function statementValue({ kind, turn }: Statement, trail: Trail): number {
  const turnsAgo = trail.turns - turn;
  const fresh = 1 / (1 + turnsAgo / 3);
  return { decision: 1, finding: 0.4, intent: 0.1, question: 0.1 }[kind] * fresh;
}

function actionLines(trail: Trail): SummaryLine[] {
  return trail.current.actions.map((text, at) =>
    line(CURRENT, 1e9 + at, `- ${text}`, 0.8, 'Last actions, in order:'),
  );
}

function messageLines(trail: Trail, budget: number): SummaryLine[] {
  const room = Math.min(700, Math.max(90, Math.floor((budget * 1.2) / Math.max(1, trail.requests.length))));
  const ruled = new Set(trail.constraints.map(({ text }) => text));
  const messages = trail.requests.flatMap((request) => {
    const isNewest = request.turn === trail.turns;
    const lines = isNewest || ruled.has(request.text) ? [] : [messageLine(request, room, trail)];
    const deeds = deedsText(request);
    return deeds === '' || isNewest
      ? lines
      : [...lines, line(MESSAGES, request.turn + 0.5, `   After message ${request.turn}: ${deeds}`, 0.4)];
  });
  const answers = trail.answers.map(({ question, answer, turn }) =>
    line(MESSAGES, turn + 0.2, `   Asked ${quoted(question)}, the user said ${quoted(answer)}`, 2),
  );
  return [...messages, ...answers];
}

function messageLine(request: UserRequest, room: number, trail: Trail): SummaryLine {
  const turnsAgo = trail.turns - request.turn;
  return line(
    MESSAGES,
    request.turn,
    `${request.turn}. ${quoted(clipMiddle(request.text, room))}`,
    1 + 2 / (1 + turnsAgo / 4),
  );
}

function deedsText({ deeds }: UserRequest): string {
  const parts: string[] = [];
  if (deeds.edited.length > 0) {
    const more = deeds.edited.length > 6 ? ` and ${deeds.edited.length - 6} more` : '';
    parts.push(`edited ${deeds.edited.slice(0, 6).join(', ')}${more}`);
  }
  if (deeds.outcome !== undefined) parts.push(`the agent reported ${quoted(deeds.outcome)}`);
  return parts.join('; ');
}

function carriedLines(trail: Trail): SummaryLine[] {
  if (trail.carriedOver === undefined) return [];
  const group = 'Carried over from a summary whose past is not in this log:';
  return proseLines(trail.carriedOver).map((text, at) =>
    line(SOLVING, -1_000 + at / 10_000, `- ${clip(text, 400)}`, 1.2, group),
  );
}

/** Names that matter and that no picked line shows, by kind, at most six to a line. */
export function conceptLines(trail: Trail, covered: ReadonlySet<string>): SummaryLine[] {
  const kinds: Record<string, string[]> = {};
  for (const { text } of trail.identifiers) {
    if (!covered.has(text)) (kinds[kindOf(text)] ??= []).push(text);
  }
  return Object.entries(kinds).flatMap(([kind, names], section) => {
    const lines: SummaryLine[] = [];
    for (let at = 0; at < Math.min(names.length, 240); at += 6) {
      const shown = names.slice(at, at + 6).map((name) => `\`${name}\``);
      lines.push(line(CONCEPTS, section * 1_000 + at, `- ${kind}: ${shown.join(', ')}`, 0));
    }
    return lines;
  });
}

function kindOf(identifier: string): string {
  if (identifier.startsWith('-')) return 'Options';
  if (identifier.includes('/') || /\.[a-z]{1,5}$/.test(identifier)) return 'Paths and names';
  if (/^[#\d.]+$/.test(identifier) || /^[0-9a-f]{7,40}$/.test(identifier)) return 'Numbers and hashes';
  return 'Symbols and terms';
}
