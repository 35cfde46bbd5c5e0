// What commands share when they read a session: progress, damage, and the guard against printing it on a terminal.

import type { SummarizerWorld } from '../../calls/summarizers.ts';
import { BatonError } from '../../errors.ts';
import { loadSession } from '../../formats/session-file.io.ts';
import type { LoadReport } from '../../formats/session-file.io.ts';
import type { Emit } from '../../formats/reader.ts';
import type { ByteSource } from '../../formats/source.io.ts';
import type { CommandIo } from '../io.ts';
import { withProgress } from '../progress.ts';
import { formatNumber, plural, printable } from '../style.ts';

/** The parts of a command's process that model calls need. Warnings go to standard error. */
export function modelWorld({ env, cwd, homeDirectory, stderr }: CommandIo): SummarizerWorld {
  return { env, cwd, homeDirectory, warn: (warning) => stderr(`baton: warning: ${warning}\n`) };
}

/** Reads all records, with progress on standard error. @param verb what is done with them, for the progress */
export async function readSession(
  io: CommandIo,
  source: ByteSource,
  emit: Emit,
  verb = 'Reading',
): Promise<LoadReport> {
  return withProgress(io, `${verb} ${source.name}`, source.size, (onProgress) =>
    loadSession(source, emit, { signal: io.signal, onProgress }),
  );
}

/** The part of a report about missing data. */
type Missing = Pick<LoadReport, 'damage' | 'hasGrown'>;

/** Warns on standard error about unreadable parts of a session, for commands whose results depend on it. */
export function warnOfDamage(io: CommandIo, path: string, { damage, hasGrown }: Missing): void {
  const name = path === '-' ? 'standard input' : printable(path);
  const lost = new Set(damage.filter((note) => note.lost).map(({ line }) => line));
  const [first] = lost;
  const notes = [
    ...(first === undefined
      ? []
      : [
          `${plural(lost.size, 'damaged line')} skipped, the first is line ${formatNumber(first)}; \`baton inspect\` says more.`,
        ]),
    ...(hasGrown ? ['the file grew while Baton read it; the appended part is not included.'] : []),
  ];
  for (const note of notes) io.stderr(`baton: warning: ${name}: ${note}\n`);
}

/**
 * Refuses to print a session on a terminal: it belongs in a file or a pipe.
 * @param ways what else to do, as words of the cure
 * @throws BatonError `usage`
 */
export function refuseTerminal({ look }: Pick<CommandIo, 'look'>, ways: string): void {
  if (look.isPiped === true) return;
  throw new BatonError('usage', 'Baton would print the session on this terminal, as lines of JSON', {
    cure: `${ways}, or send standard output to a file or a pipe.`,
  });
}
