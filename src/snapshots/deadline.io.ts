// The time limit of an operation on snapshots, and why such an operation failed.

import { BatonError } from '../errors.ts';
import type { CancelSignal } from '../ports.ts';
import type { GitAnswer } from '../system/git.io.ts';

/** Why a snapshot cannot be taken, read or restored. */
export interface SnapshotProblem {
  readonly type: 'skipped';
  /** One sentence without its full stop. */
  readonly why: string;
}

/** A time limit, combined with the user's request to stop. */
export class SnapshotDeadline {
  readonly #until: number;
  readonly #timer: NodeJS.Timeout;
  readonly #stopper = new AbortController();
  readonly #user: CancelSignal;
  readonly #seconds: number;

  constructor(limitMs: number, user: CancelSignal) {
    this.#until = performance.now() + limitMs;
    this.#seconds = limitMs / 1000;
    this.#user = user;
    this.#timer = setTimeout(this.#stop, limitMs);
    user.addEventListener('abort', this.#stop);
    if (user.aborted) this.#stop();
  }

  readonly #stop = (): void => this.#stopper.abort();

  get signal(): AbortSignal {
    return this.#stopper.signal;
  }

  get isOver(): boolean {
    return this.signal.aborted;
  }

  /** Whether the user stopped it. */
  get isInterrupted(): boolean {
    return this.#user.aborted;
  }

  get leftMs(): number {
    return Math.max(1, this.#until - performance.now());
  }

  /** Completes "No snapshot: …". */
  get why(): string {
    return this.isInterrupted ? 'it was stopped' : `it takes longer than ${this.#seconds} seconds`;
  }

  clear(): void {
    clearTimeout(this.#timer);
    this.#user.removeEventListener('abort', this.#stop);
  }
}

/**
 * Runs an operation within a time limit.
 * @param act receives the deadline, and a function to call once the operation must report its own end
 * @throws BatonError `interrupted` if the user stopped it before that
 */
export async function withinLimit<T>(
  limitMs: number,
  signal: CancelSignal,
  act: (deadline: SnapshotDeadline, finish: () => void) => Promise<T>,
): Promise<T> {
  const deadline = new SnapshotDeadline(limitMs, signal);
  let isFinishing = false;
  try {
    const result = await act(deadline, () => (isFinishing = true));
    if (deadline.isInterrupted && !isFinishing)
      throw new BatonError('interrupted', 'The snapshot was stopped');
    return result;
  } finally {
    deadline.clear();
  }
}

/** Reports a problem. */
export function skipped(why: string): SnapshotProblem {
  return { type: 'skipped', why };
}

/** Explains a failed system call. @throws any other error */
export function explainSystem(error: unknown): SnapshotProblem {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (code === undefined || syscall === undefined) throw error;
  return skipped(code === 'ENOSPC' ? 'the disk is full' : `the system refused to ${syscall} (${code})`);
}

/** Explains why git failed. */
export function explain(answer: GitAnswer, deadline: SnapshotDeadline): SnapshotProblem {
  if (deadline.isOver) return skipped(deadline.why);
  const [complaint] = answer.errors.split('\n');
  return skipped(`git failed: ${complaint === undefined || complaint === '' ? answer.end.type : complaint}`);
}
