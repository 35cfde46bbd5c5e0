// Failures of commands, grouped by cause, and what later runs show about them.

import { endOfConflict } from './conflicts.ts';
import { detached } from '../../text/sentences.ts';
import type { LogMoment } from './files.ts';
import { hasPassed, includesAll, lightOf, passesFiles, passesPackages, passesTests } from './reruns.ts';
import type { ComparedRun } from './reruns.ts';
import { isFormatting, isMisspelled, mendsBy } from '../../shell/runners.ts';
import { TaskLedger } from './tasks.ts';
import type { Failure, LaterRun } from '../trail.ts';

const MAX_FAILURES = 160;
const MAX_EDITS = 240;
const MAX_MENDINGS = 60;
const MAX_EDITED_BETWEEN = 6;
/** Characters of a cause that identify it. */
const KNOWN_BY = 120;

/** A run with what failures are compared by. */
export interface JudgedRun extends ComparedRun {
  readonly command: string;
  /** Whether it ran outside the sandbox that other runs use. */
  readonly isEscalated: boolean;
}

interface OpenFailure extends Failure, ComparedRun {
  readonly isEscalated: boolean;
  readonly directory: string | undefined;
  outcome: Failure['outcome'];
  later: LaterRun | undefined;
  editedBetween: readonly string[];
  mendedBy: Failure['mendedBy'];
}

/** Ranks later runs by how much they say about a failure; the highest wins. */
const RANKS: Readonly<Record<LaterRun['as'], number>> = {
  respelled: 1,
  part: 2,
  check: 3,
  variant: 4,
  understood: 5,
  resolved: 6,
  'given up': 6,
};

/** Collects failures; the limits above bound its memory. */
export class FailureLedger {
  readonly #failures = new Map<string, OpenFailure>();
  /** Edits, for the open failures. */
  readonly #edited: { path: string; position: number }[] = [];
  readonly #tasks = new TaskLedger();
  /** Runs that may have made others pass. */
  readonly #mendings: { command: string; by: 'installing' | 'making'; position: number }[] = [];

