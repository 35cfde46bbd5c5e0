// The history after a compaction whose line stores only the summary, as in rollouts before 0.60: Codex rebuilt it from memory,
// and a reader must do the same.

import type { Item, MessageItem } from '../../protocol/item.ts';
import { authorOf, textOfParts } from '../../protocol/item.ts';
import { approximateTokens } from '../../tokens/estimate.ts';
import { cutMiddle } from '../../tokens/cut.ts';
import { KEPT_USER_MESSAGE_TOKENS } from './shapes.ts';

interface KeptMessage {
  readonly item: MessageItem;
  readonly tokens: number;
}

/**
 * What a local compaction would keep at this moment: initial context, the newest user messages, ghost snapshots. Bounded by the
 * tokens of the user messages, so that it does not grow with the file.
 * @source codex-behaviour §4.2, rawr-behaviour §11.2.
 */
export class KeptMessages {
  #initialContext: MessageItem[] = [];
  #users: KeptMessage[] = [];
  #userTokens = 0;
  #ghosts: Item[] = [];
  #sawUser = false;

  /** Takes in an item of the history. */
  add(item: Item): void {
    if (item.type === 'ghost_snapshot') this.#ghosts.push(item);
    if (item.type !== 'message' || item.role === 'assistant') return;
    const author = authorOf(item);
    if (author === 'user') this.#addUser(item);
    else if (!this.#sawUser && item.isCompactSummary !== true) this.#initialContext.push(item);
  }

  /** Starts over from a replacement history; the old context stays if the new history has none. */
  replace(items: readonly Item[]): void {
    const context = this.#initialContext;
    this.#initialContext = [];
    this.#users = [];
    this.#userTokens = 0;
    this.#ghosts = [];
    this.#sawUser = false;
    for (const item of items) this.add(item);
    if (this.#initialContext.length === 0) this.#initialContext = context;
  }

  /** The new history: context, user messages from old to new, `summary`, ghost snapshots. */
  historyWith(summary: string): Item[] {
    const message: MessageItem = {
      type: 'message',
      role: 'user',
      content: [{ type: 'input_text', text: summary === '' ? '(no summary available)' : summary }],
      origin: { author: 'harness' },
      isCompactSummary: true,
    };
    return [...this.#initialContext, ...this.#keptUsers(), message, ...this.#ghosts];
  }

  #addUser(item: MessageItem): void {
    this.#sawUser = true;
    const tokens = approximateTokens(textOfParts(item.content));
    this.#users.push({ item, tokens });
    this.#userTokens += tokens;
    // The oldest is dropped once the others fill the budget: not even a part of it would be kept.
    let [oldest] = this.#users;
    while (oldest !== undefined && this.#userTokens - oldest.tokens >= KEPT_USER_MESSAGE_TOKENS) {
      this.#userTokens -= oldest.tokens;
      this.#users.shift();
      [oldest] = this.#users;
    }
  }

  #keptUsers(): MessageItem[] {
    let room = KEPT_USER_MESSAGE_TOKENS;
    const kept: MessageItem[] = [];
    for (const { item, tokens } of this.#users.toReversed()) {
      if (room <= 0) break;
      const fitting = tokens <= room ? item : cutMessage(item, room);
      if (fitting !== undefined) kept.push(fitting);
      room -= tokens;
    }
    return kept.toReversed();
  }
}

function cutMessage(item: MessageItem, tokens: number): MessageItem | undefined {
  const text = cutMiddle(textOfParts(item.content), tokens, approximateTokens);
  return text === undefined
    ? undefined
    : { type: 'message', role: 'user', content: [{ type: 'input_text', text }] };
}
