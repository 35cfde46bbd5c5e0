// What git holds of the work: which changes no commit has, which commit is the newest, what is stashed and what was pushed.
// It follows the index as far as the log tells; of what the log does not tell it says nothing.

import type { FileAction } from '../calls.ts';
import type { Moment } from '../files.ts';
import { aheadIn, commitsIn, headIn, loggedIn, pushIn, statusIn } from './output.ts';
import type { LoggedCommit, ReportedCommit } from './output.ts';
import {
  addedPaths,
  commitWords,
  firstLine,
  inDirectory,
  isAtOrBelow,
  operandsOf,
  pathsOf,
  stepsBack,
} from './words.ts';
import type { CommitWords, PathChoice } from './words.ts';
import { clip, detached } from '../sentences.ts';
import { gitCommandOf } from '../shell.ts';
import type { GitCommand, SimpleCommand } from '../shell.ts';
import type { Commit, CommitFate, NewestCommit, TreeState } from '../trail.ts';

const MAX_COMMITS = 120;
const MAX_CHANGES = 1_500;
const MAX_STASHES = 20;
const MAX_TREES = 60;
/** Characters of a hash that are kept of a long one. */
const HASH_LENGTH = 9;
const SUBJECT_LENGTH = 200;
/** Characters of a subject by which a commit is known again after it was made anew. */
const KNOWN_BY = 60;

/** A change that no commit holds, as far as the log tells. */
interface Change {
  readonly position: number;
  /** A change of the file waits in the index. */
  readonly isStaged: boolean;
  /** It has a change that does not. */
  readonly isDirty: boolean;
  /** The session made the file, so that git does not know it before it is added. */
  readonly isNew: boolean;
  readonly isDeleted: boolean;
}

interface MadeCommit {
  readonly turn: number;
  readonly position: number;
  hash: string | undefined;
  readonly subject: string;
  readonly tree: string;
  /** The branches that hold it, as far as the session made them. */
  readonly branches: Set<string>;
  /** The changes it took. */
  readonly files: readonly string[];
  isPushed: boolean;
  fate: CommitFate | undefined;
}

/** What is known of one branch in one tree. */
interface Branch {
  head:
    | { readonly hash: string | undefined; readonly subject: string | undefined; readonly position: number }
    | undefined;
  /** Commits that its remote does not have, and whether there may be more. */
  ahead: number;
  isExact: boolean;
  /** Why git refused the newest push. */
  refusal: string | undefined;
}

/** One work tree. */
interface Tree {
  branch: string;
  readonly branches: Map<string, Branch>;
  /** Whether anything was seen to be added since the last commit, and whether what was is known. */
  hasAdded: boolean;
  isUnclear: boolean;
  /** What was added since the last commit, one by one; undefined where a pattern was. */
  added: Set<string> | undefined;
  readonly stashes: ReadonlyMap<string, Change>[];
}

/** How and where a script ran. */
export interface GitRun {
  readonly simple: readonly SimpleCommand[];
  readonly output: string;
  readonly failed: boolean;
  /** The directory of a run of git as the trail names paths: `.` for the working directory. */
  readonly directoryOf: (git: GitCommand) => string;
  readonly branchOf: (git: GitCommand) => string | undefined;
}

/** One run of git inside of a script. */
interface Step {
  readonly git: GitCommand;
  readonly directory: string;
  readonly tree: string;
  readonly run: GitRun;
  readonly moment: Moment;
  /** What the script printed, where all of its git commands ran in one tree; otherwise nothing. */
  readonly output: string;
  /** What git reported to have committed, in order, as far as no command took it yet. */
  readonly reports: ReportedCommit[];
}

