// The signs of the terminal UI, for terminals with Unicode and without.

import type { Canvas } from './line.ts';

/** One set of signs. */
export interface Signs {
  readonly prompt: string;
  readonly pointer: string;
  readonly bullet: string;
  readonly done: string;
  readonly failed: string;
  readonly running: string;
  readonly pending: string;
  readonly skipped: string;
  /** From one state to another. */
  readonly arrow: string;
  /** Between two things in a row. */
  readonly dot: string;
  readonly rule: string;
  readonly ellipsis: string;
  readonly upDown: string;
  readonly leftRight: string;
  /** A part of a bar that is filled, and one that is free. */
  readonly filled: string;
  readonly free: string;
  /** Frames of the mark that something runs. */
  readonly spinner: readonly string[];
}

const UNICODE: Signs = {
  prompt: '›',
  pointer: '❯',
  bullet: '•',
  done: '✓',
  failed: '✗',
  running: '◐',
  pending: '○',
  skipped: '–',
  arrow: '→',
  dot: '·',
  rule: '─',
  ellipsis: '…',
  upDown: '↑↓',
  leftRight: '←→',
  filled: '█',
  free: '░',
  spinner: ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'],
};

const ASCII: Signs = {
  prompt: '>',
  pointer: '>',
  bullet: '*',
  done: '+',
  failed: 'x',
  running: '~',
  pending: 'o',
  skipped: '-',
  arrow: '->',
  dot: '|',
  rule: '-',
  ellipsis: '...',
  upDown: 'Up/Down',
  leftRight: 'Left/Right',
  filled: '#',
  free: '.',
  spinner: ['|', '/', '-', '\\'],
};

/** The signs that a terminal can show. */
export function signsOf({ hasUnicode }: Pick<Canvas, 'hasUnicode'>): Signs {
  return hasUnicode ? UNICODE : ASCII;
}
