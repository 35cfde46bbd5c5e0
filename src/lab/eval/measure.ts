// Measures one session: cuts it, makes every candidate at every size, and scores them against the future.

import type { Clock } from '../../ports.ts';
import { WORTHWHILE_SHARE } from '../../compaction/budget.ts';
import { WHOLE_ITEMS } from '../../history/clear.ts';
import { HistoryFold } from '../../history/project.ts';
import type { LogRecord } from '../../protocol/record.ts';
import type { CountText } from '../../tokens/estimate.ts';
import { TrailCollector } from '../../trail/collect.ts';
import { scoreArtifacts } from './artifacts.ts';
import type { Artifacts } from './artifacts.ts';
import { bestLines } from './bound.ts';
import {
  clearedResults,
  codexRule,
  compactedContext,
  embeddedSummary,
  newestLines,
  ofText,
  randomLines,
} from './candidates.ts';
import type { CandidateName, Context, Situation } from './candidates.ts';
import { chanceFrom } from './chance.ts';
import { keptConstraints } from './constraints.ts';
import { chooseCuts } from './cuts.ts';
import type { Cut } from './cuts.ts';
import { readLog } from './log.ts';
import type { SessionLog } from './log.ts';
import { Past } from './past.ts';
import { mean } from './statistics.ts';
import { recallOf } from './uses.ts';
import type { FutureUse } from './uses.ts';

/** What a run measures. */
export interface EvalSettings {
  /** Budgets in tokens, ascending. */
  readonly sizes: readonly number[];
  /** Regular cuts for each session. */
  readonly cuts: number;
  readonly seed: number;
  /** The tokenizer. */
  readonly count: CountText;
  readonly clock: Clock;
}

/** A budget: one of the sizes, the size of the agent's own summary, or none. */
export type Budget = `${number}` | 'own_summary' | 'none';

/** One candidate at one budget at one cut. Shares are between 0 and 1; undefined if there is nothing to share. */
export interface Measurement {
  readonly candidate: CandidateName;
  readonly budget: Budget;
  readonly tokens: number;
  readonly recall: number;
  /** Only at regular cuts: after a real compaction the agent could use unaided only what that had kept. */
  readonly unaided: number | undefined;
  readonly constraints: number | undefined;
  readonly files: number | undefined;
  readonly commands: number | undefined;
  readonly commits: number | undefined;
  readonly precision: number | undefined;
  readonly orphans: number | undefined;
  readonly milliseconds: number;
}

/** Everything measured at one cut. */
export interface CutMeasurement {
  readonly kind: Cut['kind'];
  /** 1-based line of the file where the future begins. */
  readonly line: number | undefined;
  readonly pastTokens: number;
  readonly contextTokens: number;
  readonly uses: number;
  readonly unaidedUses: number;
  readonly constraints: number;
  readonly measurements: readonly Measurement[];
}

/** A cut with fewer future uses says little: one identifier would be a tenth of the recall. */
const LEAST_USES = 10;

/** @source a tenth of the spread of single draws is below what is shown. */
const RANDOM_DRAWS = 10;

/** Measures a session, one cut at a time, so that the caller can show progress or stop between them. */
export function* measureSession(
  records: readonly LogRecord[],
  settings: EvalSettings,
): Generator<CutMeasurement> {
  for (const { situation, facts } of situationsOf(records, settings))
    yield measureCut(situation, facts, settings);
}

/** A context that a model should write. */
export interface Question {
  readonly situation: Situation;
  /** Its maximum size. */
  readonly tokens: number;
}

/** The answer to a question. */
export interface CandidateAnswer {
  readonly context: Context;
  readonly milliseconds: number;
}

/** How many questions `measureModel` asks about these cuts, and the tokens of the contexts that they show. */
export function questionsAbout(cuts: readonly CutMeasurement[]): {
  readonly questions: number;
  readonly tokens: number;
} {
  const sizes = cuts.map(
    ({ measurements }) => measurements.filter(({ candidate }) => candidate === 'random_lines').length,
  );
  return {
    questions: sizes.reduce((sum, count) => sum + count, 0),
    tokens: cuts.reduce((sum, { contextTokens }, at) => sum + contextTokens * (sizes[at] ?? 0), 0),
  };
}

