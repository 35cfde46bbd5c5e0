// Reads one session for a command: source, progress, account.

import { batonHome } from '../../config/load.io.ts';
import type { Config } from '../../config/schema.ts';
import { BatonError } from '../../errors.ts';
import type { AccountSettings } from '../../history/context-account.ts';
import { loadSession } from '../../formats/session-file.io.ts';
import type { LoadReport } from '../../formats/session-file.io.ts';
import type { Emit } from '../../formats/reader.ts';
import { openSource } from '../../formats/source.io.ts';
import type { ByteSource } from '../../formats/source.io.ts';
import { openRolloutSource } from '../../rollout/read.io.ts';
import type { CountText } from '../../tokens/estimate.ts';
import { claudeLimit, codexLimit } from '../../tokens/pressure.ts';
import type { ThresholdSettings } from '../../tokens/pressure.ts';
import type { Format } from '../../vocabulary.ts';
import type { CommandIo } from '../io.ts';
import { withProgress } from '../progress.ts';
import { formatNumber, plural, printable } from '../style.ts';

/** Opens a session for as long as `use` runs. */
export async function withSource<T>(
  io: CommandIo,
  path: string,
  use: (source: ByteSource) => Promise<T>,
): Promise<T> {
  const source = await openWhole(io, path);
  try {
    return await use(source);
  } finally {
    await source.close();
  }
}

/** A fork of Baton's own is read with what it continues, where that can be found; its reader tells where not. */
async function openWhole(io: CommandIo, path: string): Promise<ByteSource> {
  const source = await openSource(path, io.stdin, io.signal);
  if (path === '-') return source;
  const rollout = await openRolloutSource(batonHome(io), path).catch((error: unknown) => {
    if (error instanceof BatonError) return undefined;
    throw error;
  });
  if (rollout === undefined) return source;
  await source.close();
  return rollout;
}

/** Reads all records, with progress on standard error. */
export async function readSession(io: CommandIo, source: ByteSource, emit: Emit): Promise<LoadReport> {
  return withProgress(io, `Reading ${source.name}`, source.size, (onProgress) =>
    loadSession(source, emit, { signal: io.signal, onProgress }),
  );
}

/** What a report tells of what is missing. */
type Missing = Pick<LoadReport, 'damage' | 'hasGrown'>;

/** Says on standard error what could not be read of a session, for commands whose results rest on it. */
export function warnOfDamage(io: CommandIo, path: string, { damage, hasGrown }: Missing): void {
  const name = path === '-' ? 'standard input' : printable(path);
  const lost = new Set(damage.filter((note) => note.lost).map(({ line }) => line));
  const [first] = lost;
  const notes = [
    ...(first === undefined
      ? []
      : [
          `${plural(lost.size, 'damaged line')} left out, the first is line ${formatNumber(first)}; \`baton inspect\` says more.`,
        ]),
    ...(hasGrown ? ['the file grew while it was read, and what was appended is not included.'] : []),
  ];
  for (const note of notes) io.stderr(`baton: warning: ${name}: ${note}\n`);
}

/** How the account of a session counts under a configuration. */
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

/** Where the agent of a format compacts by itself, in tokens of a raw window; undefined where that is not known. */
export function agentLimit(format: Format, rawWindow: number): number | undefined {
  return AGENT_LIMITS[format]?.(rawWindow);
}
