// Checklists in files: which boxes are ticked, and which open one comes first. Users ask agents to do "the first unchecked
// task".

import type { FileAction } from '../calls/calls.ts';
import type { LogMoment } from './files.ts';
import { clip, detached, oneLine } from '../../text/sentences.ts';
import type { Checklist } from '../trail.ts';

const MOST_FILES = 8;
const MOST_BOXES = 400;
const LEAST_BOXES = 2;
const TEXT_LENGTH = 160;

/** A row with a box, after the line number that a reader may have added. */
const BOX_ROW = /^(?: {0,8}\d{1,6}(?:→|\t|: | {2}))?[^\S\n\r\u2028\u2029]*[-*+] \[([ xX])\] +(\S.*)$/gm;

interface KnownList {
  turn: number;
  isEdited: boolean;
  /** Whether they are ticked, by their text, in file order. */
  boxes: Map<string, boolean>;
}

/** Follows the boxes of the files that were read or written last. */
export class ChecklistLedger {
  readonly #lists = new Map<string, KnownList>();

  /** Takes in what a reader showed of a file, in full or in part. */
  noteRead(path: string, text: string, { turn }: LogMoment): void {
    if (!text.includes('] ')) return;
    const boxes = boxesIn(text);
    const known = this.#lists.get(path);
    if (known === undefined && boxes.size < LEAST_BOXES) return;
    const isWhole = known === undefined || boxes.size >= known.boxes.size;
    this.#keep(path, {
      turn,
      isEdited: known?.isEdited ?? false,
      boxes: isWhole ? boxes : new Map([...known.boxes, ...boxes]),
    });
  }

  /** Takes in what was done to a file. */
  noteChange({ action, path, to, added, replaced = [] }: FileAction, { turn }: LogMoment): void {
    if (action === 'read') return;
    const known = this.#lists.get(path);
    this.#lists.delete(path);
    if (action === 'create') this.#create(path, added ?? '', turn);
    // After an edit of unknown content or a restore by git, nothing is known.
    else if (known !== undefined && (replaced.length > 0 || action === 'move')) {
      const boxes = replaced.reduce((before, { old, new: text }) => changed(before, old, text), known.boxes);
      this.#keep(to ?? path, { turn, isEdited: true, boxes });
    }
  }

  /** The list used last, if that was in this turn. A list without a ticked box is a form. */
  newest(turn: number): Checklist | undefined {
    const [path, list] = [...this.#lists].at(-1) ?? [];
    if (path === undefined || list === undefined || list.turn !== turn) return undefined;
    const open = [...list.boxes].flatMap(([text, isTicked]) => (isTicked ? [] : [text]));
    const ticked = list.boxes.size - open.length;
    return ticked === 0 && !list.isEdited ? undefined : { path, ticked, open };
  }

  #create(path: string, text: string, turn: number): void {
    const boxes = boxesIn(text);
    if (boxes.size >= LEAST_BOXES) this.#keep(path, { turn, isEdited: true, boxes });
  }

  #keep(path: string, list: KnownList): void {
    this.#lists.delete(path);
    this.#lists.set(detached(path), list);
    const oldest = this.#lists.keys().next();
    if (this.#lists.size > MOST_FILES && oldest.done !== true) this.#lists.delete(oldest.value);
  }
}

function boxesIn(text: string): Map<string, boolean> {
  const boxes = new Map<string, boolean>();
  for (const [, mark, label = ''] of text.matchAll(BOX_ROW)) {
    if (boxes.size === MOST_BOXES) break;
    boxes.set(detached(clip(oneLine(label), TEXT_LENGTH)), mark !== ' ');
  }
  return boxes;
}

/**
 * The boxes after an edit: new ones replace removed ones at their place, one by one if their numbers match. An edit may name a
 * row by its beginning.
 */
function changed(before: Map<string, boolean>, old: string, text: string): Map<string, boolean> {
  const gone = [...boxesIn(old).keys()];
  const come = [...boxesIn(text)];
  const isOneByOne = gone.length === come.length;
  const rows = [...before].flatMap(([said, isTicked]): [string, boolean][] => {
    const at = gone.findIndex((beginning) => said.startsWith(beginning));
    if (at < 0) return [[said, isTicked]];
    if (!isOneByOne) return come.splice(0);
    const [now, isTickedNow] = come[at] ?? ['', false];
    return [[`${now}${said.slice(gone[at]?.length)}`, isTickedNow]];
  });
  return new Map([...rows, ...(isOneByOne ? [] : come)]);
}
