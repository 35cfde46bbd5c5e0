// Ctrl+R: the prompts of earlier times, to use one again.

import { line } from '../../lines/line.ts';
import type { Line } from '../../lines/line.ts';
import { cut } from '../../lines/wrap.ts';
import { signsOf } from '../../lines/signs.ts';
import type { Panel } from '../panel.ts';
import { ageOf } from '../wording.ts';
import { picker } from './picker.ts';

/** A prompt of the history. */
export interface PastPrompt {
  readonly text: string;
  /** Milliseconds since 1970; absent: not known. */
  readonly at?: number;
}

/** Columns of an age. */
const AGE_WIDTH = 9;

/**
 * Age and first line of each prompt; Enter puts it into the composer.
 * @param prompts newest first
 * @param now milliseconds since 1970
 */
export function searchPanel(prompts: readonly PastPrompt[], now: number): Panel {
  return picker<PastPrompt>({
    title: 'Earlier prompts',
    items: prompts,
    textOf: ({ text }) => text,
    rowsOf: ({ text, at }, canvas) => {
      const { ellipsis } = signsOf(canvas);
      const age = at === undefined ? '' : ageOf(now, at);
      const shown = text.trim().replaceAll(/\s+/g, ' ');
      const row: Line = [{ text: age.padEnd(AGE_WIDTH), hue: 'quiet' }, ...line(shown)];
      return [cut(row, canvas.width, ellipsis)];
    },
    empty: 'No prompt yet.',
    filter: 'Find',
    keys: () => [
      { keys: 'Enter', does: 'use' },
      { keys: 'Esc', does: 'close' },
    ],
    choose: ({ text }) => ({ panel: undefined, effects: [{ type: 'draft', text }] }),
    // As in shells: the same key goes on to the next older match.
    alias: new Map([
      ['ctrl+r', 'down'],
      ['ctrl+s', 'up'],
    ]),
  });
}
