// The most memory that the program holds while it inspects a very large file.

import { fork } from 'node:child_process';
import { FORMATS } from '../../src/vocabulary.ts';
import { fileURLToPath } from 'node:url';
import { atMost, digits, duration } from '../report.ts';
import type { Row } from '../report.ts';
import { withFolder, writeSession } from '../session-files.ts';
import { PROGRAM } from './starting.ts';
import type { Effort } from './suite.ts';

const PEAK_MEMORY = fileURLToPath(new URL('peak-memory.js', import.meta.url));

/** The memory rows. */
export async function* memory({ isQuick }: Effort): AsyncGenerator<Row> {
  const bytes = isQuick ? 60e6 : 300e6;
  yield* await withFolder(async (folder) => {
    const rows: Row[] = [];
    for (const format of FORMATS) {
      const session = await writeSession(folder, format, bytes);
      const started = performance.now();
      const peak = await peakMegabytes(['inspect', session]);
      const elapsed = performance.now() - started;
      rows.push({
        topic: 'Peak memory (resident set)',
        what: `\`baton inspect\`, ${format}, ${digits(bytes / 1e6)} MB`,
        baton: `${digits(peak)} MB, ${duration(elapsed)}`,
        against: '',
        figure: `${digits(peak)} MB`,
        target: atMost(peak, 400, ' MB'),
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
