// Lists Baton's own sessions on this machine for clients of `serve`.

import { BatonError } from '../../errors.ts';
import { batonHome } from '../../config/load.io.ts';
import { loadRollout } from '../../formats/session-file.io.ts';
import { isUserMessage } from '../../history/filter.ts';
import { textOfParts } from '../../protocol/item.ts';
import type { SessionEvent } from '../../protocol/wire/event.ts';
import type { LogRecord } from '../../protocol/record.ts';
import { openRolloutSource } from '../../rollout/read.io.ts';
import { redact } from '../../text/redact.ts';
import { clippedLine } from '../../text/sentences.ts';
import { findSessions } from './agents.io.ts';
import type { CommandIo } from '../io.ts';

type SessionsEvent = Extract<SessionEvent, { type: 'sessions' }>;
type ListedSession = SessionsEvent['sessions'][number];

/** How many sessions to list if the op does not say. @source `baton sessions --limit` */
const NEWEST_SESSIONS = 20;

/** Maximum title length in characters. @source a line of a terminal of 80 columns */
const LONGEST_TITLE = 80;

/** Lists the newest sessions. An unreadable file is listed without its facts. @param open ids of the threads of this process */
export async function listOwnSessions(
  io: CommandIo,
  newest: number | undefined,
  open: ReadonlySet<string>,
): Promise<SessionsEvent> {
  const all = (await findSessions(io)).filter(({ agent }) => agent === 'baton');
  const sessions: ListedSession[] = [];
  for (const { path, bytes, modifiedMs } of all.slice(0, newest ?? NEWEST_SESSIONS)) {
    const { id, ...told } = await lookInto(io, path);
    const modifiedAt = new Date(modifiedMs).toISOString();
    sessions.push({
      id,
      ...told,
      path,
      bytes,
      modified_at: modifiedAt,
      is_open: id !== null && open.has(id),
    });
  }
  return { type: 'sessions', total: all.length, sessions };
}

type SessionGlance = Pick<ListedSession, 'id' | 'title' | 'cwd' | 'compactions'>;

async function lookInto(io: CommandIo, path: string): Promise<SessionGlance> {
  let told: SessionGlance = { id: null, title: null, cwd: null, compactions: 0 };
  try {
    const source = await openRolloutSource(batonHome(io), path);
    try {
      const emit = (record: LogRecord): void => void (told = withRecord(told, record));
      await loadRollout(source, { emit, report: () => undefined, signal: io.signal });
      told = { ...told, id: source.threadId };
    } finally {
      await source.close();
    }
  } catch (error) {
    if (!(error instanceof BatonError) || error.code === 'interrupted') throw error;
  }
  return told;
}

function withRecord(told: SessionGlance, record: LogRecord): SessionGlance {
  switch (record.type) {
    case 'session_meta':
    case 'settings':
      return { ...told, cwd: record.cwd ?? told.cwd };
    case 'compacted':
      return { ...told, compactions: told.compactions + 1 };
    case 'item': {
      const { item } = record;
      if (told.title !== null || item.type !== 'message' || !isUserMessage(item)) return told;
      return { ...told, title: clippedLine(redact(textOfParts(item.content)), LONGEST_TITLE) };
    }
    default:
      return told;
  }
}
