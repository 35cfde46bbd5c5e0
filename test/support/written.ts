// Reads what Baton wrote as the agents read it, without Baton's own readers.

import assert from 'node:assert/strict';
import type { AgentFormat } from '../../src/vocabulary.ts';

interface JsonLine {
  readonly [key: string]: unknown;
}

/**
 * Asserts that lines are JSON objects, and that the context which they leave to the agent holds no call without its
 * result and no result without its call.
 */
export function assertWhole(format: AgentFormat, text: string): void {
  const lines = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as JsonLine);
  assert.ok(lines.length > 0, 'something was written');
  for (const line of lines) assert.ok(typeof line === 'object' && line !== null && !Array.isArray(line));
  assertPaired(format === 'codex' ? codexContext(lines) : claudeContext(lines));
}

/** What Codex takes up: the history of the last compacted line, and the items after it. */
function codexContext(lines: readonly JsonLine[]): readonly JsonLine[] {
  const at = lines.findLastIndex(({ type }) => type === 'compacted');
  const since = lines.slice(at + 1).filter(({ type }) => type === 'response_item');
  return [...replacement(lines[at]), ...since.map(({ payload }) => payload as JsonLine)];
}

function replacement(line: JsonLine | undefined): readonly JsonLine[] {
  if (line === undefined) return [];
  return (line['payload'] as JsonLine)['replacement_history'] as readonly JsonLine[];
}

/** What Claude Code takes up: the blocks after the last boundary. */
function claudeContext(lines: readonly JsonLine[]): readonly JsonLine[] {
  const at = lines.findLastIndex(({ subtype }) => subtype === 'compact_boundary');
  assert.notEqual(at, -1, 'there is a boundary');
  return lines.slice(at + 1).flatMap((line) => {
    const content = (line['message'] as JsonLine | undefined)?.['content'];
    return Array.isArray(content) ? (content as readonly JsonLine[]) : [];
  });
}

function assertPaired(parts: readonly JsonLine[]): void {
  const open = new Set<unknown>();
  for (const part of parts) {
    const { type } = part;
    if (type === 'tool_use') open.add(part['id']);
    else if (type === 'tool_result') assert.ok(open.delete(part['tool_use_id']), 'a result without call');
    else if (part['call_id'] === undefined || typeof type !== 'string') continue;
    else if (type.endsWith('_call')) open.add(part['call_id']);
    else if (type.endsWith('_output')) assert.ok(open.delete(part['call_id']), 'a result without call');
  }
  assert.equal(open.size, 0, 'a call without result');
}
