// The git verbs that make commits.

import { gitCommandOf } from '../../shell/git-commands.ts';
import type { SimpleCommand } from '../../shell/scripts.ts';
import type { Repository } from './repository.ts';
import { NO_COMMIT } from './staging.ts';
import type { GitStep } from './step.ts';
import { emptyIndex } from './trees.ts';
import type { Index } from './trees.ts';
import { commitWords, firstLine } from '../../shell/git-words.ts';
import type { CommitWords } from '../../shell/git-words.ts';

/** `git commit`. Returns whether it made one. */
export function commit({ trees, changes, commits }: Repository, step: GitStep): boolean {
  const { git, run, directory, reports } = step;
  const words = commitWords(git.words, directory);
  const report = reports.shift();
  if (words.isTry || (report === undefined && (run.failed || NO_COMMIT.test(run.output)))) return false;
  const tree = trees.get(step.tree);
  const before = words.isAmend ? commits.takeBack(step.tree) : undefined;
  const taken = changes.settle(step, words, isKnown(words, tree?.index ?? emptyIndex(), report?.files));
  if (words.isOfIndex && tree !== undefined) tree.index = emptyIndex();
  const subject = report?.subject ?? words.subject ?? heredocSubject(run.simple) ?? before?.subject;
  commits.add(step, { hash: report?.hash, subject, files: [...(before?.files ?? []), ...taken] });
  return true;
}

/** Whether the log shows what a commit holds. @param count the number of files in it, according to git */
function isKnown(words: CommitWords, index: Index, count: number | undefined): boolean {
  const { paths, isAll, isAmend, isOfIndex } = words;
  if (index.isUnclear || paths?.isUnclear === true) return false;
  const isHidden = index.added !== undefined && count !== undefined && count > index.added.size;
  return isAll || !isOfIndex || isAmend || (index.hasAdded && !isHidden);
}

/**
 * `git cherry-pick`, `revert` and `am`: commits made from others, whose files stay as they were. Returns whether it made one.
 */
export function applyCommits({ commits }: Repository, step: GitStep): boolean {
  const { git, output } = step;
  if (/--(?:abort|quit|skip)/.test(git.words.join(' '))) return false;
  const applied =
    git.verb === 'am'
      ? [...output.matchAll(/^Applying: (.{1,200})/gm)].map(([, subject]) => ({ hash: undefined, subject }))
      : step.reports.splice(0);
  for (const { hash, subject } of applied) commits.add(step, { hash, subject, files: [] });
  return applied.length > 0;
}

/** The first line of a message passed as a heredoc (`git commit -F - <<END`). */
function heredocSubject(simple: readonly SimpleCommand[]): string | undefined {
  const command = simple.find((one) => gitCommandOf(one)?.verb === 'commit');
  const text = command?.redirects.find(({ content }) => content !== undefined)?.content;
  return text === undefined ? undefined : firstLine(text);
}
