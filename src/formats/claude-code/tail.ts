// What a writer has to know of a session to go on with it.

import type { JsonObject } from '../../protocol/item.ts';

/** The state of a session at its end. */
export interface ClaudeTail {
  /** The uuid of the leaf; null when the file holds no conversation. */
  readonly uuid: string | null;
  readonly sessionId?: string;
  readonly cwd?: string;
  readonly version?: string;
  readonly gitBranch?: string;
  readonly userType?: string;
  readonly entrypoint?: string;
  readonly slug?: string;
  /** Sum that the newest boundary of the conversation states; 0 where none does. */
  readonly cumulativeDroppedTokens: number;
  /** 1-based line of the newest boundary that says nothing of preserved lines; absent where all boundaries do. */
  readonly bareBoundaryLine?: number;
  /** Attachments of the conversation, by the uuid of the line that they hang on: uuids in order. */
  readonly attachments?: ReadonlyMap<string, readonly string[]>;
}

/** What the lines of a session say of their surroundings. */
export type SessionFields = Omit<
  ClaudeTail,
  'uuid' | 'cumulativeDroppedTokens' | 'bareBoundaryLine' | 'attachments'
>;

const KEYS = ['sessionId', 'cwd', 'version', 'gitBranch', 'userType', 'entrypoint', 'slug'] as const;

/** The surroundings after one more line; the same object where it says nothing new. */
export function mergeSurroundings(known: SessionFields, line: JsonObject): SessionFields {
  const changed = KEYS.filter((key) => typeof line[key] === 'string' && line[key] !== known[key]);
  if (changed.length === 0) return known;
  return { ...known, ...Object.fromEntries(changed.map((key) => [key, line[key]])) };
}
