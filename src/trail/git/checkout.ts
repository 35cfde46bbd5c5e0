// The git verbs that show or change what is checked out, and where.

import { gitCommandOf } from '../../shell/git-commands.ts';
import type { GitCommand } from '../../shell/git-commands.ts';
import { distanceIn, firstLogged, headIn, listedFiles, loggedIn } from '../outputs/git-output.ts';
import type { Repository } from './repository.ts';
import { restoreIndex } from './staging.ts';
import type { GitStep } from './step.ts';
import { inDirectory, operandsOf } from '../../shell/git-words.ts';

/** `git checkout` and `switch`, except for the branch that they move to. */
export function checkOut(repository: Repository, step: GitStep): void {
  const { tree, output, moment } = step;
  restoreIndex(repository, step);
  repository.trees.setAhead(tree, distanceIn(output));
  noteUnknownMove(repository, step);
  repository.trees.setHead(tree, headIn(output), moment.position);
}

/** A quiet `git checkout` of a possible branch: what is checked out then changes without an outsider's doing. */
function noteUnknownMove({ trees }: Repository, { git, tree, output }: GitStep): void {
  const branch = trees.branchOf(tree);
  const isCertain = git.words.includes('--') || /^(?:Switched to|Already on|HEAD is now at)/m.test(output);
  if (branch !== undefined && !isCertain) branch.mayHaveMoved = true;
}

/** `git log`, `show` and `rev-parse`, if the first of them in a script starts at what is checked out. */
export function look({ trees, commits, changes }: Repository, step: GitStep): void {
  const { git, run, tree, output, moment } = step;
  const looks = run.simple
    .flatMap((one) => gitCommandOf(one) ?? [])
    .filter(({ verb }) => /^(?:log|show|rev-parse)$/.test(verb));
  if (run.failed || !isOfHead(git) || !looks.slice(0, 1).every(isOfHead)) return;
  if (git.verb === 'rev-parse') {
    const hash = /^[0-9a-f]{7,40}$/m.exec(output)?.[0];
    if (hash !== undefined) commits.rename(tree, hash);
    return;
  }
  const logged = loggedIn(output);
  const head = looks.length > 1 ? firstLogged(output) : (logged[0] ?? firstLogged(output));
  if (head === undefined) return;
  const sight = trees.seeHead(tree, head, moment.position);
  // An outside commit may hold any earlier change.
  if (sight === 'moved') changes.doubtAll(step);
  else if (sight === 'new' && !commits.has(head.subject)) changes.doubtListed(step, listedFiles(output));
  commits.recognise(tree, logged);
}

/** Whether a listing starts at what is checked out: it names no other revision or path and omits nothing. */
function isOfHead({ words }: GitCommand): boolean {
  const isFiltered = words.some((word) =>
    /^--(?:all|reverse|grep|author|committer|since|after|until|before|skip|merges|no-merges|branches|remotes|tags|diff-filter|follow|abbrev-ref|show-toplevel|git-)|^-[SGL]/.test(
      word,
    ),
  );
  // `-n 5` leaves its number among the operands; an all-digit hash is longer.
  const operands = operandsOf(words).filter((word) => !/^\d{1,6}$/.test(word));
  return (
    !isFiltered &&
    !words.includes('--') &&
    operands.every((word) => /^(?:HEAD|@|\S+\.\.(?:HEAD)?)$/.test(word))
  );
}

/** `git worktree add` and `remove`. */
export function changeTrees({ trees, changes }: Repository, { git, run, directory, moment }: GitStep): void {
  const [verb, path] = operandsOf(git.words.filter((_, at) => !/^-[bB]$/.test(git.words[at - 1] ?? '')));
  if (run.failed || path === undefined) return;
  const root = inDirectory(directory, path);
  if (verb === 'add') {
    trees.add(root);
    trees.setHead(root, headIn(run.output), moment.position);
  } else if (verb === 'remove') {
    trees.remove(root);
    changes.forgetBelow(root);
  }
}
