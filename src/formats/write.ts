// A compaction, or its undo, in the format of the agent that owns the session.

import { BatonError } from '../errors.ts';
import { SUMMARY_PREFIX } from '../history/filter.ts';
import { inWords } from '../history/shadow.ts';
import type { Ids } from '../ports.ts';
import type { Entry } from '../history/project.ts';
import type { Item } from '../protocol/item.ts';
import type {
  CompactedRecord,
  MicroCompactedRecord,
  SessionMetaRecord,
  SettingsRecord,
} from '../protocol/record.ts';
import { AGENT_FORMATS, FORMAT_NAMES, MESSAGE_FORMATS } from '../vocabulary.ts';
import type { AgentFormat, Format, MessageFormat, WriteFormat } from '../vocabulary.ts';
import type { ClaudeIds } from './claude-code/chain.ts';
import type { ClaudeTail } from './claude-code/tail.ts';
import {
  appendClaudeCompaction,
  appendClaudeMicroCompaction,
  appendClaudeUndo,
  writeClaudeSession,
} from './claude-code/write.ts';
import { CODEX_SUMMARY_PREFIX } from '../history/filter.ts';
import type { CodexTail } from './codex/tail.ts';
import { appendCodexCompaction, appendCodexUndo, writeCodexSession } from './codex/write.ts';
import type { LoadReport, SessionTail } from './session-file.io.ts';
import { writeMarkdown } from './messages/markdown.ts';
import type { MarkdownHead } from './messages/markdown.ts';
import { writeMessages } from './messages/message-arrays.ts';
import { formatNumber } from '../tokens/words.ts';

/** A compaction to write. */
export type CompactionChange =
  | { readonly type: 'compaction'; readonly record: CompactedRecord }
  | {
      readonly type: 'micro';
      readonly record: MicroCompactedRecord;
      /** The history before. */
      readonly entries: readonly Entry<Item>[];
      /** The history after, ready to be sent. */
      readonly items: readonly Item[];
      readonly postTokens: number;
    };

/** A change to write to a session. Entries refer to the lines they were read from. */
export type SessionChange =
  | CompactionChange
  | {
      readonly type: 'undo';
      readonly compactionId: string;
      readonly restored: readonly Entry<Item>[];
      /** Size of the whole context afterwards, by the gauge. */
      readonly totalTokens: number;
    };

/** What every written session needs to know. */
export interface WriteFacts {
  /** UUID of the new session. */
  readonly newSessionId: string;
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly ids: Ids;
}

/**
 * How a summary begins, by the agent that resumes the session. Codex takes any other user message for the user's own words and
 * carries it over its next compaction. @source docs/real-tools.md
 */
export const SUMMARY_PREFIXES: Readonly<Record<WriteFormat, string>> = {
  codex: CODEX_SUMMARY_PREFIX,
  'claude-code': SUMMARY_PREFIX,
  responses: SUMMARY_PREFIX,
  anthropic: SUMMARY_PREFIX,
  chat: SUMMARY_PREFIX,
  markdown: SUMMARY_PREFIX,
};

/** Whether the agent of the format can resume its sessions. */
export function isAgentFormat(format: Format | WriteFormat): format is AgentFormat {
  return AGENT_FORMATS.some((each) => each === format);
}

/** Whether sessions of the format are arrays of API messages. */
export function isMessageFormat(format: Format | WriteFormat): format is MessageFormat {
  return MESSAGE_FORMATS.some((each) => each === format);
}

/**
 * The format that `same` stands for in a session: its own.
 * @throws BatonError `cannot_append` for formats that Baton only reads
 */
export function sameFormat(format: Format): AgentFormat | MessageFormat {
  if (isAgentFormat(format) || isMessageFormat(format)) return format;
  throw readOnly(
    format,
    'Choose an output format: --format codex, claude, responses, anthropic, chat or markdown.',
  );
}

function readOnly(format: Format, cure: string): BatonError {
  return new BatonError(
    'cannot_append',
    `Baton reads this format (${FORMAT_NAMES[format]}) but does not write it`,
    { cure, data: { format } },
  );
}

/** Only the file itself holds the past that an undo needs, so no other format can represent it. */
const ONLY_ITS_AGENT = 'Undo the compaction in the agent that wrote the file.';

/** Lines around the original bytes, without line feeds. */
export interface Continuation {
  /**
   * Precedes the first byte if the session is installed under a new name; without it the lines continue the session under its
   * own. Empty if the file's name alone identifies the session.
   */
  readonly head: readonly string[];
  readonly tail: readonly string[];
}

/** Continues a session whose bytes stay as they are. */
export function continueSession(
  { tail, bytes }: Pick<LoadReport, 'tail' | 'bytes'>,
  change: SessionChange,
  facts: WriteFacts,
): Continuation {
  switch (tail.format) {
    case 'codex':
      return continueCodex(tail.state, change, facts);
    case 'claude-code':
      return { head: [], tail: continueClaude({ tail: tail.state, bytes }, change, facts) };
    default:
      throw readOnly(tail.format, ONLY_ITS_AGENT);
  }
}

