import type { CommandIo } from './io.ts';
import { eraseLine, fitWidth, printable } from './style.ts';

/** Smaller work ends before a progress line could be read. @source 8 MB read in about 0.1 s. */
const LEAST_BYTES = 8 * 1024 * 1024;

const REDRAW_MS = 100;

/** Runs long work with a progress line on standard error, if that is a terminal. The line is erased afterwards. */
export async function withProgress<T>(
  io: CommandIo,
  title: string,
  bytes: number,
  work: (onProgress?: (share: number) => void) => Promise<T>,
): Promise<T> {
  if (!io.showsProgress || bytes < LEAST_BYTES) return work();
  let drawnAt = 0;
  try {
    return await work((share) => {
      const now = io.clock.now();
      if (now - drawnAt < REDRAW_MS) return;
      drawnAt = now;
      drawProgress(io, title, ` ${Math.floor(share * 100)} %`);
    });
  } finally {
    eraseProgress(io);
  }
}

/** Draws a progress line over the previous one, if standard error is a terminal. Never cuts off `end`. */
export function drawProgress(io: CommandIo, title: string, end = ''): void {
  if (!io.showsProgress) return;
  // A line that wraps could not be erased; the last column stays free because some terminals wrap after it.
  const room = io.look.width - end.length - 1;
  io.stderr(`${eraseLine(io.look)}${fitWidth(io.look, printable(title), room)}${end}`);
}

/** Erases the progress line. */
export function eraseProgress(io: CommandIo): void {
  if (io.showsProgress) io.stderr(eraseLine(io.look));
}