  noteEdit(path: string, position: number): void {
    this.#edited.push({ path, position });
    if (this.#edited.length > MAX_EDITS) this.#edited.shift();
  }

  /** Failures ordered by last occurrence. */
  list(): Failure[] {
    return [...this.#failures.values()].map(({ parts: _, isEscalated: __, ...failure }) => failure);
  }

  /** The same command failed, for the same cause or another; tests that earlier runs had selected may have passed. */
  fail(run: JudgedRun, output: string, { turn, position }: LogMoment): void {
    this.#understand(run);
    for (const failure of this.#failures.values())
      if (failure.outcome === 'open' && passesTests(failure, run, output)) this.#end(failure, run);
    const { command, outcomeLines: telling, directory, isEscalated } = run;
    const parts = essential(run.parts);
    const key = this.#keyOf(parts, telling);
    const before = this.#failures.get(key);
    this.#failures.delete(key);
    this.#failures.set(key, {
      parts: parts.map(detached),
      directory: directory === undefined ? undefined : detached(directory),
      isEscalated,
      turn,
      position,
      command,
      outcomeLines: telling.length === 0 ? (before?.outcomeLines ?? []) : telling,
      times: (before?.times ?? 0) + 1,
      outcome: 'open',
      later: undefined,
      editedBetween: [],
      mendedBy: undefined,
    });
    if (this.#failures.size > MAX_FAILURES) this.#forgetOne();
  }

  /** A run without a cause takes the cause of the newest failure of the same command. */
  #keyOf(parts: readonly string[], outcomeLines: readonly string[]): string {
    const command = parts.join(' && ');
    const [cause] = outcomeLines;
    if (cause !== undefined) return detached(`${command}\n${causeKey(cause)}`);
    return [...this.#failures.keys()].findLast((key) => key.startsWith(`${command}\n`)) ?? `${command}\n`;
  }

  /** The misspelled command runs in other words and fails for another cause: a separate failure. */
  #understand(run: JudgedRun): void {
    if (isMisspelled(run.outcomeLines)) return;
    for (const failure of this.#failures.values()) {
      const isOpen = failure.outcome === 'open' && isMisspelled(failure.outcomeLines);
      if (isOpen && lightOf(failure, run) !== undefined)
        failure.later = { command: run.command, as: 'understood' };
    }
  }

  /** A run succeeded: failures of the same command have passed, others are reassessed. */
  pass(run: JudgedRun, output: string, { position }: LogMoment): void {
    const tasks = this.#tasks.ranBy(run, output);
    for (const failure of this.#failures.values()) {
      if (failure.outcome === 'passed') continue;
      if (hasPassed(failure, run, tasks) || passesPackages(failure, output)) {
        this.#end(failure, run);
        continue;
      }
      // A conflict ends once; later commits have nothing to do with it.
      if (failure.later?.as === 'resolved' || failure.later?.as === 'given up') continue;
      const as = endOfConflict(failure, run) ?? this.#lightOf(failure, run);
      if (as !== undefined && RANKS[as] >= (failure.later === undefined ? 0 : RANKS[failure.later.as]))
        failure.later = { command: run.command, as };
    }
    const by = mendsBy(run.command);
    if (by === undefined) return;
    this.#mendings.push({ command: run.command, by, position });
    if (this.#mendings.length > MAX_MENDINGS) this.#mendings.shift();
  }

  #end(failure: OpenFailure, run: JudgedRun): void {
    failure.outcome = 'passed';
    failure.editedBetween = [...new Set(this.#editedSince(failure))].slice(-MAX_EDITED_BETWEEN);
    failure.mendedBy = this.#mendingOf(failure, run);
  }

  /** What made the same command pass besides edits: for something missing, the command that installed it. */
  #mendingOf(failure: OpenFailure, run: JudgedRun): Failure['mendedBy'] {
    if (run.isEscalated && !failure.isEscalated) return 'permissions';
    const isAbsent = ABSENT.test(failure.outcomeLines.join('\n'));
    if (failure.editedBetween.length > 0 && !isAbsent) return undefined;
    const since = this.#mendings.filter(
      ({ command, by, position }) =>
        position > failure.position && command !== failure.command && (!isAbsent || by === 'installing'),
    );
    const command = since.at(-1)?.command;
    return command === undefined ? undefined : { command };
  }

  /** Removes the failures of a command: once it succeeds, none of them counts. */
  forget(command: string): void {
    for (const [key, failure] of this.#failures) if (failure.command === command) this.#failures.delete(key);
  }

  /** What a successful run says about the failure of another command. */
  #lightOf(failure: OpenFailure, run: JudgedRun): LaterRun['as'] | undefined {
    const light = lightOf(failure, run);
    if (light !== undefined) return light;
    if (passesFiles(failure, run)) return 'variant';
    return includesAll(failure, run) && this.#isNamedFileEdited(failure) ? 'check' : undefined;
  }

  #editedSince({ position }: Failure): string[] {
    return this.#edited.filter((edit) => edit.position > position).map(({ path }) => path);
  }

  /** Whether a file that a failure names was edited since. */
  #isNamedFileEdited(failure: OpenFailure): boolean {
    const output = failure.outcomeLines.join('\n');
    return this.#editedSince(failure).some((path) => output.includes(path.slice(path.lastIndexOf('/') + 1)));
  }

  /** Drops the oldest resolved failure, or the oldest of all. */
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

/** How programs report that another program or a library is missing. */
const ABSENT = /command not found|cannot find (?:module|package)|no module named|module not found/i;

/** A cause without the parts that vary between runs: numbers, times. */
function causeKey(cause: string): string {
  return cause.slice(0, KNOWN_BY).replaceAll(/[\d.]+/g, '0');
}

/** The commands by which runs are compared: format checks do not count if the script did more. */
function essential(parts: readonly string[]): readonly string[] {
  const others = parts.filter((part) => !isFormatting(part));
  return others.length === 0 ? parts : others;
}
