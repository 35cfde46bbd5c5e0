// Failures of commands, by what was wrong, and what was seen of them later.

import { detached } from './sentences.ts';
import type { Moment } from './files.ts';
import { includesCheck, isMisspelled, programOf, runnerOf, withoutAssignments } from './runners.ts';
import type { Failure, LaterRun } from './trail.ts';

const MAX_FAILURES = 160;
const MAX_EDITS = 240;
const MAX_EDITED_BETWEEN = 6;
/** Characters of a cause by which it is known again. */
const KNOWN_BY = 120;

/** A command as failures are compared by it. */
export interface ComparedRun {
  /** What stays the same when it is run again with other options or operands. */
  readonly signature: string;
  /** Its commands in all their words, but for those that only decide how much is printed. */
  readonly parts: readonly string[];
  readonly command: string;
  readonly telling: readonly string[];
}

interface OpenFailure extends Failure {
  readonly signature: string;
  readonly parts: readonly string[];
  outcome: Failure['outcome'];
  later: LaterRun | undefined;
  editedBetween: readonly string[];
}

/** What says most of a failure wins. */
const RANKS: Readonly<Record<LaterRun['as'], number>> = { kind: 1, check: 2, variant: 3 };

/** Collects failures; memory is bounded by the limits above. */
export class FailureLedger {
  readonly #failures = new Map<string, OpenFailure>();
  /** Edits, for the failures that are open. */
  readonly #edited: { path: string; position: number }[] = [];

  noteEdit(path: string, position: number): void {
    this.#edited.push({ path, position });
    if (this.#edited.length > MAX_EDITS) this.#edited.shift();
  }

  /** Failures in the order of their last occurrence. */
  list(): Failure[] {
    return [...this.#failures.values()].map(({ signature: _, parts: __, ...failure }) => failure);
  }

  /** The same command failed for the same cause, or for another one. */
  fail({ signature, parts, command, telling }: ComparedRun, { turn, position }: Moment): void {
    const key = this.#keyOf(parts, telling);
    const before = this.#failures.get(key);
    this.#failures.delete(key);
    this.#failures.set(key, {
      signature: detached(signature),
      parts: parts.map(detached),
      turn,
      position,
      command,
      telling: telling.length === 0 ? (before?.telling ?? []) : telling,
      times: (before?.times ?? 0) + 1,
      outcome: 'open',
      later: undefined,
      editedBetween: [],
    });
    if (this.#failures.size > MAX_FAILURES) this.#forgetOne();
  }

  /** Where a run tells no cause, it is that of the newest failure of the same command. */
  #keyOf(parts: readonly string[], telling: readonly string[]): string {
    const command = parts.join(' && ');
    const [cause] = telling;
    if (cause !== undefined) return detached(`${command}\n${causeKey(cause)}`);
    return [...this.#failures.keys()].findLast((key) => key.startsWith(`${command}\n`)) ?? `${command}\n`;
  }

  /** A run went well: failures of the same command have passed, others are seen in its light. */
  pass(run: ComparedRun): void {
    for (const failure of this.#failures.values()) {
      if (failure.outcome === 'passed') continue;
      if (failure.parts.every((part) => run.parts.includes(part))) {
        failure.outcome = 'passed';
        failure.editedBetween = [...new Set(this.#editedSince(failure))].slice(-MAX_EDITED_BETWEEN);
        continue;
      }
      const as = this.#lightOf(run, failure);
      if (as !== undefined && RANKS[as] >= (failure.later === undefined ? 0 : RANKS[failure.later.as]))
        failure.later = { command: run.command, as };
    }
  }

  /** Forgets what failed under a signature: nothing of it is left once it went through. */
  forget(signature: string): void {
    for (const [key, failure] of this.#failures)
      if (failure.signature === signature) this.#failures.delete(key);
  }

  /** What a run that went well says of a failure of another command. */
  #lightOf({ signature, parts }: ComparedRun, failure: OpenFailure): LaterRun['as'] | undefined {
    if (signature === failure.signature || isRespelled(parts, failure) || isSetUp(parts, failure))
      return 'variant';
    const isIncluded = failure.parts.every((failed) => parts.some((well) => includesCheck(well, failed)));
    if (isIncluded && this.#isNamedFileEdited(failure)) return 'check';
    return kindOf(signature) === kindOf(failure.signature) ? 'kind' : undefined;
  }

  #editedSince({ position }: Failure): string[] {
    return this.#edited.filter((edit) => edit.position > position).map(({ path }) => path);
  }

  /** Whether a file that a failure names was edited since. */
  #isNamedFileEdited(failure: OpenFailure): boolean {
    const said = failure.telling.join('\n');
    return this.#editedSince(failure).some((path) => said.includes(path.slice(path.lastIndexOf('/') + 1)));
  }

  /** The oldest failure that ended well goes first, then the oldest at all. */
  #forgetOne(): void {
    for (const [key, { outcome }] of this.#failures) {
      if (outcome === 'passed') {
        this.#failures.delete(key);
        return;
      }
    }
    for (const key of this.#failures.keys()) {
      this.#failures.delete(key);
      return;
    }
  }
}

/** A cause without what differs from run to run: numbers, times. */
function causeKey(cause: string): string {
  return cause.slice(0, KNOWN_BY).replaceAll(/[\d.]+/g, '0');
}

/** Whether the program of a command that was spelled wrong ran well in other words. */
function isRespelled(parts: readonly string[], { telling, parts: wrong }: OpenFailure): boolean {
  if (!isMisspelled(telling)) return false;
  const programs = new Set(wrong.map(kindOf));
  return parts.some((part) => programs.has(kindOf(part)));
}

/** Whether a command ran well with other variables set for it. */
function isSetUp(parts: readonly string[], { parts: failed }: OpenFailure): boolean {
  const bare = new Set(parts.map(withoutAssignments));
  return failed.every((part) => bare.has(withoutAssignments(part)));
}

/** What two runs have in common that differ in their operands: the kind of runner, otherwise program and verb. */
function kindOf(signature: string): string {
  return runnerOf(signature) ?? programOf(signature);
}
