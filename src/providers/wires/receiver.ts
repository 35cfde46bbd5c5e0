// Sanitizes the items of an untrusted answer before they enter a history. Calls get ids that pair: a server may reuse an id
// within one answer or from an earlier one, or send one that other providers reject.

import { isInterpretedType } from '../../formats/codex/items.ts';
import { callOf } from '../../protocol/item.ts';
import type { Item, UnknownItem } from '../../protocol/item.ts';
import { isTooDeep, MOST_NESTED } from './depth.ts';
import { broken } from './transport.io.ts';
import type { Call } from './transport.io.ts';

/** Ids that every provider accepts. @source OpenAI Chat Completions: 40 characters; Anthropic: `^[a-zA-Z0-9_-]+$` */
const SOUND_ID = /^[a-zA-Z0-9_-]{1,40}$/;

/** Longest name of a tool, in characters; longer ones are invalid. @source OpenAI and Anthropic: 64 and 128 */
const LONGEST_NAME = 128;

/** Accepts the items of one answer. */
export class Receiver {
  readonly #history: readonly Item[];
  #taken: Set<string> | undefined;
  #renamed = 0;

  /** @param history the items before the answer */
  constructor(history: readonly Item[]) {
    this.#history = history;
  }

  /**
   * The item as it enters the history. A call keeps its id if that is valid and unused.
   * @throws BatonError `model_cut_off` for a call without an id or a name, and for arguments that are nested too deep
   */
  receive(item: Item, call: Pick<Call, 'provider' | 'key'>): Item {
    const view = callOf(item);
    if (view === undefined) return item;
    if (isTooDeep(view.input)) throw broken(call, `arguments of more than ${MOST_NESTED} levels`);
    if (item.type === 'unknown') return this.#receiveUnknown(item, call);
    if (!('call_id' in item)) return item;
    const id = this.#freshId(item.call_id);
    const name = view.name.slice(0, LONGEST_NAME);
    if (id === item.call_id && name === view.name) return item;
    return 'name' in item ? { ...item, call_id: id, name } : { ...item, call_id: id };
  }

  /** Accepts an unknown item. An item of a known kind is unknown only if it lacks an id, a name or arguments. */
  #receiveUnknown(item: UnknownItem, call: Pick<Call, 'provider' | 'key'>): Item {
    const { raw } = item;
    if (isInterpretedType(raw.type)) throw broken(call, `a ${raw.type} without id, name or arguments`);
    const id = raw['call_id'];
    return typeof id === 'string' ? { ...item, raw: { ...raw, call_id: this.#freshId(id) } } : item;
  }

  #freshId(id: string): string {
    this.#taken ??= new Set(this.#history.flatMap((item) => callOf(item)?.callId ?? []));
    const isSound = SOUND_ID.test(id);
    const base = isSound ? id.slice(0, 30) : 'call';
    let fresh = isSound ? id : `${base}_${++this.#renamed}`;
    while (this.#taken.has(fresh)) fresh = `${base}_${++this.#renamed}`;
    this.#taken.add(fresh);
    return fresh;
  }
}
