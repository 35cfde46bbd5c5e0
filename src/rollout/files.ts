// The file system calls that write a rollout. Types only, in the shape of `node:fs/promises`, so that a test can simulate a
// failing disk, or a sudden end of the process, after every single call.

/** An open file. */
export interface RolloutFile {
  /** Writes at the end of the file; may write less than requested. */
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

/** The facts about a file that a rollout needs. */
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
  /** The text of a small file; empty for one that is not regular or too large, because such a file names no owner. */
  readFile(path: string): Promise<string>;
  readdir(path: string): Promise<readonly string[]>;
  link(from: string, to: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  unlink(path: string): Promise<void>;
}
