// A compaction, or its undo, in the shapes of the agent whose session it is.

import { BatonError } from '../errors.ts';
import { SUMMARY_PREFIX } from '../history/filter.ts';
import type { Ids } from '../ports.ts';
import type { Item } from '../protocol/item.ts';
import type { CompactedRecord, SessionMetaRecord, SettingsRecord } from '../protocol/record.ts';
import { AGENT_FORMATS, FORMAT_NAMES, MESSAGE_FORMATS } from '../vocabulary.ts';
import type { AgentFormat, Format, MessageFormat, WriteFormat } from '../vocabulary.ts';
import type { ClaudeIds } from './claude-code/chain.ts';
import type { ClaudeTail } from './claude-code/survey.ts';
import { appendClaudeCompaction } from './claude-code/write.ts';
import { CODEX_SUMMARY_PREFIX } from './codex/shapes.ts';
import { appendCodexCompaction, appendCodexUndo, writeCodexSession } from './codex/write.ts';
import type { SessionTail } from './load.ts';
import { writeMarkdown } from './markdown.ts';
import type { MarkdownHead } from './markdown.ts';
import { writeMessages } from './message-arrays.ts';

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
export const SUMMARY_PREFIXES: Readonly<Record<WriteFormat, string>> = {
  codex: CODEX_SUMMARY_PREFIX,
  'claude-code': SUMMARY_PREFIX,
  responses: SUMMARY_PREFIX,
  anthropic: SUMMARY_PREFIX,
  chat: SUMMARY_PREFIX,
  markdown: SUMMARY_PREFIX,
};

/** Whether sessions of the format are gone on with by their agent. */
export function isAgentFormat(format: Format | WriteFormat): format is AgentFormat {
  return AGENT_FORMATS.some((each) => each === format);
}

function isMessageFormat(format: Format | WriteFormat): format is MessageFormat {
  return MESSAGE_FORMATS.some((each) => each === format);
}

/**
 * What `same` means for a session: its own format.
 * @throws BatonError `cannot_append` for formats that Baton only reads
 */
export function sameFormat(format: Format): AgentFormat | MessageFormat {
  if (isAgentFormat(format) || isMessageFormat(format)) return format;
  throw readOnly(format);
}

function readOnly(format: Format): BatonError {
  return new BatonError(
    'cannot_append',
    `Baton reads this format (${FORMAT_NAMES[format]}) but does not write it`,
    {
      cure: 'Choose what to write: --format codex, claude, responses, anthropic, chat or markdown.',
      data: { format },
    },
  );
}

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
    default:
      throw readOnly(tail.format);
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
  readonly format: WriteFormat;
  readonly source: SessionTail;
  readonly meta: Omit<SessionMetaRecord, 'type'>;
  readonly settings: Omit<SettingsRecord, 'type'>;
  readonly record: CompactedRecord;
}

/** The lines of a fresh session, without line feeds; a document is one of them. */
export function freshSession(session: FreshSession): readonly string[] {
  const { format, source, meta, settings, record, at, newSessionId } = session;
  if (isMessageFormat(format)) {
    return [JSON.stringify(writeMessages(format, record.replacement, source.format), null, 2)];
  }
  if (format === 'markdown') return [writeMarkdown(record.replacement, markdownHead(session)).trimEnd()];
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

function markdownHead({ source, meta, settings, record, at }: FreshSession): MarkdownHead {
  const { preTokens, postTokens } = record;
  return {
    title: 'A session after its compaction',
    facts: [
      `Read from: ${FORMAT_NAMES[source.format]}`,
      ...(settings.model === undefined ? [] : [`Model: ${settings.model}`]),
      ...(meta.cwd === undefined ? [] : [`Directory: ${meta.cwd}`]),
      ...(preTokens === undefined || postTokens === undefined
        ? []
        : [`Tokens: ${preTokens} before, ${postTokens} after`]),
      `Written: ${at}`,
    ],
  };
}