/**
 * The cuts of a session with a model's contexts. The next call of `next` answers each question, with undefined if there
 * is no answer.
 * @param cuts the result of `measureSession` for the same records and settings
 */
export function* measureModel(
  records: readonly LogRecord[],
  cuts: readonly CutMeasurement[],
  settings: EvalSettings,
): Generator<Question, readonly CutMeasurement[], CandidateAnswer | undefined> {
  const measured: CutMeasurement[] = [];
  for (const { situation, facts } of situationsOf(records, settings)) {
    const cut = cuts[measured.length];
    if (cut === undefined) break;
    const scoring = scoringOf(situation, facts, settings);
    const own: Measurement[] = [];
    for (const { budget, tokens } of budgetsAt(situation.log, facts.cut, facts.contextTokens, settings)) {
      const answer = yield { situation, tokens };
      if (answer === undefined) continue;
      const { milliseconds, context } = answer;
      own.push(
        ...made('model_context', scoring, budget, () => context).map((one) => ({ ...one, milliseconds })),
      );
    }
    measured.push({ ...cut, measurements: liftBound([...cut.measurements, ...own]) });
  }
  return measured;
}

/** The places where a session is measured. A situation's past is valid until the next situation is requested. */
function* situationsOf(
  records: readonly LogRecord[],
  settings: EvalSettings,
): Generator<{ readonly situation: Situation; readonly facts: CutFacts }> {
  const log = readLog(records, settings.count);
  const history = new HistoryFold(WHOLE_ITEMS);
  const trail = new TrailCollector();
  const past = new Past(log);
  const linesByItem = new Map(log.steps.map(({ item, lines }) => [item, lines]));
  let next = 0;
  for (const cut of chooseCuts(log, settings.cuts, settings.seed)) {
    const { uses } = past.advance(cut.step);
    if (uses.length < LEAST_USES) continue;
    for (const record of records.slice(next, cut.record)) {
      history.add(record);
      trail.add(record);
    }
    next = cut.record;
    const situation = { log, past, entries: [...history.entries], trail: trail.trail() };
    const contextTokens = log.table.tokensOfLines(
      situation.entries.flatMap(({ value }) => linesByItem.get(value) ?? []),
    );
    yield { situation, facts: { cut, uses, contextTokens } };
  }
}

interface Scoring {
  readonly situation: Situation;
  readonly cut: Cut;
  readonly uses: readonly FutureUse[];
  readonly constraints: readonly string[];
  readonly artifacts: Artifacts;
  readonly clock: Clock;
}

interface CutFacts {
  readonly cut: Cut;
  readonly uses: readonly FutureUse[];
  readonly contextTokens: number;
}

function scoringOf(situation: Situation, { cut, uses }: CutFacts, { clock }: EvalSettings): Scoring {
  const { constraints, artifacts } = situation.past;
  return { situation, cut, uses, constraints, artifacts, clock };
}

function measureCut(situation: Situation, facts: CutFacts, settings: EvalSettings): CutMeasurement {
  const { log, past } = situation;
  const { cut, uses, contextTokens } = facts;
  const scoring = scoringOf(situation, facts, settings);
  const budgets = budgetsAt(log, cut, contextTokens, settings);
  const largest = Math.max(0, ...budgets.map(({ tokens }) => tokens));
  const best = bestLines(past.distinctLines, uses, log.table, largest);
  const bounded = budgets.flatMap(({ budget, tokens }) => {
    const draw = (at: number) => randomLines(situation, tokens, chanceFrom(settings.seed, cut.step, at));
    return [
      ...made('context', scoring, budget, () => compactedContext(situation, tokens)),
      ...made('summary', scoring, budget, () => embeddedSummary(situation, tokens)),
      ...made('newest', scoring, budget, () => newestLines(situation, tokens)),
      ...made('codex_rule', scoring, budget, () => codexRule(situation, tokens)),
      ...made('own_summary', scoring, budget, () =>
        budget === 'own_summary' ? ofText(cut.summary ?? '') : undefined,
      ),
      averaged(
        Array.from({ length: RANDOM_DRAWS }, (_, at) =>
          made('random_lines', scoring, budget, () => draw(at)),
        ).flat(),
      ),
      ...made('upper_bound', scoring, budget, () => prefixWithin(best, tokens, log)),
    ];
  });
  return {
    kind: cut.kind,
    line: log.records[cut.record]?.line,
    pastTokens: past.tokens,
    contextTokens,
    uses: uses.length,
    unaidedUses: uses.filter(({ isUnaided }) => isUnaided).length,
    constraints: scoring.constraints.length,
    measurements: [
      ...liftBound(bounded),
      ...made('cleared_results', scoring, 'none', () => clearedResults(situation)),
    ],
  };
}

