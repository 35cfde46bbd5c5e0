// Paths of `paths.ts` in the system's bytes, and for people.

/** The path in the file system's bytes. */
export function bytesOf(root: string, path: string): Buffer {
  return Buffer.concat([Buffer.from(`${root}/`), Buffer.from(path, 'latin1')]);
}

/** The path for people; invalid UTF-8 shows as replacement characters. */
export function shownPath(path: string): string {
  return Buffer.from(path, 'latin1').toString('utf8');
}
