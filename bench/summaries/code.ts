// How much code makes the summaries: lines and regular expressions of the rooms that serve nothing else.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync } from 'oxc-parser';

/** The rooms that make a summary. @source docs/decisions/summary-yardstick.md */
const ROOMS = ['text', 'shell', 'trail', 'summary'] as const;

/** The size of a room, without its tests. */
export interface RoomSize {
  readonly room: string;
  readonly files: number;
  readonly lines: number;
  /** Literals, and calls of `RegExp`. */
  readonly patterns: number;
}

/** The sizes of the rooms below a folder `src`. */
export function measureRooms(source: string): readonly RoomSize[] {
  return ROOMS.map((room) => {
    const paths = readdirSync(join(source, room), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith('.ts') && !entry.name.endsWith('.test.ts'))
      .map((entry) => join(entry.parentPath, entry.name));
    const texts = paths.map((path) => readFileSync(path, 'utf8'));
    return {
      room,
      files: paths.length,
      lines: texts.reduce((sum, text) => sum + text.split('\n').length - 1, 0),
      patterns: texts.reduce((sum, text) => sum + countPatterns(text), 0),
    };
  });
}

/** How many regular expressions a TypeScript text makes: literals, and calls of `RegExp`. */
export function countPatterns(text: string): number {
  const { program } = parseSync('file.ts', text);
  let patterns = 0;
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    if (Array.isArray(node)) {
      for (const one of node) visit(one);
      return;
    }
    const { type, regex, callee } = node as {
      readonly type?: string;
      readonly regex?: unknown;
      readonly callee?: { readonly name?: string };
    };
    if (type === 'Literal' && regex !== undefined && regex !== null) patterns++;
    if ((type === 'NewExpression' || type === 'CallExpression') && callee?.name === 'RegExp') patterns++;
    for (const one of Object.values(node)) visit(one);
  };
  visit(program);
  return patterns;
}
