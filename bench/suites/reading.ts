// Reading a session file against the least that any reader does: the file as a string, split into lines, each parsed
// and kept. Baton also finds out what each line is, what belongs to the conversation and what is damaged.

import { readFileSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { loadSession } from '../../src/formats/session-file.io.ts';
import { openSource } from '../../src/formats/source.io.ts';
import type { Format } from '../../src/vocabulary.ts';
import { race } from '../measure.ts';
import { atLeast, digits, duration } from '../report.ts';
import type { Row } from '../report.ts';
import { recordedSessions, withFolder, writeSession } from '../session-files.ts';
import type { Effort } from './suite.ts';

const FORMATS: readonly Format[] = ['codex', 'claude-code'];

/** Recorded files per format; the largest ones. */
const MOST_RECORDED = 4;

/** The reading rows. */
export async function* reading(effort: Effort): AsyncGenerator<Row> {
  yield* await withFolder(async (folder) => {
    const found: Row[] = [];
    for (const format of FORMATS) {
      const generated = await writeSession(folder, format, effort.isQuick ? 8e6 : 24e6);
      found.push(await compare([generated], `${format}, generated`, effort));
      const recorded = recordedSessions(format).slice(0, MOST_RECORDED);
      if (recorded.length > 0) {
        const what = `${format}, ${recorded.length} recorded files`;
        found.push(await compare(recorded, what, effort));
      } else console.error(`  no recorded ${format} sessions at ../shared/sessions: skipped`);
    }
    return found;
  });
}

async function compare(paths: readonly string[], what: string, { rounds }: Effort): Promise<Row> {
  const lines = paths.flatMap((path) => readLines(path));
  const bytes = paths.reduce((sum, path) => sum + statSync(path).size, 0);
  const times = await race(
    {
      baton: { run: () => readAll(paths) },
      file: { run: () => paths.map((path) => readLines(path).map(parse)) },
      ready: { run: () => lines.forEach(parse) },
    },
    rounds,
  );
  const share = times.file / times.baton;
  return {
    topic: 'Reading a session file',
    what: `${what}, ${digits(bytes / 1e6)} MB`,
    baton: `${duration(times.baton)} (${digits(bytes / 1000 / times.baton)} MB/s)`,
    against:
      `read whole, split, \`JSON.parse\` ${duration(times.file)} ` +
      `(the parse alone, of strings in memory, ${duration(times.ready)}: ${digits(times.ready / times.baton)})`,
    figure: `${digits(share)} of its speed`,
    target: atLeast(share, 0.6),
  };
}

function readLines(path: string): readonly string[] {
  return readFileSync(path, 'utf8').split('\n');
}

/** Damaged lines would end the baseline; Baton reads them. */
function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

async function readAll(paths: readonly string[]): Promise<number> {
  let records = 0;
  for (const path of paths) {
    const source = await openSource(path, process.stdin);
    try {
      await loadSession(source, () => records++);
    } finally {
      await source.close();
    }
  }
  if (records === 0) throw new Error(`${paths.map((path) => basename(path)).join(', ')} gave no records`);
  return records;
}
