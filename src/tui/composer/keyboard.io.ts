// Bytes of standard input as keys and pastes. pi-tui knows the sequences of terminals (legacy, modifyOtherKeys, Kitty's protocol);
// this file joins what a terminal splits, and splits what it joins.

import {
  decodePrintableKey,
  isKeyRelease,
  parseKey,
  setKittyProtocolActive,
} from '@earendil-works/pi-tui/dist/keys.js';
import { StdinBuffer } from '@earendil-works/pi-tui/dist/stdin-buffer.js';
import type { KeyPress } from '../panels/panel.ts';

/** What the keyboard tells its listener. */
export type Heard =
  /** A key, or a paste: its `key` is empty. */
  | { readonly type: 'press'; readonly press: KeyPress }
  /** The terminal's window got or lost the keyboard; only if its reports are switched on. */
  | { readonly type: 'focus'; readonly hasFocus: boolean };

/**
 * How long a started sequence may wait for its rest, in milliseconds; then its beginning counts, so that a lone Esc is a key.
 * @source pi-tui's default: a person's key presses are at least three times as far apart
 */
const SEQUENCE_MS = 10;

/**
 * How long a paste may pause before it counts as complete, in milliseconds: a terminal that never sends its end would swallow
 * every later key.
 * @source twenty times the pause between the chunks of a paste through a slow connection of 100 ms
 */
const PASTE_PAUSE_MS = 2000;

const PASTE_END = '\u001B[201~';

/** Alt with an arrow, as terminals send it that put Esc before the arrow's own sequence. */
const ARROWS: ReadonlyMap<string, string> = new Map([
  ['\u001B[A', 'alt+up'],
  ['\u001B[B', 'alt+down'],
  ['\u001B[C', 'alt+right'],
  ['\u001B[D', 'alt+left'],
]);

/** Enter sends a carriage return, only Ctrl+J a line feed; but tmux sends one for Alt+Enter. */
const LINE_FEEDS: ReadonlyMap<string, string> = new Map([
  ['\n', 'ctrl+j'],
  ['\u001B\n', 'alt+enter'],
]);

/** Kitty's answer to the question which of its flags are on. */
// oxlint-disable-next-line no-control-regex
const KITTY_FLAGS = /^\u001B\[\?(\d{1,4})u$/;

// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u001F\u007F-\u009F]/;

/** Turns bytes into keys. Keys come in order; a partial sequence follows as soon as it is complete, or after `SEQUENCE_MS`. */
export class Keyboard {
  readonly #buffer = new StdinBuffer({ timeout: SEQUENCE_MS });
  // Joins characters that chunks split; invalid bytes become U+FFFD.
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  readonly #hear: (heard: Heard) => void;
  #isWriting = false;
  #hasEscape = false;
  /** The first half of a character outside the Basic Multilingual Plane: the buffer hands over UTF-16 units. */
  #half = '';
  #pause: NodeJS.Timeout | undefined;

  constructor(hear: (heard: Heard) => void) {
    this.#hear = hear;
    this.#buffer.on('data', (sequence) => this.#take(sequence));
    this.#buffer.on('paste', (text) => this.#press('', text));
  }

  /** Takes the next bytes of standard input. */
  write(bytes: Uint8Array): void {
    const text = this.#decoder.decode(bytes, { stream: true });
    if (text === '') return;
    clearTimeout(this.#pause);
    this.#process(text);
    if (isPasting(this.#buffer)) this.#pause = setTimeout(() => this.#process(PASTE_END), PASTE_PAUSE_MS);
  }

  /** Drops what is incomplete, and its timers. */
  close(): void {
    clearTimeout(this.#pause);
    this.#buffer.destroy();
  }

  #process(text: string): void {
    this.#isWriting = true;
    this.#buffer.process(text);
    this.#isWriting = false;
    this.#flushEscape();
  }

  #take(sequence: string): void {
    if (sequence === '') return;
    if (this.#hasEscape) {
      // Nobody presses Esc and an arrow within one read.
      const arrow = ARROWS.get(sequence);
      if (arrow !== undefined) {
        this.#hasEscape = false;
        this.#press(arrow, '');
        return;
      }
      this.#flushEscape();
    }
    if (sequence === '\u001B' && this.#isWriting) {
      this.#hasEscape = true;
      return;
    }
    if (sequence === '\u001B\u001B') {
      this.#press('escape', '');
      this.#press('escape', '');
      return;
    }
    if (sequence === '\u001B[I' || sequence === '\u001B[O') {
      this.#hear({ type: 'focus', hasFocus: sequence.endsWith('I') });
      return;
    }
    const flags = KITTY_FLAGS.exec(sequence)?.[1];
    if (flags !== undefined) {
      setKittyProtocolActive(flags !== '0');
      return;
    }
    this.#decode(sequence);
  }

  #decode(sequence: string): void {
    if (isKeyRelease(sequence)) return;
    const printed = decodePrintableKey(sequence) ?? (CONTROL.test(sequence) ? '' : sequence);
    const text = this.#half + printed;
    this.#half = '';
    if (/^[\uD800-\uDBFF]$/.test(text)) {
      this.#half = text;
      return;
    }
    if (text !== '') {
      this.#press(text === ' ' ? 'space' : text, text);
      return;
    }
    const key = LINE_FEEDS.get(sequence) ?? parseKey(sequence);
    if (key !== undefined) this.#press(key, '');
  }

  #flushEscape(): void {
    if (!this.#hasEscape) return;
    this.#hasEscape = false;
    this.#press('escape', '');
  }

  #press(key: string, text: string): void {
    this.#hear({ type: 'press', press: { key, text } });
  }
}

/** Whether the end of a paste is still to come, which the buffer knows and does not say. */
function isPasting(buffer: StdinBuffer): boolean {
  return (buffer as unknown as { readonly pasteMode: boolean }).pasteMode;
}
