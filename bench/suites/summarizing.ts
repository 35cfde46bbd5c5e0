// The embedded summarizer: from records to the nine sections, by the text that it read.

import type { LogRecord } from '../../src/protocol/record.ts';
import { approximateTokens, utf8Length } from '../../src/tokens/estimate.ts';
import { TrailCollector } from '../../src/trail/collect.ts';
import { writeSummary } from '../../src/trail/write.ts';
import { FORMATS } from '../../src/vocabulary.ts';
import { generateSteps, textsOf, toItems } from '../histories.ts';
import { race } from '../measure.ts';
import { atLeast, digits, duration } from '../report.ts';
import type { Row } from '../report.ts';
import { recordedRecords, textBytes } from '../records.ts';
import type { Effort } from './suite.ts';

/** The rows of the summarizer. */
export async function* summarizing(effort: Effort): AsyncGenerator<Row> {
  const steps = generateSteps(effort.isQuick ? 2000 : 10_000);
  const records = toItems(steps).map((item): LogRecord => ({ type: 'item', item }));
  const bytes = textsOf(steps).reduce((sum, text) => sum + utf8Length(text), 0);
  yield await measure('generated', [records], bytes, effort);
  for (const format of FORMATS) {
    const sessions = await recordedRecords(format);
    if (sessions.length === 0) continue;
    const size = sessions.flat().reduce((sum, record) => sum + textBytes(record), 0);
    yield await measure(`${format}, ${sessions.length} recorded sessions`, sessions, size, effort);
  }
}

async function measure(
  what: string,
  sessions: readonly (readonly LogRecord[])[],
  bytes: number,
  { rounds }: Effort,
): Promise<Row> {
  const { baton } = await race({ baton: { run: () => sessions.forEach(summarize) } }, rounds);
  const speed = bytes / 1000 / baton;
  return {
    topic: 'Embedded summarizer',
    what: `${what}, ${digits(bytes / 1e6)} MB of text`,
    baton: duration(baton),
    against: '',
    figure: `${digits(speed)} MB/s`,
    target: atLeast(speed, 20, ' MB/s'),
  };
}

function summarize(records: readonly LogRecord[]): void {
  const collector = new TrailCollector();
  for (const record of records) collector.add(record);
  writeSummary(collector.trail(), { count: approximateTokens });
}
