// `git push`: which commits the remote has.

import { detached } from '../../text/sentences.ts';
import { pushIn } from '../outputs/git-output.ts';
import type { Repository } from './repository.ts';
import type { GitStep } from './step.ts';
import { operandsOf } from '../../shell/git-words.ts';

/** `git push`. */
export function push({ trees, commits }: Repository, step: GitStep): void {
  const { git, run, output, tree } = step;
  const branch = trees.branchOf(tree);
  const name = trees.get(tree)?.branch ?? '';
  if (branch === undefined || git.words.some((word) => /^(?:-d|--delete|--dry-run|-n)$/.test(word))) return;
  const report = pushIn(output, name === '' ? undefined : name);
  const result = report?.result ?? (!isOf(name, git.words) ? 'other' : run.failed ? 'refused' : 'pushed');
  if (result === 'other') return;
  branch.isRemoteSeen = true;
  if (result === 'refused') {
    branch.refusal = detached(report?.reason ?? 'it failed');
    branch.isMended = false;
    return;
  }
  branch.ahead = 0;
  branch.own = 0;
  branch.before = 0;
  branch.behind = 0;
  branch.isExact = true;
  branch.refusal = undefined;
  for (const commit of commits.onBranch(tree)) commit.isPushed = true;
  if (report?.hash !== undefined) commits.rename(tree, report.hash);
}

/** Whether a push, judging by its words, is of the checked-out branch. */
function isOf(branch: string, words: readonly string[]): boolean {
  const refs = operandsOf(words).slice(1);
  return (
    refs.length === 0 ||
    branch === '' ||
    refs.some((ref) => ref.split(':').some((part) => part === branch || part === 'HEAD'))
  );
}
