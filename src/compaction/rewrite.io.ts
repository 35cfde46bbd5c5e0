// Has a history rewritten: reads files back, asks the provider or the models of the ladder, and writes a summary without a model where
// they give none.

import type { Config } from '../config/schema.ts';
import type { SummaryAttempt } from '../protocol/receipt.ts';
import { countRedactions } from '../text/redact.ts';
import { carryOut, planFull, requestSizes } from './full/full.ts';
import type { FullRequest, FullResult, Summarise } from './full/request.ts';
import { limitFiles, prepareFile, restoreCandidates } from './full/restore.ts';
import type { RestorableFile } from './full/restore.ts';
import { modelFreeSummary, shadowedHistory } from './full/summary.ts';
import type { Job } from './job.ts';
import { compactLegacy } from './legacy/legacy.io.ts';
import { planRefused } from './refusals.ts';
import { compactRemotely } from './remote/remote.io.ts';
import { findRemoteObstacle, localNote } from './remote/obstacle.ts';
import type { RemoteObstacle } from './remote/obstacle.ts';
import type { CompactionWorld, Subject } from './subject.ts';
import type { AskingWorld } from './summarise/ask-model.io.ts';
import type { Summarizers, SummaryModel } from './summarise/summarizers.ts';
import { MODEL_SUMMARY_LIMIT } from './summarise/room.ts';
import { summariseWithModels } from './summarise/summarise.io.ts';
import { transcriptOf } from './summarise/transcript.ts';

/**
 * Has the history rewritten: by the provider itself, by the models of the ladder, or without a model, whichever comes first.
 * @param reserve tokens that what joins the history at last may take
 * @throws BatonError `usage` where the user named a strategy that hooks have made impossible; `interrupted`
 */
export async function rewrite(
  job: Job,
  summarizers: Summarizers | undefined,
  reserve: number,
): Promise<FullResult> {
  const { plan, subject, config, world } = job;
  const startedMs = world.clock.now();
  if (!config.features.compactV2) {
    const material = { trail: subject.trail, compactPrompt: config.compactPrompt, summarizers };
    return compactLegacy(job.fullRequest([], reserve), material, askingWorld(world, summarizers));
  }
  // What hooks ask of the summary was not known when the plan was made.
  const obstacle = plan.type === 'remote' ? remoteObstacle(subject, config, summarizers) : undefined;
  const request = noted(job.fullRequest(await readBack(job), reserve), forcedLocal(job, obstacle));
  const model = plan.type === 'remote' && obstacle === undefined ? providerModel(summarizers) : undefined;
  const remote =
    model === undefined
      ? NOTHING_WRITTEN
      : await compactRemotely(request, { model, trail: subject.trail }, askingWorld(world, summarizers));
  if (remote.result !== undefined) return remote.result;
  const spentMs = world.clock.now() - startedMs;
  const written =
    summarizers === undefined
      ? undefined
      : await writeWithModels(
          job,
          request,
          { ...summarizers, deadlineMs: Math.max(0, summarizers.deadlineMs - spentMs) },
          remote.attempts,
        );
  return written?.result ?? writeEmbedded(job, request, written);
}

/** The note on what keeps the provider from compacting after all. @throws BatonError `usage` where the user asked for it by name */
function forcedLocal({ occasion }: Job, obstacle: RemoteObstacle | undefined): readonly string[] {
  if (obstacle === undefined) return [];
  const { why } = obstacle;
  if (occasion.strategy === 'remote') {
    throw planRefused({ type: 'none', reason: 'remote_unavailable', why }, obstacle);
  }
  return [localNote(obstacle)];
}

function noted(request: FullRequest, notes: readonly string[]): FullRequest {
  return { ...request, notes: [...(request.notes ?? []), ...notes] };
}

const NOTHING_WRITTEN: Omit<WrittenSummary, 'why'> = { result: undefined, attempts: [] };

interface WrittenSummary {
  /** Undefined where no model gave a summary that fits. */
  readonly result: Extract<FullResult, { outcome: 'compacted' }> | undefined;
  readonly attempts: readonly SummaryAttempt[];
  /** Why there is no result. */
  readonly why: string;
}

function askingWorld(
  { clock, signal, emit }: CompactionWorld,
  { deadlineMs = 0 }: Partial<Summarizers> = {},
): AskingWorld {
  const report = (message: string): void => emit({ type: 'background_event', message });
  return { clock, signal, deadlineMs, report };
}

