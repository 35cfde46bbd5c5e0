// `baton completion SHELL`, and `baton complete`, which its script calls at each Tab.

import type { Command } from 'commander';
import { BatonError } from '../../../errors.ts';
import { AGENT_NAMES, findSessions } from '../../session-files/agents.io.ts';
import type { FoundSession } from '../../session-files/agents.io.ts';
import { completionOf } from './completion.ts';
import type { CompletionWord, Source } from './completion.ts';
import { COMPLETION_SCRIPTS } from './completion-scripts.ts';
import type { Shell } from './completion-scripts.ts';
import { glanceAt } from '../../session-files/digest.ts';
import { LAST } from '../../session-files/handles.io.ts';
import type { CommandIo } from '../../io.ts';
import { AGENTS } from '../../session-files/words.ts';
import { fitWidth, printable } from '../../style.ts';

/** How many sessions to offer, newest first: as many as a person can look through. */
const MOST_SESSIONS = 20;

/** Columns of a description. */
const DESCRIPTION_WIDTH = 60;

/** Prints the script for a shell. */
export function printCompletion(io: CommandIo, shell: Shell): void {
  io.stdout(COMPLETION_SCRIPTS[shell]);
}

/**
 * Prints candidates for the last word: one per line, with a tab before its description; a line that begins with a tab names a
 * kind that the shell itself can list.
 */
export async function printCandidates(
  io: CommandIo,
  program: Command,
  words: readonly string[],
): Promise<void> {
  const { candidates, sources } = completionOf(program, words);
  const sessions = sources.some((source) => source in SESSION_SOURCES)
    ? await sessionCandidates(io, words.at(-1) ?? '', sources.includes('own_sessions'))
    : [];
  for (const { value, description } of [...candidates, ...sessions]) {
    io.stdout(`${printable(value)}\t${fitWidth(io.look, printable(description), DESCRIPTION_WIDTH)}\n`);
  }
  for (const source of sources) if (!(source in SESSION_SOURCES)) io.stdout(`\t${source}\n`);
}

/** A word that no shell reads as anything else: an id is what a file of a stranger says it is. */
const PLAIN = /^\w[\w.:-]*$/;

const SESSION_SOURCES: Partial<Record<Source, true>> = { sessions: true, own_sessions: true };

async function sessionCandidates(
  io: CommandIo,
  prefix: string,
  isOwn: boolean,
): Promise<readonly CompletionWord[]> {
  const found = (await findSessions(io)).filter(
    ({ agent, bytes }) => bytes > 0 && (isOwn ? agent === 'baton' : agent !== 'opencode'),
  );
  const [newest] = found;
  if (newest === undefined) return [];
  const words: CompletionWord[] = [{ value: LAST, description: `the newest: ${await titleOf(io, newest)}` }];
  for (const agent of isOwn ? [] : AGENTS) {
    const own = found.find((session) => session.agent === agent);
    if (own !== undefined && `${LAST}:${agent}`.startsWith(prefix)) {
      words.push({ value: `${LAST}:${agent}`, description: await titleOf(io, own) });
    }
  }
  const ids: CompletionWord[] = [];
  const offered = found.filter(({ id }) => id.startsWith(prefix) && PLAIN.test(id));
  for (const session of offered.slice(0, MOST_SESSIONS)) {
    const description = `${AGENT_NAMES[session.agent]}: ${await titleOf(io, session)}`;
    ids.push({ value: session.id, description });
  }
  return [...words.filter(({ value }) => value.startsWith(prefix)), ...ids];
}

async function titleOf(io: CommandIo, session: FoundSession): Promise<string> {
  const { title, problem } = await glanceAt(io, session).catch((error: unknown) => {
    if (error instanceof BatonError) return { title: undefined, problem: error.message };
    throw error;
  });
  return title ?? problem ?? '-';
}
