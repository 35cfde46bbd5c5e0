// What an undo would do, as clients are shown it.

import { authorOf, textOfParts } from '../../protocol/item.ts';
import type { Item } from '../../protocol/item.ts';
import { shownMessage } from '../../protocol/queued.ts';
import type { LogRecord } from '../../protocol/record.ts';
import type { SessionEvent } from '../../protocol/wire/event.ts';
import type { NewestTurn } from '../../history/project.ts';
import type { SnapshotDescription } from '../../snapshots/undo.ts';

type UndoPreview = Extract<SessionEvent, { readonly type: 'undo_preview' }>;

const NOTHING = {
  type: 'undo_preview',
  message: null,
  items: null,
  pre_compact_tokens: null,
  post_compact_tokens: null,
  files: null,
  blocked: [],
  later_edits: [],
  untouched: [],
  warnings: [],
} as const;

/** The undo of a turn. @param files what it does to files; undefined: no snapshot was taken since the turn began */
export function turnPreview(
  { turnId: id, since }: NewestTurn<Item>,
  files: Extract<SnapshotDescription, { readonly type: 'described' }> | undefined,
): UndoPreview {
  const begun = since.find(({ value }) => value.type === 'message' && authorOf(value) === 'user')?.value;
  const said = begun?.type === 'message' ? shownMessage({ id, text: textOfParts(begun.content) }) : undefined;
  const turn = { ...NOTHING, what: 'turn', id, message: said?.text ?? null, items: since.length } as const;
  if (files === undefined) return turn;
  return {
    ...turn,
    files: files.changes.map(({ path, change }) => ({ path, change })),
    blocked: files.blocked.map(({ path, why }) => ({ path, why })),
    later_edits: files.laterEdits.map(({ path, why, overlaps }) => ({ path, why, overlaps })),
    untouched: files.untouched.map(({ path, why }) => ({ path, why })),
    warnings: files.warnings,
  };
}

/** The undo of a compaction. @param past the present log, which holds the receipt */
export async function compactionPreview(id: string, past: AsyncIterable<LogRecord>): Promise<UndoPreview> {
  let sizes: Pick<UndoPreview, 'pre_compact_tokens' | 'post_compact_tokens'> = NOTHING;
  for await (const record of past) {
    if (record.type !== 'compacted' || record.id !== id) continue;
    const { preTokens, postTokens } = record.receipt ?? record;
    sizes = { pre_compact_tokens: preTokens ?? null, post_compact_tokens: postTokens ?? null };
  }
  const { pre_compact_tokens, post_compact_tokens } = sizes;
  return { ...NOTHING, what: 'compaction', id, pre_compact_tokens, post_compact_tokens };
}
