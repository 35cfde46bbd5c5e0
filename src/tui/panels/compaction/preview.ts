// `/compact --preview`: what a compaction would keep, summarise and drop, as lists to move between.

import { line } from '../../lines/line.ts';
import type { Canvas, Line } from '../../lines/line.ts';
import type { Receipt, ReceiptEntry, TokensByCategory } from '../../../protocol/receipt.ts';
import { plural } from '../../../tokens/words.ts';
import { EMPTY_FIELD, fieldLine, typeInto } from '../field.ts';
import type { Field } from '../field.ts';
import { signsOf } from '../../lines/signs.ts';
import { frame, roomFor } from '../frame.ts';
import type { KeyHint } from '../frame.ts';
import { listLines, movedCursor } from '../list.ts';
import type { EventNamed } from '../../channel.ts';
import type { KeyPress, Panel, PanelStep } from '../panel.ts';
import { shortTokens } from '../../lines/words.ts';
import { fact, paragraph, spoken } from '../wording.ts';

type Preview = EventNamed<'compact_preview'>;

/** One row of a list, and what opening it says. */
interface Entry {
  readonly name: string;
  readonly tokens: number;
  readonly about: string;
}

interface FateList {
  readonly title: string;
  readonly tokens: number;
  readonly entries: readonly Entry[];
}

/** A text that is being typed: to pin it, or to guide the summary. */
interface Typing {
  readonly purpose: 'pin' | 'compact';
  readonly field: Field;
}

interface PreviewState {
  readonly group: number;
  readonly cursor: number;
  readonly isOpen: boolean;
  readonly pinned: readonly string[];
  readonly typing?: Typing;
}

/** The lists of a preview. Nothing is changed until `c` and Enter. */
export function previewPanel(preview: Preview): Panel {
  const groups = groupsOf(preview);
  const first = Math.max(
    0,
    groups.findIndex(({ entries }) => entries.length > 0),
  );
  return panelOf(preview, { group: first, cursor: 0, isOpen: false, pinned: [] });
}

function panelOf(preview: Preview, state: PreviewState): Panel {
  return {
    lines: (canvas) => draw(preview, state, canvas),
    press: (key) => pressed(preview, state, key),
    receive: (event) =>
      event.type === 'compact_completed' || event.type === 'micro_compact_completed'
        ? undefined
        : panelOf(preview, state),
  };
}

function pressed(preview: Preview, state: PreviewState, key: KeyPress): PanelStep {
  const stay = (changes: Partial<PreviewState>): PanelStep => ({
    panel: panelOf(preview, { ...state, ...changes }),
  });
  if (state.typing !== undefined) return typed(preview, state, { key, typing: state.typing });
  const groups = groupsOf(preview);
  const entries = groups[state.group]?.entries ?? [];
  const turnTo = (step: number): PanelStep =>
    groups.length === 0
      ? stay({})
      : stay({ group: (state.group + step + groups.length) % groups.length, cursor: 0 });
  switch (key.key) {
    case 'escape':
      return state.isOpen ? stay({ isOpen: false }) : { panel: undefined };
    case 'enter':
      return stay({ isOpen: !state.isOpen && entries.length > 0 });
    case 'tab':
    case 'right':
      return turnTo(1);
    case 'shift+tab':
    case 'left':
      return turnTo(-1);
  }
  if (key.text === 'p') return stay({ typing: { purpose: 'pin', field: EMPTY_FIELD } });
  if (key.text === 'c') return stay({ typing: { purpose: 'compact', field: EMPTY_FIELD } });
  return stay({ cursor: movedCursor(state.cursor, entries.length, key) ?? state.cursor });
}

function typed(
  preview: Preview,
  state: PreviewState,
  { key, typing: { purpose, field } }: { readonly key: KeyPress; readonly typing: Typing },
): PanelStep {
  const { typing: _done, ...rest } = state;
  if (key.key === 'escape') return { panel: panelOf(preview, rest) };
  if (key.key !== 'enter')
    return {
      panel: panelOf(preview, { ...state, typing: { purpose, field: typeInto(field, key) ?? field } }),
    };
  const text = field.text.trim();
  if (purpose === 'compact') {
    const instructions = text === '' ? {} : { instructions: text };
    const op = {
      type: 'compact',
      trigger: { type: 'user' },
      strategy: preview.strategy,
      ...instructions,
    } as const;
    return { panel: undefined, effects: [{ type: 'send', op }] };
  }
  if (text === '') return { panel: panelOf(preview, rest) };
  return {
    panel: panelOf(preview, { ...rest, pinned: [...state.pinned, text] }),
    effects: [{ type: 'send', op: { type: 'pin', text } }],
  };
}

