// What of a file system a rollout is written with. Types only, in the shape of `node:fs/promises`, so that a test can put
// a failing disk, or a sudden end of the process, behind every single call.

/** An open file. */
export interface RolloutFile {
  /** Writes at the end of the file; may write less than it was given. */
  write(bytes: Uint8Array): Promise<{ readonly bytesWritten: number }>;
  read(
    buffer: Uint8Array,
    offset: number,
    length: number,
    position: number,
  ): Promise<{ readonly bytesRead: number }>;
  stat(): Promise<FileStats>;
  truncate(bytes: number): Promise<void>;
  datasync(): Promise<void>;
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** What a file is, as far as a rollout asks. */
export interface FileStats {
  readonly size: number;
  readonly nlink: number;
  isFile(): boolean;
  isDirectory(): boolean;
  isFIFO(): boolean;
  isSocket(): boolean;
  isSymbolicLink(): boolean;
}

/** The calls of a file system. Failures are those of the system, with their `code`. */
export interface RolloutFiles {
  open(path: string, flags: string | number, mode?: number): Promise<RolloutFile>;
  mkdir(path: string, options: { readonly recursive: true; readonly mode: number }): Promise<unknown>;
  /** The text of a small file; empty for what is not a regular one, or too large, because that names no owner. */
  readFile(path: string): Promise<string>;
  readdir(path: string): Promise<readonly string[]>;
  link(from: string, to: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  unlink(path: string): Promise<void>;
}
