// Where the agents look for their sessions, and how a session is resumed there.

import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { BatonError } from '../errors.ts';
import type { AgentFormat } from '../vocabulary.ts';
import { agentHomes } from './agents.ts';
import type { CommandIo } from './io.ts';

/** The path under which an agent finds a session. @source docs/real-tools.md. */
function installPlace(
  io: CommandIo,
  format: AgentFormat,
  cwd: string | undefined,
  sessionId: string,
): string {
  const homes = agentHomes(io);
  if (format === 'claude-code') {
    return join(homes.claude, 'projects', projectSlug(cwd ?? io.cwd), `${sessionId}.jsonl`);
  }
  const at = io.now().toISOString();
  const [year = '', month = '', day = ''] = at.slice(0, 10).split('-');
  const stamp = at.slice(0, 19).replaceAll(':', '-');
  return join(homes.codex, 'sessions', year, month, day, `rollout-${stamp}-${sessionId}.jsonl`);
}

/**
 * Makes the folder for an installed session.
 * @returns the path for it
 */
export async function prepareInstall(
  io: CommandIo,
  format: AgentFormat,
  cwd: string | undefined,
  sessionId: string,
): Promise<string> {
  const place = installPlace(io, format, cwd, sessionId);
  await mkdir(dirname(place), { recursive: true, mode: 0o700 }).catch((cause: unknown) => {
    throw new BatonError('output_failed', `${dirname(place)} cannot be made`, {
      cure: "Check the permissions of the agent's home directory.",
      cause,
    });
  });
  return place;
}

/** Claude Code names the folder of a project by its path, with everything but letters and digits as dashes. */
function projectSlug(cwd: string): string {
  return cwd.replaceAll(/[^a-zA-Z0-9]/g, '-');
}

/** The command that goes on with an installed session. */
export function resumeCommand(format: AgentFormat, sessionId: string, cwd: string | undefined): string {
  const go = cwd === undefined ? '' : `cd ${shellQuote(cwd)} && `;
  return format === 'codex' ? `codex resume ${sessionId}` : `${go}claude --resume ${sessionId}`;
}

/** A word of a shell command. */
export function shellQuote(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
