// The refs of one thread's snapshots: each keeps a snapshot from garbage collection.

import { hasSucceeded, runGit } from '../system/git.io.ts';
import { explain, skipped } from './deadline.io.ts';
import type { SnapshotDeadline, SnapshotProblem } from './deadline.io.ts';
import type { Repository } from './repository.io.ts';
import { SNAPSHOT_REFS } from './snapshot.ts';
import type { Snapshot } from './snapshot.ts';
import { GIT_GRACE_MS } from './workshop.io.ts';

/** How many numbers to try for a new snapshot. */
const TRIED_NUMBERS = 5;

/** The refs of the snapshots of one thread. */
export class SnapshotRefs {
  readonly #repository: Repository;
  readonly #start: string;
  readonly #named: () => readonly Snapshot[];
  readonly #made: Snapshot[] = [];

  /** @param named snapshots that the thread's log names: others do not count, because anybody may have added refs to a repository */
  constructor(repository: Repository, threadId: string, named: () => readonly Snapshot[]) {
    this.#repository = repository;
    this.#start = `${SNAPSHOT_REFS}/${threadId}/`;
    this.#named = named;
  }

  /** Gives a commit the next free number. Skips numbers with a lock file from a crash. */
  async add(commit: string, deadline: SnapshotDeadline): Promise<Snapshot | SnapshotProblem> {
    const there = await this.#list(deadline);
    let number = Math.max(0, ...this.#own().map((own) => own.number));
    let problem = skipped('git could not create a ref for it');
    for (let tries = 0; tries < TRIED_NUMBERS && !deadline.isOver; tries++) {
      do number++;
      while (there.has(`${this.#start}${number}`));
      const snapshot = { commit, ref: `${this.#start}${number}` };
      const answer = await this.#update([snapshot.ref, commit, ''], deadline);
      if (hasSucceeded(answer)) {
        this.#made.push(snapshot);
        return snapshot;
      }
      problem = explain(answer, deadline);
    }
    return problem;
  }

  /** Whether a snapshot's ref still exists and names its commit. */
  async has({ ref, commit }: Snapshot, deadline: SnapshotDeadline): Promise<boolean> {
    const { root, env } = this.#repository;
    const answer = await runGit(['rev-parse', '--verify', '-q', ref], root, { env, signal: deadline.signal });
    return answer.output.toString('latin1').trim() === commit;
  }

  /**
   * Drops all but the newest refs.
   * @returns how many were dropped
   */
  async prune(keep: number, deadline: SnapshotDeadline): Promise<number> {
    const spent = this.#own()
      .toSorted((a, b) => b.number - a.number)
      .slice(keep);
    if (spent.length === 0) return 0;
    const there = await this.#list(deadline);
    const gone = spent.filter(({ ref, commit }) => there.get(ref) === commit);
    if (gone.length === 0) return 0;
    const input = gone.map(({ ref, commit }) => `delete ${ref}\0${commit}\0`).join('');
    const answer = await this.#update(['-z', '--stdin'], deadline, input);
    return hasSucceeded(answer) ? gone.length : 0;
  }

  /** The snapshots under the thread's own name; those that a fork inherited have the name of its parent. */
  #own(): readonly (Snapshot & { readonly number: number })[] {
    return [...this.#named(), ...this.#made].flatMap((snapshot) => {
      const number = snapshot.ref.startsWith(this.#start) ? snapshot.ref.slice(this.#start.length) : '';
      return /^[1-9]\d{0,8}$/.test(number) ? [{ ...snapshot, number: Number(number) }] : [];
    });
  }

  /** All refs under the thread's name, regardless of their creator, and their targets. Reads no object. */
  async #list(deadline: SnapshotDeadline): Promise<ReadonlyMap<string, string>> {
    const { root, env } = this.#repository;
    const args = ['for-each-ref', '--format=%(refname) %(objectname)', this.#start];
    const answer = await runGit(args, root, { env, signal: deadline.signal });
    const lines = answer.output.toString('latin1').split('\n');
    return new Map(
      lines.map((line) => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)]),
    );
  }

  /** Updates refs without reflogs and hooks. */
  async #update(
    args: readonly string[],
    deadline: SnapshotDeadline,
    input?: string,
  ): ReturnType<typeof runGit> {
    const { root, env } = this.#repository;
    return runGit(['-c', 'core.logAllRefUpdates=false', 'update-ref', ...args], root, {
      env,
      signal: deadline.signal,
      graceMs: GIT_GRACE_MS,
      ...(input === undefined ? {} : { input }),
    });
  }
}
