// A compaction, or its undo, in the shapes of the agent whose session it is.

import { BatonError } from '../errors.ts';
import { SUMMARY_PREFIX } from '../history/filter.ts';
import type { Ids } from '../ports.ts';
import type { Item } from '../protocol/item.ts';
import type { CompactedRecord, SessionMetaRecord, SettingsRecord } from '../protocol/record.ts';
import type { Format } from '../vocabulary.ts';
import type { ClaudeIds } from './claude-code/chain.ts';
import type { ClaudeTail } from './claude-code/survey.ts';
import { appendClaudeCompaction } from './claude-code/write.ts';
import { CODEX_SUMMARY_PREFIX } from './codex/shapes.ts';
import { appendCodexCompaction, appendCodexUndo, writeCodexSession } from './codex/write.ts';
import type { SessionTail } from './load.ts';

/** What happened to a session that is to be written down. */
export type SessionChange =
  | { readonly type: 'compaction'; readonly record: CompactedRecord }
  | { readonly type: 'undo'; readonly compactionId: string; readonly restored: readonly Item[] };

/** What every written session needs to know. */
export interface WriteFacts {
  /** UUID of the session that is written. */
  readonly newSessionId: string;
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly ids: Ids;
}

/**
 * How a summary begins, by the agent that goes on with it. Codex takes any other user message for the user's own words
 * and carries it over its next compaction. @source docs/real-tools.md
 */
export const SUMMARY_PREFIXES: Readonly<Record<Format, string>> = {
  codex: CODEX_SUMMARY_PREFIX,
  'claude-code': SUMMARY_PREFIX,
};

/** Lines around the original bytes, without line feeds. */
export interface Continuation {
  /**
   * Goes before the first byte where the session is installed under its new name; without it the lines continue the
   * session under its own. Empty where the file's name alone says which session it is.
   */
  readonly head: readonly string[];
  readonly tail: readonly string[];
}

/** Goes on with a session whose bytes stay as they are. */
export function continueSession(tail: SessionTail, change: SessionChange, facts: WriteFacts): Continuation {
  switch (tail.format) {
    case 'codex':
      if (tail.state.layout === 'bare') throw cannotAppend();
      return change.type === 'undo'
        ? appendCodexUndo({
            tail: tail.state,
            at: facts.at,
            newSessionId: facts.newSessionId,
            compactionId: change.compactionId,
            restored: change.restored,
            windowId: facts.ids.uuid(),
          })
        : appendCodexCompaction({
            tail: tail.state,
            at: facts.at,
            newSessionId: facts.newSessionId,
            record: change.record,
          });
    case 'claude-code':
      return { head: [], tail: continueClaude(tail.state, change, facts) };
  }
}

function cannotAppend(): BatonError {
  return new BatonError(
    'cannot_append',
    'This rollout is of the oldest layout of Codex, to which nothing can be appended',
    { cure: 'Write a new one that holds the present context only: --prune.' },
  );
}

function continueClaude(tail: ClaudeTail, change: SessionChange, facts: WriteFacts): readonly string[] {
  const writing = { tail, newSessionId: facts.newSessionId, at: facts.at, ids: claudeIds(facts.ids) };
  if (change.type === 'undo') throw new RangeError('not yet');
  return appendClaudeCompaction({ ...writing, record: change.record }).lines;
}

function claudeIds(ids: Ids): ClaudeIds {
  return { uuid: () => ids.uuid(), messageId: () => `msg_${ids.uuid().replaceAll('-', '')}` };
}

/** A session of its own that holds the present context only. */
export interface FreshSession extends WriteFacts {
  readonly format: Format;
  readonly source: SessionTail;
  readonly meta: Omit<SessionMetaRecord, 'type'>;
  readonly settings: Omit<SettingsRecord, 'type'>;
  readonly record: CompactedRecord;
}

/** The lines of a fresh session, without line feeds. */
export function freshSession(session: FreshSession): readonly string[] {
  const { format, source, meta, settings, record, at, newSessionId } = session;
  if (format === 'claude-code') {
    const tail: ClaudeTail = {
      uuid: null,
      cumulativeDroppedTokens: 0,
      ...(meta.cwd === undefined ? {} : { cwd: meta.cwd }),
    };
    return appendClaudeCompaction({
      tail,
      record,
      newSessionId,
      at,
      ids: claudeIds(session.ids),
      from: source.format,
    }).lines;
  }
  return writeCodexSession({
    meta,
    settings,
    compaction: record,
    items: [],
    source: source.format,
    ...(source.format === 'codex' ? { tail: source.state } : {}),
    at,
    newSessionId,
  }).lines;
}
