// What approvals of commands and of changes share: three choices, a refusal with words, and matter that scrolls above them.

import { line } from '../../lines/line.ts';
import type { Canvas, Line } from '../../lines/line.ts';
import type { SessionEvent } from '../../../protocol/wire/event.ts';
import type { Op } from '../../../protocol/wire/op.ts';
import { EMPTY_FIELD, fieldLine, typeInto } from '../field.ts';
import type { Field } from '../field.ts';
import { signsOf } from '../../lines/signs.ts';
import { frame, roomFor } from '../frame.ts';
import type { KeyHint } from '../frame.ts';
import { listLines, movedCursor } from '../list.ts';
import type { KeyPress, Panel, PanelStep } from '../panel.ts';
import { clampTop, placeOf, scrolledTop, shownRows } from '../scroll.ts';
import type { Scrolled } from '../scroll.ts';

/** The answer to a request for approval, without the call that it is about. */
export type ApprovalAnswer = Pick<Extract<Op, { readonly type: 'exec_approval' }>, 'decision' | 'message'>;

/** What an approval asks. */
export interface Asked {
  readonly callId: string;
  readonly title: string;
  /** The command or the changes, row by row. */
  readonly matter: (canvas: Canvas) => readonly Line[];
  /** Why it is asked, and where it would run. */
  readonly facts: (canvas: Canvas) => readonly Line[];
  /** The second choice, which holds for equal calls as well. */
  readonly again: string;
  readonly answer: (answer: ApprovalAnswer) => Op;
}

interface ApprovalState {
  readonly isArmed: boolean;
  /** Of the three choices. */
  readonly cursor: number;
  /** The first shown row of the matter. */
  readonly top: number;
  /** The arrows scroll the matter instead of moving the cursor. */
  readonly isScrolling: boolean;
  /** What to do instead, while it is being typed. */
  readonly field?: Field;
}

/** The choice that takes words. */
const REFUSAL = 2;

/** Rows of the matter that stay in sight on a screen that cannot hold everything. */
const LEAST_MATTER = 3;

/** A panel that asks for approval. It passes keys on until it is armed. */
export function approvalPanel(asked: Asked): Panel {
  return panelOf(asked, { isArmed: false, cursor: 0, top: 0, isScrolling: false });
}

function panelOf(asked: Asked, state: ApprovalState): Panel {
  return {
    lines: (canvas) => draw(asked, state, canvas),
    press: (key, canvas) => pressed(asked, state, { key, canvas }),
    receive: (event) => (isOver(asked.callId, event) ? undefined : panelOf(asked, state)),
    ...(state.isArmed ? {} : { arm: () => panelOf(asked, { ...state, isArmed: true }) }),
  };
}

/** Whether the call no longer waits. */
function isOver(callId: string, event: SessionEvent): boolean {
  switch (event.type) {
    case 'tool_call_end':
    case 'exec_command_begin':
      return event.call_id === callId;
    case 'turn_complete':
    case 'turn_aborted':
    case 'shutdown_complete':
      return true;
    default:
      return false;
  }
}

function pressed(
  asked: Asked,
  state: ApprovalState,
  { key, canvas }: { readonly key: KeyPress; readonly canvas: Canvas },
): PanelStep {
  const stay = (changes: Partial<ApprovalState>): PanelStep => ({
    panel: panelOf(asked, { ...state, ...changes }),
  });
  const answer = (given: ApprovalAnswer): PanelStep => ({
    panel: undefined,
    effects: [{ type: 'send', op: asked.answer(given) }],
  });
  if (!state.isArmed) return { panel: panelOf(asked, state), isUntaken: true };
  if (state.field !== undefined) {
    if (key.key === 'escape' || key.key === 'tab')
      return { panel: panelOf(asked, { ...withoutField(state), cursor: REFUSAL }) };
    if (key.key === 'enter') {
      const message = state.field.text.trim();
      return answer({ decision: 'denied', ...(message === '' ? {} : { message }) });
    }
    const typed = typeInto(state.field, key);
    if (typed !== undefined) return stay({ field: typed });
  }
  const choose = (choice: number): PanelStep => {
    if (choice === 0) return answer({ decision: 'approved' });
    if (choice === 1) return answer({ decision: 'approved_for_session' });
    return stay({ field: EMPTY_FIELD, cursor: REFUSAL, isScrolling: false });
  };
  const size = matterSize(asked, state, canvas);
  const scrolls = size.total > size.room;
  switch (key.key) {
    case 'escape':
      return answer({ decision: 'abort' });
    case 'enter':
      return state.isScrolling ? stay({ isScrolling: false }) : choose(state.cursor);
    case 'tab':
      return choose(REFUSAL);
    case 'up':
      if (!state.isScrolling && state.cursor === 0 && scrolls) return stay({ isScrolling: true });
      break;
    case 'down':
      if (state.isScrolling && clampTop(state.top, size) === clampTop(size.total, size))
        return stay({ isScrolling: false });
      break;
  }
  const letter = ['1y', '2p', '3n'].findIndex((names) => key.text !== '' && names.includes(key.text));
  if (letter !== -1 && key.text.length === 1) return choose(letter);
  const isArrow = key.key === 'up' || key.key === 'down';
  if (isArrow && !state.isScrolling)
    return stay({ cursor: movedCursor(state.cursor, REFUSAL + 1, key) ?? state.cursor });
  const top = scrolledTop(clampTop(state.top, size), key, size);
  return stay(top === undefined ? {} : { top });
}

