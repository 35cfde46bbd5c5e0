// `baton sessions`: what there is on this machine, newest first, with the gauge of each.

import type { Config } from '../config/schema.ts';
import { BatonError } from '../errors.ts';
import { AccountFold } from '../history/account.ts';
import { AGENTS, findSessions, sessionDirectories } from './agents.ts';
import type { Agent, FoundSession } from './agents.ts';
import type { CommandIo } from './io.ts';
import { accountSettings, readSession, withSource } from './session.ts';
import { fitWidth, formatBytes, padEnd, padStart, paint, plural, printable, tildePath } from './style.ts';

export interface SessionsOptions {
  readonly json: boolean;
  readonly limit: number;
  readonly agent?: Agent;
}

interface ListedSession extends FoundSession {
  /** Percent of the usable window left, as `baton inspect` has it; undefined where the file cannot be read. */
  readonly percentRemaining: number | undefined;
  readonly used: number | undefined;
  readonly cwd: string | undefined;
  readonly model: string | undefined;
}

/** Lists the sessions of Baton, Codex and Claude Code. */
export async function listSessions(
  io: CommandIo,
  config: Config,
  { json, limit, agent }: SessionsOptions,
): Promise<void> {
  const all = (await findSessions(io)).filter((session) => agent === undefined || session.agent === agent);
  const listed: ListedSession[] = [];
  for (const session of all.slice(0, limit)) listed.push(await readGauge(io, config, session));
  if (json) {
    io.stdout(`${JSON.stringify({ total: all.length, sessions: listed.map(sessionJson) }, null, 2)}\n`);
    return;
  }
  if (all.length === 0) {
    const places = sessionDirectories(io).map(({ directory }) => tildePath(directory, io.homeDirectory));
    io.stdout(`No sessions found in ${places.join(', ')}.\n`);
    return;
  }
  for (const session of listed) io.stdout(renderSession(session, io));
  if (all.length > listed.length) {
    io.stdout(`${plural(all.length - listed.length, 'older session')}; --limit shows more.\n`);
  }
}

/** The whole file is read: its end alone knows neither the window nor what is in every request. */
async function readGauge(io: CommandIo, config: Config, session: FoundSession): Promise<ListedSession> {
  try {
    const fold = new AccountFold(accountSettings(config));
    await withSource(io, session.path, (source) => readSession(io, source, (record) => fold.add(record)));
    const { usage, percentRemaining, cwd, model } = fold.account();
    return { ...session, percentRemaining, used: usage.used, cwd, model };
  } catch (error) {
    if (!(error instanceof BatonError) || error.code === 'interrupted') throw error;
    return { ...session, percentRemaining: undefined, used: undefined, cwd: undefined, model: undefined };
  }
}

function renderSession(session: ListedSession, io: CommandIo): string {
  const { look, homeDirectory } = io;
  const gauge = session.percentRemaining === undefined ? '-' : `${session.percentRemaining} % left`;
  const facts = [
    padEnd(new Date(session.modifiedMs).toISOString().slice(0, 16).replace('T', ' '), 16),
    padEnd(session.agent, Math.max(...AGENTS.map((agent) => agent.length))),
    padStart(gauge, 11),
    padStart(formatBytes(session.bytes), 9),
    session.cwd === undefined ? '' : tildePath(printable(session.cwd), homeDirectory),
  ].join('  ');
  const path = printable(tildePath(session.path, homeDirectory));
  return `${fitWidth(look, facts, look.width)}\n  ${paint(look, 'faint', path)}\n`;
}

function sessionJson(session: ListedSession) {
  return {
    agent: session.agent,
    path: session.path,
    bytes: session.bytes,
    modified_at: new Date(session.modifiedMs).toISOString(),
    used: session.used ?? null,
    percent_remaining: session.percentRemaining ?? null,
    cwd: session.cwd ?? null,
    model: session.model ?? null,
  };
}
