// The terminal UI's screen without a terminal: events in, the scrollback and the live block out, as text that people read in review.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { SessionEvent } from '../../src/protocol/wire/event.ts';
import type { Op } from '../../src/protocol/wire/op.ts';
import { takeFinished, withAnswer } from '../../src/tui/chat/chat.ts';
import type { Chat } from '../../src/tui/chat/chat.ts';
import { Composer } from '../../src/tui/composer/composer.ts';
import { composeFrame } from '../../src/tui/frame.ts';
import type { Canvas, Line } from '../../src/tui/lines/line.ts';
import { textOf } from '../../src/tui/lines/line.ts';
import { lineWidth } from '../../src/tui/lines/wrap.ts';
import { Printer } from '../../src/tui/printer.ts';
import { NO_THREADS, shownChat, takeThreadEvent, withShown } from '../../src/tui/threads.ts';
import type { Threads } from '../../src/tui/threads.ts';

/** Terminals that a frame is drawn for. */
export const CANVASES = {
  usual: { width: 80, rows: 24, hasUnicode: true },
  narrow: { width: 50, rows: 24, hasUnicode: true },
  large: { width: 200, rows: 60, hasUnicode: true },
  ascii: { width: 80, rows: 24, hasUnicode: false },
} as const satisfies Readonly<Record<string, Canvas>>;

/** Milliseconds since 1970 at which every story begins. */
const BEGIN_MS = 1_800_000_000_000;

/** Signs that a terminal without Unicode lacks. */
const SIGNS = /[\u00A0-\u00BF\u2010-\u2BFF]/;

/** One screen. */
export class StoryScreen {
  readonly #canvas: Canvas;
  readonly #printer = new Printer();
  readonly #composer = new Composer({ prompts: [], now: () => BEGIN_MS, wantFiles: () => undefined });
  #threads: Threads = NO_THREADS;
  #now = BEGIN_MS;

  constructor(canvas: Canvas) {
    this.#canvas = canvas;
  }

  get chat(): Chat {
    return shownChat(this.#threads);
  }

  /** Takes an event. @returns the rows that it adds to the scrollback */
  take(event: SessionEvent): readonly string[] {
    this.#threads = takeThreadEvent(this.#threads, event, this.#now);
    return this.#print();
  }

  /** The user answers a request. */
  answer(op: Op): void {
    this.#threads = withShown(this.#threads, withAnswer(this.chat, op));
  }

  /** Lets time pass, in milliseconds. */
  wait(ms: number): void {
    this.#now += ms;
  }

  #print(): readonly string[] {
    const { chat, finished } = takeFinished(this.chat);
    this.#threads = withShown(this.#threads, chat);
    return this.#printer.print(finished, this.#canvas).map((row) => this.#checked(row));
  }

  /** The block at the bottom. */
  live(): readonly string[] {
    const { rows } = composeFrame({
      chat: this.chat,
      composer: this.#composer.draw(this.#canvas),
      panel: undefined,
      hint: '',
      canvas: this.#canvas,
      homeDirectory: '/home/ada',
      now: this.#now,
      before: this.#printer.last,
    });
    return rows.map((row) => this.#checked(row));
  }

  #checked(row: Line): string {
    const { width, hasUnicode } = this.#canvas;
    const text = textOf(row);
    assert.ok(lineWidth(row) <= width, `${lineWidth(row)} of ${width} columns: ${text}`);
    assert.doesNotMatch(text, /[\n\r]/);
    if (!hasUnicode) assert.doesNotMatch(text, SIGNS);
    return text.trimEnd();
  }
}

/** Compares frames with test/tui/NAME.frames.txt, or writes it with `BATON_FRAMES=write`. */
export function checkStory(
  name: string,
  frames: readonly (readonly [title: string, rows: readonly string[]])[],
): void {
  const path = fileURLToPath(new URL(`../tui/${name}.frames.txt`, import.meta.url));
  const drawn = frames.map(([title, rows]) => `######## ${title}\n${rows.join('\n')}\n`).join('\n');
  if (process.env['BATON_FRAMES'] === 'write') writeFileSync(path, drawn);
  assert.equal(drawn, readFileSync(path, 'utf8'));
}