/** A revision by its shape: a commit, a branch, what a remote has. Anything else is a path. */
const REVISION = /^(?:[0-9a-f]{7,40}|[\w-]+|(?:origin|upstream)\/[\w./-]+|@\{.*|\S+@\{.*)$/;

/** How `git commit` says that there is nothing for it to do. */
const NO_COMMIT = /^(?:nothing to commit|nothing added to commit|no changes added to commit)/m;

/** Collects what git did; memory is bounded by the limits above. */
export class GitLedger {
  readonly #changes = new Map<string, Change>();
  /** Changes that the newest commits may hold or not. */
  readonly #doubtful = new Map<string, Change>();
  readonly #trees = new Map<string, Tree>([['.', newTree()]]);
  /** Directories of which git does not list what is made there. */
  readonly #ignored = new Set<string>();
  #commits: MadeCommit[] = [];
  #newest: number | undefined;

  /** Where the newest commit was made, in the items of the log. */
  get newestPosition(): number | undefined {
    return this.#newest;
  }

  commits(): Commit[] {
    return this.#commits.map(({ turn, hash, subject, fate }) => ({ turn, hash, subject, fate }));
  }

  /** Takes in what happened to a file. @param isNew whether the session made it, as it seems */
  noteChange(file: Pick<FileAction, 'action' | 'path' | 'to'>, { position }: Moment, isNew: boolean): void {
    const { action, path, to } = file;
    if (action === 'restore') this.#restore(path);
    else if (action === 'delete') this.#delete(path, position);
    else if (action === 'move') {
      const before = this.#changes.get(path);
      this.#changes.delete(path);
      this.#dirty(to ?? path, position, before?.isNew ?? false);
    } else if (action !== 'read') this.#dirty(path, position, isNew);
  }

  /** Takes in a script that runs git. Whether it changed what git holds. */
  noteRun(run: GitRun, moment: Moment): boolean {
    const gits = run.simple.flatMap((command) => gitCommandOf(command) ?? []);
    if (gits.length === 0) {
      if (run.simple.some(({ words }) => words[0] === 'xargs' && words.includes('git'))) this.#blur();
      return false;
    }
    const placed = gits.map((git) => {
      const directory = run.directoryOf(git);
      return { git, directory, tree: this.#treeOf(directory) };
    });
    const isOnePlace =
      new Set(placed.filter(({ git }) => git.verb !== 'worktree').map(({ tree }) => tree)).size === 1;
    const reports = commitsIn(run.output);
    const output = isOnePlace ? run.output : '';
    if (run.simple.some(({ words }) => words[0] === 'xargs' && words.includes('add'))) this.#blur();
    let hasChanged = false;
    for (const place of placed) {
      const step: Step = { ...place, run, moment, output, reports };
      if (place.git.verb !== 'worktree') this.#follow(step);
      hasChanged = this.#take(step) || hasChanged;
    }
    return hasChanged;
  }

  /** The state of the tree that a directory lies in; changes also of the working directory. */
  state(workedIn: string | undefined): TreeState {
    const own = this.#rootOf(workedIn ?? '.') ?? workedIn ?? '.';
    const newest = this.#commits.findLast(({ fate }) => fate !== 'thrown away');
    const root = this.#branch(own)?.head === undefined && newest !== undefined ? newest.tree : own;
    const tree = this.#trees.get(root);
    const branch = this.#branch(root);
    const lastMade = this.#commits.findLast(
      (commit) => commit.tree === root && commit.fate !== 'thrown away',
    );
    const head = branch?.head?.subject === undefined ? undefined : branch.head;
    const isOwn = this.#commits.some(({ subject }) => subject === head?.subject);
    const changed = [...this.#changes]
      .filter(([path]) => isAtOrBelow(path, own) || isAtOrBelow(path, '.') || this.#rootOf(path) === own)
      .toSorted(([, a], [, b]) => b.position - a.position)
      .map(([path, { isDeleted }]) => ({ path, isDeleted }));
    const stash = tree?.stashes.at(-1);
    return {
      newest: head === undefined ? lastMade && pick(lastMade) : pick(head),
      as: head === undefined ? 'before' : isOwn ? 'made' : 'seen',
      directory: root === own ? undefined : root,
      hasCommits: this.#newest !== undefined,
      ahead: branch?.ahead ?? 0,
      isExact: branch?.isExact ?? true,
      refusal: branch?.refusal,
      changed,
      stashed: stash === undefined ? [] : [...stash.keys()],
    };
  }

  #take(step: Step): boolean {
    const { git, output } = step;
    switch (git.verb) {
      case 'add':
      case 'stage':
        return this.#add(step);
      case 'rm':
      case 'mv':
        return this.#stageRemoved(step);
      case 'commit':
        return this.#commit(step);
      case 'cherry-pick':
      case 'revert':
      case 'am':
        return this.#applied(step);
      case 'restore':
        this.#restoreIndex(step);
        return false;
      case 'reset':
        return this.#reset(step);
      case 'rebase':
      case 'pull':
      case 'merge':
        return this.#merged(step);
      case 'stash':
        return this.#stash(step);
      case 'push':
        return this.#push(step);
      case 'status':
        return this.#status(step);
      case 'checkout':
      case 'switch':
        this.#restoreIndex(step);
        this.#setAhead(step, aheadIn(output));
        this.#setHead(step, headIn(output));
        return false;
      case 'log':
      case 'show':
      case 'rev-parse':
        this.#look(step);
        return false;
      case 'worktree':
        this.#worktree(step);
        return false;
      default:
        return false;
    }
  }

  // Places

  /** The tree that a directory belongs to, which is noted where it is new. */
  #treeOf(directory: string): string {
    const root = this.#rootOf(directory) ?? directory;
    if (!this.#trees.has(root)) this.#trees.set(detached(root), newTree());
    for (const oldest of this.#trees.keys()) {
      if (this.#trees.size <= MAX_TREES) break;
      if (oldest !== '.' && oldest !== root) this.#trees.delete(oldest);
    }
    return root;
  }

  /** The deepest known tree that a path lies in, or the work tree that its directory of work trees tells. */
  #rootOf(path: string): string | undefined {
    const kept = /^(?:.*\/)?[\w.-]*worktrees\/[^/]+(?=\/|$)/.exec(path)?.[0];
    let root: string | undefined = kept;
    for (const known of this.#trees.keys()) {
      const isDeeper = root === undefined || (known !== '.' && (root === '.' || known.length > root.length));
      if (isDeeper && isAtOrBelow(path, known)) root = known;
    }
    return root;
  }

  #branch(tree: string): Branch | undefined {
    const known = this.#trees.get(tree);
    return known?.branches.get(known.branch);
  }

  /** Moves to the branch that is checked out by now: a new one begins where the old one is. */
  #follow({ tree: root, git, run }: Step): void {
    const tree = this.#trees.get(root);
    if (tree === undefined) return;
    const moves = git.verb === 'checkout' || git.verb === 'switch';
    const branch = run.branchOf(git) ?? (moves ? '' : tree.branch);
    if (branch === tree.branch && tree.branches.has(branch)) return;
    const before = tree.branches.get(tree.branch);
    const known = tree.branches.get(branch);
    const isNew =
      git.words.some((word) => /^-[bBcC]$|^--create$/.test(word)) && operandsOf(git.words).length < 2;
    const isSame = tree.branch === '' || git.verb === 'branch' || (isNew && !run.failed);
    const from = tree.branch;
    tree.branch = detached(branch);
    if (known !== undefined) return;
    tree.branches.set(tree.branch, isSame && before !== undefined ? { ...before } : newBranch());
    if (!isSame) return;
    for (const commit of this.#commits)
      if (commit.tree === root && commit.branches.has(from)) commit.branches.add(tree.branch);
  }

  /** Whether a change lies where git ran: `unsure` where it may be another directory of the same tree, or of another one. */
  #whereIs(path: string, { tree, directory }: Step): 'here' | 'unsure' | 'elsewhere' {
    if ((this.#rootOf(path) ?? tree) !== tree) return 'elsewhere';
    return isAtOrBelow(path, directory) ? 'here' : isAtOrBelow(path, tree) ? 'unsure' : 'elsewhere';
  }

  // Changes

  #dirty(path: string, position: number, isNew: boolean): void {
    const before = this.#changes.get(path);
    if (isNew && before === undefined && this.#ignored.has(directoryOf(path))) return;
    this.#changes.delete(path);
    this.#doubtful.delete(path);
    this.#changes.set(detached(path), {
      position,
      isStaged: before?.isStaged ?? false,
      isDirty: true,
      isNew: before?.isNew ?? isNew,
      isDeleted: false,
    });
    for (const oldest of this.#changes.keys()) {
      if (this.#changes.size <= MAX_CHANGES) break;
      this.#changes.delete(oldest);
    }
  }

  /** What lay in a directory is gone with it; a file that only the session knew, without a trace. */
  #delete(path: string, position: number): void {
    const below = [...this.#changes.keys()].filter((known) => known !== path && isAtOrBelow(known, path));
    for (const known of below) this.#delete(known, position);
    const before = this.#changes.get(path);
    this.#changes.delete(path);
    // What looks like a directory may have been built and be none of git's.
    const isOfGit = before !== undefined || /[^/.]\.\w+$/.test(path);
    if (!isOfGit || (before?.isNew === true && !before.isStaged)) return;
    this.#changes.set(detached(path), {
      position,
      isStaged: before?.isStaged ?? false,
      isDirty: true,
      isNew: before?.isNew ?? false,
      isDeleted: true,
    });
  }

  /** Git put back what it has, of a directory all it knows. What waits in the index stays there. */
  #restore(path: string): void {
    for (const [known, change] of this.#changes) {
      if (known !== path && (change.isNew || !isAtOrBelow(known, path))) continue;
      if (change.isStaged) this.#changes.set(known, { ...change, isDirty: false });
      else this.#changes.delete(known);
    }
  }

  /** `restore --staged` and `checkout COMMIT -- PATHS` put the index back, too; what became of the files is known. */
  #restoreIndex(step: Step): void {
    const { git, run, directory } = step;
    const { words } = git;
    const dashes = words.indexOf('--');
    const source = dashes > 0 ? words[dashes - 1] : undefined;
    const isStaged = words.some((word) => word === '-S' || word === '--staged');
    if (run.failed || (git.verb === 'restore' ? !isStaged : source === undefined || source.startsWith('-')))
      return;
    const isOfFiles = git.verb !== 'restore' || words.some((word) => word === '-W' || word === '--worktree');
    if (!isOfFiles) {
      this.#unstage(step, words);
      return;
    }
    const { matches } = pathsOf(dashes < 0 ? operandsOf(words) : words.slice(dashes + 1), directory);
    for (const path of this.#changes.keys())
      if (matches(path) && this.#whereIs(path, step) !== 'elsewhere') this.#changes.delete(path);
  }

  /** What was added is not known: a commit may hold anything. */
  #blur(): void {
    for (const tree of this.#trees.values()) tree.isUnclear = true;
  }

  #add(step: Step): boolean {
    const { git, run, directory } = step;
    const tree = this.#trees.get(step.tree);
    if (tree === undefined || (run.failed && /^fatal: pathspec/m.test(run.output))) return false;
    const choice = addedPaths(git.words, directory);
    tree.hasAdded = true;
    const hasRun = !run.failed || step.reports.length > 0 || NO_COMMIT.test(run.output);
    if (choice.isUnclear || !hasRun) tree.isUnclear = true;
    this.#noteAdded(tree, choice);
    this.#stageChosen(step, choice, choice.isTracked);
    return false;
  }

  #stageChosen(step: Step, { matches }: PathChoice, isTracked: boolean): void {
    for (const [path, change] of this.#changes) {
      if (
        this.#whereIs(path, step) === 'elsewhere' ||
        !matches(path) ||
        (isTracked && change.isNew && !change.isStaged)
      )
        continue;
      this.#changes.set(path, { ...change, isStaged: true, isDirty: false });
    }
  }

  #noteAdded(tree: Tree, { named }: PathChoice): void {
    if (named === undefined) tree.added = undefined;
    else for (const path of named) tree.added?.add(path);
  }

  /** `git rm` and `git mv` put their part into the index; what became of the files is known. */
  #stageRemoved(step: Step): boolean {
    const tree = this.#trees.get(step.tree);
    if (tree === undefined || step.run.failed) return false;
    const { words } = step.git;
    const choice = pathsOf(operandsOf(words), step.directory);
    tree.hasAdded = true;
    tree.added = undefined;
    this.#stageChosen(step, choice, false);
    return true;
  }

  #unstage(step: Step, words: readonly string[]): void {
    const operands = operandsOf(words);
    const { matches } = operands.length === 0 ? { matches: () => true } : pathsOf(operands, step.directory);
    for (const [path, change] of this.#changes) {
      if (change.isStaged && matches(path) && this.#whereIs(path, step) !== 'elsewhere')
        this.#changes.set(path, { ...change, isStaged: false, isDirty: true });
    }
  }

  // Commits

  #commit(step: Step): boolean {
    const { git, run, directory, reports } = step;
    const words = commitWords(git.words, directory);
    const report = reports.shift();
    if (words.isTry || (report === undefined && (run.failed || NO_COMMIT.test(run.output)))) return false;
    const before = words.isAmend ? this.#takeBack(step) : undefined;
    const files = this.#settle(step, words, report?.files);
    const subject = report?.subject ?? words.subject ?? heredocSubject(run.simple) ?? before?.subject;
    this.#made(step, report?.hash, { subject, files: [...(before?.files ?? []), ...files] });
    return true;
  }

  #made(
    step: Step,
    hash: string | undefined,
    { subject, files }: { readonly subject: string | undefined; readonly files: readonly string[] },
  ): void {
    const branch = this.#branch(step.tree);
    const told = subject === undefined ? undefined : detached(clip(subject, SUBJECT_LENGTH));
    const short = hash === undefined ? undefined : detached(hash.slice(0, HASH_LENGTH));
    const { turn, position } = step.moment;
    this.#newest = position;
    if (told !== undefined) {
      const name = this.#trees.get(step.tree)?.branch;
      const fixed = { turn, position, tree: step.tree, branches: new Set([name ?? '']), files };
      this.#commits.push({ ...fixed, hash: short, subject: told, isPushed: false, fate: undefined });
      if (this.#commits.length > MAX_COMMITS) this.#commits.shift();
    }
    if (branch === undefined) return;
    branch.head = { hash: short, subject: told, position };
    branch.ahead++;
  }

  /** The newest commit of the branch is made again: what it held goes into the new one. */
  #takeBack(step: Step): MadeCommit | undefined {
    const newest = this.#onBranch(step).at(-1);
    const branch = this.#branch(step.tree);
    if (branch !== undefined && branch.ahead > 0) branch.ahead--;
    const { hash, subject } = branch?.head ?? newest ?? {};
    const isOther =
      newest?.hash === undefined || hash === undefined ? newest?.subject !== subject : newest.hash !== hash;
    if (newest === undefined || isOther) return undefined;
    this.#commits = this.#commits.filter((commit) => commit !== newest);
    return newest;
  }

  #onBranch({ tree }: Step): MadeCommit[] {
    const branch = this.#trees.get(tree)?.branch ?? '';
    return this.#commits.filter(
      (commit) =>
        commit.tree === tree &&
        commit.fate !== 'thrown away' &&
        (branch === '' || commit.branches.has(branch) || commit.branches.has('')),
    );
  }

  /** Takes what a commit holds out of the changes; the paths of those. Where nobody knows what it holds, all of its tree go. */
  #settle(step: Step, words: CommitWords, count: number | undefined): string[] {
    const tree = this.#trees.get(step.tree) ?? newTree();
    const { paths, isAll, isIncluding } = words;
    const isOfIndex = paths === undefined || isIncluding;
    const isHidden = tree.added !== undefined && count !== undefined && count > tree.added.size;
    const isKnown =
      !tree.isUnclear &&
      paths?.isUnclear !== true &&
      (isAll || !isOfIndex || words.isAmend || (tree.hasAdded && !isHidden));
    const taken: string[] = [];
    for (const [path, change] of this.#changes) {
      const where = this.#whereIs(path, step);
      if (where === 'elsewhere') continue;
      const isKnownToGit = change.isStaged || !change.isNew;
      const isWhole = (isAll && where === 'here' && isKnownToGit) || paths?.matches(path) === true;
      const isIn = isWhole || (isOfIndex && change.isStaged);
      if (isIn) taken.push(path);
      if (isWhole || (isIn && !change.isDirty)) this.#changes.delete(path);
      else if (!isKnown || isAll) this.#doubt(path, change);
      else if (isIn) this.#changes.set(path, { ...change, isStaged: false, isNew: false });
    }
    if (isOfIndex) startIndex(tree);
    return taken;
  }

  /** Nobody knows whether a commit holds it, unless git tells. */
  #doubt(path: string, change: Change): void {
    this.#changes.delete(path);
    this.#doubtful.set(path, change);
  }

  /** Commits that were made of others: their files are as they were. */
  #applied(step: Step): boolean {
    const { git, output } = step;
    if (/--(?:abort|quit|skip)/.test(git.words.join(' '))) return false;
    const applied =
      git.verb === 'am'
        ? [...output.matchAll(/^Applying: (.{1,200})/gm)].map(([, subject]) => ({ hash: undefined, subject }))
        : step.reports.splice(0);
    for (const { hash, subject } of applied) this.#made(step, hash, { subject, files: [] });
    return applied.length > 0;
  }

  // Rewriting

  /** A branch moved to what others made, or was put on top of that. */
  #merged(step: Step): boolean {
    const { git, run, output, moment } = step;
    const branch = this.#branch(step.tree);
    const isIdle = /^(?:Already up to date|Already up-to-date|Current branch \S+ is up to date)/m.test(
      output,
    );
    const isAborted = git.words.some((word) => /^--(?:abort|quit|edit-todo|show-current-patch)$/.test(word));
    const isDone = /Successfully rebased|^Fast-forward|^Merge made by/m.test(output);
    if (branch === undefined || isIdle || isAborted || (run.failed && !isDone)) return false;
    const isRebase =
      git.verb === 'rebase' || git.words.some((word) => /^(?:-r|--rebase(?:=.*)?)$/.test(word));
    const [, to] = /^Updating [0-9a-f]{7,40}\.\.([0-9a-f]{7,40})$/m.exec(output) ?? [];
    branch.head = undefined;
    if (to !== undefined) {
      branch.head = {
        hash: detached(to.slice(0, HASH_LENGTH)),
        subject: undefined,
        position: moment.position,
      };
      branch.ahead = 0;
      branch.isExact = git.verb === 'pull';
    } else if (isRebase || output.includes('Successfully rebased')) this.#rebase(step, branch);
    else if (git.words.some((word) => /^--(?:squash|no-commit)$/.test(word))) this.#blur();
    else {
      const [of = 'its remote branch'] = git.verb === 'merge' ? operandsOf(git.words) : [];
      if (/^Merge made by/m.test(output))
        this.#made(step, undefined, { subject: `Merge of ${of}`, files: [] });
      branch.isExact = false;
    }
    return true;
  }

  /** The commits that were put on top of others have new hashes; a pull leaves alone what the remote has. */
  #rebase(step: Step, branch: Branch): void {
    // Each commit that is put down again after a conflict is reported.
    if (step.git.verb === 'rebase') step.reports.splice(0);
    const anew = this.#onBranch(step).filter(({ isPushed }) => step.git.verb === 'rebase' || !isPushed);
    for (const commit of anew) {
      if (commit.isPushed) branch.ahead++;
      commit.hash = undefined;
      commit.isPushed = false;
      commit.fate = 'rebased';
    }
    // What others have made already is left out.
    const skipped = step.output.match(/skipped previously applied commit/g)?.length ?? 0;
    branch.ahead = Math.max(0, branch.ahead - skipped);
    const last = anew.at(-1);
    if (last === undefined || skipped > 0) return;
    branch.head = { hash: undefined, subject: last.subject, position: step.moment.position };
  }

  #reset(step: Step): boolean {
    const { git, run, directory, tree, output } = step;
    const head = headIn(output);
    if (run.failed && head === undefined) return false;
    const isHard = git.words.includes('--hard');
    const [target = 'HEAD', ...rest] = operandsOf(git.words);
    const isRevision = stepsBack(target) !== undefined || REVISION.test(target);
    const named = inDirectory(directory, target);
    const isKnownPath = [...this.#changes.keys()].some((path) => isAtOrBelow(path, named));
    const isPath = rest.length > 0 || git.words.includes('--') || !isRevision || isKnownPath;
    if (isPath) {
      this.#unstage(step, stepsBack(target) === undefined ? git.words : ['--', ...rest]);
      return false;
    }
    const mode = isHard ? 'hard' : git.words.includes('--soft') ? 'soft' : 'mixed';
    const made = this.#onBranch(step);
    const undone = this.#undoneBy(target, made);
    if (mode === 'mixed') this.#unstage(step, []);
    for (const commit of undone ?? []) {
      if (isHard) commit.fate = 'thrown away';
      else for (const path of commit.files) this.#bringBack(path, mode === 'soft', step.moment.position);
    }
    if (!isHard) this.#commits = this.#commits.filter((commit) => undone?.includes(commit) !== true);
    if (mode === 'hard')
      for (const [path, change] of this.#changes)
        if (this.#whereIs(path, step) !== 'elsewhere' && (change.isStaged || !change.isNew))
          this.#changes.delete(path);
    const branch = this.#branch(tree);
    if (branch !== undefined && (undone === undefined || undone.length > 0)) {
      const left = made.findLast((commit) => undone?.includes(commit) !== true);
      const unpushed = (undone ?? made).filter(({ isPushed }) => !isPushed);
      branch.ahead = Math.max(0, branch.ahead - unpushed.length);
      branch.isExact &&= undone !== undefined;
      branch.head =
        undone === undefined || left === undefined
          ? undefined
          : { hash: left.hash, subject: left.subject, position: step.moment.position };
      const index = this.#trees.get(tree);
      if (mode === 'soft' && index !== undefined) index.hasAdded = true;
    }
    this.#setHead(step, head);
    return true;
  }

  /** The commits of a branch that lie behind a revision; undefined where the log does not tell where that is. */
  #undoneBy(target: string, made: readonly MadeCommit[]): MadeCommit[] | undefined {
    const steps = stepsBack(target);
    if (steps === 0) return [];
    if (steps !== undefined) return steps > made.length ? undefined : made.slice(-steps);
    const at = made.findIndex(
      ({ hash }) =>
        hash !== undefined &&
        /^[0-9a-f]{7,40}$/.test(target) &&
        (hash.startsWith(target) || target.startsWith(hash)),
    );
    if (at >= 0) return made.slice(at + 1);
    return /^(?:origin|upstream)\/|^@\{u/.test(target) ? made.filter(({ isPushed }) => !isPushed) : undefined;
  }

  #bringBack(path: string, isStaged: boolean, position: number): void {
    const before = this.#changes.get(path);
    this.#changes.set(path, {
      position: before?.position ?? position,
      isStaged: isStaged || before?.isStaged === true,
      isDirty: !isStaged || before?.isDirty === true,
      isNew: before?.isNew ?? false,
      isDeleted: before?.isDeleted ?? false,
    });
  }

  // Stash

  #stash(step: Step): boolean {
    const { git, run, directory, output } = step;
    const tree = this.#trees.get(step.tree);
    const [verb = 'push', ...rest] =
      git.words[0]?.startsWith('-') === true ? ['push', ...git.words] : git.words;
    if (tree === undefined) return false;
    if (verb === 'push' || verb === 'save') {
      if (
        output.includes('No local changes to save') ||
        (run.failed && !output.includes('Saved working directory'))
      )
        return false;
      const hasUntracked = rest.some(
        (word) => /^-\w*[ua]/.test(word) || word === '--include-untracked' || word === '--all',
      );
      const dashes = rest.indexOf('--');
      const paths = dashes < 0 ? undefined : pathsOf(rest.slice(dashes + 1), directory);
      const taken = new Map(
        [...this.#changes].filter(
          ([path, { isNew, isStaged }]) =>
            this.#whereIs(path, step) !== 'elsewhere' &&
            (paths?.matches(path) ?? (isStaged || !isNew || hasUntracked)),
        ),
      );
      for (const path of taken.keys()) this.#changes.delete(path);
      tree.stashes.push(taken);
      if (tree.stashes.length > MAX_STASHES) tree.stashes.shift();
      return true;
    }
    if (!['pop', 'apply', 'drop', 'clear'].includes(verb)) return false;
    if (run.failed && !/CONFLICT|Dropped/.test(output)) return false;
    const at =
      tree.stashes.length -
      1 -
      Number(/\d+/.exec(rest.find((word) => !word.startsWith('-')) ?? '')?.[0] ?? 0);
    const stash = tree.stashes[at];
    if (verb === 'pop' || verb === 'apply')
      for (const [path, change] of stash ?? [])
        this.#changes.set(path, { ...change, isStaged: false, isDirty: true });
    if (verb === 'clear') tree.stashes.splice(0);
    else if (verb !== 'apply' && !output.includes('CONFLICT'))
      tree.stashes.splice(at, stash === undefined ? 0 : 1);
    return true;
  }

  // What git says

  #push(step: Step): boolean {
    const { git, run, output, tree } = step;
    const branch = this.#branch(tree);
    const name = this.#trees.get(tree)?.branch;
    if (branch === undefined || git.words.some((word) => /^(?:-d|--delete|--dry-run|-n)$/.test(word)))
      return false;
    const report = pushIn(output, name === '' ? undefined : name);
    const refs = operandsOf(git.words).slice(1);
    const isOwn =
      refs.length === 0 ||
      name === '' ||
      refs.some((ref) => ref.split(':').some((part) => part === name || part === 'HEAD'));
    const result = report?.result ?? (run.failed ? 'refused' : isOwn ? 'pushed' : 'other');
    if (result === 'other' || (report === undefined && !isOwn)) return false;
    if (result === 'refused') {
      branch.refusal = detached(report?.reason ?? 'it failed');
      return false;
    }
    branch.ahead = 0;
    branch.isExact = true;
    branch.refusal = undefined;
    const made = this.#onBranch(step);
    for (const commit of made) commit.isPushed = true;
    if (report?.hash !== undefined) this.#rename(step, report.hash);
    return false;
  }

  /** What is checked out has this hash. */
  #rename(step: Step, hash: string): void {
    const branch = this.#branch(step.tree);
    const short = detached(hash.slice(0, HASH_LENGTH));
    const head = branch?.head;
    if (branch === undefined || head === undefined || head.hash?.slice(0, 7) === short.slice(0, 7)) return;
    branch.head = { ...head, hash: short, subject: head.hash === undefined ? head.subject : undefined };
    const newest = this.#onBranch(step).at(-1);
    if (newest === undefined || newest.hash !== undefined || newest.subject !== head.subject) return;
    newest.hash = short;
    newest.fate = undefined;
  }

  #setAhead({ tree }: Step, ahead: number | undefined): void {
    const branch = this.#branch(tree);
    if (branch === undefined || ahead === undefined) return;
    branch.ahead = ahead;
    branch.isExact = true;
  }

  #setHead(step: Step, head: LoggedCommit | undefined): void {
    const branch = this.#branch(step.tree);
    if (branch === undefined || head === undefined) return;
    branch.head = {
      hash: detached(head.hash.slice(0, HASH_LENGTH)),
      subject: detached(clip(head.subject, SUBJECT_LENGTH)),
      position: step.moment.position,
    };
  }

  #look(step: Step): void {
    const { git, run, output } = step;
    if (
      run.failed ||
      run.simple.filter((command) => /^(?:log|show|rev-parse)$/.test(gitCommandOf(command)?.verb ?? ''))
        .length > 1
    )
      return;
    if (!isOfHead(git)) return;
    if (git.verb === 'rev-parse') {
      const hash = /^[0-9a-f]{7,40}$/m.exec(output)?.[0];
      if (hash !== undefined) this.#rename(step, hash);
      return;
    }
    const logged = loggedIn(output);
    this.#setHead(step, logged[0]);
    for (const { hash, subject } of logged) {
      const known = this.#commits.findLast(
        (commit) =>
          commit.tree === step.tree &&
          (commit.hash === undefined || commit.fate === 'rebased') &&
          commit.subject.slice(0, KNOWN_BY) === subject.slice(0, KNOWN_BY),
      );
      if (known === undefined) continue;
      known.hash = detached(hash.slice(0, HASH_LENGTH));
      known.fate = undefined;
    }
  }

  /** What `git status` lists is so; what it does not list is in a commit, where it was asked for all and printed all. */
  #status(step: Step): boolean {
    const { git, run, directory, output } = step;
    const tree = this.#trees.get(step.tree);
    const isOne = run.simple.filter((command) => gitCommandOf(command)?.verb === 'status').length === 1;
    if (tree === undefined || !isOne || output !== run.output) return false;
    this.#setAhead(step, aheadIn(output));
    const base = git.words.some((word) => word.startsWith('--porcelain')) ? step.tree : directory;
    const listed = statusIn(output).map((one) => ({ ...one, told: inDirectory(base, one.path) }));
    const isAll = !run.failed && operandsOf(git.words).length === 0 && run.simple.every(printsPlainly);
    for (const [path, change] of [...this.#doubtful, ...this.#changes]) {
      if (this.#whereIs(path, step) === 'elsewhere') continue;
      const one = listed.find(({ told }) => told === path);
      const isBelow = listed.some(
        (at) => at.isUntracked && at.path.endsWith('/') && isAtOrBelow(path, at.told),
      );
      if (one !== undefined) {
        const { isStaged, isDirty, isUntracked, isDeleted } = one;
        this.#changes.set(path, {
          position: change.position,
          isStaged,
          isDirty,
          isNew: isUntracked,
          isDeleted,
        });
      } else if (isBelow) this.#changes.set(path, change);
      else if (isAll) {
        this.#changes.delete(path);
        if (change.isNew && !change.isDeleted && !change.isStaged) this.#ignored.add(directoryOf(path));
      }
      if (isAll || one !== undefined) this.#doubtful.delete(path);
    }
    if (!isAll) return false;
    startIndex(tree);
    tree.added = new Set(listed.flatMap(({ isStaged, told }) => (isStaged ? [told] : [])));
    tree.hasAdded = tree.added.size > 0;
    return false;
  }

  #worktree({ git, run, directory, moment }: Step): void {
    const [verb, path] = operandsOf(
      git.words.filter((word, at) => !/^-[bB]$/.test(git.words[at - 1] ?? '') || word === ''),
    );
    if (run.failed || path === undefined) return;
    const root = inDirectory(directory, path);
    if (verb === 'add') {
      const tree = newTree();
      this.#trees.set(detached(root), tree);
      const head = headIn(run.output);
      const branch = tree.branches.get('');
      if (branch !== undefined && head !== undefined)
        branch.head = {
          hash: detached(head.hash.slice(0, HASH_LENGTH)),
          subject: detached(head.subject),
          position: moment.position,
        };
    } else if (verb === 'remove') {
      this.#trees.delete(root);
      for (const known of this.#changes.keys()) if (isAtOrBelow(known, root)) this.#changes.delete(known);
    }
  }
}

