// `baton-agent`: one call for each common task.

export { compactMessages } from './calls/compact-messages.ts';
export type { CompactedMessages, CompactMessagesOptions } from './calls/compact-messages.ts';
export { compactSession } from './calls/compact-session.ts';
export type {
  CompactedSession,
  CompactSessionOptions,
  SessionCompaction,
  UncompactedSession,
} from './calls/compact-session.ts';
export { inspectSession } from './calls/inspect-session.ts';
export type { InspectSessionOptions, SessionInspection } from './calls/inspect-session.ts';
export { watch } from './calls/watch.ts';
export type { ContextWatch, NextRequest, WatchOptions } from './calls/watch.ts';

export { BatonError, ERROR_CODES } from './errors.ts';
export type { ErrorCode } from './errors.ts';
export type { Receipt } from './protocol/receipt.ts';
export { DEFAULT_CONFIG } from './config/defaults.ts';
export type { Config } from './config/schema.ts';
