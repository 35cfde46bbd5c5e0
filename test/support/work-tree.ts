// A repository of its own for a test of snapshots, and everything of it that a snapshot may not change.

import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { openSnapshots } from '../../src/snapshots/snapshots.io.ts';
import type { Snapshots, SnapshotTerms } from '../../src/snapshots/snapshots.io.ts';
import type { RestoreOutcome } from '../../src/snapshots/undo.ts';
import type { Snapshot } from '../../src/snapshots/snapshot.ts';

/** A signal that never comes. */
export const NEVER = new AbortController().signal;

/** The environment of git in tests: no settings of whoever runs them. */
export const GIT_ENV: Readonly<Record<string, string>> = {
  PATH: process.env['PATH'] ?? '',
  HOME: '/nonexistent',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'A',
  GIT_AUTHOR_EMAIL: 'a@example.org',
  GIT_COMMITTER_NAME: 'A',
  GIT_COMMITTER_EMAIL: 'a@example.org',
};

/** A path in a work tree: text, or bytes where the name is no UTF-8. */
export type Name = string | Buffer;

/** A repository in a directory of its own. */
export class WorkTree {
  readonly root: string;

  constructor(isRepository = true) {
    this.root = realpathSync(mkdtempSync(join(tmpdir(), 'baton-work-tree-')));
    if (isRepository) this.git('init', '-q', '-b', 'main');
  }

  git(...args: string[]): string {
    return execFileSync('git', args, { cwd: this.root, env: GIT_ENV, encoding: 'utf8', stdio: 'pipe' });
  }

  path(name: Name): Buffer {
    return Buffer.concat([Buffer.from(`${this.root}/`), Buffer.from(name)]);
  }

  put(name: Name, content: string | Buffer): void {
    const path = this.path(name);
    mkdirSync(Buffer.from(dirname(path.toString('latin1')), 'latin1'), { recursive: true });
    writeFileSync(path, content);
  }

  read(name: Name): string {
    return readFileSync(this.path(name), 'utf8');
  }

  has(name: Name): boolean {
    return existsSync(this.path(name));
  }

  remove(name: Name): void {
    rmSync(this.path(name), { recursive: true, force: true });
  }

  commitAll(): void {
    this.git('add', '-A');
    this.git('commit', '-q', '--allow-empty', '-m', 'work');
  }

  async open(terms: Partial<SnapshotTerms> = {}): Promise<Snapshots> {
    const snapshots = await openSnapshots({ ...termsOf(this.root), limitMs: 60_000, ...terms }, NEVER);
    if ('why' in snapshots) throw new TypeError(snapshots.why);
    return snapshots;
  }

  /** Every file below the root with its content, whether it may be run, and where it leads. */
  files(directory = this.path('.'), prefix = ''): ReadonlyMap<string, string> {
    const found = new Map<string, string>();
    for (const bytes of readdirSync(directory, { encoding: 'buffer' })) {
      const name = bytes.toString('latin1');
      if (name === '.git') continue;
      const path = Buffer.concat([directory, Buffer.from('/'), bytes]);
      const stats = lstatSync(path);
      if (stats.isDirectory()) {
        for (const [below, what] of this.files(path, `${prefix}${name}/`)) found.set(below, what);
      } else if (stats.isSymbolicLink()) {
        found.set(prefix + name, `link ${readlinkSync(path, { encoding: 'buffer' }).toString('latin1')}`);
      } else {
        const kind = (stats.mode & 0o100) === 0 ? 'file' : 'executable';
        found.set(prefix + name, `${kind} ${readFileSync(path).toString('latin1')}`);
      }
    }
    return found;
  }

  /** What belongs to the user: index, HEAD, branches, stash, reflogs, settings, locks. */
  possessions(): Readonly<Record<string, string>> {
    const directory = join(this.root, '.git');
    const owned: Record<string, string> = {};
    const gather = (path: string) => {
      for (const entry of readdirSync(join(directory, path), { withFileTypes: true })) {
        const below = join(path, entry.name);
        if (below === 'objects' || below === 'refs/baton') continue;
        if (entry.isDirectory()) gather(below);
        else if (entry.isFile()) owned[below] = readFileSync(join(directory, below), 'latin1');
      }
    };
    gather('');
    return owned;
  }

  close(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}

/** What snapshots of a directory are opened with. */
export function termsOf(directory: string): SnapshotTerms {
  return {
    directory,
    threadId: 'thread',
    workshop: join(tmpdir(), `baton-workshop-${randomUUID()}`),
    home: '/nonexistent',
    named: () => [],
    env: GIT_ENV,
    clock: Date,
  };
}

/** Puts everything back as it was, whoever changed it. */
export function putBack(
  snapshots: Snapshots,
  before: Snapshot,
  signal: AbortSignal = NEVER,
): Promise<RestoreOutcome> {
  const states = [{ before, after: undefined }] as const;
  return snapshots.restore({ states, laterEdits: 'revert', found: [] }, () => Promise.resolve(), signal);
}

/** A snapshot that must come about. */
export async function mustTake(snapshots: Snapshots): Promise<Snapshot> {
  const outcome = await snapshots.take(NEVER);
  if (outcome.type !== 'taken') throw new TypeError(outcome.why);
  return outcome.snapshot;
}
