// Paths as git has them: bytes. Here a path is a string with one character per byte (Latin-1), so that names in any encoding,
// or in none, can be compared and put into maps. Relative to the workspace, with `/`. Pure.

/** The paths of a list that ends each with a zero byte, as `-z` has it. */
export function splitPaths(output: string): string[] {
  return output.split('\0').slice(0, -1);
}

/** A list as `-z` takes it. */
export function joinPaths(paths: readonly string[]): string {
  return paths.map((path) => `${path}\0`).join('');
}

/** The directories above a path, outermost first, without the workspace itself. */
export function directoriesOf(path: string): string[] {
  const parts = path.split('/').slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}

/** What the user's index says: files, and repositories that stand for themselves. */
export interface TrackedPaths {
  readonly files: readonly string[];
  readonly submodules: readonly string[];
}

const SUBMODULE_MODE = '160000';

/** Reads `ls-files --stage -z`. A path in conflict is there up to three times, and listed once. */
export function parseStages(output: string): TrackedPaths {
  const files = new Set<string>();
  const submodules = new Set<string>();
  for (const line of splitPaths(output)) {
    const path = line.slice(line.indexOf('\t') + 1);
    (line.startsWith(SUBMODULE_MODE) ? submodules : files).add(path);
  }
  return { files: [...files], submodules: [...submodules] };
}
