// The git verbs that stage and unstage changes.

import type { Repository } from './repository.ts';
import type { GitStep } from './step.ts';
import type { Index } from './trees.ts';
import { addedPaths, operandsOf, pathsOf } from '../../shell/git-words.ts';
import type { PathChoice } from '../../shell/git-words.ts';

/** How git reports that there is nothing to commit. */
export const NO_COMMIT = /^(?:nothing to commit|nothing added to commit|no changes added to commit)/m;

/** `git add`. */
export function add({ trees, changes }: Repository, step: GitStep): void {
  const { git, run, directory, reports } = step;
  const index = trees.get(step.tree)?.index;
  if (index === undefined || (run.failed && /^fatal: pathspec/m.test(run.output))) return;
  const choice = addedPaths(git.words, directory);
  const hasRun = !run.failed || reports.length > 0 || NO_COMMIT.test(run.output);
  index.hasAdded = true;
  if (choice.isUnclear || !hasRun) index.isUnclear = true;
  noteAdded(index, choice);
  changes.stage(step, choice.matches, choice.isTracked);
}

function noteAdded(index: Index, { named }: PathChoice): void {
  if (named === undefined) index.added = undefined;
  else for (const path of named) index.added?.add(path);
}

/** `git rm` and `git mv` stage their changes; what happened to the files is already recorded. */
export function stageRemoved({ trees, changes }: Repository, step: GitStep): boolean {
  const index = trees.get(step.tree)?.index;
  if (index === undefined || step.run.failed) return false;
  index.hasAdded = true;
  index.added = undefined;
  changes.stage(step, pathsOf(operandsOf(step.git.words), step.directory).matches, false);
  return true;
}

/** `restore --staged` and `checkout COMMIT -- PATHS` also restore the index; what happened to the files is already recorded. */
export function restoreIndex({ changes }: Repository, step: GitStep): void {
  const { git, run, directory } = step;
  const { words } = git;
  const dashes = words.indexOf('--');
  const source = dashes > 0 ? words[dashes - 1] : undefined;
  const isOfIndex =
    git.verb === 'restore'
      ? words.some((word) => word === '-S' || word === '--staged')
      : source !== undefined && !source.startsWith('-');
  if (run.failed || !isOfIndex) return;
  const isOfFiles = git.verb !== 'restore' || words.some((word) => word === '-W' || word === '--worktree');
  if (isOfFiles) {
    const specs = dashes < 0 ? operandsOf(words) : words.slice(dashes + 1);
    changes.take(step, pathsOf(specs, directory).matches);
  } else changes.unstage(step, operandsOf(words));
}
