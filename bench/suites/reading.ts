// Reading a session file against `JSON.parse` of its lines, which any reader has to do at least.

import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { loadSession } from '../../src/formats/load.ts';
import { openSource } from '../../src/formats/source.ts';
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
  // Lines that are no JSON would end the baseline; Baton reads them.
  const texts = paths.map((path) => readFileSync(path, 'utf8').split('\n').filter(isJson));
  const bytes = paths.reduce((sum, path) => sum + readFileSync(path).length, 0);
  const times = await race(
    {
      baton: { run: () => readAll(paths) },
      // The strings are ready in memory: no disk, no search for line ends, no decoding.
      parse: { run: () => texts.reduce((sum, lines) => sum + parseAll(lines), 0) },
    },
    rounds,
  );
  const share = times.parse / times.baton;
  return {
    topic: 'Reading a session file',
    what: `${what}, ${digits(bytes / 1e6)} MB`,
    baton: `${duration(times.baton)} (${digits(bytes / 1000 / times.baton)} MB/s)`,
    against: `\`JSON.parse\` of its lines ${duration(times.parse)}`,
    figure: `${digits(share)} of its speed`,
    target: atLeast(share, 0.6),
  };
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

function parseAll(lines: readonly string[]): number {
  let parsed = 0;
  for (const line of lines) if (JSON.parse(line) !== null) parsed++;
  return parsed;
}

function isJson(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}
