// `git stash`: changes that are set aside and restored.

import type { Repository } from './repository.ts';
import type { GitStep } from './step.ts';
import type { Tree } from './trees.ts';
import { pathsOf } from '../../shell/git-words.ts';

const MAX_STASHES = 20;

/** `git stash`. Returns whether it changed the work tree or the stashes. */
export function stash(repository: Repository, step: GitStep): boolean {
  const tree = repository.trees.get(step.tree);
  const { words } = step.git;
  const [verb = 'push', ...rest] = words[0]?.startsWith('-') === true ? ['push', ...words] : words;
  if (tree === undefined) return false;
  if (verb === 'push' || verb === 'save') return putAway(repository, step, { tree, rest });
  if (!['pop', 'apply', 'drop', 'clear'].includes(verb)) return false;
  if (step.run.failed && !/CONFLICT|Dropped/.test(step.output)) return false;
  const at =
    tree.stashes.length - 1 - Number(/\d+/.exec(rest.find((word) => !word.startsWith('-')) ?? '')?.[0] ?? 0);
  const stashed = tree.stashes[at];
  if (stashed !== undefined && (verb === 'pop' || verb === 'apply')) repository.changes.putBack(stashed);
  if (verb === 'clear') tree.stashes.splice(0);
  // After a conflict git keeps the stash.
  else if (verb !== 'apply' && !step.output.includes('CONFLICT'))
    tree.stashes.splice(at, stashed === undefined ? 0 : 1);
  return true;
}

function putAway(
  { changes }: Repository,
  step: GitStep,
  { tree, rest }: { readonly tree: Tree; readonly rest: readonly string[] },
): boolean {
  const { run, output, directory } = step;
  if (output.includes('No local changes to save')) return false;
  if (run.failed && !output.includes('Saved working directory')) return false;
  const hasUntracked = rest.some(
    (word) => /^-\w*[ua]/.test(word) || word === '--include-untracked' || word === '--all',
  );
  const dashes = rest.indexOf('--');
  const paths = dashes < 0 ? undefined : pathsOf(rest.slice(dashes + 1), directory);
  tree.stashes.push(
    changes.take(
      step,
      (path, { isNew, isStaged }) => paths?.matches(path) ?? (isStaged || !isNew || hasUntracked),
    ),
  );
  if (tree.stashes.length > MAX_STASHES) tree.stashes.shift();
  return true;
}
