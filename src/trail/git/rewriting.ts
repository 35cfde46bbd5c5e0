// The git verbs that move a branch to other commits: others' commits, recreated ones, or older ones.

import type { MadeCommit } from './commits.ts';
import { headIn } from '../outputs/git-output.ts';
import type { Repository } from './repository.ts';
import type { GitStep } from './step.ts';
import type { Branch } from './trees.ts';
import { inDirectory, operandsOf, stepsBack } from '../../shell/git-words.ts';

/** A revision by its form: a commit, a branch, a remote branch. Anything else is a path. */
const REVISION = /^(?:[\w-]+|(?:origin|upstream)\/[\w./-]+|(?:[^\s@]|@(?!\{))*@\{.*)$/;

/** `git merge`, `pull` and `rebase`: a branch moved to others' commits, or was rebased onto them. Returns whether it moved. */
export function merge(repository: Repository, step: GitStep): boolean {
  const { git, run, output, moment } = step;
  const { trees, commits } = repository;
  const branch = trees.branchOf(step.tree);
  const isIdle = /^(?:Already up to date|Already up-to-date|Current branch \S+ is up to date)/m.test(output);
  const isAborted = git.words.some((word) => /^--(?:abort|quit|edit-todo|show-current-patch)$/.test(word));
  const isDone = /Successfully rebased|^Fast-forward|^Merge made by/m.test(output);
  if (branch === undefined || isIdle || isAborted || (run.failed && !isDone)) return false;
  const isRebase = git.verb === 'rebase' || git.words.some((word) => /^(?:-r|--rebase(?:=.*)?)$/.test(word));
  const [, to] = /^Updating [0-9a-f]{7,40}\.\.([0-9a-f]{7,40})$/m.exec(output) ?? [];
  branch.head = undefined;
  branch.behind = 0;
  branch.isMended = true;
  if (to !== undefined) {
    trees.setHead(step.tree, { hash: to, subject: undefined }, moment.position);
    branch.ahead = 0;
    branch.isExact = git.verb === 'pull';
  } else if (isRebase || output.includes('Successfully rebased')) rebase(repository, step, branch);
  else if (git.words.some((word) => /^--(?:squash|no-commit)$/.test(word))) trees.blur();
  else {
    const [of = 'its remote branch'] = git.verb === 'merge' ? operandsOf(git.words) : [];
    if (/^Merge made by/m.test(output))
      commits.add(step, { hash: undefined, subject: `Merge of ${of}`, files: [] });
    branch.isExact = false;
  }
  return true;
}

/** Rebased commits have new hashes; a pull keeps those that the remote has. */
function rebase({ commits }: Repository, step: GitStep, branch: Branch): void {
  const isRebase = step.git.verb === 'rebase';
  // Each commit that is reapplied after a conflict is reported.
  if (isRebase) step.reports.splice(0);
  const anew = commits.onBranch(step.tree).filter(({ isPushed }) => isRebase || !isPushed);
  for (const commit of anew) {
    if (commit.isPushed) branch.ahead++;
    commit.hash = undefined;
    commit.isPushed = false;
    commit.fate = 'rebased';
  }
  // Git skips commits that others have already made.
  const skipped = step.output.match(/skipped previously applied commit/g)?.length ?? 0;
  branch.ahead = Math.max(0, branch.ahead - skipped);
  const last = anew.at(-1);
  if (last === undefined || skipped > 0) return;
  branch.head = { hash: undefined, subject: last.subject, position: step.moment.position };
}

/** `git reset`. Returns whether it moved the branch or discarded changes. */
export function reset(repository: Repository, step: GitStep): boolean {
  const { git, run, tree, moment, output } = step;
  const { trees, changes, commits } = repository;
  const head = headIn(output);
  if (run.failed && head === undefined) return false;
  const [target = 'HEAD', ...rest] = operandsOf(git.words);
  if (isOfPaths(repository, step, [target, ...rest])) {
    changes.unstage(step, stepsBack(target) === undefined ? [target, ...rest] : rest);
    return false;
  }
  const undone = commits.madeAfter(target, tree);
  if (git.words.includes('--hard')) {
    for (const commit of undone ?? []) commit.fate = 'thrown away';
    changes.take(step, (_, { isStaged, isNew }) => isStaged || !isNew);
  } else giveBack(repository, step, undone ?? []);
  if (undone === undefined || undone.length > 0) moveBack(repository, step, undone);
  trees.setHead(tree, head, moment.position);
  return true;
}

function isOfPaths(
  { changes }: Repository,
  { git, directory }: GitStep,
  [target = '', ...rest]: readonly string[],
): boolean {
  const isRevision = stepsBack(target) !== undefined || REVISION.test(target);
  return (
    rest.length > 0 ||
    git.words.includes('--') ||
    !isRevision ||
    changes.hasAtOrBelow(inDirectory(directory, target))
  );
}

/** What the undone commits held is uncommitted again; `--soft` leaves it in the index. */
function giveBack({ changes, commits }: Repository, step: GitStep, undone: readonly MadeCommit[]): void {
  const isSoft = step.git.words.includes('--soft');
  if (!isSoft) changes.unstage(step, []);
  for (const { files } of undone)
    for (const path of files) changes.bringBack(path, isSoft, step.moment.position);
  commits.forget(undone);
}

/** Moves the branch back to before the undone commits, which are now gone; undefined if they are unknown. */
function moveBack(
  { trees, commits }: Repository,
  { git, tree, moment }: GitStep,
  undone: readonly MadeCommit[] | undefined,
): void {
  const branch = trees.branchOf(tree);
  const index = trees.get(tree)?.index;
  if (branch === undefined || index === undefined) return;
  const left = commits.onBranch(tree);
  const last = left.at(-1);
  branch.ahead = Math.max(0, branch.ahead - (undone ?? left).filter(({ isPushed }) => !isPushed).length);
  branch.isExact &&= undone !== undefined;
  branch.head =
    undone === undefined || last === undefined
      ? undefined
      : { hash: last.hash, subject: last.subject, position: moment.position };
  if (git.words.includes('--soft')) index.hasAdded = true;
}
