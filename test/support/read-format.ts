// Reads a file, or the text of one, as any format: what `inspect` sees of it.

import { loadSession } from '../../src/formats/session-file.io.ts';
import type { LoadReport } from '../../src/formats/session-file.io.ts';
import { openSource } from '../../src/formats/source.io.ts';
import type { LogRecord } from '../../src/protocol/record.ts';

/** What a file reads as. */
export interface ReadFile {
  readonly records: readonly LogRecord[];
  readonly report: LoadReport;
}

/** Reads the session at `path`. */
export function readSessionFile(path: string): Promise<ReadFile> {
  return read(path, []);
}

/** Reads a text as it would be read from a pipe: without a name that could say what it is. */
export function readSessionText(text: string): Promise<ReadFile> {
  return readSessionBytes(Buffer.from(text));
}

/** Reads bytes, which may be no text, in the same way. */
export function readSessionBytes(bytes: Buffer): Promise<ReadFile> {
  return read('-', [bytes]);
}

async function read(path: string, input: readonly Buffer[]): Promise<ReadFile> {
  const source = await openSource(
    path,
    (async function* (): AsyncGenerator<Buffer> {
      yield* input;
    })(),
  );
  try {
    const records: LogRecord[] = [];
    const report = await loadSession(source, (record) => void records.push(record));
    return { records, report };
  } finally {
    await source.close();
  }
}

/** Values as JSON Lines. */
export function asLines(values: readonly unknown[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join('');
}
