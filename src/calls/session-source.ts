// Opens a session file for a command or a call, and derives from the configuration how to count it.

import { batonHome } from '../config/load.io.ts';
import type { ConfigWorld } from '../config/load.io.ts';
import type { Config } from '../config/schema.ts';
import { BatonError } from '../errors.ts';
import { openSource } from '../formats/source.io.ts';
import type { ByteSource } from '../formats/source.io.ts';
import type { AccountSettings } from '../history/context-account.ts';
import { openRolloutSource } from '../rollout/read.io.ts';
import type { CountText } from '../tokens/estimate.ts';
import { claudeLimit, codexLimit } from '../tokens/pressure.ts';
import type { ThresholdSettings } from '../tokens/pressure.ts';
import type { Format } from '../vocabulary.ts';

/** What opening a session needs from the process. */
export interface SourceWorld extends ConfigWorld {
  readonly stdin: AsyncIterable<Buffer>;
  readonly signal: AbortSignal;
}

/** Opens a session while `use` runs. @throws BatonError as `openSource` */
export async function withSource<T>(
  world: SourceWorld,
  path: string,
  use: (source: ByteSource) => Promise<T>,
): Promise<T> {
  const source = await openWhole(world, path);
  try {
    return await use(source);
  } finally {
    await source.close();
  }
}

/** One of Baton's own forks is read together with its parent, if that can be found; otherwise its reader reports it. */
async function openWhole(world: SourceWorld, path: string): Promise<ByteSource> {
  const source = await openSource(path, world.stdin, world.signal);
  if (path === '-') return source;
  const rollout = await openRolloutSource(batonHome(world), path).catch((error: unknown) => {
    if (error instanceof BatonError) return undefined;
    throw error;
  });
  if (rollout === undefined) return source;
  await source.close();
  return rollout;
}

/** How a configuration counts the account of a session. */
export function accountSettings(config: Config, count?: CountText): AccountSettings {
  return {
    estimate: {
      approxBytesPerToken: config.compact.approxBytesPerToken,
      tokensPerImage: config.compact.tokensPerImage,
    },
    safetyMultiplier: config.compact.tokenSafetyMultiplier,
    ...(count === undefined ? {} : { count }),
    ...(config.modelContextWindow === undefined ? {} : { window: config.modelContextWindow }),
  };
}

/** Where a configuration places the thresholds of the gauge. */
export function thresholdSettings(config: Config): ThresholdSettings {
  return { ...config.compact, modelLimit: config.modelAutoCompactTokenLimit };
}

const AGENT_LIMITS: Readonly<Partial<Record<Format, (rawWindow: number) => number>>> = {
  codex: codexLimit,
  'claude-code': claudeLimit,
};

/** Where the agent of a format compacts by itself, in tokens of a raw window; undefined if unknown. */
export function agentLimit(format: Format, rawWindow: number): number | undefined {
  return AGENT_LIMITS[format]?.(rawWindow);
}
