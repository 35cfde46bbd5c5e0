// Recognises a line of Claude Code by its content alone: the name and location of a file prove nothing.

import { isJsonObject, objectAt, stringAt } from '../fields.ts';
import { LINKED_KINDS } from './tree/node.ts';

/** Bookkeeping lines without links, each with a key that only its kind has. */
const BOOKKEEPING: ReadonlyMap<string, string> = new Map([
  ['file-history-snapshot', 'snapshot'],
  ['file-history-delta', 'messageId'],
  ['queue-operation', 'operation'],
  ['last-prompt', 'leafUuid'],
  ['permission-mode', 'permissionMode'],
  ['ai-title', 'aiTitle'],
  ['custom-title', 'customTitle'],
  ['agent-name', 'agentName'],
  ['pr-link', 'prUrl'],
  ['bridge-session', 'sessionId'],
  ['atis-latch', 'atis'],
  ['tools-used', 'tools'],
  ['cost-state', 'totalCostUSD'],
  ['api-request-shape', 'shapeHash'],
  ['api-request-blob', 'hash'],
  ['api-request', 'requestDigest'],
  ['summary', 'leafUuid'],
  ['mode', 'mode'],
]);

/**
 * How much a line looks like one of a Claude Code session: 1 for a linked line with all its marks, 0 for an impossible one.
 * @source claude-code-behaviour §3
 */
export function looksLikeClaudeCode(value: unknown): number {
  if (!isJsonObject(value)) return 0;
  const type = stringAt(value, 'type');
  if (type === undefined) return 0;
  if (!LINKED_KINDS.some((kind) => kind === type)) {
    const mark = BOOKKEEPING.get(type);
    if (mark === undefined || value[mark] === undefined) return 0;
    // A single word could be a coincidence, so such a line alone does not identify a file.
    return stringAt(value, 'sessionId') === undefined && mark === 'mode' ? 0 : 0.6;
  }
  // A message line must only be linked, as a hand-written one shows.
  const isLinked = stringAt(value, 'uuid') !== undefined && ('parentUuid' in value || type === 'system');
  const hasMessage = stringAt(objectAt(value, 'message') ?? {}, 'role') === type;
  const isMessage = type === 'user' || type === 'assistant';
  if (!isLinked || (isMessage && !hasMessage)) return isMessage && hasMessage && isMarked(value) ? 0.5 : 0;
  return isMarked(value) ? 1 : 0.7;
}

/** Keys that Claude Code writes on every linked line, and others rarely do. */
function isMarked(value: { readonly [key: string]: unknown }): boolean {
  return typeof value['isSidechain'] === 'boolean' && typeof value['sessionId'] === 'string';
}
