// `baton sessions`: the sessions on this machine, each with its subject, fill level and cost.

import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Config } from '../../../config/schema.ts';
import { BatonError } from '../../../errors.ts';
import { findSessions, opencodeDatabase, sessionPlaces } from '../../session-files/agents.io.ts';
import type { FoundSession } from '../../session-files/agents.io.ts';
import { digestSession, glanceAt } from '../../session-files/digest.ts';
import type { SessionDigest } from '../../session-files/digest.ts';
import type { CommandIo, Look } from '../../io.ts';
import { drawProgress, eraseProgress } from '../../progress.ts';
import { AGENTS, SESSION_ORDERS } from '../../session-files/words.ts';
import type { Agent, SessionOrder } from '../../session-files/words.ts';
import {
  columns,
  fitPath,
  fitWidth,
  foldLines,
  formatBytes,
  formatNumber,
  padEnd,
  padStart,
  paint,
  plural,
  printable,
  tildePath,
} from '../../style.ts';

/** The options of the command. */
export interface SessionsOptions {
  readonly json: boolean;
  readonly limit: number;
  readonly agent?: Agent;
  /** Only sessions of the working directory and its subdirectories. */
  readonly here?: true;
  /** Only sessions written since then, in milliseconds since the epoch. */
  readonly since?: number;
  readonly sort: SessionOrder;
}

interface ListedSession extends FoundSession, SessionDigest {}

/**
 * Bytes of the listed files to read in full, newest first; of the other files, only the beginning and the end.
 * @source docs/decisions/commands.md, "What `sessions` reads": about a second
 */
const WHOLE_BYTES = 64 * 1024 * 1024;

/** Lists sessions, including unreadable files with the reason. @throws BatonError `interrupted` */
export async function listSessions(io: CommandIo, config: Config, options: SessionsOptions): Promise<void> {
  const { json, limit, agent, since, sort } = options;
  const found = (await findSessions(io)).filter(
    (session) =>
      (agent === undefined || session.agent === agent) &&
      (since === undefined || session.modifiedMs >= since),
  );
  const wanted = options.here === true ? await sessionsHere(io, found) : found;
  const listed = await digestInOrder(io, config, wanted, { sort, limit });
  if (agent === undefined || agent === 'opencode') await reportDatabase(io);
  if (json) {
    io.stdout(`${JSON.stringify({ total: wanted.length, sessions: listed.map(sessionJson) }, null, 2)}\n`);
  } else if (wanted.length === 0) io.stdout(foldLines(io.look, nothingFound(io, options)));
  else {
    for (const session of listed) io.stdout(renderSession(session, sort, io));
    const hidden = wanted.length - listed.length;
    if (hidden > 0) io.stdout(`${plural(hidden, 'more session')}; -n ${wanted.length} lists all.\n`);
    if (sort === 'cost') {
      const { PRICES_AS_OF } = await import('../../../tokens/prices.ts');
      io.stdout(foldLines(io.look, `Cost at list prices of ${PRICES_AS_OF}; + where a part has no price.\n`));
    }
  }
}

/** Reading the database would need a SQLite reader, which Node 20 lacks. */
async function reportDatabase(io: CommandIo): Promise<void> {
  const path = await opencodeDatabase(io);
  if (path === undefined) return;
  io.stderr(
    `opencode keeps its sessions in ${printable(tildePath(path, io.homeDirectory))}, which this list omits. \`opencode session list\` shows them, ` +
      'and `opencode export ID > session.json` writes one that Baton can read.\n',
  );
}

async function sessionsHere(io: CommandIo, found: readonly FoundSession[]): Promise<readonly FoundSession[]> {
  const here = await realPath(io.cwd);
  const kept = await eachWithProgress(io, found, async (session) => {
    const { cwd } = await glanceAt(io, session);
    if (cwd === undefined) return undefined;
    const there = await realPath(cwd);
    return there === here || there.startsWith(here.endsWith('/') ? here : `${here}/`) ? session : undefined;
  });
  return kept.filter((session) => session !== undefined);
}

async function realPath(path: string): Promise<string> {
  return realpath(path).catch(() => resolve(path));
}

async function digestInOrder(
  io: CommandIo,
  config: Config,
  sessions: readonly FoundSession[],
  { sort, limit }: Pick<SessionsOptions, 'sort' | 'limit'>,
): Promise<readonly ListedSession[]> {
  if (sort === 'tokens' || sort === 'cost') {
    // The cost of a session is spread over all its lines.
    const all = await eachWithProgress(io, sessions, async (session) => ({
      ...session,
      ...(await digestSession(io, config, session, 'whole')),
    }));
    const amount = sort === 'cost' ? 'dollars' : 'tokens';
    return all.toSorted((a, b) => (b[amount] ?? -1) - (a[amount] ?? -1)).slice(0, limit);
  }
  const ordered = sort === 'size' ? sessions.toSorted((a, b) => b.bytes - a.bytes) : sessions;
  let left = WHOLE_BYTES;
  return eachWithProgress(io, ordered.slice(0, limit), async (session) => {
    left -= session.bytes;
    return { ...session, ...(await digestSession(io, config, session, left >= 0 ? 'whole' : 'ends')) };
  });
}

/** With fewer files, reading ends before a progress line could be read. */
const LEAST_PROGRESS = 50;

