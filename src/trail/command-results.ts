// What the results of commands show: what git did, what passed or failed, what the session delivered.

import { clipCommand } from './outputs/command-text.ts';
import type { TrailState } from './trail-state.ts';
import type { CallMeaning } from './calls/calls.ts';
import type { DueCall, DueCalls } from './due-calls.ts';
import type { GitRun } from './git/step.ts';
import { inDirectory } from '../shell/git-words.ts';
import { saysFailed } from './outputs/outputs.ts';
import type { ToolOutcome } from './outputs/outputs.ts';
import { otherEnd, resultPhrase } from './phrases.ts';
import { placeOf } from './ledgers/places.ts';
import { finishedRun, hasPrintedFailure, isUnclear, isWork, workPlace } from './ledgers/runs.ts';
import { joinPath } from '../shell/scripts.ts';
import type { GitCommand } from '../shell/git-commands.ts';

/** A command that moves files or has git restore them; the file actions already record that. */
const ONE_FILE_ACT = /^(?:mv|git (?:checkout|restore)) /;

/** Records what commands did. */
export class CommandResults {
  readonly #state: TrailState;
  readonly #calls: DueCalls;

  constructor(state: TrailState, calls: DueCalls) {
    this.#state = state;
    this.#calls = calls;
  }

  /** A command ended, yielded control, or ended under the id by which another call polls it. */
  finish(due: DueCall, outcome: ToolOutcome, failed: boolean): void {
    const { meaning } = due;
    if (meaning.processId !== undefined) {
      const started = this.#calls.running(meaning.processId);
      if (started !== undefined) this.finish(started, outcome, failed);
      return;
    }
    if (meaning.command === undefined || meaning.simple === undefined) return;
    if (outcome.processId !== undefined) {
      this.#calls.noteRunning(outcome.processId, due);
      return;
    }
    this.#followGit(due, outcome.text, failed);
    this.#finishWork(due, outcome, failed);
  }

  #followGit({ meaning, moment }: DueCall, output: string, failed: boolean): void {
    const { directory = this.#state.cwd } = meaning;
    const { simple: own = [], guarded = [] } = meaning;
    const simple = guarded.length > 0 && COMMITTED.test(output) ? [...own, ...guarded] : own;
    const absolute = ({ directory: moved }: GitCommand): string =>
      placeOf(moved, directory) ?? joinPath(directory, moved ?? '.');
    const run: GitRun = {
      simple,
      output,
      failed,
      directoryOf: (git) => inDirectory('.', this.#state.relative(absolute(git))),
      branchOf: (git) => this.#state.place.branchOf(absolute(git)),
    };
    if (this.#state.git.noteRun(run, moment)) this.#state.steps.forgetReports();
  }

  #finishWork(due: DueCall, outcome: ToolOutcome, failed: boolean): void {
    const { meaning } = due;
    if (meaning.command === undefined || meaning.simple === undefined) return;
    if (!isWork(meaning.simple)) return;
    // A pipe or a list reports the status of its last program, so the actual work may have failed.
    const hasReportedFailure = canHideStatus(meaning) && saysFailed(outcome.text);
    if (!failed && (hasReportedFailure || hasPrintedFailure(meaning.simple, outcome.text))) {
      this.#finishWork(due, { ...outcome, exitCode: undefined }, true);
      return;
    }
    const { command: script, simple, isEscalated = false } = meaning;
    const place = workPlace(simple, meaning.directory);
    const directory = place === undefined ? undefined : this.#state.relative(place);
    const { text: output, exitCode } = outcome;
    const run = finishedRun({ command: script, simple, isEscalated, directory, output, exitCode, failed });
    const { command, outcomeLines: telling } = run;
    const other = otherEnd(run.parts, output, run);
    if (other !== undefined) {
      this.#state.steps.act(`ran \`${clipCommand(command, 120)}\`${other}`, this.#state.moment);
      return;
    }
    this.#state.runs.add(run, due.moment);
    this.#state.requests.noteCommand(failed);
    const isKnown = !isUnclear(run) && (outcome.exitCode !== undefined || outcome.isKnownWell === true);
    // "moved a to b" says everything that `mv a b` does; likewise for a restored file and `git checkout`.
    const isRecorded =
      !failed && this.#state.steps.hasEffect && ONE_FILE_ACT.test(command) && simple.length === 1;
    if (!isRecorded) {
      this.#state.steps.act(
        `ran \`${clipCommand(command, 120)}\`${resultPhrase(failed, telling, isKnown)}`,
        this.#state.moment,
      );
    }
    this.#state.deliveries.addRun(meaning.simple, { output: outcome.text, failed }, due.moment);
  }
}

/** How git reports a commit; shows that a commit behind `||` was made. */
const COMMITTED = /^\[\S{1,200}(?: \S{1,40})? [0-9a-f]{7,40}\] /m;

/** Programs that print other people's failures: build logs, issues, commits. */
const REPORTING = new Set(['git', 'gh', 'curl', 'glab', 'bd', 'docker', 'kubectl']);

/** Whether a script may exit with success after its work failed: it pipes or continues, and its work is not a report. */
function canHideStatus({ command = '', simple = [] }: CallMeaning): boolean {
  return /[|;\n]/.test(command) && simple.some((one) => isWork([one]) && !REPORTING.has(one.words[0] ?? ''));
}
