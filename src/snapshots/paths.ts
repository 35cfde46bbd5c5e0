// Paths in git's form: bytes. Here a path is a string with one character per byte (Latin-1), so that names in any encoding, or in
// none, can be compared and used as keys. Relative to the workspace, with `/`. Pure.

/** Splits a list of paths that each end with a zero byte, as printed with `-z`. */
export function splitPaths(output: string): string[] {
  return output.split('\0').slice(0, -1);
}

/** Joins paths into a list for `-z`. */
export function joinPaths(paths: readonly string[]): string {
  return paths.map((path) => `${path}\0`).join('');
}

/** The last part of a path. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** The directories above a path, outermost first, without the workspace itself. */
export function directoriesOf(path: string): string[] {
  const parts = path.split('/').slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}

/** The content of the user's index: files, and nested repositories. */
export interface TrackedPaths {
  readonly files: readonly string[];
  readonly submodules: readonly string[];
}

const SUBMODULE_MODE = '160000';

/** Parses `ls-files --stage -z`. A path in conflict occurs up to three times, and is listed once. */
export function parseStages(output: string): TrackedPaths {
  const files = new Set<string>();
  const submodules = new Set<string>();
  for (const line of splitPaths(output)) {
    const path = line.slice(line.indexOf('\t') + 1);
    (line.startsWith(SUBMODULE_MODE) ? submodules : files).add(path);
  }
  return { files: [...files], submodules: [...submodules] };
}

/**
 * Whether a path may be written: relative, without `..`, and not in `.git`. Git puts no other path into a tree, but a tree can be
 * forged in its store, where git does not check contents against names.
 * @source git's `verify_path`, with the names that NTFS and HFS+ treat as `.git`
 */
export function isSafePath(path: string): boolean {
  return path.split('/').every((part) => part !== '' && part !== '.' && part !== '..' && !isGitName(part));
}

/** Characters that HFS+ ignores, in the bytes of UTF-8. @source git's `next_hfs_char` */
const UNSEEN_BY_HFS =
  /\u00e2\u0080[\u008c-\u008f\u00aa-\u00ae]|\u00e2\u0081[\u00aa-\u00af]|\u00ef\u00bb\u00bf/g;

function isGitName(part: string): boolean {
  const name = part.replaceAll(UNSEEN_BY_HFS, '').toLowerCase();
  return /^(?:\.git|git~1)[ .]*(?:$|[:\\])/.test(name);
}
