// Where a thread is in the recording that it rehearses. The id of every played item contains its place, so that the
// thread's records determine the position: after a compaction, in a new process, in a fork.

import { authorOf, textOfParts } from '../../protocol/item.ts';
import type { Item } from '../../protocol/item.ts';
import type { LogRecord } from '../../protocol/record.ts';

/** The key of the provider that plays recordings; it identifies items that no other provider made. */
export const REHEARSAL = 'rehearsal';

/** A place in a script: a step, and an item of it, both counted from 0. */
export interface ScriptPosition {
  readonly step: number;
  readonly part: number;
}

const ID = /^rehearsal-([0-9a-f]{8})-(\d{1,9})-(\d{1,9})$/;

/**
 * An item with its place as its id. The agent's items no longer belong to another provider, because none can accept
 * them back.
 */
export function placedItem(item: Item, fingerprint: string, { step, part }: ScriptPosition): Item {
  const id = placeId(fingerprint, { step, part });
  return authorOf(item) === 'agent' ? { ...item, id, provider: REHEARSAL } : { ...item, id };
}

/** The id of an item played from a place. */
export function placeId(fingerprint: string, { step, part }: ScriptPosition): string {
  return `rehearsal-${fingerprint}-${step}-${part}`;
}

/** The place of an item that was played from this script; undefined for every other item. */
export function placeOf({ id }: Pick<Item, 'id'>, fingerprint: string): ScriptPosition | undefined {
  const match = id === undefined ? null : ID.exec(id);
  return match?.[1] === fingerprint ? { step: Number(match[2]), part: Number(match[3]) } : undefined;
}

/** Whether an agent, or another recording, produced the item: the thread is then not a rehearsal of this script. */
export function isOfOthers(item: Item, fingerprint: string): boolean {
  const played = item.id === undefined ? undefined : ID.exec(item.id)?.[1];
  if (played !== undefined) return played !== fingerprint;
  return authorOf(item) === 'agent' && item.provider !== REHEARSAL;
}

/** The part of a script that determines the position. */
interface Steps {
  readonly fingerprint: string;
  readonly steps: readonly { readonly items: readonly Item[] }[];
}

/** Follows a thread through its script, one record at a time. */
export class PlaceFold {
  readonly #script: Steps;
  #place: ScriptPosition = { step: 0, part: 0 };
  #unanswered: string[] = [];
  #isTurnNew = false;
  #isForeign = false;

  constructor(script: Steps) {
    this.#script = script;
  }

  /** The next place. At the end of the script its step is the number of steps. */
  get place(): ScriptPosition {
    return this.#place;
  }

  /** The user's texts that no recording contains and that are unanswered. */
  get unanswered(): readonly string[] {
    return this.#unanswered;
  }

  /** The running turn began with unrecorded input. */
  get isForeignTurn(): boolean {
    return this.#isForeign;
  }

  add(record: LogRecord): void {
    if (record.type === 'turn_started') {
      this.#isTurnNew = true;
      this.#isForeign = false;
      this.#unanswered = [];
    } else if (record.type === 'item') this.#addItem(record.item);
  }

  #addItem(item: Item): void {
    const at = placeOf(item, this.#script.fingerprint);
    const isForeign = at === undefined && item.type === 'message' && authorOf(item) === 'user';
    if (this.#isTurnNew) this.#isForeign = isForeign;
    this.#isTurnNew = false;
    if (at !== undefined) this.#advance(at);
    if (isForeign) this.#unanswered.push(textOfParts(item.content));
    else if (authorOf(item) === 'agent') this.#unanswered = [];
  }

  #advance({ step, part }: ScriptPosition): void {
    const { step: nextStep, part: nextPart } = this.#place;
    if (step < nextStep || (step === nextStep && part < nextPart)) return;
    const parts = this.#script.steps[step]?.items.length ?? 0;
    this.#place = part + 1 < parts ? { step, part: part + 1 } : { step: step + 1, part: 0 };
  }
}
