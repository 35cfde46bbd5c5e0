// A panel takes the composer's place for one purpose: an approval, a question, a list to choose from, a report. It is a value: a
// key or an event makes the next one, and what should happen leaves it as effects.

import type { SessionEvent } from '../../protocol/wire/event.ts';
import type { Op } from '../../protocol/wire/op.ts';
import type { Canvas, Line } from '../lines/line.ts';

/** A key as the terminal sent it. */
export interface KeyPress {
  /** `enter`, `escape`, `up`, `ctrl+c`, `shift+tab`, `a`: names as the library of keys has them; empty for pasted text. */
  readonly key: string;
  /** The text that it types; empty for keys that type nothing. */
  readonly text: string;
}

/** What a panel or a command wants done. */
export type Effect =
  /** An op of the protocol, for the thread that is shown. */
  | { readonly type: 'send'; readonly op: Op }
  /** Lines for the scrollback. */
  | { readonly type: 'print'; readonly lines: readonly Line[] }
  /** Text for the composer: replaces the draft. */
  | { readonly type: 'draft'; readonly text: string }
  /** Shows another thread of this process, or opens it first. */
  | { readonly type: 'resume'; readonly session: string }
  | { readonly type: 'quit' };

/** What a key does to a panel. */
export interface PanelStep {
  /** Undefined: the panel closes. */
  readonly panel: Panel | undefined;
  readonly effects?: readonly Effect[];
  /** The key was not meant for the panel: the composer takes it, as if the panel had not opened. */
  readonly isUntaken?: true;
}

/**
 * How long no key may arrive before a panel that opened by itself takes keys, in milliseconds: what somebody was typing
 * then must not answer it. @source the terminals of Claude Code and Codex, measured: a dialog that opens while you type
 * takes your Enter; 400 ms is longer than the pause between two keys of a slow typist
 */
export const ARMING_MS = 400;

/** What replaces the composer for a while. Immutable. */
export interface Panel {
  /** At most `canvas.rows` rows of at most `canvas.width` columns; the last one names the keys. */
  lines(canvas: Canvas): readonly Line[];
  /** @param canvas the canvas of the newest `lines`: a page is as long as the screen */
  press(key: KeyPress, canvas: Canvas): PanelStep;
  /**
   * Present while the panel passes every key on to the composer: call it once `ARMING_MS` have gone by since the panel
   * opened, or since the newest key. Returns the panel that takes keys.
   */
  arm?(): Panel;
  /** Takes an event of the thread; undefined: the panel has become pointless and closes. Absent: events do not concern it. */
  receive?(event: SessionEvent): Panel | undefined;
}
