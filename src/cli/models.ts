// How commands come by a model: the providers of the configuration, the keys of the environment.

import type { Config } from '../config/schema.ts';
import type { OpenedModel } from '../providers/open.ts';
import type { CommandIo } from './io.ts';

/**
 * The model that `--model` names, with its warnings on standard error.
 * @param flag `PROVIDER/MODEL`, `PROVIDER`, `embedded`, or undefined where the option is not given
 * @returns undefined for the embedded summarizer, for which nothing of a model is loaded
 * @throws BatonError as `openNamedModel`
 */
export async function openModelFor(
  io: CommandIo,
  config: Config,
  flag: string | undefined,
): Promise<OpenedModel | undefined> {
  if (flag === undefined || flag === 'embedded') return undefined;
  const [{ resolveModelProviders }, { listLocalModels }, { openNamedModel }] = await Promise.all([
    import('../config/model-providers.ts'),
    import('../providers/choose.ts'),
    import('../providers/open.ts'),
  ]);
  const opened = await openNamedModel(flag, {
    providers: resolveModelProviders(config.modelProviders),
    environment: io.env,
    listModels: listLocalModels,
    configured: config,
  });
  for (const warning of opened.warnings) io.stderr(`baton: warning: ${warning}\n`);
  return opened;
}
