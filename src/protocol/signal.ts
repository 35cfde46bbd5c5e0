// Signals that work reached a boundary, with their evidence.

import type { Boundary } from '../vocabulary.ts';

/** The evidence for a boundary. Each text is one shortened line with known secrets replaced. */
export type Evidence =
  | {
      readonly type: 'command';
      readonly command: string;
      /** The exit status of the script that contained the command, if known. */
      readonly exitStatus: number | undefined;
      /** `status`: the script's exit status shows that the command succeeded. `output`: git's own output does. */
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

/** A boundary that the work reached. */
export interface Signal {
  /** Identical for the same event of the same log, and different for every other event. */
  readonly id: string;
  readonly boundary: Boundary;
  readonly evidence: Evidence;
  /** Counts the user's messages from 1; 0 before the first. */
  readonly turn: number;
  /** The item of the log that reached the boundary, counted from 0. */
  readonly position: number;
  /** The 1-based line of that item in its file. */
  readonly line?: number;
}
