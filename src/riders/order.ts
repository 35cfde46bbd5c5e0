// Turns what the engine changed into what a host can carry out. Pure.

import type { LogChange } from '../calls/watched-log.ts';
import type { Entry } from '../history/project.ts';
import type { Item } from '../protocol/item.ts';
import type { HostOrder, HostReplacement } from './port.ts';

/** What the engine left. */
export interface EngineResult {
  readonly changes: readonly LogChange[];
  /** The history after the changes. */
  readonly entries: readonly Entry<Item>[];
  readonly continues: boolean;
}

/**
 * The order for a host; undefined where nothing changed, or a sentence that says why a host cannot carry it out.
 *
 * Only the newest replacement counts: it stands for everything that was there before it.
 */
export function orderOf(result: EngineResult): HostOrder | string | undefined {
  const { changes, entries, continues } = result;
  const notes = changes.flatMap((change) =>
    change.type === 'noted' ? [{ kind: change.note.kind, value: change.note.value }] : [],
  );
  const replacedAt = changes.findLastIndex(
    (change) => change.type === 'rewritten' && change.compaction.type === 'full',
  );
  const later = changes.slice(replacedAt + 1);
  const cleared = later.flatMap((change) =>
    change.type === 'rewritten' && change.compaction.type === 'micro' ? change.compaction.record.callIds : [],
  );
  const added = later.flatMap((change) => (change.type === 'added' ? change.items : []));
  const replaced = changes[replacedAt];
  const order = { type: 'change', cleared, added, notes, continues } as const;
  if (replaced?.type !== 'rewritten' || replaced.compaction.type !== 'full') {
    return notes.length + cleared.length + added.length === 0 ? undefined : order;
  }
  const replacement = replacementOf(replaced.compaction.record.replacement, entries);
  return typeof replacement === 'string' ? replacement : { ...order, replacement };
}

function replacementOf(
  replacement: readonly Item[],
  entries: readonly Entry<Item>[],
): HostReplacement | string {
  const items = replacement.filter(({ type }) => type !== 'compact_boundary');
  const odd = items.find((item) => item.type !== 'message' || item.role === 'assistant');
  if (odd !== undefined) return `The replacement holds an item that is not a message of a user: ${odd.type}.`;
  const kept = entries.find(({ ref, isReplacement }) => ref !== undefined && !isReplacement);
  return { items, keptFrom: kept?.ref };
}
