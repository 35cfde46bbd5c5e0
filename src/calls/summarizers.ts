// Which models may write a summary, and which prompts they receive.

import type { Summarizers, SummaryModel } from '../compaction/summarise/summarizers.ts';
import type { SummaryPrompts } from '../compaction/summarise/prompt.ts';
import type { ConfigWorld } from '../config/load.io.ts';
import type { Config } from '../config/schema.ts';
import { BatonError } from '../errors.ts';
import type { ModelUsage } from '../protocol/model.ts';
import type { OpenedModel } from '../providers/open.ts';
import { openModelFor } from './models.ts';
import type { ModelWorld } from './models.ts';

/** What they need from the process: the environment has the models' keys, the home directory has the prompts. */
export interface SummarizerWorld extends ModelWorld, ConfigWorld {}

/** The options that concern models. */
export interface SummarizerFlags {
  /** `PROVIDER/MODEL`, `PROVIDER` or `embedded`. */
  readonly model?: string;
  readonly instructions?: string;
}

/**
 * The models that a command asks for a summary: `compact.summarization_model` first, then the one of `--model`.
 * @returns undefined without `--model`: no transcript leaves the machine without consent
 * @throws BatonError as `openModelFor`; `usage` for instructions that no model would read
 */
export async function openSummarizers(
  world: SummarizerWorld,
  config: Config,
  flags: SummarizerFlags,
): Promise<Summarizers | undefined> {
  const session = await openModelFor(world, config, flags.model);
  if (session === undefined) {
    if (flags.instructions === undefined) return undefined;
    throw new BatonError('usage', '--instructions need a model, and the embedded summarizer is not a model', {
      cure: 'Name one with --model PROVIDER/MODEL, or omit --instructions.',
    });
  }
  return summarizersOf(world, config, session, flags.instructions);
}

/**
 * The models that write summaries when one model does the work: `compact.summarization_model` first, then that model.
 * @param instructions what the summary should emphasise
 */
export async function summarizersOf(
  world: SummarizerWorld,
  config: Config,
  session: OpenedModel,
  instructions?: string,
): Promise<Summarizers> {
  const own = await openSummarizationModel(world, config, session);
  const { costOf } = await import('../providers/models.ts');
  return {
    models: [...(own === undefined ? [] : [own]), session].map((opened) => toSummaryModel(opened, costOf)),
    prompts: await summaryPrompts(world, config, instructions),
    deadlineMs: config.rawrAutoCompaction.compactionDeadlineSeconds * 1000,
  };
}

/**
 * The models that write summaries for the watcher: its own first, all with its effort and verbosity.
 * @param summarizers of all other compactions
 * @returns undefined if the watcher has no settings of its own
 */
export async function watcherSummarizersOf(
  world: SummarizerWorld,
  config: Config,
  session: OpenedModel,
  summarizers: Summarizers,
): Promise<Summarizers | undefined> {
  const {
    compactionModel: name,
    compactionReasoningEffort: effort,
    compactionVerbosity: verbosity,
  } = config.rawrAutoCompaction;
  if (name === undefined && effort === undefined && verbosity === undefined) return undefined;
  const key = 'rawr_auto_compaction.compaction_model';
  const wanted = name === undefined || name.includes('/') ? name : `${session.provider}/${name}`;
  const own = wanted === undefined ? undefined : await openOr(world, config, { wanted, key });
  const { costOf } = await import('../providers/models.ts');
  const models = [...(own === undefined ? [] : [toSummaryModel(own, costOf)]), ...summarizers.models];
  return {
    ...summarizers,
    models: models.map((model) => ({
      ...model,
      ...(effort === undefined || effort === 'none' ? {} : { effort }),
      ...(verbosity === undefined ? {} : { verbosity }),
    })),
  };
}

async function openSummarizationModel(
  world: SummarizerWorld,
  config: Config,
  session: OpenedModel,
): Promise<OpenedModel | undefined> {
  const { summarizationModel: model, summarizationModelProviderId: wanted } = config.compact;
  if (model === undefined && wanted === undefined) return undefined;
  const provider = wanted ?? session.provider;
  const name = model === undefined ? provider : `${provider}/${model}`;
  return openOr(world, config, { wanted: name, key: 'compact.summarization_model' });
}

/** If the preferred model is unavailable, another model can still write the summary. */
async function openOr(
  world: SummarizerWorld,
  config: Config,
  { wanted, key }: { readonly wanted: string; readonly key: string },
): Promise<OpenedModel | undefined> {
  try {
    return await openModelFor(world, config, wanted);
  } catch (error) {
    if (!(error instanceof BatonError) || error.code === 'interrupted') throw error;
    world.warn(`${key} is ignored. ${error.message} ${error.cure}`);
    return undefined;
  }
}

async function summaryPrompts(
  world: SummarizerWorld,
  config: Config,
  instructions: string | undefined,
): Promise<SummaryPrompts> {
  const { loadPrompt, promptPlace } = await import('../prompts/load.io.ts');
  const place = promptPlace(config, world);
  const system = await loadPrompt(place, 'compact-system.md');
  const request = await loadPrompt(place, 'compact.md');
  for (const warning of [...system.warnings, ...request.warnings]) world.warn(warning);
  const own = config.compactPrompt?.trim() ?? '';
  return {
    system: system.body,
    request: own === '' ? request.body : own,
    hasSections: own === '' && request.state !== 'changed',
    ...(instructions === undefined ? {} : { instructions }),
  };
}

function toSummaryModel(
  { model, name, window, info }: OpenedModel,
  costOf: (model: string, usage: ModelUsage) => number | undefined,
): SummaryModel {
  return {
    model,
    name,
    window,
    ...(info.outputLimit === undefined ? {} : { outputLimit: info.outputLimit }),
    // If a request names no effort, OpenAI's models still think and Anthropic's do not.
    thinks: info.reasoning === 'effort',
    costOf: (usage) => costOf(name, usage),
  };
}