function newBranch(): Branch {
  return { head: undefined, ahead: 0, isExact: true, refusal: undefined };
}

function newTree(): Tree {
  return {
    branch: '',
    branches: new Map([['', newBranch()]]),
    hasAdded: false,
    isUnclear: false,
    added: new Set(),
    stashes: [],
  };
}

/** The index holds nothing that is not known. */
function startIndex(tree: Tree): void {
  tree.hasAdded = false;
  tree.isUnclear = false;
  tree.added = new Set();
}

/** The first line of a message that a heredoc gives (`git commit -F - <<END`). */
function heredocSubject(simple: readonly SimpleCommand[]): string | undefined {
  const commit = simple.find((command) => gitCommandOf(command)?.verb === 'commit');
  const text = commit?.redirects.find(({ content }) => content !== undefined)?.content;
  return text === undefined ? undefined : firstLine(text);
}

/** Whether a listing begins with what is checked out: it names no other revision or path and leaves nothing out. */
function isOfHead({ words }: GitCommand): boolean {
  const isFiltered = words.some((word) =>
    /^--(?:all|reverse|grep|author|committer|since|after|until|before|skip|merges|no-merges|branches|remotes|tags|diff-filter|follow|abbrev-ref|show-toplevel|git-)|^-[SGL]/.test(
      word,
    ),
  );
  const operands = operandsOf(words).filter(
    (word, at, all) => !(/^\d+$/.test(word) && at === 0 && all.length > 0),
  );
  return (
    !isFiltered &&
    !words.includes('--') &&
    operands.every((word) => /^(?:HEAD|@|\S+\.\.(?:HEAD)?)$/.test(word))
  );
}

/** Whether what a command prints cannot be taken for a line of `git status`, and it hides nothing of one. */
function printsPlainly({ words }: SimpleCommand): boolean {
  return /^(?:git|cd|echo|printf|pwd|true|date|:)$/.test(words[0] ?? '');
}

function pick({
  hash,
  subject = '',
  position,
}: {
  readonly hash: string | undefined;
  readonly subject: string | undefined;
  readonly position: number;
}): NewestCommit {
  return { hash, subject, position };
}

function directoryOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}
