// What a writer needs to know about a session to continue it.

import type { JsonObject } from '../../protocol/item.ts';

/** The state of a session at its end. */
export interface ClaudeTail {
  /** The uuid of the leaf; null if the file contains no conversation. */
  readonly uuid: string | null;
  readonly sessionId?: string;
  readonly cwd?: string;
  readonly version?: string;
  readonly gitBranch?: string;
  readonly userType?: string;
  readonly entrypoint?: string;
  readonly slug?: string;
  /** The sum stated by the conversation's newest boundary; 0 if none states one. */
  readonly cumulativeDroppedTokens: number;
  /** 1-based line of the newest boundary without information about preserved lines; absent if all boundaries have it. */
  readonly bareBoundaryLine?: number;
  /** Uuids of the conversation's attachments, in order, by the uuid of the line that they are attached to. */
  readonly attachments?: ReadonlyMap<string, readonly string[]>;
}

/** The context fields of a session's lines. */
export type SessionFields = Omit<
  ClaudeTail,
  'uuid' | 'cumulativeDroppedTokens' | 'bareBoundaryLine' | 'attachments'
>;

const KEYS = ['sessionId', 'cwd', 'version', 'gitBranch', 'userType', 'entrypoint', 'slug'] as const;

/** The context fields after one more line; the same object if it adds nothing new. */
export function mergeSurroundings(known: SessionFields, line: JsonObject): SessionFields {
  const changed = KEYS.filter((key) => typeof line[key] === 'string' && line[key] !== known[key]);
  if (changed.length === 0) return known;
  return { ...known, ...Object.fromEntries(changed.map((key) => [key, line[key]])) };
}
