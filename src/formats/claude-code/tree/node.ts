// A line of a Claude Code session as a node of the tree that the survey walks.

import type { JsonObject } from '../../../protocol/item.ts';
import type { LineAt } from '../../reader.ts';
import { objectAt, objectsAt, stringAt } from '../../fields.ts';

/** A value's place in the file as one number: line and part. */
export type LineKey = number;

/** The key of a value. */
export function keyOf(at: LineAt): LineKey {
  return at.line * 2 ** 20 + at.part;
}

/** Lines that have uuid and parentUuid. */
export const LINKED_KINDS = ['user', 'assistant', 'attachment', 'system', 'progress'] as const;
export type LinkedKind = (typeof LINKED_KINDS)[number];

/** What the survey keeps of a linked line. */
export interface Node {
  readonly uuid: string | undefined;
  /** null: the line states that it has none. undefined: the line does not say. */
  readonly parent: string | null | undefined;
  readonly logicalParent: string | undefined;
  readonly key: LineKey;
  readonly line: number;
  readonly kind: LinkedKind;
  readonly isBoundary: boolean;
  readonly isSummary: boolean;
  readonly isSidechain: boolean;
  readonly messageId: string | undefined;
  readonly calls: readonly string[];
  readonly results: readonly string[];
  readonly metadata: JsonObject | undefined;
}

const NONE: readonly string[] = [];

/** The node of a line, whole or skimmed. */
export function nodeOf(value: JsonObject, kind: LinkedKind, at: LineAt): Node {
  const message = objectAt(value, 'message');
  const isMessage = kind === 'user' || kind === 'assistant';
  const isBoundary = kind === 'system' && value['subtype'] === 'compact_boundary';
  const parent = value['parentUuid'];
  return {
    uuid: stringAt(value, 'uuid'),
    parent: typeof parent === 'string' || parent === null ? parent : undefined,
    logicalParent: stringAt(value, 'logicalParentUuid'),
    key: keyOf(at),
    line: at.line,
    kind,
    isBoundary,
    isSummary: kind === 'user' && value['isCompactSummary'] === true,
    isSidechain: value['isSidechain'] === true,
    messageId: kind === 'assistant' && message !== undefined ? stringAt(message, 'id') : undefined,
    calls: isMessage && message !== undefined ? idsOf(message, 'tool_use', 'id') : NONE,
    results: isMessage && message !== undefined ? idsOf(message, 'tool_result', 'tool_use_id') : NONE,
    metadata: isBoundary ? objectAt(value, 'compactMetadata') : undefined,
  };
}

function idsOf(message: JsonObject, type: string, key: string): readonly string[] {
  if (!Array.isArray(message['content'])) return NONE;
  const ids: string[] = [];
  for (const block of objectsAt(message, 'content')) {
    const id = block['type'] === type ? block[key] : undefined;
    if (typeof id === 'string') ids.push(id);
  }
  return ids.length === 0 ? NONE : ids;
}
