// What a command does to one file, and what moving does to several.

import { joinPath } from './scripts.ts';

/** A closed range of lines, counted from 1; without an end, it extends to the end of the file. */
export interface LineRange {
  readonly from: number;
  readonly to?: number;
}

/** What a command does to one file. */
export interface ShellFileAction {
  /** `restore`: git restores its version, discarding edits; the path may be a directory. */
  readonly action: 'read' | 'edit' | 'create' | 'delete' | 'move' | 'restore';
  readonly path: string;
  /** The new name of a moved file. */
  readonly to?: string;
  readonly range?: LineRange;
  /** The text written or added, if the command contains it. */
  readonly content?: string;
  /** The editing commands, if the new text is unknown; for `restore`, git's revision, if named. */
  readonly how?: string;
}

/** What a command does that moves its operands into or onto the last one. */
export function movedFiles(operands: readonly string[]): ShellFileAction[] {
  const to = operands.at(-1);
  if (to === undefined || operands.length < 2) return [];
  const isInto = operands.length > 2 || to.endsWith('/');
  return operands.slice(0, -1).map((path) => ({
    action: 'move',
    path,
    to: isInto ? joinPath(to, path.slice(path.lastIndexOf('/') + 1)) : to,
  }));
}

/** Whether a word may be the name of a file rather than of a directory. */
export function hasExtension(word: string): boolean {
  return /[^/.]\.[A-Za-z]\w{0,8}$/.test(word);
}
