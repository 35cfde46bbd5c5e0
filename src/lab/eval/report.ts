// Turns measurements at cuts into the figures of a report: means over files, paired differences, intervals.

import { CANDIDATES } from './candidates.ts';
import type { CandidateName } from './candidates.ts';
import type { Budget, CutMeasurement, Measurement } from './measure.ts';
import { estimate } from './statistics.ts';
import type { Estimate } from './statistics.ts';

/** A session with the measurements at its cuts. */
export interface MeasuredFile {
  readonly path: string;
  readonly cuts: readonly CutMeasurement[];
}

/** A figure of a measurement that can be averaged. */
export type Figure = Exclude<keyof Measurement, 'candidate' | 'budget'>;

/** One candidate at one budget over all files. Estimates are undefined if no cut has the figure. */
export interface CandidateRow {
  readonly candidate: CandidateName;
  readonly budget: Budget;
  readonly recall: Estimate | undefined;
  /** Paired: the mean of the differences at the same cuts. */
  readonly recallOverRandom: Estimate | undefined;
  readonly recallOverNewest: Estimate | undefined;
  /** Only at the size of the agent's own summary. */
  readonly recallOverOwn: Estimate | undefined;
  readonly unaided: Estimate | undefined;
  readonly unaidedOverRandom: Estimate | undefined;
  readonly unaidedOverNewest: Estimate | undefined;
  readonly constraints: Estimate | undefined;
  readonly files: Estimate | undefined;
  readonly commands: Estimate | undefined;
  readonly commits: Estimate | undefined;
  readonly precision: Estimate | undefined;
  readonly tokens: Estimate | undefined;
  /** Sum over all cuts; undefined for contexts that do not consist of items. */
  readonly orphans: number | undefined;
  readonly milliseconds: number;
}

/** The rows of all candidates and budgets that were measured, in the order of both. */
export function summarizeFiles(files: readonly MeasuredFile[], seed: number): readonly CandidateRow[] {
  const budgets = budgetsIn(files);
  return CANDIDATES.flatMap((candidate) =>
    budgets.flatMap((budget) => {
      const row = new RowOf(files, { candidate, budget, seed });
      return row.isMeasured ? [row.row()] : [];
    }),
  );
}

/** The budgets that occur: sizes ascending, then the others. */
export function budgetsIn(files: readonly MeasuredFile[]): readonly Budget[] {
  const found = new Set(
    files.flatMap(({ cuts }) => cuts.flatMap(({ measurements }) => measurements.map(({ budget }) => budget))),
  );
  return [...found].toSorted((a, b) => rank(a) - rank(b));
}

function rank(budget: Budget): number {
  return budget === 'own_summary' ? 1e12 : budget === 'none' ? 1e13 : Number(budget);
}

interface RowKey {
  readonly candidate: CandidateName;
  readonly budget: Budget;
  readonly seed: number;
}

class RowOf {
  readonly #files: readonly MeasuredFile[];
  readonly #key: RowKey;
  /** By file and cut. */
  readonly #own: readonly (readonly (Measurement | undefined)[])[];

  constructor(files: readonly MeasuredFile[], key: RowKey) {
    this.#files = files;
    this.#key = key;
    this.#own = this.#measurementsOf(key.candidate);
  }

  get isMeasured(): boolean {
    return this.#own.flat().some((measurement) => measurement !== undefined);
  }

  row(): CandidateRow {
    const { candidate, budget } = this.#key;
    return {
      candidate,
      budget,
      recall: this.#mean('recall'),
      recallOverRandom: this.#over('random_lines', 'recall'),
      recallOverNewest: this.#over('newest', 'recall'),
      recallOverOwn: this.#over('own_summary', 'recall'),
      unaided: this.#mean('unaided'),
      unaidedOverRandom: this.#over('random_lines', 'unaided'),
      unaidedOverNewest: this.#over('newest', 'unaided'),
      constraints: this.#mean('constraints'),
      files: this.#mean('files'),
      commands: this.#mean('commands'),
      commits: this.#mean('commits'),
      precision: this.#mean('precision'),
      tokens: this.#mean('tokens'),
      orphans: this.#sum('orphans'),
      milliseconds: this.#mean('milliseconds')?.mean ?? 0,
    };
  }

  #measurementsOf(candidate: CandidateName): readonly (readonly (Measurement | undefined)[])[] {
    const { budget } = this.#key;
    return this.#files.map(({ cuts }) =>
      cuts.map(({ measurements }) =>
        measurements.find((one) => one.candidate === candidate && one.budget === budget),
      ),
    );
  }

  #mean(figure: Figure): Estimate | undefined {
    const values = this.#own.map((cuts) => cuts.flatMap((one) => one?.[figure] ?? []));
    return estimate(values, this.#seedOf(figure));
  }

  #over(rival: CandidateName, figure: Figure): Estimate | undefined {
    if (rival === this.#key.candidate) return undefined;
    const others = this.#measurementsOf(rival);
    const differences = this.#own.map((cuts, file) =>
      cuts.flatMap((one, cut) => {
        const mine = one?.[figure];
        const other = others[file]?.[cut]?.[figure];
        return mine === undefined || other === undefined ? [] : [mine - other];
      }),
    );
    return estimate(differences, this.#seedOf(`${figure} over ${rival}`));
  }

  #sum(figure: Figure): number | undefined {
    const values = this.#own.flat().flatMap((one) => one?.[figure] ?? []);
    return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0);
  }

  #seedOf(what: string): string {
    const { candidate, budget, seed } = this.#key;
    return `${seed} ${candidate} ${budget} ${what}`;
  }
}
