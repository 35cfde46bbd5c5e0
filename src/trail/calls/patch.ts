// The `*** Begin Patch` envelopes with which Codex and similar agents edit files.

import type { TextReplacement } from './known-text.ts';
import { ELLIPSIS } from '../../text/sentences.ts';

/** What a patch does to one file. */
export interface PatchedFile {
  readonly action: 'create' | 'edit' | 'delete' | 'move';
  readonly path: string;
  /** The new name of a moved file. */
  readonly to?: string;
  /** The added lines, joined by line feeds; a line `…` separates those that are not adjacent. */
  readonly added: string;
  /** The removed lines with the added ones; empty if it only adds lines. */
  readonly replaced: readonly TextReplacement[];
}

interface OpenFile {
  readonly action: PatchedFile['action'];
  readonly path: string;
  readonly to?: string;
  readonly added: string[];
  readonly removed: string[];
}

const HEADERS = [
  ['*** Add File: ', 'create'],
  ['*** Update File: ', 'edit'],
  ['*** Delete File: ', 'delete'],
] as const;

/** The files of the first patch envelope in a text, in order; none without an envelope. */
export function patchedFiles(text: string): PatchedFile[] {
  const begin = text.indexOf('*** Begin Patch');
  if (begin < 0) return [];
  const files: PatchedFile[] = [];
  let open: OpenFile | undefined;
  const close = (): void => {
    if (open?.added.at(-1) === ELLIPSIS) open.added.pop();
    if (open !== undefined) files.push(patchedFile(open));
    open = undefined;
  };
  for (const line of text.slice(begin).split('\n')) {
    if (line.startsWith('*** End Patch')) break;
    const header = HEADERS.find(([prefix]) => line.startsWith(prefix));
    if (header !== undefined) {
      close();
      open = { action: header[1], path: line.slice(header[0].length).trim(), added: [], removed: [] };
    } else if (open !== undefined && line.startsWith('*** Move to: ')) {
      open = { ...open, action: 'move', to: line.slice('*** Move to: '.length).trim() };
    } else if (line.startsWith('+')) open?.added.push(line.slice(1));
    else if (line.startsWith('-')) open?.removed.push(line.slice(1));
    // Without a mark, additions around unchanged text would read as adjacent.
    else if (open !== undefined && (open.added.at(-1) ?? ELLIPSIS) !== ELLIPSIS) {
      open.added.push(ELLIPSIS);
    }
  }
  close();
  return files;
}

function patchedFile({ removed, ...file }: OpenFile): PatchedFile {
  const added = file.added.join('\n');
  const replaced = removed.length === 0 ? [] : [{ old: removed.join('\n'), new: added, isLines: true }];
  return { ...file, added, replaced };
}
