// What `baton compact` made of a session, read by Baton itself.

import { loadSession } from '../../src/formats/session-file.io.ts';
import { openSource } from '../../src/formats/source.io.ts';
import { WHOLE_ITEMS } from '../../src/history/clear.ts';
import { HistoryFold } from '../../src/history/project.ts';
import type { Item } from '../../src/protocol/item.ts';
import { textOfParts } from '../../src/protocol/item.ts';
import type { CompactedRecord, LogRecord } from '../../src/protocol/record.ts';
import type { Receipt } from '../../src/protocol/receipt.ts';

/** A session and the newest of its compactions. */
export interface CompactedSession {
  readonly items: readonly Item[];
  readonly record: CompactedRecord;
  readonly receipt: Receipt;
}

/** Reads a session. @throws TypeError where its newest compaction is none of Baton's */
export async function readCompacted(path: string): Promise<CompactedSession> {
  const source = await openSource(path, noInput());
  try {
    const fold = new HistoryFold(WHOLE_ITEMS);
    const compactions = new Map<string, LogRecord>();
    await loadSession(source, (record) => {
      if (record.type === 'compacted') compactions.set(record.id, record);
      fold.add(record);
    });
    const record = compactions.get(fold.compactions.at(-1)?.id ?? '');
    if (record?.type !== 'compacted' || record.receipt === undefined)
      throw new TypeError(`${path} holds no compaction of Baton's`);
    return { items: fold.entries.map(({ value }) => value), record, receipt: record.receipt };
  } finally {
    await source.close();
  }
}

async function* noInput(): AsyncGenerator<Buffer> {}

/** An item in a few words, to compare histories by: `user: Chart the harbour`. */
export function shapeOf(item: Item): string {
  switch (item.type) {
    case 'message':
      return `${item.isCompactSummary === true ? 'summary' : item.role}: ${textOfParts(item.content)}`;
    case 'attachment':
      return `${item.kind}: ${item.text}`;
    default:
      return item.type;
  }
}
