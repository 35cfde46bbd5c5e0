// What the log shows of a repository: its work trees, the session's commits, the uncommitted changes.

import type { FileLedger } from '../ledgers/files.ts';
import { joinPath } from '../../shell/scripts.ts';
import type { NewestCommit, TreeState } from '../trail.ts';
import { OpenChanges } from './changes.ts';
import { MadeCommits } from './commits.ts';
import { Trees } from './trees.ts';
import type { Branch } from './trees.ts';
import { isAtOrBelow } from '../../shell/git-words.ts';

/** A repository as far as the log shows it. */
export class Repository {
  readonly trees = new Trees();
  readonly changes = new OpenChanges(this.trees);
  readonly commits = new MadeCommits(this.trees);
  readonly files: Pick<FileLedger, 'noteKnown'>;

  constructor(files: Pick<FileLedger, 'noteKnown'>) {
    this.files = files;
  }

  /** The state of the tree that holds a directory; includes changes in the working directory. */
  state(workedIn = '.'): TreeState {
    const { trees, changes, commits } = this;
    const own = trees.rootOf(workedIn) ?? workedIn;
    const root = trees.branchOf(own)?.head === undefined ? (commits.newest()?.tree ?? own) : own;
    const branch = trees.branchOf(root);
    const head = headOf(branch);
    const isOwn = head !== undefined && commits.has(head.subject);
    const changed = changes.list(
      (path) => isAtOrBelow(path, own) || isAtOrBelow(path, '.') || trees.rootOf(path) === own,
    );
    const stash = trees.get(root)?.stashes.at(-1);
    return {
      newest: head ?? newestOf(commits, root),
      as: head === undefined ? 'before' : isOwn ? 'made' : 'seen',
      directory: root === own && (own === '.' || !this.#isKnown('.')) ? undefined : root,
      hasCommits: commits.newestPosition !== undefined,
      ahead: branch?.ahead ?? 0,
      before: Math.min(branch?.before ?? 0, branch?.ahead ?? 0),
      isExact: branch?.isExact ?? true,
      made: Math.min(commits.onBranch(root).filter(({ isPushed }) => !isPushed).length, branch?.ahead ?? 0),
      isRemoteSeen: branch?.isRemoteSeen ?? false,
      behind: branch?.behind ?? 0,
      movedFrom: isOwn ? undefined : branch?.movedFrom,
      refusal: branch?.refusal,
      isMended: branch?.isMended ?? false,
      changed,
      copied: this.#copyOf(changed.map(({ path }) => path)),
      stashed: [...(stash?.keys() ?? [])],
    };
  }

  /** The newest commit in another work tree that holds files of these names. */
  #copyOf(paths: readonly string[]): string | undefined {
    const newest = this.commits.newest();
    if (newest === undefined || paths.length === 0 || newest.tree === '.') return undefined;
    const committed = new Set(newest.files);
    return paths.every((path) => committed.has(joinPath(newest.tree, path))) ? newest.hash : undefined;
  }

  /** Whether git reported what a tree has checked out, or committed there. */
  #isKnown(root: string): boolean {
    const branches = [...(this.trees.get(root)?.branches.values() ?? [])];
    return branches.some(({ head }) => head !== undefined) || this.commits.newest(root) !== undefined;
  }
}

/** What is checked out, if git printed its subject. */
function headOf(branch: Branch | undefined): NewestCommit | undefined {
  const { head } = branch ?? {};
  return head?.subject === undefined
    ? undefined
    : { hash: head.hash, subject: head.subject, position: head.position };
}

function newestOf(commits: MadeCommits, root: string): NewestCommit | undefined {
  const made = commits.newest(root);
  return made && { hash: made.hash, subject: made.subject, position: made.position };
}
