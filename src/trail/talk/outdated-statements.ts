// Statements that were true for a moment and that later work made obsolete: a missing package that was installed, a diff that
// was committed, a comment that was answered.

import type { CommandRun, Trail } from '../trail.ts';

/** A statement and its position: `Infinity` if it closed its request. */
interface Utterance {
  readonly turn: number;
  readonly position: number;
  readonly text: string;
}

/** Words of which every sentence that can become obsolete contains one. */
const OF_NOW =
  /\bstill\b|\bno\b|\bnot\b|n['’]t\b|\bpending\b|\bun(?:committed|staged|fixed|pushed)\b|\bmissing\b|\buntracked\b|\blines? \d|:\d/i;

const UNCOMMITTED =
  /\b(?:pending|uncommitted|unstaged|working[- ]tree) (?:diff|changes?|edits?)\b|\bnot (?:yet )?committed\b|\b(?:is|are) (?:\w+ ){0,3}untracked\b|\bstill (?:uncommitted|unstaged)\b/i;
const WITHOUT_PACKAGES =
  /\b(?:does|do|did)(?: not|n['’]t) have (?:(?:the|its|their|any|dev|all) ){0,3}[`'"]?(?:node_modules|dependencies|packages)\b|\b(?:no|without|lacks?|missing) [`'"]?(?:node_modules|dependencies)\b|\b(?:dependencies|packages) (?:are|were) (?:not installed|missing)\b|\b(?:is|are)(?: not|n['’]t) installed\b/i;
const UNDONE =
  /\bstill (?:un\w{2,20}ed|open)\b|\bunfixed\b|\bnot (?:yet )?(?:fixed|addressed|answered|replied|resolved)\b/i;
const UNDER_WAY = /\b(?:is|are) still (?!being|missing|failing|lacking)\w{2,20}ing\b/i;

const INSTALL =
  /\b(?:npm (?:ci|i|install)|(?:bun|pnpm|yarn) (?:i|install|add)|pip3? install|uv (?:sync|add)|bundle install|poetry install|go mod download)\b/;
const NUMBER = /\b\d{5,}\b/g;

/** A place in a file: `src/a.ts:12`, `a.ts (lines 3-9)`. */
const FILE_PLACE = /(?<![\w.@-])([\w.@-]+\.(?=\d*[a-z])[a-z\d]{1,5})`?(?:\)? ?\(lines? \d|:\d)/gi;
/** How a sentence begins or continues that reports work at that place. */
const REPORTS = /^(?:also )?\p{L}+ed\b|\b(?:I(?:['’]ve| have)?|was|were|now) (?:\w+ )?\w+(?:ed|s)\b/iu;

/** Number of later messages after which a progress report is considered outdated. */
const LATER_MESSAGES = 2;

/** Whether a run ended well after a statement. */
function isLater(run: CommandRun, { turn, position }: Utterance): boolean {
  return !run.failed && (run.position > position || run.turn > turn);
}

/** Finds statements that later events in the session have overtaken. */
export function outdatedIn({
  commands,
  commits,
  tree,
  current,
  turns,
  files,
}: Trail): (said: Utterance) => boolean {
  const isCommitted = ({ turn, position }: Utterance): boolean =>
    commits.some((commit) => commit.turn > turn) ||
    (tree.as === 'made' && tree.newest !== undefined && tree.newest.position > position);
  const isAnswered = (said: Utterance): boolean =>
    (said.text.match(NUMBER) ?? []).some((number) =>
      commands.some(
        (run) => isLater(run, said) && run.command.startsWith('gh ') && run.command.includes(number),
      ),
    );
  const isOfEditedPlace = ({ text, turn }: Utterance): boolean =>
    turn < turns &&
    !REPORTS.test(text) &&
    [...text.matchAll(FILE_PLACE)].some(([, name = '']) =>
      files.some(({ path, lastEditTurn }) => lastEditTurn > turn && `/${path}`.endsWith(`/${name}`)),
    );
  return (said) => {
    const { text, turn, position } = said;
    if (!OF_NOW.test(text)) return false;
    if (isOfEditedPlace(said)) return true;
    if (UNCOMMITTED.test(text) && isCommitted(said)) return true;
    if (
      WITHOUT_PACKAGES.test(text) &&
      commands.some((run) => isLater(run, said) && INSTALL.test(run.command))
    )
      return true;
    if (UNDONE.test(text) && isAnswered(said)) return true;
    const since = current.messages.filter((message) => message.position > position).length;
    return UNDER_WAY.test(text) && (turn < turns || since >= LATER_MESSAGES);
  };
}