function budgetsAt(
  log: SessionLog,
  cut: Cut,
  contextTokens: number,
  { sizes }: EvalSettings,
): readonly { readonly budget: Budget; readonly tokens: number }[] {
  // If a size saves nothing, a compaction would be refused and every candidate would be the context itself.
  const worthwhile = sizes.filter((size) => size <= contextTokens * WORTHWHILE_SHARE);
  const fixed = worthwhile.map((tokens) => ({ budget: `${tokens}` as const, tokens }));
  if (cut.summary === undefined) return fixed;
  return [...fixed, { budget: 'own_summary', tokens: log.table.tokensOfText(cut.summary) }];
}

function made(
  candidate: CandidateName,
  scoring: Scoring,
  budget: Budget,
  make: () => Context | undefined,
): readonly Measurement[] {
  const { situation, cut, uses, constraints, artifacts, clock } = scoring;
  const { table, root } = situation.log;
  const startedMs = clock.now();
  const context = make();
  const milliseconds = clock.now() - startedMs;
  if (context === undefined) return [];
  const recall = recallOf(context.lines, uses, table);
  return [
    {
      candidate,
      budget,
      tokens: table.tokensOfLines(context.lines),
      recall: recall.all,
      unaided: cut.kind === 'regular' ? recall.unaided : undefined,
      constraints: keptConstraints(context.lines, constraints),
      ...scoreArtifacts(context.lines, artifacts, root),
      orphans: context.orphans,
      milliseconds,
    },
  ];
}

function prefixWithin(lines: readonly string[], budget: number, { table }: SessionLog): Context {
  let left = budget;
  const kept = lines.filter((line) => (left -= table.tokensOfLine(line)) >= 0);
  return { lines: kept, orphans: undefined };
}

const SHARES = [
  'recall',
  'unaided',
  'constraints',
  'files',
  'commands',
  'commits',
  'precision',
] as const satisfies readonly (keyof Measurement)[];

function averaged(draws: readonly Measurement[]): Measurement {
  const [first] = draws;
  if (first === undefined) throw new RangeError('No draw to average');
  const shares = SHARES.map((key) => {
    const values = draws.flatMap((draw) => draw[key] ?? []);
    return [key, values.length === 0 ? undefined : mean(values)] as const;
  });
  return {
    ...first,
    ...(Object.fromEntries(shares) as Pick<Measurement, (typeof SHARES)[number]>),
    tokens: Math.round(mean(draws.map(({ tokens }) => tokens))),
    milliseconds: mean(draws.map(({ milliseconds }) => milliseconds)),
  };
}

/**
 * The best choice of lines is unknown; greed finds one that is close. A candidate's lines are also a choice, so the
 * bound is never below any candidate of its size.
 */
function liftBound(measurements: readonly Measurement[]): readonly Measurement[] {
  return measurements.map((measurement) => {
    if (measurement.candidate !== 'upper_bound') return measurement;
    const rivals = measurements.filter(({ budget }) => budget === measurement.budget);
    const highest = (key: 'recall' | 'unaided') => Math.max(...rivals.map((rival) => rival[key] ?? 0));
    return {
      ...measurement,
      recall: highest('recall'),
      unaided: measurement.unaided === undefined ? undefined : highest('unaided'),
    };
  });
}
