// Resolves session arguments of a command line: a path, `last`, or the beginning of an id.

import { lstat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { BatonError } from '../../errors.ts';
import { isThreadId } from '../../rollout/paths.ts';
import { AGENT_NAMES, findSessions } from './agents.io.ts';
import type { FoundSession } from './agents.io.ts';
import { glanceAt } from './digest.ts';
import type { CommandIo } from '../io.ts';
import { AGENTS } from './words.ts';
import type { Agent } from './words.ts';
import { columns, fitWidth, plural, printable, tildePath } from '../style.ts';

/** Names the newest session; `last:codex` names that of an agent. */
export const LAST = 'last';

/** How many sessions an error lists for an ambiguous handle. */
const MOST_CANDIDATES = 6;

/** Columns of a title in an error: at most, and at least on a narrow terminal. */
const WIDEST_TITLE = 48;
const NARROWEST_TITLE = 16;

/**
 * Resolves an argument to a path. `-` and paths stay unchanged, and an existing file takes precedence over a handle. Prints the
 * resolved handle on standard error.
 * @throws BatonError `file_not_found`, `handle_ambiguous`, `usage`; `format_unknown` for a session that is spread over many files
 */
export async function locateSession(io: CommandIo, handle: string): Promise<string> {
  if (await isPath(io, handle)) return handle;
  const { path, agent } = await meantSession(io, handle);
  io.stderr(`${handle} is ${printable(tildePath(path, io.homeDirectory))} (${AGENT_NAMES[agent]}).\n`);
  return path;
}

/**
 * `locateSession` for each argument. With several arguments, an unresolvable one stays unchanged: the command reports it and
 * continues with the others.
 * @throws BatonError as `locateSession`
 */
export async function locateSessions(io: CommandIo, handles: readonly string[]): Promise<string[]> {
  const paths: string[] = [];
  for (const handle of handles) {
    const path = locateSession(io, handle).catch((error: unknown) => {
      if (handles.length > 1 && error instanceof BatonError && error.code === 'file_not_found') return handle;
      throw error;
    });
    paths.push(await path);
  }
  return paths;
}

/**
 * Resolves one of Baton's own sessions: `last` and complete ids stay unchanged until the session is opened.
 * @throws BatonError as `locateSession`; `usage` for the newest session of another agent
 */
export async function locateOwnSession(io: CommandIo, handle: string): Promise<string> {
  if (handle === LAST || isThreadId(handle) || (await isPath(io, handle))) return handle;
  if (handle === `${LAST}:baton`) return LAST;
  if (handle.startsWith(`${LAST}:`)) {
    throw new BatonError('usage', `Baton resumes only its own sessions, and ${handle} is not one`, {
      cure: 'Resume it with the agent that recorded it.',
    });
  }
  return (await meantSession(io, handle, 'baton')).path;
}

/** A name with a separator or a session file's extension is a path, whether or not it exists. */
async function isPath(io: CommandIo, text: string): Promise<boolean> {
  if (text === '' || text === '-' || /[/\\]|\.(?:jsonl?|traj)$/.test(text)) return true;
  return lstat(resolve(io.cwd, text)).then(
    () => true,
    // Any other error of the lookup concerns a path.
    ({ code }: NodeJS.ErrnoException) => code !== 'ENOENT',
  );
}

async function meantSession(io: CommandIo, handle: string, whose?: Agent): Promise<FoundSession> {
  const [word, name] = handle.split(':', 2);
  const isLast = word === LAST;
  const agent = isLast && name !== undefined ? agentOf(name) : whose;
  // An empty file is a session that never began.
  const sessions = (await findSessions(io)).filter(
    (session) => session.bytes > 0 && (agent === undefined || session.agent === agent),
  );
  const found = isLast ? sessions.slice(0, 1) : startingWith(sessions, handle);
  const [only, ...others] = found;
  if (only === undefined) throw nothingFound(handle, agent);
  if (others.length > 0) throw await ambiguous(io, handle, found);
  if (only.agent === 'opencode') {
    throw new BatonError('format_unknown', `opencode keeps the session ${only.id} in many files`, {
      cure: `Export it to one file, then name that file: \`opencode export ${only.id} > session.json\`.`,
    });
  }
  return only;
}

function agentOf(name: string): Agent {
  const agent = AGENTS.find((each) => each === name);
  if (agent !== undefined) return agent;
  throw new BatonError('usage', `Baton does not know an agent '${name}'`, {
    cure: `Write ${LAST}:AGENT with one of ${AGENTS.join(', ')}.`,
  });
}

/** Sessions whose ids begin with a prefix; a complete id matches only itself. */
function startingWith(sessions: readonly FoundSession[], prefix: string): readonly FoundSession[] {
  const wanted = prefix.toLowerCase();
  const whole = sessions.filter(({ id }) => id.toLowerCase() === wanted);
  if (whole.length > 0) return whole;
  // File names of Gemini CLI contain the first eight characters of the id.
  return sessions.filter(
    ({ agent, id }) =>
      id.toLowerCase().startsWith(wanted) || (agent === 'gemini' && id.length === 8 && wanted.startsWith(id)),
  );
}

function nothingFound(handle: string, agent: Agent | undefined): BatonError {
  const whose = agent === undefined ? '' : ` of ${AGENT_NAMES[agent]}`;
  const what = handle.startsWith(LAST)
    ? `This machine has no session${whose}`
    : `${handle} is neither a file nor the beginning of the id of a session${whose}`;
  return new BatonError('file_not_found', what, {
    cure: `\`baton sessions\` lists the sessions of this machine; \`${LAST}\` means the newest.`,
  });
}

async function ambiguous(io: CommandIo, handle: string, found: readonly FoundSession[]): Promise<BatonError> {
  const candidates = [];
  for (const session of found.slice(0, MOST_CANDIDATES)) {
    candidates.push({ ...session, title: (await glanceAt(io, session)).title });
  }
  const isOneId = new Set(found.map(({ id }) => id)).size === 1;
  const lines = candidates.map(({ agent, id, path, title }) => {
    const name = isOneId ? tildePath(path, io.homeDirectory) : id;
    const row = `\n  ${printable(name)}  ${AGENT_NAMES[agent]}  `;
    const { isPiped, width } = io.look;
    const room = isPiped === true ? WIDEST_TITLE : Math.max(NARROWEST_TITLE, width - columns(row));
    return `${row}${fitWidth(io.look, printable(title ?? '-'), Math.min(WIDEST_TITLE, room))}`;
  });
  const more = found.length - candidates.length;
  const rest = more === 0 ? '' : `\n  and ${plural(more, 'more session')}`;
  return new BatonError(
    'handle_ambiguous',
    `${handle} means ${plural(found.length, 'session')}:${lines.join('')}${rest}\n`,
    {
      cure: isOneId ? 'Name one of these files.' : 'Type more of the id.',
      data: {
        candidates: candidates.map(({ agent, id, path, title }) => ({
          agent,
          id,
          path,
          title: title ?? null,
        })),
      },
    },
  );
}