/** @throws BatonError `interrupted` */
async function eachWithProgress<Result>(
  io: CommandIo,
  sessions: readonly FoundSession[],
  work: (session: FoundSession) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  try {
    for (const [index, session] of sessions.entries()) {
      if (io.signal.aborted) throw new BatonError('interrupted', 'Interrupted');
      if (sessions.length >= LEAST_PROGRESS || session.bytes >= WHOLE_BYTES) {
        drawProgress(io, 'Reading sessions', ` ${index + 1} of ${sessions.length}`);
      }
      results.push(await work(session));
    }
  } finally {
    eraseProgress(io);
  }
  return results;
}

function nothingFound(io: CommandIo, { agent, here, since }: SessionsOptions): string {
  if (here === true || since !== undefined) {
    return 'No session matches; omit --here and --since to list all.\n';
  }
  const places = sessionPlaces(io)
    .filter((place) => agent === undefined || place.agent === agent)
    .map(({ directory }) => tildePath(directory, io.homeDirectory));
  return `No sessions found in ${places.join(', ')}.\n`;
}

const AGENT_WIDTH = Math.max(...AGENTS.map((agent) => agent.length));
const MEASURE_WIDTH = 11;

/** Below this width the title gets a separate line. */
const LEAST_ONE_LINE = 64;

/** Below this width nothing that distinguishes directories would remain of one. */
const LEAST_PLACE = 16;

function renderSession(
  session: ListedSession,
  sort: SessionOrder,
  { look, homeDirectory }: CommandIo,
): string {
  const head = [
    padEnd(formatTime(session.modifiedMs), 16),
    padEnd(session.agent, AGENT_WIDTH),
    padStart(MEASURES[sort](session) ?? '-', MEASURE_WIDTH),
  ].join('  ');
  const title = printable(session.problem ?? session.title ?? '-');
  const place = session.cwd === undefined ? undefined : printable(tildePath(session.cwd, homeDirectory));
  const facts = [
    session.id,
    session.isCopy === true ? 'copy by Baton' : undefined,
    compactionsOf(session),
    ...SESSION_ORDERS.filter((order) => order !== sort && order !== 'time').map((order) =>
      MEASURES[order](session),
    ),
    place,
    session.model,
  ].flatMap((fact) => (fact === undefined ? [] : [printable(fact)]));
  const isOneLine = look.isPiped === true || look.width >= LEAST_ONE_LINE;
  const rows = isOneLine ? [`${head}  ${title}`] : [head, `  ${title}`];
  const shown = look.isPiped === true ? rows : rows.map((row) => fitWidth(look, row, look.width));
  return [...shown, paint(look, 'faint', factLine(facts, place, look)), ''].join('\n');
}

/** The facts that fit beside each other. A cut number would be wrong, so only the directory is shortened. */
function factLine(facts: readonly string[], place: string | undefined, look: Look): string {
  if (look.isPiped === true) return `  ${facts.join('  ')}`;
  let line = '';
  for (const fact of facts) {
    const room = look.width - columns(line) - 2;
    const text = fact === place && room >= LEAST_PLACE ? fitPath(look, fact, room) : fact;
    if (columns(text) <= room) line += `  ${text}`;
  }
  return line;
}

/** The first column for each order of the list. */
const MEASURES: Readonly<Record<SessionOrder, (session: ListedSession) => string | undefined>> = {
  time: ({ percentRemaining }) => (percentRemaining === undefined ? undefined : `${percentRemaining} % left`),
  size: ({ bytes }) => formatBytes(bytes),
  tokens: ({ tokens }) => (tokens === undefined ? undefined : `${shortNumber(tokens)} tokens`),
  cost: ({ dollars, isPartlyPriced }) =>
    dollars === undefined ? undefined : `$${dollars.toFixed(2)}${isPartlyPriced === true ? '+' : ''}`,
};

/** `25.6M`, `812k`, `950`. */
function shortNumber(value: number): string {
  if (value < 1000) return String(value);
  return value < 999_500 ? `${Math.round(value / 1000)}k` : `${(value / 1e6).toFixed(1)}M`;
}

function compactionsOf({ compactions, isPartial }: SessionDigest): string | undefined {
  if (compactions === undefined || (compactions === 0 && isPartial !== true)) return undefined;
  if (isPartial !== true) return plural(compactions, 'compaction');
  return compactions === 0 ? undefined : `${formatNumber(compactions)}+ compactions`;
}

/** `2026-01-02 03:04`, UTC; `-` for a time outside years of four digits. */
export function formatTime(ms: number): string {
  const text = isoTime(ms);
  return text === undefined || !/^\d{4}-/.test(text) ? '-' : text.slice(0, 16).replace('T', ' ');
}

/** ISO 8601, UTC; undefined outside the range of a date. */
function isoTime(ms: number): string | undefined {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

function sessionJson(session: ListedSession) {
  return {
    agent: session.agent,
    id: session.id,
    path: session.path,
    title: session.title ?? null,
    bytes: session.bytes,
    modified_at: isoTime(session.modifiedMs) ?? null,
    used: session.used ?? null,
    percent_remaining: session.percentRemaining ?? null,
    cwd: session.cwd ?? null,
    model: session.model ?? null,
    compactions: session.compactions ?? null,
    tokens: session.tokens ?? null,
    cost_usd: session.dollars ?? null,
    is_partly_priced: session.isPartlyPriced ?? false,
    is_partial: session.isPartial ?? false,
    is_copy: session.isCopy ?? false,
    problem: session.problem ?? null,
  };
}
