// Every key of the terminal: when it counts, what it does, and the words of the help. Pure.

/** What a second press of the same key does. */
export type Armed = 'exit' | 'clear' | 'back';

/** What decides about a key. */
export interface KeySituation {
  /** What has replaced the composer. A panel that does not take keys yet counts as `none`. */
  readonly panel: 'none' | 'approval' | 'other';
  /** A turn, a compaction or a shell line runs. */
  readonly isWorking: boolean;
  /** Something is typed. */
  readonly hasDraft: boolean;
  /** The list of completions is open. */
  readonly isCompleting: boolean;
  /** Messages wait for the end of the turn. */
  readonly hasQueue: boolean;
  /** What the last key armed; undefined after another key, and after `ARMED_MS`. */
  readonly armed: Armed | undefined;
}

/**
 * How long a second press counts, in milliseconds.
 * @source the longest wait of three agents measured; the shortest, 0.25 s, is too short for most people
 */
export const ARMED_MS = 2500;

/** What a key does. */
export type KeyAction =
  /** The draft goes to the composer's owner: a message, a command or a shell line. */
  | 'send'
  /** The draft waits for the end of the turn. */
  | 'queue'
  | 'newline'
  /** Takes the selected completion; `accept` also sends what is complete by it. */
  | 'complete'
  | 'accept'
  | 'close_list'
  | 'next'
  | 'previous'
  | 'clear'
  /** Anything else that edits the draft: the composer's `press`. */
  | 'edit'
  /** Belongs to the panel: its `press`. */
  | 'panel'
  /** Closes the panel: its `press` with Esc. */
  | 'cancel_panel'
  | 'interrupt'
  | 'arm'
  | 'back'
  | 'exit'
  | 'suspend'
  | 'redraw'
  | 'expand'
  | 'cycle_mode'
  | 'help'
  | 'take_queue_back'
  | 'search_history';

/** Under which heading the help lists a key. */
export const KEY_GROUPS = ['Writing', 'Working', 'Anywhere', 'Panels'] as const;
export type KeyGroup = (typeof KEY_GROUPS)[number];

/** A row of the table. */
export interface KeyRow {
  /** Names of keys, as `KeyPress.key` has them. */
  readonly keys: readonly string[];
  /** The situations in which it counts: all of these values. Rows of one key never count in the same situation. */
  readonly when: Partial<KeySituation>;
  readonly action: KeyAction;
  /** With the action `arm`: what the next press does. */
  readonly arms?: Armed;
  readonly group: KeyGroup;
  /** For the help; empty: another row says it. */
  readonly words: string;
}

/** No panel is open. */
const COMPOSER = { panel: 'none' } as const;
const LISTLESS = { ...COMPOSER, isCompleting: false } as const;
const LIST = { ...COMPOSER, isCompleting: true } as const;
const DRAFT = { ...LISTLESS, hasDraft: true } as const;
const EMPTY = { ...LISTLESS, hasDraft: false } as const;

