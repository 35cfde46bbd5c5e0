// The lines about the state of git: the newest commit, whether it was pushed, and the uncommitted changes.

import { charactersFor, isWithin, SECTION, summaryLine } from '../line.ts';
import type { SummaryLine } from '../line.ts';
import { clip, ELLIPSIS } from '../../text/sentences.ts';
import type { Commit, Trail, TreeState } from '../../trail/trail.ts';

/** Least tokens for the paths, and their share of the budget. */
const LEAST_TOKENS = 24;
const SHARE = 0.01;
/** Share of the budget for the subject of a commit. */
const SUBJECT_SHARE = 0.006;
/** Characters of the reason for a rejected push. */
const REASON_LENGTH = 60;

/** The state of git; no line if nothing is known. */
export function treeLines(trail: Trail, budget: number): SummaryLine[] {
  const tokens = Math.max(LEAST_TOKENS, SHARE * budget);
  const { tree } = trail;
  const rows = [commitText(trail, SUBJECT_SHARE * budget), changesText(tree, tokens), stashText(tree)];
  return rows.flatMap((text, at) =>
    text === undefined ? [] : [summaryLine({ section: SECTION.current, order: -1e12 + at, text, value: 3 })],
  );
}

/** The commits that the lines about the state of git do not show. */
export function otherCommits({ commits, tree: { newest } }: Trail): Commit[] {
  return commits.filter(({ hash, subject }) => hash !== newest?.hash || subject !== newest?.subject);
}

const COMMIT_LABELS: Readonly<Record<TreeState['as'], string>> = {
  made: 'Newest commit',
  seen: 'HEAD as git last showed it',
  before: 'Newest commit made here',
};

function commitText({ tree, workedIn }: Trail, tokens: number): string | undefined {
  const { newest, directory } = tree;
  if (newest === undefined) return undefined;
  const subject = clip(newest.subject, charactersFor(tokens, newest.subject));
  const commit = newest.hash === undefined ? subject : `${newest.hash} ${subject}`;
  const where = directory === undefined ? '' : ` in ${placeName(directory, workedIn)}`;
  const pushed = pushText(tree);
  return `${COMMIT_LABELS[tree.as]}${where}: ${commit}${pushed === '' ? '' : ` (${pushed})`}`;
}

/** A tree; the current one by the last part of its path, because section 1 shows all of it. */
function placeName(directory: string, workedIn: string | undefined): string {
  if (directory === '.') return 'the working directory';
  if (workedIn?.startsWith(directory) !== true) return directory;
  const name = directory.slice(directory.lastIndexOf('/') + 1);
  return name === directory ? name : `${ELLIPSIS}/${name}`;
}

function pushText(tree: TreeState): string {
  const { as, ahead, before, made, isExact, isRemoteSeen, behind, refusal, isMended, movedFrom } = tree;
  if (movedFrom !== undefined) return `moved from ${movedFrom} outside of this session`;
  // Others may have pushed, and earlier commits may not have been pushed.
  if (ahead > 0 && !isRemoteSeen) return made > 1 ? `no push seen of the ${made} made here` : 'no push seen';
  const count =
    behind > 0 && isExact
      ? `${ahead} ahead and ${behind} behind its remote`
      : ahead > 1 && isExact
        ? as === 'seen'
          ? `${ahead} ahead of its remote`
          : `${ahead} commits not pushed${before > 0 && before < ahead ? `, ${before} of them from before` : ''}`
        : made > 1
          ? `not pushed, ${made} made here`
          : 'not pushed';
  const left = ahead === 0 ? '' : count;
  if (refusal === undefined) return left;
  return `${left === '' ? '' : `${left}, `}push refused: ${clip(refusal, REASON_LENGTH)}${isMended ? '; rebased or merged since' : ''}`;
}

/** The paths, newest first, as many as fit in this many tokens. */
function changesText(
  { changed, copied, directory, hasCommits, movedFrom }: TreeState,
  tokens: number,
): string | undefined {
  if (changed.length === 0) return undefined;
  const isBelow = changed.every(({ path }) => !/^[/~]/.test(path));
  const isElsewhere = isBelow && (copied !== undefined || (directory ?? '.') !== '.');
  const label =
    hasCommits || movedFrom !== undefined
      ? `Not committed${isElsewhere ? ' in the working directory' : ''}:`
      : 'No commit by the agent; changed:';
  const paths = changed.map(({ path, isDeleted }) => (isDeleted ? `${path} (deleted)` : path));
  let text = listText(label, paths, 1);
  for (let count = 2; count <= paths.length; count++) {
    const longer = listText(label, paths, count);
    if (!isWithin(tokens, longer)) break;
    text = longer;
  }
  return copied === undefined ? text : `${text} ${copied} holds files of these names in another work tree.`;
}

function listText(label: string, paths: readonly string[], count: number): string {
  const more = paths.length - count;
  return `${label} ${paths.slice(0, count).join(', ')}${more === 0 ? '' : ` and ${more} more`}.`;
}

/** Files of a stash that are named. */
const STASHED_FILES = 3;

function stashText({ stashed }: TreeState): string | undefined {
  return stashed.length === 0
    ? undefined
    : listText('Stashed:', stashed, Math.min(STASHED_FILES, stashed.length));
}
