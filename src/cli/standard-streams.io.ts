// Standard streams for a thread other than the main one, opened by their descriptors: no byte goes through another thread, a slow
// reader delays only its writer, and unread input stays in the stream.

import { createReadStream, fstatSync, writeSync } from 'node:fs';
import type { ReadStream } from 'node:fs';
import { Socket } from 'node:net';
import { Writable } from 'node:stream';
import { isatty, ReadStream as TerminalInput, WriteStream as TerminalOutput } from 'node:tty';

/** The kinds of streams that Node's own standard streams distinguish: those that can be waited for, and files. */
function kindOf(descriptor: number): 'terminal' | 'pipe' | 'file' {
  if (isatty(descriptor)) return 'terminal';
  const stats = fstatSync(descriptor);
  return stats.isFIFO() || stats.isSocket() ? 'pipe' : 'file';
}

/** Opens standard output (1) or standard error (2). A terminal has `columns`. */
export function openOutput(descriptor: 1 | 2): Writable {
  switch (kindOf(descriptor)) {
    case 'terminal':
      return new TerminalOutput(descriptor);
    case 'pipe':
      return new Socket({ fd: descriptor, readable: false, writable: true });
    case 'file':
      return new Writable({
        decodeStrings: true,
        write(chunk: Buffer, _, done) {
          try {
            for (let at = 0; at < chunk.length;) at += writeSync(descriptor, chunk, at);
            done();
          } catch (error) {
            done(error as Error);
          }
        },
      });
  }
}

/** Whether standard input is a terminal; leaves it unopened. */
export function isTerminalInput(): boolean {
  return isatty(0);
}

/** Whether standard output is a terminal. */
export function isTerminalOutput(): boolean {
  return isatty(1);
}

/** Opens standard input. A terminal has `isTTY`. */
export function openInput(): ReadStream | Socket {
  switch (kindOf(0)) {
    case 'terminal':
      return new TerminalInput(0);
    case 'pipe':
      return new Socket({ fd: 0, readable: true, writable: false });
    case 'file':
      return createReadStream('', { fd: 0, autoClose: false });
  }
}
