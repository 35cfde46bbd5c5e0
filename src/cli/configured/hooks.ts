// The configured hooks, for the commands that compact.

import { resolve } from 'node:path';
import type { Config } from '../../config/schema.ts';
import type { HookWorld } from '../../hooks/hooks.io.ts';
import type { Hooks } from '../../ports.ts';
import type { CommandIo } from '../io.ts';

/**
 * @param workspace where hooks run when the session's own directory is not on this machine
 * @param report receives a message for each command as it runs
 */
export async function openHooks(
  io: CommandIo,
  config: Config,
  workspace: string | undefined,
  report?: HookWorld['report'],
): Promise<Hooks | undefined> {
  if (!Object.values(config.hooks).some((hooks) => hooks !== undefined && hooks.length > 0)) return undefined;
  const [{ createHooks }, { INSIDE_HOOK }, { resolveModelProviders }] = await Promise.all([
    import('../../hooks/hooks.io.ts'),
    import('../../hooks/environment.ts'),
    import('../../config/model-providers.ts'),
  ]);
  // A hook that runs Baton would otherwise recurse without end.
  if (io.env[INSIDE_HOOK] !== undefined) return undefined;
  return createHooks(config.hooks, {
    env: io.env,
    keyVariables: [...resolveModelProviders(config.modelProviders).values()].map(({ envKey }) => envKey),
    cwd: resolve(io.cwd, workspace ?? '.'),
    platform: process.platform,
    ...(report === undefined ? {} : { report }),
  });
}
