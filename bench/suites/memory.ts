// The most memory that the program holds while it inspects a very large file.

import { fork } from 'node:child_process';
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { LARGEST_DOCUMENT_BYTES } from '../../src/formats/lines.ts';
import { FORMATS, MESSAGE_FORMATS } from '../../src/vocabulary.ts';
import type { Format } from '../../src/vocabulary.ts';
import { atMost, digits, duration } from '../report.ts';
import type { Row } from '../report.ts';
import { isDocument, withFolder, writeSession } from '../session-files.ts';
import { PROGRAM } from './starting.ts';
import type { Effort } from './suite.ts';

const PEAK_MEMORY = fileURLToPath(new URL('peak-memory.js', import.meta.url));

/** @source spec 2-engine §11: 400 MB for a file of 300 MB */
const MOST_OF_FILE = 1.33;

/** As many bytes as a document may just have. */
const DOCUMENT_BYTES = LARGEST_DOCUMENT_BYTES;

/** Messages of an API have no compaction: all of such a file is the context. */
const ALL_LIVE: ReadonlySet<Format> = new Set(MESSAGE_FORMATS);

/**
 * The memory rows. The target is about files that are read as a stream; a document is parsed as a whole, and its rows show
 * what that takes.
 */
export async function* memory({ isQuick }: Effort): AsyncGenerator<Row> {
  yield* await withFolder(async (folder) => {
    const rows: Row[] = [];
    for (const format of FORMATS) {
      const isWhole = isDocument(format);
      const bytes = (isWhole ? DOCUMENT_BYTES : 300e6) / (isQuick ? 5 : 1);
      const session = await writeSession(folder, format, bytes);
      const started = performance.now();
      const peak = await peakMegabytes(['inspect', session]);
      const elapsed = performance.now() - started;
      rmSync(session);
      const kind = isWhole ? 'one document of' : ALL_LIVE.has(format) ? 'lines, all of them live,' : 'lines,';
      rows.push({
        topic: 'Peak memory (resident set)',
        what: `\`baton inspect\`, ${format}, ${kind} ${digits(bytes / 1e6)} MB`,
        baton: `${digits(peak)} MB, ${duration(elapsed)}`,
        against: '',
        figure: `${digits(peak / (bytes / 1e6))}× the file`,
        ...(isWhole || isQuick ? {} : { target: atMost(peak / (bytes / 1e6), MOST_OF_FILE, '×') }),
      });
    }
    return rows;
  });
}

function peakMegabytes(args: readonly string[]): Promise<number> {
  const child = fork(PROGRAM, args, {
    execArgv: ['--import', PEAK_MEMORY],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  let kibibytes = Number.NaN;
  child.on('message', (value) => (kibibytes = Number(value)));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (status) => {
      if (status === 0) resolve((kibibytes * 1024) / 1e6);
      else reject(new Error(`baton ${args.join(' ')} failed with status ${status}`));
    });
  });
}
