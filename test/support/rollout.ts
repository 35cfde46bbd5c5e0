// A made-up Codex rollout that is long enough to be compacted, for tests that run commands on files.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  call,
  commandOutput,
  head,
  message,
  output,
  reasoning,
  taskComplete,
  taskStarted,
} from './codex-lines.ts';

/** What the user of the rollout says first, and what holds from then on. */
export const FIRST_REQUEST = 'Chart the harbour. Never touch the files below charts/official.';

/** The user's words in one turn of the rollout, counted from 0. */
export function requestOf(turn: number): string {
  return turn === 0 ? FIRST_REQUEST : `Now sound basin ${turn} and note its depth.`;
}

/** What a rollout holds. */
export interface RolloutShape {
  readonly turns?: number;
  /** The number of the first turn. */
  readonly first?: number;
  /** Lines of each tool's result. */
  readonly lines?: number;
  /** Encrypted reasoning before each call, as Codex records it. */
  readonly reasons?: boolean;
}

/** Writes a rollout and returns its path. */
export function writeRollout(folder: string, name: string, shape: RolloutShape = {}): string {
  const { turns = 12, first = 0, lines = 40, reasons = false } = shape;
  const generation = '0.140';
  const builder = head(generation);
  for (let turn = first; turn < first + turns; turn++) {
    const sounding = Array.from(
      { length: lines },
      (_, at) => `basin ${turn} mark ${at}: ${at * 3 + turn} fathoms`,
    );
    taskStarted(builder, generation, `turn-${turn}`);
    if (turn === first) builder.item(message('developer', '<permissions instructions>\nRead only.'));
    builder.item(message('user', requestOf(turn)));
    if (reasons) builder.item(reasoning());
    builder.item(call(`call-${turn}`, `sound --basin ${turn}`));
    builder.item(output(`call-${turn}`, commandOutput(generation, sounding.join('\n'), 0)));
    builder.item(message('assistant', `Basin ${turn} is in charts/basin-${turn}.txt.`));
    taskComplete(builder, generation, `turn-${turn}`);
  }
  const path = join(folder, name);
  writeFileSync(path, builder.lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  return path;
}
