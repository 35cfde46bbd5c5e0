// Finds the sessions of all supported agents on this machine.

import { readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { batonHome } from '../../config/load.io.ts';
import type { CommandIo } from '../io.ts';
import type { Agent } from './words.ts';

/** Display names of the agents. */
export const AGENT_NAMES: Readonly<Record<Agent, string>> = {
  baton: 'Baton',
  codex: 'Codex',
  claude: 'Claude Code',
  pi: 'pi',
  opencode: 'opencode',
  gemini: 'Gemini CLI',
  copilot: 'Copilot CLI',
};

/** A session file on this machine. */
export interface FoundSession {
  readonly agent: Agent;
  /** From the name of the file. Several files can have the same id. */
  readonly id: string;
  readonly path: string;
  readonly bytes: number;
  /** Milliseconds since the epoch. A file system can hold times outside the range of dates. */
  readonly modifiedMs: number;
}

/** The home directories of the agents, located by the agents' own rules. @source docs/decisions/commands.md, "Handles" */
export function agentHomes(io: CommandIo): Readonly<Record<Agent, string>> {
  const place = (name: string, ...otherwise: readonly string[]): string =>
    io.env[name] ?? join(io.homeDirectory, ...otherwise);
  return {
    baton: batonHome(io),
    codex: place('CODEX_HOME', '.codex'),
    claude: place('CLAUDE_CONFIG_DIR', '.claude'),
    pi: place('PI_CODING_AGENT_DIR', '.pi', 'agent'),
    opencode: join(place('XDG_DATA_HOME', '.local', 'share'), 'opencode'),
    gemini: join(place('GEMINI_CLI_HOME'), '.gemini'),
    copilot: place('COPILOT_HOME', '.copilot'),
  };
}

/** opencode's session database; undefined where it does not exist. @source opencode 1.2 and later */
export async function opencodeDatabase(io: CommandIo): Promise<string | undefined> {
  const path = join(agentHomes(io).opencode, 'opencode.db');
  return (await stat(path).catch(() => undefined)) === undefined ? undefined : path;
}

/** A directory where an agent keeps sessions. */
interface SessionPlace {
  readonly agent: Agent;
  readonly directory: string;
  /** How deep the files are: 1 for the directory itself. */
  readonly depth: number;
  /** Matches the path below the directory, with `/`; its group `id` is the session's. */
  readonly pattern: RegExp;
}

const ROLLOUT = /(?:^|\/)(?:rollout-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-)?(?<id>[^/]+)\.jsonl$/;

/** The directories that hold session files. */
export function sessionPlaces(io: CommandIo): readonly SessionPlace[] {
  const homes = agentHomes(io);
  return [
    { agent: 'baton', directory: join(homes.baton, 'sessions'), depth: 4, pattern: ROLLOUT },
    { agent: 'codex', directory: join(homes.codex, 'sessions'), depth: 4, pattern: ROLLOUT },
    { agent: 'codex', directory: join(homes.codex, 'archived_sessions'), depth: 4, pattern: ROLLOUT },
    {
      agent: 'claude',
      directory: join(homes.claude, 'projects'),
      depth: 2,
      // `agent-…` files record a subagent within a session.
      pattern: /(?:^|\/)(?!agent-)(?<id>[^/]+)\.jsonl$/,
    },
    {
      agent: 'pi',
      directory: join(homes.pi, 'sessions'),
      depth: 2,
      pattern: /(?:^|\/)(?:[^/]*_)?(?<id>[^/_]+)\.jsonl$/,
    },
    {
      agent: 'opencode',
      directory: join(homes.opencode, 'storage', 'session'),
      depth: 2,
      pattern: /(?:^|\/)(?<id>ses_[^/]+)\.json$/,
    },
    {
      agent: 'gemini',
      directory: join(homes.gemini, 'tmp'),
      depth: 3,
      pattern: /\/chats\/session-(?:\d{4}-\d\d-\d\dT\d\d-\d\d-)?(?<id>[^/]+)\.jsonl?$/,
    },
    {
      agent: 'copilot',
      directory: join(homes.copilot, 'session-state'),
      depth: 2,
      pattern: /^(?:(?<id>[^/]+)\/events|(?<flat>[^/]+))\.jsonl$/,
    },
  ];
}

/** Every session file, newest first. Missing or unreadable directories are skipped. */
export async function findSessions(io: CommandIo): Promise<readonly FoundSession[]> {
  const found = await Promise.all(
    sessionPlaces(io).map(async ({ agent, directory, depth, pattern }) => {
      const sessions: FoundSession[] = [];
      for (const path of await filesBelow(directory, depth)) {
        const groups = pattern.exec(path.slice(directory.length).replaceAll('\\', '/').slice(1))?.groups;
        const id = groups?.['id'] ?? groups?.['flat'];
        const stats = id === undefined ? undefined : await stat(path).catch(() => undefined);
        if (id === undefined || stats === undefined) continue;
        sessions.push({ agent, id, path, bytes: stats.size, modifiedMs: stats.mtimeMs });
      }
      return sessions;
    }),
  );
  return found.flat().toSorted((a, b) => b.modifiedMs - a.modifiedMs || (a.path < b.path ? -1 : 1));
}

async function filesBelow(directory: string, depth: number): Promise<readonly string[]> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
  const paths = await Promise.all(
    entries.map(async (entry) => {
      const path = join(directory, entry.name);
      if (entry.isDirectory()) return depth > 1 ? filesBelow(path, depth - 1) : [];
      return entry.isFile() ? [path] : [];
    }),
  );
  return paths.flat();
}

/** The file beside the sessions where Gemini CLI records a project's directory. */
export function projectRootFile({ agent, path }: FoundSession): string | undefined {
  return agent === 'gemini' ? join(dirname(dirname(path)), '.project_root') : undefined;
}