function withoutField({ isArmed, cursor, top, isScrolling }: ApprovalState): ApprovalState {
  return { isArmed, cursor, top, isScrolling };
}

/** The choices, or the field that refuses. */
function footOf(
  asked: Asked,
  { cursor, isArmed, isScrolling, field }: ApprovalState,
  canvas: Canvas,
): readonly Line[] {
  const choices = [
    line('1 Yes (y)'),
    line(`2 ${asked.again} (p)`),
    line('3 No, and say what to do instead (n)'),
  ];
  const view = { cursor, room: choices.length, isIdle: !isArmed || isScrolling };
  const rows = listLines(
    canvas,
    choices.map((choice) => [choice]),
    view,
  );
  if (field === undefined) return [[], ...rows];
  const prompt: Line = [{ text: '    ' }];
  const placeholder = 'What should it do instead? Empty: just no';
  return [[], ...rows, fieldLine(field, { width: canvas.width, prompt, placeholder })];
}

/** The facts, shortened where the screen is too small for the matter's first rows. */
function factsOf(asked: Asked, state: ApprovalState, canvas: Canvas): readonly Line[] {
  const room = roomFor(canvas, footOf(asked, state, canvas).length) - LEAST_MATTER - 2;
  return [[], ...asked.facts(canvas).slice(0, Math.max(0, room))];
}

function matterSize(asked: Asked, state: ApprovalState, canvas: Canvas): Scrolled {
  const taken = footOf(asked, state, canvas).length + factsOf(asked, state, canvas).length;
  const total = asked.matter(canvas).length;
  const room = roomFor(canvas, taken);
  // What does not fit takes one more row, which says so.
  return { total, room: total <= room ? room : Math.max(1, room - 1) };
}

function draw(asked: Asked, state: ApprovalState, canvas: Canvas): readonly Line[] {
  const size = matterSize(asked, state, canvas);
  const place = placeOf(state.top, size);
  const matter = shownRows(asked.matter(canvas), state.top, size.room);
  const { pointer, dot } = signsOf(canvas);
  const mark = state.isScrolling ? `${pointer} ` : '  ';
  const more = place === undefined ? [] : [line(`${mark}${place} ${dot} PgUp PgDn`, { hue: 'quiet' })];
  return frame(canvas, {
    title: asked.title,
    hue: 'warning',
    body: [...matter, ...more, ...factsOf(asked, state, canvas)],
    foot: footOf(asked, state, canvas),
    keys: keysOf(state, canvas),
  });
}

function keysOf({ isArmed, isScrolling, field }: ApprovalState, canvas: Canvas): readonly KeyHint[] {
  const { upDown } = signsOf(canvas);
  if (!isArmed) return [{ keys: 'One moment', does: 'while you type, keys go to your message' }];
  if (field !== undefined)
    return [
      { keys: 'Enter', does: 'refuse' },
      { keys: 'Esc', does: 'back' },
    ];
  if (isScrolling)
    return [
      { keys: upDown, does: 'scroll' },
      { keys: 'Enter', does: 'to the choices' },
      { keys: 'Esc', does: 'end the turn' },
    ];
  return [
    { keys: upDown, does: 'move', isMinor: true },
    { keys: 'Enter', does: 'choose' },
    { keys: 'Tab', does: 'no, do this instead', isMinor: true },
    { keys: 'Esc', does: 'no, and end the turn' },
  ];
}
