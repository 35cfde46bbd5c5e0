// Whether a line is one of Claude Code's, by its content alone: names and places of files prove nothing.

import { isJsonObject, objectAt, stringAt } from '../fields.ts';
import { LINKED_KINDS } from './tree/node.ts';

/** Bookkeeping without links, each with a key that only this kind has. */
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
 * How much a line looks like one of a Claude Code session: 1 for a linked line with all that marks it, 0 for what it
 * cannot be.
 * @source claude-code-behaviour §3
 */
export function looksLikeClaudeCode(value: unknown): number {
  if (!isJsonObject(value)) return 0;
  const type = stringAt(value, 'type');
  if (type === undefined) return 0;
  if (!LINKED_KINDS.some((kind) => kind === type)) {
    const mark = BOOKKEEPING.get(type);
    if (mark === undefined || value[mark] === undefined) return 0;
    // One word could be a coincidence, so a file is not known by such a line alone.
    return stringAt(value, 'sessionId') === undefined && mark === 'mode' ? 0 : 0.6;
  }
  // The only hard need of a message line is to be linked, as one written by hand shows.
  const isLinked = stringAt(value, 'uuid') !== undefined && ('parentUuid' in value || type === 'system');
  const hasMessage = stringAt(objectAt(value, 'message') ?? {}, 'role') === type;
  const isMessage = type === 'user' || type === 'assistant';
  if (!isLinked || (isMessage && !hasMessage)) return isMessage && hasMessage && isMarked(value) ? 0.5 : 0;
  return isMarked(value) ? 1 : 0.7;
}

/** Keys that Claude Code writes on every linked line, and others hardly. */
function isMarked(value: { readonly [key: string]: unknown }): boolean {
  return typeof value['isSidechain'] === 'boolean' && typeof value['sessionId'] === 'string';
}