/** The three lists; none if only tool results are cleared. */
function groupsOf({ receipt: raw }: Preview): readonly FateList[] {
  if (raw === null) return [];
  // Its schema is that of receipts; the event promises no more than its version.
  const receipt = raw as unknown as Receipt;
  const { kept, summarised, dropped, cut, restoredFiles, summaryTokens } = receipt;
  return [
    {
      title: 'Keep',
      tokens: kept.tokens,
      entries: [
        ...entriesOf(kept, 'stay as they are'),
        { name: 'The summary', tokens: summaryTokens, about: 'It replaces everything under Summarise.' },
        ...restoredFiles.map(({ path, tokens, note }) => ({
          name: path,
          tokens,
          about: `The present content of this file is given back to the model.${note === undefined ? '' : ` ${note}`}`,
        })),
      ],
    },
    {
      title: 'Summarise',
      tokens: summarised.tokens,
      entries: entriesOf(summarised, 'go into the summary, which is much shorter'),
    },
    {
      title: 'Drop',
      tokens: dropped.tokens + (cut?.tokens ?? 0),
      entries: [
        ...entriesOf(dropped, 'leave without a trace in the summary'),
        ...categoryEntries(
          cut?.byCategory ?? {},
          'Cut from kept messages: images, and the middle of long ones.',
        ).map((entry) => ({ ...entry, name: `${entry.name}, cut` })),
      ],
    },
  ];
}

function entriesOf({ items, count, byCategory }: ReceiptEntry, fate: string): readonly Entry[] {
  const places = items.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(', ');
  const where = places === '' ? '' : ` Positions in the log, of this whole list: ${places}.`;
  return categoryEntries(byCategory, `They ${fate}. The list has ${plural(count, 'item')}.${where}`);
}

function categoryEntries(byCategory: TokensByCategory, about: string): readonly Entry[] {
  return Object.entries(byCategory)
    .filter(([, tokens]) => tokens > 0)
    .toSorted(([, one], [, other]) => other - one)
    .map(([category, tokens]) => ({ name: categoryName(category), tokens, about }));
}

function categoryName(category: string): string {
  const words = spoken(category);
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}

function draw(preview: Preview, state: PreviewState, canvas: Canvas): readonly Line[] {
  const { arrow, dot } = signsOf(canvas);
  const { pre_compact_tokens: before, post_compact_tokens: after } = preview;
  const groups = groupsOf(preview);
  const foot = footOf(state, canvas);
  const head: readonly Line[] = [
    tabRow(groups, state.group, dot),
    ...(groups.length === 0
      ? paragraph(
          'Only old tool results would be cleared; every message stays. No model is asked.',
          canvas.width,
        )
      : []),
    [],
  ];
  const { entries = [] } = groups[state.group] ?? {};
  const opened = state.isOpen ? entries[state.cursor] : undefined;
  const about = opened === undefined ? [] : [[], ...paragraph(opened.about, canvas.width)];
  const room = roomFor(canvas, foot.length + head.length + about.length);
  const items = entries.map(({ name, tokens }) => [
    [{ text: `${shortTokens(tokens).padStart(6)}  `, hue: 'number' }, { text: name }] as const,
  ]);
  const list =
    items.length === 0 && groups.length > 0
      ? [line('  Nothing.', { hue: 'quiet' })]
      : listLines(canvas, items, { cursor: state.cursor, room });
  return frame(canvas, {
    title: 'What a compaction would do',
    note: `${shortTokens(before)} ${arrow} ${shortTokens(after)}`,
    body: [...head, ...list, ...about],
    foot,
    keys: keysOf(state, groups.length > 0),
  });
}

/** The names of the lists; the open one is in brackets. */
function tabRow(groups: readonly FateList[], current: number, dot: string): Line {
  return groups.flatMap(({ title, tokens }, index): Line => {
    const words = `${title} ${shortTokens(tokens)}`;
    return [
      ...line(index === 0 ? '' : ` ${dot} `, { hue: 'quiet' }),
      index === current ? { text: `[${words}]`, hue: 'accent', isBold: true } : { text: words },
    ];
  });
}

function footOf({ typing, pinned }: PreviewState, { width }: Canvas): readonly Line[] {
  const pins = pinned.flatMap((text) =>
    fact('Pinned', line(text.replaceAll(/\s+/g, ' ')), width).slice(0, 1),
  );
  if (typing === undefined) return pins.length === 0 ? [] : [[], ...pins];
  const [name, placeholder] =
    typing.purpose === 'pin'
      ? ['Keep       ', 'a text to keep word for word through every compaction']
      : ['Emphasise  ', 'what the summary should emphasise; empty: nothing special'];
  const prompt: Line = [{ text: `${name} `, hue: 'quiet' }];
  return [[], ...pins, fieldLine(typing.field, { width, prompt, placeholder })];
}

function keysOf({ typing, isOpen }: PreviewState, hasLists: boolean): readonly KeyHint[] {
  if (typing !== undefined)
    return [
      { keys: 'Enter', does: typing.purpose === 'pin' ? 'pin' : 'compact now' },
      { keys: 'Esc', does: 'back' },
    ];
  return [
    ...(hasLists
      ? [
          { keys: 'Tab', does: 'list' },
          { keys: 'Enter', does: isOpen ? 'fold' : 'open', isMinor: true } as const,
        ]
      : []),
    { keys: 'p', does: 'pin a text' },
    { keys: 'c', does: 'compact' },
    { keys: 'Esc', does: isOpen ? 'back' : 'close' },
  ];
}
