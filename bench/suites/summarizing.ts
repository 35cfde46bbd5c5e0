// The embedded summarizer: from records to the nine sections, by the transcripts (the files that agents keep) and by the
// readable text in them, which is a fifth to two thirds of a file.

import { statSync } from 'node:fs';
import type { LogRecord } from '../../src/protocol/record.ts';
import { approximateTokens, utf8Length } from '../../src/tokens/estimate.ts';
import { TrailCollector } from '../../src/trail/collect.ts';
import { writeSummary } from '../../src/trail/summary/write.ts';
import { FORMATS } from '../../src/vocabulary.ts';
import { generateSteps, textsOf, toItems } from '../histories.ts';
import { race } from '../measure.ts';
import { atLeast, digits, duration } from '../report.ts';
import type { Row } from '../report.ts';
import { recordedRecords, textBytes } from '../records.ts';
import { codexFileBytes, recordedSessions } from '../session-files.ts';
import type { Effort } from './suite.ts';

/** MB of transcript in a second. @source spec 2-engine §11. */
const LEAST_SPEED = 20;

/** Sessions that are summarized one after the other. */
interface Sessions {
  readonly what: string;
  readonly records: readonly (readonly LogRecord[])[];
  /** Bytes of the transcripts, and of the readable text in them. */
  readonly files: number;
  readonly text: number;
}

/** The rows of the summarizer. */
export async function* summarizing(effort: Effort): AsyncGenerator<Row> {
  const steps = generateSteps(effort.isQuick ? 2000 : 10_000);
  const records = toItems(steps).map((item): LogRecord => ({ type: 'item', item }));
  const text = textsOf(steps).reduce((sum, one) => sum + utf8Length(one), 0);
  const files = codexFileBytes(steps);
  yield await measure({ what: 'generated, as Codex keeps it', records: [records], files, text }, effort);
  for (const format of FORMATS) {
    const sessions = await recordedRecords(format);
    if (sessions.length === 0) continue;
    yield await measure(
      {
        what: `${format}, ${sessions.length} recorded sessions`,
        records: sessions,
        files: recordedSessions(format).reduce((sum, path) => sum + statSync(path).size, 0),
        text: sessions.flat().reduce((sum, record) => sum + textBytes(record), 0),
      },
      effort,
    );
  }
}

async function measure({ what, records, files, text }: Sessions, { rounds }: Effort): Promise<Row> {
  const { baton } = await race({ baton: { run: () => records.forEach(summarize) } }, rounds);
  const speed = files / 1000 / baton;
  return {
    topic: 'Embedded summarizer',
    what: `${what}, ${digits(files / 1e6)} MB`,
    baton: duration(baton),
    against: `the text in it, ${digits(text / 1e6)} MB: ${digits(text / 1000 / baton)} MB/s`,
    figure: `${digits(speed)} MB/s`,
    target: atLeast(speed, LEAST_SPEED, ' MB/s'),
  };
}

function summarize(records: readonly LogRecord[]): void {
  const collector = new TrailCollector();
  for (const record of records) collector.add(record);
  writeSummary(collector.trail(), { count: approximateTokens });
}
