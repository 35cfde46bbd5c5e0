// The signs before lines, for terminals with Unicode and without.

/** One set of signs, each one column wide. */
export interface Signs {
  readonly prompt: string;
  readonly bullet: string;
  readonly done: string;
  readonly failed: string;
  readonly running: string;
  readonly pending: string;
  readonly skipped: string;
  readonly arrow: string;
  readonly dot: string;
  readonly rule: string;
  readonly branch: string;
  readonly more: string;
  /** Frames of the mark that something runs. */
  readonly spinner: readonly string[];
}

const UNICODE: Signs = {
  prompt: '›',
  bullet: '•',
  done: '✓',
  failed: '✗',
  running: '◐',
  pending: '○',
  skipped: '–',
  arrow: '→',
  dot: '·',
  rule: '─',
  branch: '└',
  more: '…',
  spinner: ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'],
};

const ASCII: Signs = {
  prompt: '>',
  bullet: '*',
  done: '+',
  failed: 'x',
  running: '~',
  pending: 'o',
  skipped: '-',
  arrow: '->',
  dot: '-',
  rule: '-',
  branch: '|',
  more: '...',
  spinner: ['|', '/', '-', '\\'],
};

export function signsOf({ hasUnicode }: { readonly hasUnicode: boolean }): Signs {
  return hasUnicode ? UNICODE : ASCII;
}
