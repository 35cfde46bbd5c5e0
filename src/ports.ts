// All that the inside needs of the world. Types only; the outer folders implement them.

/** Milliseconds since the epoch. */
export interface Clock {
  now(): number;
}

/** Fresh identifiers. */
export interface Ids {
  /** A random UUID, version 4 or 7, lower case. */
  uuid(): string;
}

/** SHA-256 of a text, in lower-case hex. */
export type Hash = (text: string) => string;

/** What reading one file of the workspace gave. */
export type FileRead =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'binary'; readonly bytes: number }
  /** Text too long to be given back even in part. */
  | { readonly kind: 'large'; readonly bytes: number }
  | { readonly kind: 'gone' }
  /** Outside of the workspace, or a link that leads there, or no regular file: never read. */
  | { readonly kind: 'refused'; readonly why: string };

/** Reads inside one directory and nowhere else. */
export interface WorkspaceFiles {
  /** @param path as the agent named it: absolute, or relative to its working directory */
  read(path: string): Promise<FileRead>;
}

/** The scratch file of a thread, below the workspace. Paths are relative and were checked by `isInsideWorkspace`. */
export interface ScratchFiles {
  /**
   * Size in bytes, undefined where there is no such file. `refused`: some component is a symbolic link, or the file is no
   * regular one.
   */
  size(path: string): Promise<{ readonly bytes: number | undefined } | { readonly refused: string }>;
  /** Appends a section, after two line feeds where the file holds something; makes the folders. Refuses as `size` does. */
  append(path: string, text: string): Promise<{ readonly written: true } | { readonly refused: string }>;
}
