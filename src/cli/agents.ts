// Where the agents of the field keep their sessions on this machine.

import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { batonHome } from '../config/load.ts';
import type { CommandIo } from './io.ts';

/** Agents whose sessions Baton finds. */
export const AGENTS = ['baton', 'codex', 'claude'] as const;
export type Agent = (typeof AGENTS)[number];

/** A session file on this machine. */
export interface FoundSession {
  readonly agent: Agent;
  readonly path: string;
  readonly bytes: number;
  /** Milliseconds since the epoch. */
  readonly modifiedMs: number;
}

/** The home directories of the agents, as the agents themselves find them. */
export function agentHomes(io: CommandIo): Readonly<Record<Agent, string>> {
  return {
    baton: batonHome(io),
    codex: io.env['CODEX_HOME'] ?? join(io.homeDirectory, '.codex'),
    claude: io.env['CLAUDE_CONFIG_DIR'] ?? join(io.homeDirectory, '.claude'),
  };
}

/** The directories that hold session files. */
export function sessionDirectories(io: CommandIo): readonly { agent: Agent; directory: string }[] {
  const homes = agentHomes(io);
  return [
    { agent: 'baton', directory: join(homes.baton, 'sessions') },
    { agent: 'codex', directory: join(homes.codex, 'sessions') },
    { agent: 'codex', directory: join(homes.codex, 'archived_sessions') },
    { agent: 'claude', directory: join(homes.claude, 'projects') },
  ];
}

/** How deep session files lie: Codex and Baton sort by year, month and day. */
const DEEPEST = 4;

/** Every session file found, newest first. Directories that do not exist or cannot be read hold none. */
export async function findSessions(io: CommandIo): Promise<readonly FoundSession[]> {
  const found = await Promise.all(
    sessionDirectories(io).map(async ({ agent, directory }) =>
      (await filesBelow(directory, DEEPEST)).map((file) => ({ agent, ...file })),
    ),
  );
  return found.flat().toSorted((a, b) => b.modifiedMs - a.modifiedMs || (a.path < b.path ? -1 : 1));
}

async function filesBelow(directory: string, depth: number): Promise<readonly Omit<FoundSession, 'agent'>[]> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
  const files = await Promise.all(
    entries.map(async (entry) => {
      const path = join(directory, entry.name);
      if (entry.isDirectory()) return depth > 1 ? filesBelow(path, depth - 1) : [];
      if (!entry.isFile() || !entry.name.endsWith('.jsonl')) return [];
      const stats = await stat(path).catch(() => undefined);
      return stats === undefined ? [] : [{ path, bytes: stats.size, modifiedMs: stats.mtimeMs }];
    }),
  );
  return files.flat();
}
