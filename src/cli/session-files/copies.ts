// Files that Baton wrote from other sessions with `--install` or `--out`: duplicates of the same work.

import { BatonError } from '../../errors.ts';
import { loadSession } from '../../formats/session-file.io.ts';
import { tailOf } from '../../formats/source.io.ts';
import { authorOf } from '../../protocol/item.ts';
import type { LogRecord } from '../../protocol/record.ts';
import type { Format } from '../../vocabulary.ts';
import type { CommandIo } from '../io.ts';
import { withSource } from '../../calls/session-source.ts';

/** How many bytes at the end of a file to search for its last change, smallest first. */
const TAILS = [256 * 1024, Infinity] as const;

/**
 * Whether Baton wrote a file as a copy that has not been worked in since.
 * @throws BatonError as `loadSession`, `openSource`
 */
export async function isCopy(io: CommandIo, path: string): Promise<boolean> {
  return withSource(io, path, async (source) => {
    for (const bytes of TAILS) {
      const fold = new CopyFold();
      try {
        const { format } = await loadSession(tailOf(source, bytes), (record) => fold.add(record), {
          signal: io.signal,
        });
        if (fold.isDecided) return fold.isCopyIn(format);
      } catch (error) {
        // A part of a document need not be a valid session.
        if (bytes === Infinity || !(error instanceof BatonError) || error.code === 'interrupted') throw error;
      }
    }
    return false;
  });
}

/** Determines from a log, or its end, whether it is a copy without later work. */
export class CopyFold {
  #last: LogRecord | undefined;

  add(record: LogRecord): void {
    if (CHANGES.has(record.type) || (record.type === 'item' && WORKERS.has(authorOf(record.item)))) {
      this.#last = record;
    }
  }

  /** Whether a deciding record was read. */
  get isDecided(): boolean {
    return this.#last !== undefined;
  }

  /** Whether Baton wrote the last records. */
  isCopyIn(format: Format): boolean {
    const last = this.#last;
    switch (last?.type) {
      case 'compacted':
        return last.receipt !== undefined;
      case 'micro_compacted':
        // Codex clears no results; Claude Code rewrites none of them.
        return format === 'codex' || last.newRefs !== undefined;
      case 'undo_compaction':
        return true;
      default:
        return false;
    }
  }
}

const CHANGES: ReadonlySet<LogRecord['type']> = new Set(['compacted', 'micro_compacted', 'undo_compaction']);

const WORKERS: ReadonlySet<string> = new Set(['user', 'agent']);