/** The keys. */
export const KEYS: readonly KeyRow[] = [
  {
    keys: ['enter'],
    when: LISTLESS,
    action: 'send',
    group: 'Writing',
    words: 'send; while the agent works, the message reaches it with its next step',
  },
  {
    keys: ['alt+enter'],
    when: COMPOSER,
    action: 'queue',
    group: 'Writing',
    words: 'send after the turn',
  },
  {
    keys: ['tab'],
    when: { ...DRAFT, isWorking: true },
    action: 'queue',
    group: 'Writing',
    words: 'send after the turn, while the agent works',
  },
  {
    keys: ['shift+enter', 'ctrl+j'],
    when: COMPOSER,
    action: 'newline',
    group: 'Writing',
    words: 'new line; a backslash before Enter does the same',
  },
  { keys: ['tab'], when: LIST, action: 'complete', group: 'Writing', words: 'complete @file and /command' },
  { keys: ['enter'], when: LIST, action: 'accept', group: 'Writing', words: '' },
  { keys: ['escape'], when: LIST, action: 'close_list', group: 'Writing', words: '' },
  { keys: ['down', 'ctrl+n'], when: LIST, action: 'next', group: 'Writing', words: '' },
  { keys: ['up', 'ctrl+p'], when: LIST, action: 'previous', group: 'Writing', words: '' },
  {
    keys: ['up', 'down'],
    when: LISTLESS,
    action: 'edit',
    group: 'Writing',
    words: 'earlier and later prompts, from the first and the last line',
  },
  {
    keys: ['ctrl+r'],
    when: COMPOSER,
    action: 'search_history',
    group: 'Writing',
    words: 'search earlier prompts',
  },
  {
    keys: ['ctrl+w', 'ctrl+u', 'ctrl+k'],
    when: COMPOSER,
    action: 'edit',
    group: 'Writing',
    words: 'delete the word, to the start, to the end of the line',
  },
  {
    keys: ['ctrl+y'],
    when: COMPOSER,
    action: 'edit',
    group: 'Writing',
    words: 'insert what was deleted or cleared last',
  },
  { keys: ['ctrl+-'], when: COMPOSER, action: 'edit', group: 'Writing', words: 'undo typing' },
  {
    keys: ['escape'],
    when: { ...DRAFT, isWorking: false, armed: 'clear' },
    action: 'clear',
    group: 'Writing',
    words: 'twice: clear the draft; Up brings it back',
  },
  ...unlessArmed('clear', {
    keys: ['escape'],
    when: { ...DRAFT, isWorking: false },
    action: 'arm',
    arms: 'clear',
    group: 'Writing',
    words: '',
  }),
  {
    keys: ['ctrl+c'],
    when: { ...COMPOSER, hasDraft: true },
    action: 'clear',
    group: 'Writing',
    words: 'clear the draft',
  },
  {
    keys: ['escape'],
    when: { ...LISTLESS, isWorking: true },
    action: 'interrupt',
    group: 'Working',
    words: 'interrupt; the draft and the answer so far stay',
  },
  {
    keys: ['ctrl+c'],
    when: { ...COMPOSER, hasDraft: false, isWorking: true },
    action: 'interrupt',
    group: 'Working',
    words: 'interrupt, when the draft is empty',
  },
  {
    keys: ['alt+up'],
    when: { ...COMPOSER, hasQueue: true },
    action: 'take_queue_back',
    group: 'Working',
    words: 'take queued messages back into the draft',
  },
  {
    keys: ['shift+tab'],
    when: COMPOSER,
    action: 'cycle_mode',
    group: 'Working',
    words: 'switch between plan mode and the approval policies',
  },
  {
    keys: ['escape'],
    when: { ...EMPTY, isWorking: false, armed: 'back' },
    action: 'back',
    group: 'Working',
    words: 'twice, when the draft is empty: go back in the talk',
  },
  ...unlessArmed('back', {
    keys: ['escape'],
    when: { ...EMPTY, isWorking: false },
    action: 'arm',
    arms: 'back',
    group: 'Working',
    words: '',
  }),
  {
    keys: ['?'],
    when: EMPTY,
    action: 'help',
    group: 'Anywhere',
    words: 'this help, when the draft is empty',
  },
  {
    keys: ['ctrl+o', 'ctrl+t'],
    when: {},
    action: 'expand',
    group: 'Anywhere',
    words: 'show all output of tools, or its end',
  },
  { keys: ['ctrl+l'], when: {}, action: 'redraw', group: 'Anywhere', words: 'draw the screen again' },
  {
    keys: ['ctrl+z'],
    when: {},
    action: 'suspend',
    group: 'Anywhere',
    words: 'suspend; `fg` in the shell resumes',
  },
  {
    keys: ['ctrl+c'],
    when: { ...EMPTY, isWorking: false, armed: 'exit' },
    action: 'exit',
    group: 'Anywhere',
    words: 'twice, when the agent rests: exit',
  },
  ...unlessArmed('exit', {
    keys: ['ctrl+c'],
    when: { ...EMPTY, isWorking: false },
    action: 'arm',
    arms: 'exit',
    group: 'Anywhere',
    words: '',
  }),
  {
    keys: ['ctrl+d'],
    when: EMPTY,
    action: 'exit',
    group: 'Anywhere',
    words: 'exit, when the draft is empty',
  },
  {
    keys: ['tab'],
    when: { panel: 'approval' },
    action: 'panel',
    group: 'Panels',
    words: 'add a note to the answer',
  },
  ...onPanels({
    keys: ['escape', 'ctrl+c'],
    action: 'cancel_panel',
    group: 'Panels',
    words: 'close the panel; on an approval, stop the turn',
  }),
];

/** One row for each state in which a key is not armed yet. */
function unlessArmed(armed: Armed, row: KeyRow): readonly KeyRow[] {
  const others = ([undefined, 'exit', 'clear', 'back'] as const).filter((each) => each !== armed);
  return others.map((each) => ({ ...row, when: { ...row.when, armed: each } }));
}

function onPanels(row: Omit<KeyRow, 'when'>): readonly KeyRow[] {
  return [
    { ...row, when: { panel: 'approval' } },
    { ...row, when: { panel: 'other' }, words: '' },
  ];
}

/** Whether a row counts in a situation. */
export function holds({ when }: KeyRow, situation: KeySituation): boolean {
  return (Object.keys(when) as readonly (keyof KeySituation)[]).every((key) => when[key] === situation[key]);
}

/** What a key does, and what the next press of it does. */
export interface KeyStep {
  readonly action: KeyAction;
  readonly armed?: Armed;
}

/** What a key does: as the table says; any other key belongs to the panel, if one is open, or edits the draft. */
export function actionFor(key: string, situation: KeySituation): KeyStep {
  const row = KEYS.find((each) => each.keys.includes(key) && holds(each, situation));
  if (row === undefined) return { action: situation.panel === 'none' ? 'edit' : 'panel' };
  return { action: row.action, ...(row.arms === undefined ? {} : { armed: row.arms }) };
}

/** What a terminal shows while a second press counts. */
export function hintFor(armed: Armed): string {
  switch (armed) {
    case 'exit':
      return 'ctrl+c again to exit';
    case 'clear':
      return 'esc again to clear';
    case 'back':
      return 'esc again to go back in the talk';
  }
}
