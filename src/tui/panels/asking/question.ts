// Shows a question of the agent: its options and a row for words of your own.

import { line } from '../../lines/line.ts';
import type { Canvas, Line } from '../../lines/line.ts';
import { wrap } from '../../lines/wrap.ts';
import { EMPTY_FIELD, fieldLine, typeInto } from '../field.ts';
import type { Field } from '../field.ts';
import { signsOf } from '../../lines/signs.ts';
import { frame, roomFor } from '../frame.ts';
import { GUTTER, listLines, movedCursor } from '../list.ts';
import type { EventNamed } from '../../channel.ts';
import type { KeyPress, Panel, PanelStep } from '../panel.ts';
import { indented, paragraph } from '../wording.ts';

type QuestionEvent = EventNamed<'question'>;

interface QuestionState {
  readonly isArmed: boolean;
  /** Of the options and, last, the row for own words. */
  readonly cursor: number;
  readonly field: Field;
}

/** Options that a single digit can name. */
const DIGITS = 9;

/** A question. It passes keys on until it is armed. */
export function questionPanel(question: QuestionEvent): Panel {
  return panelOf(question, { isArmed: false, cursor: 0, field: EMPTY_FIELD });
}

function panelOf(question: QuestionEvent, state: QuestionState): Panel {
  return {
    lines: (canvas) => draw(question, state, canvas),
    press: (key) => pressed(question, state, key),
    receive: (event) => {
      const isOver =
        event.type === 'turn_complete' ||
        event.type === 'turn_aborted' ||
        event.type === 'shutdown_complete' ||
        (event.type === 'tool_call_end' && event.call_id === question.question_id);
      return isOver ? undefined : panelOf(question, state);
    },
    ...(state.isArmed ? {} : { arm: () => panelOf(question, { ...state, isArmed: true }) }),
  };
}

function pressed(question: QuestionEvent, state: QuestionState, key: KeyPress): PanelStep {
  const { options } = question;
  const { isArmed, cursor, field } = state;
  const stay = (changes: Partial<QuestionState> = {}): PanelStep => ({
    panel: panelOf(question, { ...state, ...changes }),
  });
  const answer = (text: string): PanelStep => ({
    panel: undefined,
    effects: [
      { type: 'send', op: { type: 'answer_question', question_id: question.question_id, answer: text } },
    ],
  });
  if (!isArmed) return { ...stay(), isUntaken: true };
  if (key.key === 'escape')
    return { panel: undefined, effects: [{ type: 'send', op: { type: 'interrupt' } }] };
  const moved =
    key.key === 'up' || key.key === 'down' ? movedCursor(cursor, options.length + 1, key) : undefined;
  if (moved !== undefined) return stay({ cursor: moved });
  if (key.key === 'tab') return stay({ cursor: cursor === options.length ? 0 : options.length });
  if (cursor === options.length) {
    if (key.key !== 'enter') return stay({ field: typeInto(field, key) ?? field });
    return field.text.trim() === '' ? stay() : answer(field.text.trim());
  }
  const chosen = key.key === 'enter' ? cursor : digitOf(key.text);
  const option = chosen === undefined ? undefined : options[chosen];
  if (option !== undefined) return answer(option.label);
  // The digit behind the last option is that of the row for own words.
  if (chosen === options.length) return stay({ cursor: options.length });
  // Any other letter begins an answer in own words.
  const typed = key.text.trim() === '' ? undefined : typeInto(field, key);
  return typed === undefined ? stay() : stay({ cursor: options.length, field: typed });
}

/** The position that a digit names, counted from 0. */
function digitOf(text: string): number | undefined {
  return /^[1-9]$/.test(text) ? Number(text) - 1 : undefined;
}

function draw(
  question: QuestionEvent,
  { isArmed, cursor, field }: QuestionState,
  canvas: Canvas,
): readonly Line[] {
  const { options } = question;
  const { upDown } = signsOf(canvas);
  const room = roomFor(canvas);
  const text = paragraph(question.question, canvas.width - GUTTER);
  // At least half of the room is for the options.
  const asked = indented(text.slice(0, Math.max(1, Math.floor(room / 2) - 1)), GUTTER);
  const width = canvas.width - GUTTER;
  const items = [
    ...options.map(({ label, description }, index) => [
      line(`${numberOf(index)}${label}`),
      ...(description === undefined
        ? []
        : indented(wrap(line(description, { hue: 'quiet' }), { width: width - 2 }), 2)),
    ]),
    [ownWords(field, { width, options: options.length, isIdle: !isArmed || cursor !== options.length })],
  ];
  const list = listLines(canvas, items, { cursor, room: room - asked.length - 1, isIdle: !isArmed });
  return frame(canvas, {
    title: 'The agent asks',
    hue: 'warning',
    body: [...asked, [], ...list],
    keys: isArmed
      ? [
          ...(options.length === 0 ? [] : [{ keys: upDown, does: 'move', isMinor: true } as const]),
          { keys: 'Enter', does: 'answer' },
          ...(options.length === 0 ? [] : [{ keys: 'Tab', does: 'own words', isMinor: true } as const]),
          { keys: 'Esc', does: 'end the turn' },
        ]
      : [{ keys: 'One moment', does: 'while you type, keys go to your message' }],
  });
}

function numberOf(index: number): string {
  return index < DIGITS ? `${index + 1} ` : '  ';
}

function ownWords(
  field: Field,
  { width, options, isIdle }: { readonly width: number; readonly options: number; readonly isIdle: boolean },
): Line {
  const prompt: Line = options === 0 ? [] : [{ text: numberOf(options) }];
  return fieldLine(field, { width, prompt, placeholder: 'Your own words', isIdle });
}
