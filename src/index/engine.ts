// `baton-agent/engine`: the parts behind the calls of `baton-agent`, by name, in reading order.

export { BatonError, ERROR_CODES } from '../errors.ts';
export type { ErrorCode } from '../errors.ts';

export { textOfParts } from '../protocol/item.ts';
export type { Item, MessageItem, Part } from '../protocol/item.ts';
export type { LogRecord, CompactedRecord } from '../protocol/record.ts';
export type { Receipt } from '../protocol/receipt.ts';

export { openSource } from '../formats/source.io.ts';
export { loadSession } from '../formats/session-file.io.ts';
export type { LoadReport } from '../formats/session-file.io.ts';

export { AccountFold } from '../history/account.ts';
export type { AccountSettings, ContextAccount } from '../history/context-account.ts';
export { HistoryFold } from '../history/project.ts';
export { withoutUndoneTurns } from '../history/undone.ts';
export { WHOLE_ITEMS } from '../history/clear.ts';
export { normalizeItems } from '../history/pairs.ts';

export { approximateTokens } from '../tokens/estimate.ts';
export { loadTokenizer } from '../tokens/tokenizer.io.ts';
export { percentRemaining, thresholdState } from '../tokens/pressure.ts';

export { TrailCollector } from '../trail/collect.ts';
export type { Trail } from '../trail/trail.ts';
export { writeSummary } from '../summary/write.ts';

export { microCompact } from '../compaction/micro/micro.ts';
export { compactHistory } from '../compaction/compact.io.ts';
export type { Compaction, CompactionWorld, Occasion, Subject } from '../compaction/subject.ts';
export { SUMMARY_PREFIX } from '../history/filter.ts';
export { writeMessages } from '../formats/messages/message-arrays.ts';

export { DEFAULT_CONFIG } from '../config/defaults.ts';
export type { Config } from '../config/schema.ts';
