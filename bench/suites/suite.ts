// What every suite is: it measures one topic and gives its rows one by one. Each runs in a process of its own.

import type { Row } from '../report.ts';

/** How long a suite may take. */
export interface Effort {
  /** Rounds that count. */
  readonly rounds: number;
  /** Smaller sizes and caps, for a first impression. */
  readonly isQuick: boolean;
}

export type Suite = (effort: Effort) => AsyncGenerator<Row>;
