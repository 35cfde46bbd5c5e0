// Esc Esc on an empty composer: the earlier prompts of this thread, to go back to one or to say it again.

import { line } from '../../lines/line.ts';
import type { Line } from '../../lines/line.ts';
import { cut } from '../../lines/wrap.ts';
import { undoOf } from '../compaction/undo.ts';
import { signsOf } from '../../lines/signs.ts';
import type { Panel } from '../panel.ts';
import { picker } from './picker.ts';

/** A message of the user in this thread. */
export interface SaidPrompt {
  readonly text: string;
  /** It began the newest turn that can be undone: Baton undoes one turn at a time. */
  readonly isNewest: boolean;
}

/**
 * The user's messages. Enter puts one into the composer; on the newest, Ctrl+U asks what an undo of its turn reverts.
 * @param prompts newest first
 */
export function treePanel(prompts: readonly SaidPrompt[]): Panel {
  const hasNewest = prompts.some(({ isNewest }) => isNewest);
  return picker<SaidPrompt>({
    title: 'Back to an earlier prompt',
    items: prompts,
    textOf: ({ text }) => text,
    rowsOf: ({ text, isNewest }, { width, hasUnicode }) => {
      const row: Line = [
        ...line(text.trim().replaceAll(/\s+/g, ' ')),
        ...line(isNewest ? '  (newest turn)' : '', { hue: 'quiet' }),
      ];
      return [cut(row, width, signsOf({ hasUnicode }).ellipsis)];
    },
    empty: 'You have said nothing in this thread yet.',
    filter: 'Find',
    keys: () => [
      { keys: 'Enter', does: 'edit and say again' },
      ...(hasNewest ? [{ keys: 'Ctrl+U', does: 'undo the newest turn', isMinor: true } as const] : []),
      { keys: 'Esc', does: 'close' },
    ],
    choose: ({ text }) => ({ panel: undefined, effects: [{ type: 'draft', text }] }),
    other: ({ key }) => (key === 'ctrl+u' && hasNewest ? undoOf('turn') : undefined),
  });
}
