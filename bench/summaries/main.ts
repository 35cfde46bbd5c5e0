// `npm run bench -- summaries`: the yardstick of the embedded summarizer. docs/decisions/summary-yardstick.md says what it counts.

import { join } from 'node:path';
import { utf8Length } from '../../src/tokens/estimate.ts';
import { FORMATS } from '../../src/vocabulary.ts';
import { bundledStory, MADE_STORIES } from '../../test/summaries/stories.ts';
import { readCommandLine } from '../command-line.ts';
import { race } from '../measure.ts';
import { recordedRecords } from '../records.ts';
import { ROOT } from '../session-files.ts';
import { ablate } from './ablation.ts';
import type { ReadStory } from './ablation.ts';
import { measureRooms } from './code.ts';
import {
  goldenFault,
  goldenPath,
  orphanedGoldens,
  removeGolden,
  writeGolden,
  writesGoldens,
} from './golden.ts';
import { placesOf, recallAt, summaryAt } from './recall.ts';
import type { Place } from './recall.ts';
import { renderReport } from './report.ts';
import type { RecallRow, StoryScores, YardstickReport } from './report.ts';
import { scoresOf } from './scores.ts';
import { recordsOf, SIZES, summaryOf } from './summaries.ts';

/** Regular cuts of the bundled session, which is short, and of each recorded one. */
const BUNDLED_CUTS = 6;
const RECORDED_CUTS = 2;
/** Turns of each side of the race. @source `effort` of bench/main.ts */
const ROUNDS = 9;
const QUICK_ROUNDS = 1;

const asked = readCommandLine(process.argv.slice(2));
if (asked.type !== 'summaries') throw new RangeError('What cannot be run is refused before this is built');
const { isQuick, isJson, ablates } = asked;

const stories: ReadStory[] = [];
for (const story of [bundledStory(ROOT), ...MADE_STORIES]) {
  stories.push({ ...story, records: await recordsOf(story.lines) });
}
const bundled = stories[0];
if (bundled === undefined) throw new RangeError('There is no bundled session');
const places = {
  bundled: placesOf(bundled.records, BUNDLED_CUTS),
  recorded: isQuick ? [] : await recordedPlaces(),
};
const { scores, goldens } = scoreStories();
const report: YardstickReport = {
  stories: scores,
  recall: [...recallRows('bundled', places.bundled), ...recallRows('recorded', places.recorded)],
  code: measureRooms(join(ROOT, 'src')),
  speed: await measureSpeed(bundled),
  goldens,
  ...(ablates
    ? {
        ablation: ablate(stories, [...places.bundled, ...places.recorded], (name) =>
          progress(`without ${name}`),
        ),
      }
    : {}),
};
console.log(isJson ? JSON.stringify(report, undefined, 2) : renderReport(report));
if (goldens.length > 0) {
  progress(
    `${goldens.length} golden summaries differ: read the change, then write them with BATON_GOLDEN=write.`,
  );
  process.exitCode = 1;
}

/** The scores of every story at every size; golden files are compared with, or written by, the same summaries. */
function scoreStories(): { scores: readonly StoryScores[]; goldens: readonly string[] } {
  const isWriting = writesGoldens(process.env);
  const orphans = orphanedGoldens(
    ROOT,
    stories.map(({ name }) => name),
  );
  if (isWriting) for (const name of orphans) removeGolden(ROOT, name);
  const faults = isWriting ? [] : orphans.map((name) => `The golden summaries of ${name} have no story`);
  const all = stories.flatMap(({ name, records, key }) =>
    SIZES.map((size): StoryScores => {
      const summary = summaryOf(records, size);
      const path = goldenPath(name, size);
      if (isWriting) writeGolden(ROOT, path, summary);
      else faults.push(...[goldenFault(ROOT, path, summary) ?? []].flat());
      return { story: name, size, scores: scoresOf(summary, key) };
    }),
  );
  return { scores: all, goldens: faults };
}

async function recordedPlaces(): Promise<readonly Place[]> {
  const found: Place[] = [];
  for (const format of FORMATS) {
    for (const records of await recordedRecords(format)) found.push(...placesOf(records, RECORDED_CUTS));
  }
  return found;
}

function recallRows(sessions: RecallRow['sessions'], at: readonly Place[]): readonly RecallRow[] {
  if (at.length === 0) return [];
  return SIZES.map((size): RecallRow => {
    progress(`recall of ${sessions} sessions at ${size} tokens`);
    const recalls = at.map((place) => recallAt(place, summaryAt(place, size)));
    const mean = (of: (one: (typeof recalls)[number]) => number): number =>
      recalls.reduce((sum, one) => sum + of(one), 0) / recalls.length;
    return {
      sessions,
      size,
      cuts: at.length,
      all: mean(({ all }) => all),
      withoutLists: mean(({ withoutLists }) => withoutLists),
    };
  });
}

async function measureSpeed({ records, lines }: ReadStory): Promise<YardstickReport['speed']> {
  const texts = lines.map((line) => JSON.stringify(line));
  const bytes = texts.reduce((sum, text) => sum + utf8Length(text) + 1, 0);
  const times = await race(
    {
      baton: { run: () => summaryOf(records, 4_000) },
      parse: { run: () => texts.forEach((text) => void JSON.parse(text)) },
    },
    isQuick ? QUICK_ROUNDS : ROUNDS,
  );
  return { megabytesPerSecond: bytes / 1_000 / times.baton, share: times.parse / times.baton };
}

function progress(text: string): void {
  process.stderr.write(`${text}\n`);
}
