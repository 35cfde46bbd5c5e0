// What left the session: pushes, pull requests and issues.

import { pushIn } from './git-output.ts';
import { linksIn } from './outputs.ts';
import { clip, detached } from './sentences.ts';
import type { Moment } from './files.ts';
import { gitCommandOf } from './shell.ts';
import type { SimpleCommand } from './shell.ts';
import type { Landmark } from './trail.ts';

const MAX_LANDMARKS = 60;
/** Characters of one text that are searched for links. */
const SEARCHED_LENGTH = 24_000;

/** How a script went. */
interface Finished {
  readonly output: string;
  readonly failed: boolean;
}

/** Collects deliveries; memory is bounded by the limits above. */
export class DeliveryLedger {
  /** By text, the newest mention last. */
  readonly #landmarks = new Map<string, Landmark>();

  /** Takes in a script. */
  addRun(simple: readonly SimpleCommand[], { output, failed }: Finished, { turn }: Moment): void {
    if (failed) return;
    for (const command of simple) {
      const isPush = gitCommandOf(command)?.verb === 'push';
      if (isPush && pushIn(output, undefined)?.result !== 'refused')
        this.#mark(`pushed: \`${clip(command.words.join(' '), 100)}\``, turn);
      if (command.words[0] === 'gh' && command.words.includes('create')) this.addLinks(output, turn);
    }
  }

  /** Takes in the addresses of pull requests and issues in a text. */
  addLinks(text: string, turn: number): void {
    if (!text.includes('https://')) return;
    for (const link of linksIn(text.slice(0, SEARCHED_LENGTH))) this.#mark(link, turn);
  }

  landmarks(): Landmark[] {
    return [...this.#landmarks.values()];
  }

  #mark(text: string, turn: number): void {
    this.#landmarks.delete(text);
    this.#landmarks.set(detached(text), { turn, text: detached(text) });
    for (const key of this.#landmarks.keys()) {
      if (this.#landmarks.size <= MAX_LANDMARKS) break;
      this.#landmarks.delete(key);
    }
  }
}
