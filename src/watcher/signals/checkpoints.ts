// What a finished command means for the work: a commit, a pull-request checkpoint, or neither; and what git's own
// output says about it.

import { commitsIn } from '../../trail/outputs/git-output.ts';
import { stripAnsi } from '../../trail/outputs/outputs.ts';
import type { CommandFate, CommandOutcome } from './fates.ts';

/** The boundaries that a command can reach. */
export type Checkpoint = 'commit' | 'pr_checkpoint';

/** Which commands count. */
export interface CheckpointSettings {
  /** Verbs of git that commit: `commit` and its aliases. */
  readonly commitVerbs: readonly string[];
  readonly pushIsPrCheckpoint: boolean;
}

/** A reached checkpoint and its evidence. */
export interface ReachedCheckpoint {
  readonly checkpoint: Checkpoint;
  readonly words: readonly string[];
  /** `status`: the script's exit status shows that the command succeeded. `output`: git's own output does. */
  readonly toldBy: 'status' | 'output';
  /** The hash that git reported for a commit. */
  readonly hash?: string;
}

/** How a finished script ended. */
export interface FinishedScript {
  readonly fates: readonly CommandFate[];
  readonly exit: CommandOutcome;
  /** Whether `exit` is a real exit status, not only a tool's claim of success. */
  readonly isExitExact: boolean;
  readonly output: string;
}

/** Verbs of `gh pr` that change a pull request. @source rawr-behaviour §4.2 */
const GH_VERBS = new Set(['create', 'close', 'merge', 'reopen', 'review']);
/** Verbs of Graphite that submit, extend or land a stack. @source rawr-behaviour §4.2 */
const GT_VERBS = new Set(['submit', 'ss', 'create', 'review', 'land']);

/** The checkpoints that a finished script reached, in its order. */
export function reachedCheckpoints(
  script: FinishedScript,
  settings: CheckpointSettings,
): ReachedCheckpoint[] {
  const output = stripAnsi(script.output);
  const candidates = script.fates.flatMap((fate): CheckpointCandidate[] => {
    if (fate.outcome === 'failed') return [];
    const checkpoint = checkpointOf(fate.words, settings);
    if (checkpoint !== undefined) return [{ fate, checkpoint, isAlias: false }];
    // Whether a user's alias commits, only git's report can tell.
    const isAlias = isAliasOfGit(fate.words, settings);
    return isAlias ? [{ fate: { ...fate, outcome: 'unknown' }, checkpoint: 'commit', isAlias }] : [];
  });
  const reports = commitsIn(output).map(({ hash }) => hash);
  const isReported = ({ fate, checkpoint }: CheckpointCandidate): boolean =>
    checkpoint === 'commit' && fate.output !== 'redirected' && !isQuiet(fate.words);
  // A report belongs first to a commit that certainly ran, then to one that may not have run.
  const certain = candidates.filter((each) => isReported(each) && each.fate.outcome === 'succeeded');
  let spare = reports.length - certain.filter(({ fate }) => fate.ran).length;
  return candidates.flatMap((candidate): ReachedCheckpoint[] => {
    const { fate, checkpoint } = candidate;
    const { words } = fate;
    const isCertain = fate.ran && fate.outcome === 'succeeded';
    const hash = isReported(candidate) && (isCertain || spare-- > 0) ? reports.shift() : undefined;
    if (hash !== undefined) {
      return [{ checkpoint, words, toldBy: isCertain ? 'status' : 'output', hash }];
    }
    if (candidate.isAlias) return [];
    if (hasSucceeded(fate, { ...script, output })) return [{ checkpoint, words, toldBy: 'status' }];
    return isPush(words) && hasPushed(output) ? [{ checkpoint, words, toldBy: 'output' }] : [];
  });
}

/** A command that may have been a checkpoint. */
interface CheckpointCandidate {
  readonly fate: CommandFate;
  readonly checkpoint: Checkpoint;
  /** A verb that is not one of git's own. */
  readonly isAlias: boolean;
}

function hasSucceeded(fate: CommandFate, { exit, isExitExact, output }: FinishedScript): boolean {
  if (exit !== 'succeeded' || !fate.ran) return false;
  if (fate.outcome === 'succeeded') return isExitExact || !hasRefused(output);
  // If a commit with visible output had succeeded, git would have reported it.
  const isSilent = fate.output !== 'shown' || isPush(fate.words) || isQuiet(fate.words);
  return (isSilent || programOf(fate.words) !== 'git') && !hasRefused(output);
}

