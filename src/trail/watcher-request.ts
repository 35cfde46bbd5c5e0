// Decides whether the agent is working for the user or answering the watcher: one rule for all readers of a log.

import type { MessageItem } from '../protocol/item.ts';
import { authorOf, textOfParts } from '../protocol/item.ts';
import { markerOf } from '../protocol/marker.ts';
import type { LogRecord } from '../protocol/record.ts';

/** Text in backticks in a request for notes that may be the path of the notes file. */
const QUOTED_PATH = /`([\w./-]{3,400})`/g;

/**
 * Follows the watcher's requests through a log. From a request until the user's next message, a handoff, a retraction or a
 * turn, the agent's messages answer the watcher and are not part of its work. Its calls may be either.
 */
export class WatcherRequests {
  #isAnswering = false;
  #notes: readonly string[] = [];

  /** Whether the agent's current messages answer the watcher. */
  get isAnswering(): boolean {
    return this.#isAnswering;
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

  /** Whether a call, judging by its arguments, only writes the notes that the watcher requested. */
  isForNotes(input: string): boolean {
    return this.#isAnswering && this.#notes.some((path) => input.includes(path));
  }

  #addMessage(message: MessageItem): void {
    const author = authorOf(message);
    if (author === 'user') return this.#end();
    const step = message.origin?.step;
    if (author !== 'synthetic' || step === 'packet') return;
    // A message without a step withdraws a request.
    if (step === undefined || step === 'handoff') return this.#end();
    this.#isAnswering = true;
    this.#notes = [...this.#notes, ...notesIn(textOfParts(message.content))];
  }

  #end(): void {
    this.#isAnswering = false;
    this.#notes = [];
  }
}

/** The file that a request for notes names, and its directory, which may have to be created first. */
function notesIn(request: string): readonly string[] {
  if (markerOf(request)?.steps.includes('scratch') !== true) return [];
  return [...request.matchAll(QUOTED_PATH)].flatMap(([, path = '']) =>
    path.includes('/') ? [path, path.slice(0, path.lastIndexOf('/'))] : [path],
  );
}
