// Signs that a boundary was reached, and what shows it.

import type { Boundary } from '../vocabulary.ts';

/** What shows that a boundary was reached. Texts are one line each, shortened, known secrets replaced. */
export type Evidence =
  | {
      readonly type: 'command';
      readonly command: string;
      /** The exit status of the script that the command was in, where it is known. */
      readonly exitStatus: number | undefined;
      /** `status`: the script's status says that the command succeeded. `output`: git's own words do. */
      readonly toldBy: 'status' | 'output';
      /** The hash that git reported for a commit. */
      readonly hash: string | undefined;
    }
  | {
      readonly type: 'plan';
      /** The steps that this update completed. */
      readonly completed: readonly string[];
      readonly done: number;
      readonly steps: number;
    }
  | { readonly type: 'phase'; readonly summary: string }
  | { readonly type: 'phrase'; readonly phrase: string; readonly sentence: string }
  | { readonly type: 'turn'; readonly turnId: string | undefined };

/** A boundary that was reached. */
export interface Signal {
  /** The same for the same event of the same log, and for no other. */
  readonly id: string;
  readonly boundary: Boundary;
  readonly evidence: Evidence;
  /** Counted from 1 by the messages of the user; 0 before the first. */
  readonly turn: number;
  /** The item of the log, counted from 0, with which it was reached. */
  readonly position: number;
  /** 1-based line of that item in its file. */
  readonly line?: number;
}