function hasRefused(output: string): boolean {
  return /^(?:error|fatal):|^ ! \[|^(?:nothing (?:added )?to commit|no changes added to commit|Aborting commit)|\bfailed to push\b/m.test(
    output,
  );
}

function hasPushed(output: string): boolean {
  return /^ (?:[ +*] |\* ?)?(?:\[new (?:branch|tag)\]|[0-9a-f]{7,40}\.{2,3}[0-9a-f]{7,40}) {1,20}\S{1,200} -> /m.test(
    output,
  );
}

/** The checkpoint of a successful command. A dry run, a request for help and a deletion are not checkpoints. */
export function checkpointOf(
  words: readonly string[],
  { commitVerbs, pushIsPrCheckpoint }: CheckpointSettings,
): Checkpoint | undefined {
  switch (programOf(words)) {
    case 'git': {
      const [verb = '', ...rest] = gitVerb(words);
      if (commitVerbs.includes(verb)) return isRealCommit(rest) ? 'commit' : undefined;
      if (verb !== 'push' || !pushIsPrCheckpoint) return undefined;
      return isRealPush(rest) ? 'pr_checkpoint' : undefined;
    }
    case 'gh': {
      const { operands, options } = takeApart(words.slice(1), GH_VALUES);
      const isCheckpoint = operands[0] === 'pr' && GH_VERBS.has(operands[1] ?? '');
      return isCheckpoint && !isRehearsal(options) ? 'pr_checkpoint' : undefined;
    }
    case 'gt': {
      const { operands, options } = takeApart(words.slice(1), GT_VALUES);
      return GT_VERBS.has(operands[0] ?? '') && !isRehearsal(options) ? 'pr_checkpoint' : undefined;
    }
    default:
      return undefined;
  }
}

function programOf(words: readonly string[]): string {
  const word = words[0] ?? '';
  return word.slice(Math.max(word.lastIndexOf('/'), word.lastIndexOf('\\')) + 1).replace(/\.exe$/i, '');
}

/** Options of git itself that take the next word. @source git(1) */
const GIT_VALUES = new Set([
  '-C',
  '-c',
  '--git-dir',
  '--work-tree',
  '--namespace',
  '--config-env',
  '--attr-source',
]);

/** The verb of a git command and the words after it; empty if git is only asked about itself. */
function gitVerb(words: readonly string[]): readonly string[] {
  let at = 1;
  for (let word = words[at]; word?.startsWith('-') === true; word = words[at]) {
    if (/^(?:-h|--help|--version|-v)$/.test(word)) return [];
    at += GIT_VALUES.has(word) ? 2 : 1;
  }
  return words.slice(at);
}

/** Git's own verbs, except the ones that nobody types. @source git(1) */
const OWN_VERBS = new Set(
  (
    'add am apply archive backfill bisect blame branch bugreport bundle cat-file check-ignore checkout cherry cherry-pick ' +
    'citool clean clone commit commit-graph commit-tree config count-objects credential describe diagnose diff diff-tree ' +
    'difftool fast-export fetch filter-branch for-each-ref format-patch fsck gc gitk grep gui hash-object help init ' +
    'instaweb lfs log ls-files ls-remote ls-tree maintenance merge merge-base mergetool mv name-rev notes p4 prune pull push ' +
    'range-diff read-tree rebase reflog remote repack replace request-pull rerere reset restore rev-list rev-parse revert ' +
    'rm scalar send-email shortlog show show-branch show-ref sparse-checkout stash status submodule subtree svn switch ' +
    'symbolic-ref tag update-index update-ref var verify-commit version whatchanged worktree write-tree'
  ).split(' '),
);

function isAliasOfGit(words: readonly string[], { commitVerbs }: CheckpointSettings): boolean {
  const [verb = ''] = programOf(words) === 'git' ? gitVerb(words) : [];
  return verb !== '' && !OWN_VERBS.has(verb) && !commitVerbs.includes(verb);
}

const COMMIT_VALUES =
  /^(?:-[a-zA-Z]*[mFCct]|--(?:message|file|author|date|template|reuse-message|reedit-message|fixup|squash|cleanup|trailer|pathspec-from-file))$/;
const PUSH_VALUES = /^(?:-o|--(?:push-option|repo|receive-pack|exec))$/;
const GH_VALUES =
  /^(?:-[RtbFBHalmprTA]|--(?:repo|title|body|body-file|base|head|assignee|label|milestone|project|reviewer|template|recover|subject|author-email|match-head-commit|comment))$/;
const GT_VALUES = /^(?:-[mb]|--(?:message|branch|target|reviewers|cwd))$/;

/** `--short`, `--long` and `--porcelain` of git commit imply a dry run. @source git-commit(1) */
function isRealCommit(rest: readonly string[]): boolean {
  const { options } = takeApart(rest, COMMIT_VALUES);
  return !isRehearsal(options) && !options.some((option) => /^--(?:short|long|porcelain)/.test(option));
}

function isRealPush(rest: readonly string[]): boolean {
  const { options } = takeApart(rest, PUSH_VALUES);
  return !isRehearsal(options) && !options.some((option) => /^-[a-zA-Z]*[nd]|^--delete$/.test(option));
}

/** Git accepts any unambiguous prefix of a long option. */
function isRehearsal(options: readonly string[]): boolean {
  return options.some((option) => /^(?:--dry(?:-(?:r(?:un?)?)?)?|--help|-h)$/.test(option));
}

function isPush(words: readonly string[]): boolean {
  return programOf(words) === 'git' && gitVerb(words)[0] === 'push';
}

function isQuiet(words: readonly string[]): boolean {
  return takeApart(gitVerb(words).slice(1), COMMIT_VALUES).options.some((option) =>
    /^(?:--quiet|-[a-pr-zA-Z]*q[a-zA-Z]*)$/.test(option),
  );
}

/** Options and operands, without the values of options that take the next word; `--` ends the options. */
function takeApart(
  words: readonly string[],
  takesValue: RegExp,
): { readonly options: readonly string[]; readonly operands: readonly string[] } {
  const options: string[] = [];
  const operands: string[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? '';
    if (word === '--') break;
    if (!word.startsWith('-') || word === '-') operands.push(word);
    else {
      options.push(word);
      if (takesValue.test(word)) at++;
    }
  }
  return { options, operands };
}
