// `--model rehearsal/FILE`: a recorded session replaces the model, its tools and its user.

import { createHash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { batonHome } from '../../../config/load.io.ts';
import type { Config } from '../../../config/schema.ts';
import { BatonError } from '../../../errors.ts';
import { loadPrompt, promptPlace } from '../../../prompts/load.io.ts';
import type { LogRecord } from '../../../protocol/record.ts';
import { modelInfo } from '../../../providers/models.ts';
import type { OpenedModel } from '../../../providers/open.ts';
import { pauseFor, Rehearsal } from '../../../lab/rehearsal/rehearsal.io.ts';
import { REHEARSAL } from '../../../lab/rehearsal/script-position.ts';
import { BUNDLED_SESSION } from '../../bundled.ts';
import { locateSession } from '../../session-files/handles.io.ts';
import type { CommandIo } from '../../io.ts';
import type { Input } from '../../../calls/output.io.ts';
import { withSource } from '../../../calls/session-source.ts';
import { readSession, warnOfDamage } from '../../session-files/session.ts';
import { plural } from '../../style.ts';

/** The command line's settings for a rehearsal. */
export interface RehearsalWishes {
  /** The path as the user wrote it; undefined: the session that comes with Baton. */
  readonly file: string | undefined;
  /** 0: immediately; else how many times faster than recorded. */
  readonly speed: number;
}

/** A recording that is ready to play. */
export interface OpenedRehearsal {
  readonly rehearsal: Rehearsal;
  readonly model: OpenedModel;
  /** The recording. */
  readonly input: Input;
  /** The value of `--model` that names it. */
  readonly flag: string;
  /** Where its threads keep their notes, outside any work tree. Absolute. */
  readonly directory: string;
  /** Says what is played, and that it proves nothing about a model. */
  readonly banner: string;
}

/**
 * Reads a recording.
 * @throws BatonError as `loadSession` and `openSource`; `usage` for standard input, which could be played only once;
 * `output_failed` where notes cannot be written
 */
export async function openRehearsal(
  io: CommandIo,
  config: Config,
  { file, speed }: RehearsalWishes,
): Promise<OpenedRehearsal> {
  if (file === '-') {
    throw new BatonError('usage', 'A rehearsal is played from a file.', {
      cure: 'Save the session to a file, so that the rehearsal can be resumed.',
    });
  }
  const named = file === undefined ? undefined : fromHome(file, io.homeDirectory);
  const path = named === undefined ? BUNDLED_SESSION : resolve(io.cwd, await locateSession(io, named));
  const records: LogRecord[] = [];
  const { input, report } = await withSource(io, path, async (source) => ({
    input: source,
    report: await readSession(io, source, (record) => void records.push(record)),
  }));
  warnOfDamage(io, path, report);
  const { modelContextWindow: window } = config;
  const rehearsal = new Rehearsal(
    records,
    {
      estimate: config.compact,
      speed,
      summaryInstructions: (await loadPrompt(promptPlace(config, io), 'compact-system.md')).body,
      ...(window === undefined ? {} : { window }),
    },
    { hash: (text) => createHash('sha256').update(text).digest('hex'), pause: pauseFor },
  );
  const name = basename(path);
  const directory = join(batonHome(io), 'rehearsals');
  // Notes reveal what sessions are about, so only the user may read them.
  await mkdir(directory, { recursive: true, mode: 0o700 }).catch((cause: unknown) => {
    const { code = String(cause) } = cause as NodeJS.ErrnoException;
    throw new BatonError('output_failed', `${directory} cannot be created (${code})`, {
      cure: 'Check its permissions and the free space, or set BATON_HOME to a writable directory.',
      cause,
    });
  });
  const pace = speed === 0 ? 'at once' : speed === 1 ? 'as fast as recorded' : `${speed} times as fast`;
  return {
    rehearsal,
    input,
    model: {
      model: rehearsal.model,
      provider: REHEARSAL,
      name,
      info: modelInfo(name),
      window: rehearsal.modelWindow,
      warnings: [],
    },
    // What a handle resolves to may change.
    flag:
      file === undefined
        ? REHEARSAL
        : `${REHEARSAL}/${named !== undefined && resolve(io.cwd, named) === path ? file : path}`,
    directory,
    banner:
      `This is a rehearsal: ${name} (${report.format}, ${plural(rehearsal.turnCount, 'turn')}) is played ${pace}. ` +
      'It asks no model and executes nothing; compactions and handovers happen now.',
  };
}

function fromHome(path: string, homeDirectory: string): string {
  return path.startsWith('~/') ? join(homeDirectory, path.slice(2)) : path;
}