async function writeWithModels(
  { subject, world }: Job,
  request: FullRequest,
  { models, prompts, deadlineMs }: Summarizers,
  before: readonly SummaryAttempt[],
): Promise<WrittenSummary> {
  const plan = planFull({ ...request, summaryLimit: MODEL_SUMMARY_LIMIT });
  if (plan.outcome !== 'planned') return { result: undefined, attempts: before, why: 'none was asked' };
  const { items: preserved } = plan.preserved;
  const { summarise: digest } = modelFreeSummary(request, subject.trail);
  const sizeOf = requestSizes(plan);
  hashMeanwhile(request);
  const { summary, attempts: made } = await summariseWithModels(
    models,
    {
      transcript: transcriptOf(shadowedHistory(request, subject.trail), sizeOf),
      sizeOf,
      count: world.count,
      mostTokens: plan.summaryTokens,
      preserved,
      constraints: subject.trail.constraints,
      prompts,
      digest: (budget) => digest(budget, []).text,
      cacheKey: request.id,
    },
    askingWorld(world, { deadlineMs }),
  );
  const attempts = [...before, ...made];
  if (summary === undefined) {
    return { result: undefined, attempts, why: attempts.at(-1)?.why ?? 'none has room for a request' };
  }
  const { text, model, rung, notes } = summary;
  const draft = { text, redactions: countRedactions(text), notes };
  const result = carryOut(plan, () => draft, { implementation: 'full', rung, model, attempts });
  return {
    result: result.outcome === 'compacted' ? result : undefined,
    attempts,
    why: 'its summary did not fit',
  };
}

/** Gets the receipt's hash done while a model thinks, a piece at a time, so that the request is on its way first. */
function hashMeanwhile({ input }: FullRequest): void {
  if (input === undefined) return;
  const step = (): void => {
    if (input.step()) setImmediate(step);
  };
  setImmediate(step);
}

function writeEmbedded(
  { subject }: Job,
  request: FullRequest,
  tried: WrittenSummary | undefined,
): FullResult {
  const plan = planFull(request);
  if (plan.outcome !== 'planned') return plan;
  const { rung, summarise } = modelFreeSummary(request, subject.trail);
  if (tried === undefined)
    return carryOut(plan, summarise, { implementation: 'embedded', rung, attempts: [] });
  const { attempts, why } = tried;
  const author = { implementation: 'embedded', rung, attempts } as const;
  const note = `No model returned a summary (${why}); this one was written without a model.`;
  const withNote: Summarise = (budget, preserved) => {
    const { notes = [], ...draft } = summarise(budget, preserved);
    return { ...draft, notes: [note, ...notes] };
  };
  return carryOut(plan, withNote, author);
}

async function readBack({ subject, config, world }: Job): Promise<readonly RestorableFile[]> {
  const { files } = world;
  if (files === undefined) return [];
  const settings = {
    maxFiles: config.compact.restoreMaxFiles,
    tokensPerFile: config.compact.restoreTokensPerFile,
    totalFileBudget: config.compact.restoreTotalFileBudget,
    count: world.count,
    hash: world.hash,
  };
  const prepared: RestorableFile[] = [];
  for (const { path } of restoreCandidates(subject.trail.files)) {
    if (limitFiles(prepared, settings).length >= settings.maxFiles) break;
    const file = prepareFile(path, await files.read(path), settings);
    if (file !== undefined) prepared.push(file);
  }
  return limitFiles(prepared, settings);
}

/** What keeps the provider from compacting this history itself; undefined: nothing does. */
export function remoteObstacle(
  { holdsProviderState }: Pick<Subject, 'holdsProviderState'>,
  { compact }: Config,
  summarizers: Summarizers | undefined,
): RemoteObstacle | undefined {
  const model = providerModel(summarizers);
  return findRemoteObstacle({
    hasModel: model !== undefined,
    canCompact: model?.model.compactRemote !== undefined,
    canHoldState: holdsProviderState === true,
    hasInstructions: summarizers?.prompts.instructions !== undefined,
    hasOwnPrompt: summarizers?.prompts.hasSections === false,
    hasSummarizationModel:
      compact.summarizationModel !== undefined || compact.summarizationModelProviderId !== undefined,
  });
}

/** The model of the session, whose provider continues the history: the last one to be asked for a summary. */
function providerModel(summarizers: Summarizers | undefined): SummaryModel | undefined {
  return summarizers?.models.at(-1);
}
