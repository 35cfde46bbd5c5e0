// Whether the agent works for the user or answers the watcher: one rule for all that read a log.

import type { MessageItem } from '../protocol/item.ts';
import { authorOf, textOfParts } from '../protocol/item.ts';
import { markerOf } from '../protocol/marker.ts';
import type { LogRecord } from '../protocol/record.ts';

/** What a request for notes puts between backticks, where it may be a path: the file of the notes. */
const QUOTED_PATH = /`([\w./-]{3,400})`/g;

/**
 * Follows the requests of the watcher through a log. From a request to the next message of the user, handoff, retraction or
 * turn, what the agent says answers the watcher and is not part of its work. What it does may be either.
 */
export class Errand {
  #isAsked = false;
  #notes: readonly string[] = [];

  /** Whether what the agent says now answers the watcher. */
  get isAsked(): boolean {
    return this.#isAsked;
  }

  /** Takes in the next record. */
  add(record: LogRecord): void {
    switch (record.type) {
      case 'turn_started':
      case 'turn_complete':
      case 'turn_aborted':
        return this.#end();
      case 'item':
        if (record.item.type === 'message' && record.item.role === 'user') this.#addMessage(record.item);
        return;
      default:
    }
  }

  /** Whether a call, by its arguments, only writes the notes that the watcher asked for. */
  isForNotes(input: string): boolean {
    return this.#isAsked && this.#notes.some((path) => input.includes(path));
  }

  #addMessage(message: MessageItem): void {
    const author = authorOf(message);
    if (author === 'user') return this.#end();
    const step = message.origin?.step;
    if (author !== 'synthetic' || step === 'packet') return;
    // A message without a step takes a request back.
    if (step === undefined || step === 'handoff') return this.#end();
    this.#isAsked = true;
    this.#notes = [...this.#notes, ...notesIn(textOfParts(message.content))];
  }

  #end(): void {
    this.#isAsked = false;
    this.#notes = [];
  }
}

/** The file that a request for notes names, and its folder, which may have to be made first. */
function notesIn(request: string): readonly string[] {
  if (markerOf(request)?.steps.includes('scratch') !== true) return [];
  return [...request.matchAll(QUOTED_PATH)].flatMap(([, path = '']) =>
    path.includes('/') ? [path, path.slice(0, path.lastIndexOf('/'))] : [path],
  );
}
