// Reads a file, or the text of one, as any format: what `inspect` sees of it.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadSession } from '../../src/formats/load.ts';
import type { LoadReport } from '../../src/formats/load.ts';
import { openSource } from '../../src/formats/source.ts';
import type { LogRecord } from '../../src/protocol/record.ts';
import { temporaryDirectory } from './program.ts';

/** What a file reads as. */
export interface ReadFile {
  readonly records: readonly LogRecord[];
  readonly report: LoadReport;
}

/** Reads the session at `path`. */
export async function readSessionFile(path: string): Promise<ReadFile> {
  const source = await openSource(path, (async function* (): AsyncGenerator<Buffer> {})());
  try {
    const records: LogRecord[] = [];
    const report = await loadSession(source, (record) => void records.push(record));
    return { records, report };
  } finally {
    await source.close();
  }
}

let directory: string | undefined;
let files = 0;

/** Reads a text as if it stood in a file whose name says nothing. */
export async function readSessionText(text: string): Promise<ReadFile> {
  directory ??= temporaryDirectory();
  const path = join(directory, `session-${++files}`);
  writeFileSync(path, text);
  return readSessionFile(path);
}

/** Values as JSON Lines. */
export function asLines(values: readonly unknown[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join('');
}
