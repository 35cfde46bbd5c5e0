// What Baton leaves in a session of pi when it rides along: a compaction in parts, cleared results, and notes. Written and read
// here, so that the two agree.

import { authorOf, textOfParts } from '../../protocol/item.ts';
import type { Item, JsonObject } from '../../protocol/item.ts';
import type { LogRecord } from '../../protocol/record.ts';
import { CLEARED_RESULT } from '../../protocol/record.ts';
import { countAt, objectAt, objectsAt, stringAt } from '../fields.ts';
import { HARNESS, textMessage } from '../items.ts';

/** The `customType` of the entries that Baton writes: notes, and messages for the model. */
export const BATON_ENTRY = 'baton';

/** Between the parts of a summary. */
const SEPARATOR = '\n\n';

/** Who wrote a part: the summary itself, the user, or Baton for the agent. */
const AUTHORS = ['summary', 'user', 'harness'] as const;
type PartAuthor = (typeof AUTHORS)[number];

/** A compaction of pi holds one text. */
export interface PiSummary {
  readonly summary: string;
  /** Where each item of it begins and ends; for a later compaction, which keeps the user's words apart. */
  readonly details: JsonObject;
}

/** Joins messages to the one text of a compaction. An image becomes `[image]`. */
export function joinItems(items: readonly Item[]): PiSummary {
  const parts = items.flatMap((item) => {
    const text = messageText(item);
    return text === '' ? [] : [{ text, author: partAuthor(item) }];
  });
  return {
    summary: parts.map(({ text }) => text).join(SEPARATOR),
    details: { [BATON_ENTRY]: { parts: parts.map(({ text, author }) => ({ chars: text.length, author })) } },
  };
}

/** The items that `joinItems` joined; undefined where the details do not describe the summary. */
export function splitSummary(summary: string, details: JsonObject | undefined): readonly Item[] | undefined {
  const own = objectAt(details ?? {}, BATON_ENTRY);
  if (own === undefined) return undefined;
  const items: Item[] = [];
  let from = 0;
  for (const part of objectsAt(own, 'parts')) {
    const chars = countAt(part, 'chars');
    const author = AUTHORS.find((each) => each === part['author']);
    if (chars === undefined || chars === 0 || author === undefined) return undefined;
    if (from > 0) {
      if (!summary.startsWith(SEPARATOR, from)) return undefined;
      from += SEPARATOR.length;
    }
    items.push(...textMessage('user', summary.slice(from, from + chars), flagsOf(author)));
    from += chars;
  }
  return from === summary.length && items.length > 0 ? items : undefined;
}

/** What a message of the user role is for the model. */
export function messageText(item: Item): string {
  if (item.type !== 'message') return '';
  return item.content
    .map((part) => (part.type === 'input_image' ? '[image]' : textOfParts([part])))
    .filter((text) => text !== '')
    .join('\n');
}

/** The content that replaces a cleared result. */
export const CLEARED_CONTENT = [{ type: 'text', text: CLEARED_RESULT }] as const;

/** Whether an edit of pi's clears what it targets. */
export function isClearing(edit: JsonObject): boolean {
  const [first, ...more] = objectsAt(objectAt(edit, 'replacement') ?? {}, 'content');
  return more.length === 0 && first !== undefined && stringAt(first, 'text') === CLEARED_RESULT;
}

/** A note of Baton's, if the entry is one. */
export function noteIn(entry: JsonObject): LogRecord | undefined {
  if (entry['customType'] !== BATON_ENTRY) return undefined;
  const data = objectAt(entry, 'data') ?? {};
  const kind = stringAt(data, 'kind');
  const value = objectAt(data, 'value');
  return kind === undefined || value === undefined ? undefined : { type: 'note', kind, value };
}

function partAuthor(item: Item): PartAuthor {
  if (item.type === 'message' && item.isCompactSummary === true) return 'summary';
  return authorOf(item) === 'user' ? 'user' : 'harness';
}

function flagsOf(author: PartAuthor): Parameters<typeof textMessage>[2] {
  if (author === 'user') return {};
  return author === 'summary' ? { isCompactSummary: true, origin: HARNESS } : { origin: HARNESS };
}
