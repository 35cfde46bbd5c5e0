// Applies patches in the format that Codex's models write: whole files added or deleted, others changed by hunks that
// are found by their context lines.

/** A change to one file. */
export type FileChange =
  | { readonly kind: 'A'; readonly path: string; readonly text: string }
  | { readonly kind: 'D'; readonly path: string }
  | { readonly kind: 'M'; readonly path: string; readonly hunks: readonly Hunk[] };

/** Lines to be found and what takes their place. */
export interface Hunk {
  readonly from: readonly string[];
  readonly to: readonly string[];
}

const HEADINGS = { 'Add File': 'A', 'Delete File': 'D', 'Update File': 'M' } as const;

/**
 * The changes that a patch asks for, in order.
 * @throws SyntaxError when it is not framed by its begin and end lines, or has a line outside of a file
 */
export function parsePatch(patch: string): readonly FileChange[] {
  const lines = patch.split('\n');
  if (lines[0] !== '*** Begin Patch' || lines.at(-1) !== '*** End Patch') {
    throw new SyntaxError('A patch is framed by "*** Begin Patch" and "*** End Patch"');
  }
  const files: { kind: 'A' | 'D' | 'M'; path: string; body: string[] }[] = [];
  for (const line of lines.slice(1, -1)) {
    const [, heading, path] = /^\*\*\* (Add File|Delete File|Update File): (.+)$/.exec(line) ?? [];
    if (heading !== undefined && path !== undefined) {
      files.push({ kind: HEADINGS[heading as keyof typeof HEADINGS], path, body: [] });
      continue;
    }
    const file = files.at(-1);
    if (file === undefined) throw new SyntaxError(`A line of a patch belongs to no file: ${line}`);
    file.body.push(line);
  }
  return files.map(({ kind, path, body }) => {
    if (kind === 'D') return { kind, path };
    if (kind === 'A') return { kind, path, text: `${body.map((line) => line.slice(1)).join('\n')}\n` };
    return { kind, path, hunks: parseHunks(body) };
  });
}

function parseHunks(body: readonly string[]): readonly Hunk[] {
  const hunks: { from: string[]; to: string[] }[] = [];
  for (const line of body) {
    if (line.startsWith('@@')) {
      hunks.push({ from: [], to: [] });
      continue;
    }
    const hunk = hunks.at(-1);
    if (hunk === undefined) throw new SyntaxError(`A changed line stands before the first "@@": ${line}`);
    const text = line.slice(1);
    if (line[0] !== '+') hunk.from.push(text);
    if (line[0] !== '-') hunk.to.push(text);
  }
  return hunks;
}

/**
 * The text of a file after its hunks, each of which must be found exactly once.
 * @throws RangeError with the lines that are missing or not unique
 */
export function applyHunks(text: string, hunks: readonly Hunk[]): string {
  let result = text;
  for (const { from, to } of hunks) {
    const wanted = `\n${from.join('\n')}\n`;
    const framed = `\n${result}`;
    const at = framed.indexOf(wanted);
    if (at === -1 || framed.indexOf(wanted, at + 1) !== -1) {
      throw new RangeError(`${at === -1 ? 'Not found' : 'Found twice'}:\n${from.join('\n')}`);
    }
    const replacement = to.length === 0 ? '\n' : `\n${to.join('\n')}\n`;
    result = (framed.slice(0, at) + replacement + framed.slice(at + wanted.length)).slice(1);
  }
  return result;
}
