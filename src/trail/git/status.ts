// `git status`, whose listing is authoritative.

import { gitCommandOf } from '../../shell/git-commands.ts';
import type { SimpleCommand } from '../../shell/scripts.ts';
import { distanceIn, statusIn } from '../outputs/git-output.ts';
import type { Repository } from './repository.ts';
import type { GitStep } from './step.ts';
import { inDirectory, operandsOf } from '../../shell/git-words.ts';

/** `git status`, if it is the only git command of a script, so that the output is its own. */
export function status({ trees, changes, commits, files }: Repository, step: GitStep): void {
  const { git, run, directory, output } = step;
  const tree = trees.get(step.tree);
  const isOne = run.simple.filter((command) => gitCommandOf(command)?.verb === 'status').length === 1;
  if (tree === undefined || !isOne || output !== run.output) return;
  trees.setAhead(step.tree, distanceIn(output));
  const base = git.words.some((word) => word.startsWith('--porcelain')) ? step.tree : directory;
  const rows = statusIn(output).map((row) => ({
    ...row,
    path: inDirectory(base, row.path),
    isUnknownDirectory: row.isUntracked && row.path.endsWith('/'),
  }));
  const since = commits.newestPosition ?? -1;
  for (const { path, isModified } of rows) if (isModified) files.noteKnown(path, since);
  const isWhole = run.simple.every(printsPlainly) || /^nothing to commit, working tree clean$/m.test(output);
  const isAll = !run.failed && operandsOf(git.words).length === 0 && isWhole;
  changes.compare(step, rows, isAll);
  if (!isAll) return;
  const added = new Set(rows.flatMap(({ isStaged, path }) => (isStaged ? [path] : [])));
  tree.index = { hasAdded: added.size > 0, isUnclear: false, added };
}

/** Whether a command's output can neither be mistaken for a line of `git status` nor hide one. */
function printsPlainly({ words }: SimpleCommand): boolean {
  return /^(?:git|cd|echo|printf|pwd|true|date|:)$/.test(words[0] ?? '');
}
