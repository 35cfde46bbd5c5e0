// What a receipt says of the history that went into a compaction: a hash that is found piece by piece, since all at once it would
// keep a living session waiting for as long as writing the request does.

import type { Hash } from '../../ports.ts';
import type { Item } from '../../protocol/item.ts';

/** Characters that are hashed at once: one text of a whole history would be copied several times over. */
const HASHED_AT_ONCE = 65_536;

/** The hash of a history as lines of JSON; of a long one over the hashes of its pieces. */
export class InputHash {
  readonly #entries: readonly { readonly value: Item }[];
  readonly #hash: Hash;
  readonly #hashes: string[] = [];
  #next = 0;
  #rest = '';
  #digest: string | undefined;

  constructor(entries: readonly { readonly value: Item }[], hash: Hash) {
    this.#entries = entries;
    this.#hash = hash;
  }

  /** Hashes one more piece. @returns whether more are left */
  step(): boolean {
    if (this.#digest !== undefined) return false;
    while (this.#next < this.#entries.length && this.#rest.length < HASHED_AT_ONCE) {
      this.#rest += `${JSON.stringify(this.#entries[this.#next++]?.value)}\n`;
    }
    if (this.#rest.length >= HASHED_AT_ONCE) {
      this.#hashes.push(this.#hash(this.#rest));
      this.#rest = '';
    }
    return this.#next < this.#entries.length;
  }

  /** Hashes what is left. */
  digest(): string {
    while (this.step());
    this.#digest ??= this.#hash([...this.#hashes, this.#rest].join('\n'));
    return this.#digest;
  }
}
