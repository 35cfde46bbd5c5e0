// How commands open a model: the providers come from the configuration, the keys from the environment.

import type { Config } from '../config/schema.ts';
import { BatonError } from '../errors.ts';
import type { OpenedModel } from '../providers/open.ts';

/** What opening a model needs from the process. */
export interface ModelWorld {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Receives each warning, one sentence. */
  readonly warn: (warning: string) => void;
}

/**
 * Opens the model that `--model` names.
 * @param flag `PROVIDER/MODEL`, `PROVIDER`, `embedded`, or undefined if the option is absent
 * @returns undefined for the embedded summarizer, which loads no model code
 * @throws BatonError as `openNamedModel`
 */
export async function openModelFor(
  world: ModelWorld,
  config: Config,
  flag: string | undefined,
): Promise<OpenedModel | undefined> {
  return flag === undefined || flag === 'embedded' ? undefined : open(world, config, flag);
}

/**
 * Opens the model of a session: the one that `--model` names, else the one that the configuration and environment
 * imply.
 * @throws BatonError as `openMeantModel`; `usage` for the embedded summarizer, which only writes summaries
 */
export async function openSessionModel(
  world: ModelWorld,
  config: Config,
  flag: string | undefined,
): Promise<OpenedModel> {
  if (flag === 'embedded') {
    throw new BatonError('usage', '`embedded` only writes summaries.', {
      cure: 'Choose a model: --model PROVIDER/MODEL.',
    });
  }
  return open(world, config, flag);
}

async function open(world: ModelWorld, config: Config, flag: string | undefined): Promise<OpenedModel> {
  const [{ resolveModelProviders }, { listLocalModels }, { openMeantModel, openNamedModel }] =
    await Promise.all([
      import('../config/model-providers.ts'),
      import('../providers/choose.io.ts'),
      import('../providers/open.ts'),
    ]);
  const sources = {
    providers: resolveModelProviders(config.modelProviders),
    environment: world.env,
    listModels: listLocalModels,
    configured: config,
  };
  const opened = await (flag === undefined ? openMeantModel(sources) : openNamedModel(flag, sources));
  for (const warning of opened.warnings) world.warn(warning);
  return opened;
}