function continueCodex(tail: CodexTail, change: SessionChange, facts: WriteFacts): Continuation {
  if (tail.layout === 'bare') throw cannotAppend(change);
  const { at, newSessionId } = facts;
  if (change.type !== 'undo') {
    return appendCodexCompaction({ tail, at, newSessionId, record: replacementRecord(change) });
  }
  return appendCodexUndo({
    tail,
    at,
    newSessionId,
    compactionId: change.compactionId,
    restored: change.restored.map(({ value }) => value),
    windowId: facts.ids.uuid(),
    totalTokens: change.totalTokens,
  });
}

/** Codex has no micro-compaction, so it gets a replacement history instead. */
function replacementRecord(change: CompactionChange): CompactedRecord {
  if (change.type === 'compaction') return change.record;
  const { record, items, postTokens } = change;
  return {
    type: 'compacted',
    id: record.id,
    postTokens,
    replacement: items,
    ...(record.trigger === undefined ? {} : { trigger: record.trigger }),
    ...(record.preTokens === undefined ? {} : { preTokens: record.preTokens }),
  };
}

function cannotAppend({ type }: SessionChange): BatonError {
  return new BatonError(
    'cannot_append',
    'This rollout has the oldest layout of Codex, which cannot be appended to',
    {
      cure: type === 'undo' ? ONLY_ITS_AGENT : 'Write a new one with only the current context: --prune.',
    },
  );
}

interface ClaudeFile {
  readonly tail: ClaudeTail;
  readonly bytes: number;
}

function continueClaude(file: ClaudeFile, change: SessionChange, facts: WriteFacts): readonly string[] {
  const { newSessionId, at } = facts;
  const writing = { ...file, newSessionId, at, ids: claudeIds(facts.ids) };
  switch (change.type) {
    case 'undo':
      return appendClaudeUndo({ ...writing, ...change }).lines;
    case 'micro':
      return appendClaudeMicroCompaction({ ...writing, record: change.record, entries: change.entries })
        .lines;
    case 'compaction':
      return appendClaudeCompaction({ ...writing, record: change.record }).lines;
  }
}

function claudeIds(ids: Ids): ClaudeIds {
  return { uuid: () => ids.uuid(), messageId: () => `msg_${ids.uuid().replaceAll('-', '')}` };
}

/** A separate session that contains only the present context. */
export interface FreshSession extends WriteFacts {
  readonly format: WriteFormat;
  readonly source: SessionTail;
  readonly meta: Omit<SessionMetaRecord, 'type'>;
  readonly settings: Omit<SettingsRecord, 'type'>;
  readonly change: CompactionChange;
}

/** The lines of a fresh session, without line feeds; a document is a single line. */
export function freshSession(session: FreshSession): readonly string[] {
  const { format, source, change } = session;
  switch (format) {
    case 'codex':
      return freshCodex(session);
    case 'claude-code':
      return freshClaude(session);
    case 'markdown':
      return [writeMarkdown(inWords(itemsAfter(change)), markdownHead(session)).trimEnd()];
    default:
      return [JSON.stringify(writeMessages(format, itemsAfter(change), source.format), null, 2)];
  }
}

/** The whole context after a compaction: a rewritten one refers to no lines. */
function itemsAfter(change: CompactionChange): readonly Item[] {
  return change.type === 'micro' ? change.items : change.record.replacement;
}

function freshClaude({ source, meta, change, at, newSessionId, ids }: FreshSession): readonly string[] {
  const tail: ClaudeTail = {
    uuid: null,
    cumulativeDroppedTokens: 0,
    ...(meta.cwd === undefined ? {} : { cwd: meta.cwd }),
  };
  const writing = { tail, newSessionId, at, ids: claudeIds(ids), from: source.format };
  return change.type === 'micro'
    ? writeClaudeSession({ ...writing, items: inWords(change.items) }).lines
    : appendClaudeCompaction({ ...writing, record: change.record }).lines;
}

function freshCodex({ source, meta, settings, change, at, newSessionId }: FreshSession): readonly string[] {
  return writeCodexSession({
    meta,
    settings,
    compaction: replacementRecord(change),
    items: [],
    source: source.format,
    ...(source.format === 'codex' ? { tail: source.state } : {}),
    at,
    newSessionId,
  }).lines;
}

function markdownHead({ source, meta, settings, change, at }: FreshSession): MarkdownHead {
  const { preTokens, postTokens } = replacementRecord(change);
  return {
    title: 'A session after its compaction',
    facts: [
      `Read from: ${FORMAT_NAMES[source.format]}`,
      ...(settings.model === undefined ? [] : [`Model: ${settings.model}`]),
      ...(meta.cwd === undefined ? [] : [`Directory: ${meta.cwd}`]),
      ...(preTokens === undefined || postTokens === undefined
        ? []
        : [`Tokens: ${formatNumber(preTokens)} before, ${formatNumber(postTokens)} after`]),
      `Written: ${at}`,
    ],
  };
}
