// Places sessions where agents look for them, and builds the commands that resume them.

import { mkdir } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { BatonError } from '../../errors.ts';
import type { AgentFormat } from '../../vocabulary.ts';
import { agentHomes } from './agents.io.ts';
import type { CommandIo } from '../io.ts';

/** The path where an agent finds a session. @source docs/real-tools.md. */
function installPlace(
  io: CommandIo,
  format: AgentFormat,
  cwd: string | undefined,
  sessionId: string,
): string {
  const homes = agentHomes(io);
  if (format === 'claude-code') {
    return join(homes.claude, 'projects', projectSlug(directoryHere(cwd) ?? io.cwd), `${sessionId}.jsonl`);
  }
  const at = io.now().toISOString();
  const [year = '', month = '', day = ''] = at.slice(0, 10).split('-');
  const stamp = at.slice(0, 19).replaceAll(':', '-');
  return join(homes.codex, 'sessions', year, month, day, `rollout-${stamp}-${sessionId}.jsonl`);
}

/**
 * Creates the folder for an installed session.
 * @returns the path of the session
 */
export async function prepareInstall(
  io: CommandIo,
  format: AgentFormat,
  cwd: string | undefined,
  sessionId: string,
): Promise<string> {
  const place = installPlace(io, format, cwd, sessionId);
  await mkdir(dirname(place), { recursive: true, mode: 0o700 }).catch((cause: unknown) => {
    throw new BatonError('output_failed', `${dirname(place)} cannot be created`, {
      cure: "Check the permissions of the agent's home directory.",
      cause,
    });
  });
  return place;
}

/** Claude Code names the folder of a project after its path, with dashes for everything but letters and digits. */
function projectSlug(cwd: string): string {
  return cwd.replaceAll(/[^a-zA-Z0-9]/g, '-');
}

/** Windows directories exist only there: elsewhere a session resumes in Baton's working directory. */
function directoryHere(cwd: string | undefined): string | undefined {
  const isOfWindows = cwd !== undefined && /^(?:[A-Za-z]:[\\/]|\\\\)/.test(cwd);
  return isOfWindows && sep === '/' ? undefined : cwd;
}

/**
 * Prints how to resume an installed session: only the command on standard output, for a shell or a reader.
 * @param json standard output holds a document instead
 */
export function printResume(io: CommandIo, command: string, { json }: { readonly json?: true }): void {
  if (json === true) return io.stderr(`Resume it with: ${command}\n`);
  io.stderr('Resume it with:\n');
  io.stdout(`${command}\n`);
}

/** The command that resumes an installed session. */
export function resumeCommand(format: AgentFormat, sessionId: string, cwd: string | undefined): string {
  const directory = directoryHere(cwd);
  const go = directory === undefined ? '' : `cd ${shellQuote(directory)} && `;
  return format === 'codex' ? `codex resume ${sessionId}` : `${go}claude --resume ${sessionId}`;
}

/** A word of a shell command. */
export function shellQuote(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
