// The embedded summarizer: from records to the nine sections, by the transcripts (the files that agents keep) and by the
// readable text in them, which is a fifth to two thirds of a file.

import { readFileSync, statSync } from 'node:fs';
import type { LogRecord } from '../../src/protocol/record.ts';
import { approximateTokens, utf8Length } from '../../src/tokens/estimate.ts';
import { TrailCollector } from '../../src/trail/collect.ts';
import { writeSummary } from '../../src/summary/write.ts';
import { FORMATS } from '../../src/vocabulary.ts';
import { generateSteps, textsOf, toItems } from '../histories.ts';
import { race } from '../measure.ts';
import { atLeast, digits, duration } from '../report.ts';
import type { Row } from '../report.ts';
import { recordedRecords, textBytes } from '../records.ts';
import { codexLines, recordedSessions } from '../session-files.ts';
import type { Effort } from './suite.ts';

/**
 * Of the speed of `JSON.parse`. @source spec 2-engine §11: 20 MB/s, where `JSON.parse` of lines in memory took 500 MB/s
 */
const LEAST_SHARE = 0.04;

/** Sessions that are summarized one after the other. */
interface Sessions {
  readonly what: string;
  readonly records: readonly (readonly LogRecord[])[];
  /** The documents of the transcripts, in memory: lines, or whole files. */
  readonly documents: readonly string[];
  /** Bytes of the transcripts, and of the readable text in them. */
  readonly files: number;
  readonly text: number;
}

/** The rows of the summarizer. The target is one for transcripts; what a kind of them takes stands beside it. */
export async function* summarizing(effort: Effort): AsyncGenerator<Row> {
  const steps = generateSteps(effort.isQuick ? 2000 : 10_000);
  const generated: Sessions = {
    what: 'generated, as Codex keeps it',
    records: [toItems(steps).map((item): LogRecord => ({ type: 'item', item }))],
    documents: codexLines(steps),
    files: codexLines(steps).reduce((sum, line) => sum + utf8Length(line) + 1, 0),
    text: textsOf(steps).reduce((sum, one) => sum + utf8Length(one), 0),
  };
  yield judged(await measure(generated, effort));
  const recorded: Measured[] = [];
  for (const format of FORMATS) {
    const records = await recordedRecords(format);
    if (records.length === 0) continue;
    const paths = recordedSessions(format);
    const documents = paths.flatMap((path) => readFileSync(path, 'utf8').split('\n'));
    const files = paths.reduce((sum, path) => sum + statSync(path).size, 0);
    const text = records.flat().reduce((sum, record) => sum + textBytes(record), 0);
    const what = `${format}, ${records.length} recorded sessions`;
    recorded.push(await measure({ what, records, documents, files, text }, effort));
  }
  if (recorded.length === 0) return;
  yield judged(togetherOf(recorded));
  yield* recorded.map(rowOf);
}

interface Measured extends Sessions {
  readonly milliseconds: number;
  /** Of `JSON.parse` alone. */
  readonly parsing: number;
}

async function measure(sessions: Sessions, { rounds }: Effort): Promise<Measured> {
  const { baton, parse } = await race(
    {
      baton: { run: () => sessions.records.forEach(summarize) },
      parse: { run: () => sessions.documents.forEach(parseLine) },
    },
    rounds,
  );
  return { ...sessions, milliseconds: baton, parsing: parse };
}

function togetherOf(all: readonly Measured[]): Measured {
  const sum = (of: (one: Measured) => number): number => all.reduce((total, one) => total + of(one), 0);
  return {
    what: `all ${sum(({ records }) => records.length)} recorded sessions`,
    records: all.flatMap(({ records }) => records),
    files: sum(({ files }) => files),
    text: sum(({ text }) => text),
    documents: [],
    milliseconds: sum(({ milliseconds }) => milliseconds),
    parsing: sum(({ parsing }) => parsing),
  };
}

function rowOf({ what, files, text, milliseconds, parsing }: Measured): Row {
  return {
    topic: 'Embedded summarizer',
    what: `${what}, ${digits(files / 1e6)} MB`,
    baton: `${duration(milliseconds)} (${digits(files / 1000 / milliseconds)} MB/s)`,
    against: `\`JSON.parse\` of the same ${duration(parsing)} (the readable text in it is ${digits(text / 1e6)} MB)`,
    figure: `${digits(parsing / milliseconds)} of its speed`,
  };
}

function judged(measured: Measured): Row {
  return { ...rowOf(measured), target: atLeast(measured.parsing / measured.milliseconds, LEAST_SHARE) };
}

/** Damaged lines would end the baseline. */
function parseLine(line: string): void {
  try {
    JSON.parse(line);
  } catch {
    // Baton reads what can be read of it.
  }
}

function summarize(records: readonly LogRecord[]): void {
  const collector = new TrailCollector();
  for (const record of records) collector.add(record);
  writeSummary(collector.trail(), { count: approximateTokens });
}
