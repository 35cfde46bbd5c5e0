// Whether a command that is known to only read below its directory may read elsewhere all the same: through a link.

import { lstat, opendir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { isBelow } from '../../system/planted.io.ts';
import { wordsOf } from './trusted.ts';
import type { ReadWord } from './trusted.ts';

/** Places that are looked at for one command; a command that may name more is asked for. */
const MOST_PLACES = 10_000;

/**
 * Whether a word of a script may lead out of the workspace, in any of the directories that the script goes to. If that is unknown, the answer is
 * true.
 * @param root the workspace, with links resolved
 */
export async function mayReadOutside(
  { command, workdir = '.' }: { readonly command: string; readonly workdir?: string },
  root: string,
): Promise<boolean> {
  const words = wordsOf(command);
  const directories = [join(root, workdir)];
  for (const { text } of words.filter(({ isDirectory }) => isDirectory)) {
    directories.push(...directories.map((directory) => join(directory, text)));
    if (directories.length > MOST_PLACES) return true;
  }
  let left = MOST_PLACES;
  for (const word of words) {
    if (word.isPattern && word.text.includes('/', word.text.search(/[*?[]/))) return true;
    for (const text of namesIn(word)) {
      for (const directory of directories) {
        if (left-- <= 0) return true;
        const place = join(directory, text);
        if (await leadsOut(place, root)) return true;
        if (word.isPattern && (await holdsLinkOut(place, root))) return true;
      }
    }
  }
  return false;
}

/** The names that a word may hold: an option may have one behind its letters. Of a pattern, its directory. */
function namesIn({ text, isPattern }: ReadWord): readonly string[] {
  const names = text.startsWith('-') ? Array.from(text.slice(1), (_, at) => text.slice(at + 1)) : [text];
  return isPattern ? names.map((name) => name.slice(0, name.lastIndexOf('/') + 1)) : names;
}

async function leadsOut(place: string, root: string): Promise<boolean> {
  try {
    const real = await realpath(place);
    return real !== root && !isBelow(real, root);
  } catch {
    // Nothing is there to be read.
    return false;
  }
}

async function holdsLinkOut(directory: string, root: string): Promise<boolean> {
  let left = MOST_PLACES;
  try {
    for await (const { name } of await opendir(directory)) {
      if (left-- <= 0) return true;
      const place = join(directory, name);
      if ((await lstat(place)).isSymbolicLink() && (await leadsOut(place, root))) return true;
    }
  } catch {
    return false;
  }
  return false;
}
