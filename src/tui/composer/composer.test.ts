// Types real bytes through the keyboard and the table of keys, as the program does.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import * as fc from 'fast-check';
import type { Canvas, Line } from '../lines/line.ts';
import { textOf } from '../lines/line.ts';
import { lineWidth } from '../lines/wrap.ts';
import { Composer } from './composer.ts';
import type { ComposerAction, Submission } from './composer.ts';
import { Keyboard } from './keyboard.io.ts';
import { actionFor } from './keys.ts';
import type { KeyAction, Armed } from './keys.ts';

const GOLDEN = fileURLToPath(new URL('composer.frames.txt', import.meta.url));

const FILES = [
  'README.md',
  'src/cli/main.ts',
  'src/main.ts',
  'docs/my notes.md',
  'docs/日本語.md',
  'test/a.ts',
];

const OWN: ReadonlySet<KeyAction> = new Set([
  'send',
  'queue',
  'newline',
  'complete',
  'accept',
  'close_list',
  'next',
  'previous',
  'clear',
]);

function isOwn(action: KeyAction): action is ComposerAction {
  return OWN.has(action);
}

const UP = '\u001B[A';
const DOWN = '\u001B[B';
const LEFT = '\u001B[D';
const ESC = '\u001B';
const CTRL_C = '\u0003';
const CTRL_Y = '\u0019';
const UNDO = '\u001F';
const BACKSPACE = '\u007F';

function paste(text: string): string {
  return `\u001B[200~${text}\u001B[201~`;
}

const SIXTY = Array.from({ length: 60 }, (_, at) => `line ${at + 1}`).join('\n');

/** A user in front of a composer. */
class User {
  isWorking = false;
  readonly sent: Submission[] = [];
  readonly others: KeyAction[] = [];
  wanted = 0;
  #armed: Armed | undefined;
  readonly composer: Composer;
  readonly #keyboard: Keyboard;

  constructor(prompts: readonly string[] = []) {
    this.composer = new Composer({
      prompts: prompts.map((text, at) => ({ at, text })),
      now: () => 1000,
      wantFiles: () => {
        this.wanted++;
      },
    });
    this.#keyboard = new Keyboard((heard) => {
      if (heard.type === 'press') this.#press(heard.press);
    });
  }

  /** Every argument is one read of standard input. */
  type(...reads: readonly string[]): this {
    for (const each of reads) this.#keyboard.write(Buffer.from(each));
    return this;
  }

  /** Esc alone arrives when the keyboard has waited for more. */
  escape(): this {
    this.#press({ key: 'escape', text: '' });
    return this;
  }

  #press(press: { readonly key: string; readonly text: string }): void {
    const { composer } = this;
    const { action, armed } = actionFor(press.key, {
      panel: 'none',
      isWorking: this.isWorking,
      hasDraft: composer.draft !== '',
      isCompleting: composer.isCompleting,
      hasQueue: false,
      armed: this.#armed,
    });
    this.#armed = armed;
    if (action === 'edit') composer.press(press);
    else if (isOwn(action)) {
      const submission = composer.perform(action);
      if (submission !== undefined) this.sent.push(submission);
    } else this.others.push(action);
  }

  get texts(): readonly string[] {
    return this.sent.map(({ text }) => text);
  }

  get list(): readonly string[] {
    return this.composer.draw({ width: 80, rows: 24, hasUnicode: false }).list.map(textOf);
  }
}

function user(...reads: readonly string[]): User {
  return new User().type(...reads);
}

test('Enter sends; four keys make a new line', () => {
  assert.deepEqual(user('hello\r').texts, ['hello']);
  assert.deepEqual(user('one\ntwo\r').texts, ['one\ntwo']);
  assert.deepEqual(user('one\\', '\r', 'two\r').texts, ['one\ntwo']);
  assert.deepEqual(user('one\u001B[13;2utwo\r').texts, ['one\ntwo']);
  assert.deepEqual(user('one\u001B[27;2;13~two\r').texts, ['one\ntwo']);
  assert.deepEqual(user('  \r').texts, []);
});

test('Alt+Enter, and Tab while the agent works, send after the turn', () => {
  assert.deepEqual(user('later\u001B\r').sent, [{ text: 'later', isForLater: true }]);
  const working = new User();
  working.isWorking = true;
  working.type('now\r', 'later\t');
  assert.deepEqual(working.sent, [
    { text: 'now', isForLater: false },
    { text: 'later', isForLater: true },
  ]);
});

test('Esc interrupts while the agent works and keeps the draft; twice at rest, it clears', () => {
  const busy = new User();
  busy.isWorking = true;
  busy.type('draft').escape();
  assert.deepEqual([busy.others, busy.composer.draft], [['interrupt'], 'draft']);
  const idle = user('draft').escape();
  assert.deepEqual([idle.others, idle.composer.draft], [['arm'], 'draft']);
  assert.equal(idle.escape().composer.draft, '');
  assert.equal(user('draft').escape().type('x').escape().composer.draft, 'draftx');
});

test('Up and Ctrl+Y bring a cleared draft back', () => {
  assert.equal(user('long\nthought', CTRL_C).composer.draft, '');
  assert.equal(user('long\nthought', CTRL_C, UP).composer.draft, 'long\nthought');
  assert.equal(user('long\nthought', CTRL_C, CTRL_Y).composer.draft, 'long\nthought');
  const chip = user('see ', paste(SIXTY), CTRL_C, UP);
  assert.equal(chip.composer.draft, 'see [paste #1 +60 lines]');
  assert.deepEqual(chip.type('\r').texts, [`see ${SIXTY}`]);
});

test('Up and Down walk through the history and return to the draft', () => {
  const typist = new User(['first', '!ls', 'two\nlines']);
  const seen = (...reads: readonly string[]): string => typist.type(...reads).composer.draft;
  assert.equal(seen('mine', UP), 'two\nlines');
  assert.equal(seen(UP), 'two\nlines', 'the cursor moves within it first');
  assert.equal(seen(UP), '!ls');
  assert.equal(seen(UP), 'first');
  assert.equal(seen(UP), 'first', 'there is none before it');
  assert.equal(seen(DOWN, DOWN), 'two\nlines');
  assert.equal(seen(DOWN), 'mine');
  assert.equal(seen(DOWN), 'mine');
  assert.deepEqual(typist.type('\r', UP, UP, UP, UP, '?\r').texts, ['mine', '!ls?']);
  assert.equal(seen(UP, UP), 'mine');
});

test('a large paste is a chip, is sent as a whole, and is expanded by pasting it again', () => {
  const typist = user('before ', paste(SIXTY), ' after');
  assert.equal(typist.composer.draft, 'before [paste #1 +60 lines] after');
  assert.equal(user('a', paste(SIXTY), BACKSPACE).composer.draft, 'a', 'a chip is one character');
  assert.equal(user(paste('x'.repeat(1001))).composer.draft, '[paste #1 1001 chars]');
  assert.equal(user(paste('few\rlines')).composer.draft, 'few\nlines');
  assert.deepEqual(typist.type('\r').texts, [`before ${SIXTY} after`]);
  const again = user('before ', paste(SIXTY), ' after', paste(SIXTY));
  assert.equal(again.composer.draft, `before ${SIXTY} after`);
  assert.equal(again.type('!').composer.draft, `before ${SIXTY}! after`, 'the cursor is behind it');
  assert.equal(
    again.type(UNDO, UNDO).composer.draft.includes('line 60'),
    false,
    'undo makes it a chip again',
  );
  // The same again when it is no longer there is a chip.
  assert.equal(user(paste(SIXTY), CTRL_C, paste(SIXTY)).composer.draft, '[paste #2 +60 lines]');
});

test('a shell line has its own sign, in every way that a draft begins', () => {
  const isShell = (typist: User): boolean =>
    textOf(typist.composer.draw({ width: 40, rows: 24, hasUnicode: true }).lines[1] ?? []).startsWith('! ');
  assert.ok(isShell(user('!')));
  assert.deepEqual(user('!ls -la\r').texts, ['!ls -la']);
  assert.deepEqual(user('!\r').texts, []);
  assert.equal(user('!', BACKSPACE).composer.draft, '');
  assert.equal(user('ls', '\u0001', '!').composer.draft, '!ls');
  assert.equal(user('ls', '\u0001', '!', BACKSPACE).composer.draft, 'ls');
  assert.ok(isShell(user(paste('!make test'))));
  assert.ok(!isShell(user('a!')));
  assert.deepEqual(user('!echo @', '\r').texts, ['!echo @']);
  assert.deepEqual(user('!!\r').texts, ['!!']);
});

test('commands: Enter runs the selected one, Tab leaves room for its argument', () => {
  assert.deepEqual(user('/con\r').texts, ['/context']);
  assert.deepEqual(user('/', DOWN, '\r').texts, ['/why']);
  assert.equal(user('/comp\t').composer.draft, '/compact ');
  assert.deepEqual(user('/pin\r').texts, [], 'it needs its text');
  assert.equal(user('/pin\r').composer.draft, '/pin ');
  assert.deepEqual(user('/pi\rkeep it\r').texts, ['/pin keep it']);
  assert.deepEqual(user('/undo \r').texts, ['/undo'], 'nobody chose an argument');
  assert.deepEqual(user('/undo ', DOWN, '\r').texts, ['/undo compaction']);
  assert.deepEqual(user('/undo t\r').texts, ['/undo turn']);
  assert.deepEqual(user('/frobnicate\r').texts, ['/frobnicate']);
  assert.deepEqual(user('/usr/bin is full\r').texts, ['/usr/bin is full']);
  const closed = user('/co').escape();
  assert.deepEqual([closed.composer.isCompleting, closed.composer.draft], [false, '/co']);
  assert.equal(closed.type('m').composer.isCompleting, false, 'it stays closed');
  assert.deepEqual(closed.type('\r').texts, ['/com']);
});

test('files: wanted with each mention, completed in place', () => {
  const typist = user('look at @');
  assert.deepEqual([typist.wanted, typist.composer.isCompleting], [1, false]);
  typist.composer.setFiles(FILES);
  assert.match(typist.list[0] ?? '', /^> README\.md/);
  assert.deepEqual(typist.type('ma', '\r').texts, []);
  assert.equal(typist.composer.draft, 'look at @src/main.ts ');
  typist.type('and @do\t');
  assert.deepEqual([typist.wanted, typist.composer.draft], [2, 'look at @src/main.ts and @docs/']);
  typist.type('my\t', '\r');
  assert.deepEqual(typist.texts, ['look at @src/main.ts and @"docs/my notes.md"']);
});

test('a file that is already complete is sent by the first Enter', () => {
  const typist = new User();
  typist.composer.setFiles(FILES);
  assert.deepEqual(typist.type('@README.md\r').texts, ['@README.md']);
});

test('files that arrive late leave the selection where it is', () => {
  const typist = new User();
  typist.composer.setFiles(FILES);
  typist.type('@ma', DOWN);
  assert.match(typist.list[1] ?? '', /^> src\/cli\/main\.ts/);
  typist.composer.setFiles([...FILES, 'main.c']);
  assert.match(typist.list[2] ?? '', /^> src\/cli\/main\.ts/);
});

test('keys of editors: words, lines, undo, the kill ring', () => {
  assert.equal(user('one two', '\u0017').composer.draft, 'one ');
  assert.equal(user('one two', '\u001B\u007F').composer.draft, 'one ');
  assert.equal(user('one two', '\u001Bb', '\u000B', '\u0001', CTRL_Y).composer.draft, 'twoone ');
  assert.equal(user('one two', UNDO).composer.draft, 'one');
  assert.equal(user('ab', LEFT, '\u0004').composer.draft, 'a');
  assert.equal(user('日本👩‍🚀', BACKSPACE, BACKSPACE).composer.draft, '日');
  assert.equal(user('x\u001B[1;9C\u001B[200u').composer.draft, 'xÈ', 'unknown keys type nothing');
});

test('no text can drive the terminal', () => {
  const typist = user(paste(`a${ESC}]0;title\u0007${ESC}[31mb\u009B2J\u0085`));
  typist.composer.setDraft(`${typist.composer.draft}${ESC}[2J\u009D\u0007`);
  const { lines } = typist.composer.draw({ width: 80, rows: 24, hasUnicode: true });
  // oxlint-disable-next-line no-control-regex
  assert.doesNotMatch(lines.map(textOf).join('') + typist.composer.draft, /[\u0000-\u001F\u007F-\u009F]/);
});

test('every row fits, and the cursor is in it, whatever is typed', () => {
  const key = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 12 }),
    fc.constantFrom(
      UP,
      DOWN,
      LEFT,
      '\n',
      '\t',
      '\u0017',
      CTRL_Y,
      UNDO,
      BACKSPACE,
      CTRL_C,
      '\u001B\r',
      '@',
      '/',
      '!',
    ),
    fc.constantFrom(paste(SIXTY), paste('日本語 '.repeat(300)), paste('👍🏽 ok')),
  );
  fc.assert(
    fc.property(fc.array(key, { maxLength: 30 }), fc.integer({ min: 1, max: 90 }), (reads, width) => {
      const typist = new User(['earlier', '!ls']);
      typist.composer.setFiles(FILES);
      for (const read of reads) {
        typist.type(read);
        for (const columns of [width, 80]) {
          const view = typist.composer.draw({ width: columns, rows: 24, hasUnicode: true });
          const all: readonly Line[] = [...view.lines, ...view.list];
          for (const line of all) assert.ok(lineWidth(line) <= columns, JSON.stringify(textOf(line)));
          assert.ok(view.lines.length <= 9 && view.list.length <= 6);
          assert.ok(view.cursor.row > 0 && view.cursor.row < view.lines.length - 1);
          assert.ok(view.cursor.column < columns);
        }
      }
    }),
    { numRuns: 40, seed: 20 },
  );
});

test('a draft of 10,000 lines takes a key in a few milliseconds', () => {
  const typist = new User();
  const pasted = Array.from({ length: 10_000 }, (_, at) => `line ${at} ${'x'.repeat(60)}`).join('\n');
  typist.type(paste(pasted), paste(pasted));
  assert.equal(typist.composer.draft, pasted);
  const canvas: Canvas = { width: 80, rows: 24, hasUnicode: true };
  const before = process.cpuUsage();
  for (const letter of 'twenty keys'.padEnd(20, '!')) {
    typist.type(letter);
    typist.composer.draw(canvas);
    typist.composer.draw(canvas);
  }
  const { user: spent, system } = process.cpuUsage(before);
  const ms = (spent + system) / 1000 / 20;
  assert.ok(ms < 60, `${ms} ms a key`);
  assert.equal(typist.composer.draw(canvas), typist.composer.draw(canvas), 'nothing is drawn twice');
});

/** What people read in review: the cursor is between ⟦ and ⟧. */
function frameOf(title: string, typist: User, canvas: Canvas): string {
  const { lines, list, cursor } = typist.composer.draw(canvas);
  const shown = [...lines, ...list].map((line) =>
    line.map(({ text, isInverse }) => (isInverse === true ? `⟦${text}⟧` : text)).join(''),
  );
  const size = `${canvas.width} columns${canvas.hasUnicode ? '' : ', ASCII'}`;
  return [`######## ${title}, ${size}, cursor ${cursor.row}:${cursor.column}`, ...shown, ''].join('\n');
}

test('frames', () => {
  const wide: Canvas = { width: 80, rows: 24, hasUnicode: true };
  const narrow: Canvas = { width: 50, rows: 24, hasUnicode: true };
  const ascii: Canvas = { width: 50, rows: 24, hasUnicode: false };
  const withFiles = (...reads: readonly string[]): User => {
    const typist = new User(['fix the parser', 'run the tests']);
    typist.composer.setFiles([
      ...FILES,
      ...Array.from({ length: 20 }, (_, at) => `packages/part-${at}/index.ts`),
    ]);
    return typist.type(...reads);
  };
  const prose = 'Make the lamp brighter, but only at night, and leave the wick alone.\nThen write a test.';
  const scenes: readonly (readonly [title: string, typist: User])[] = [
    ['empty', withFiles()],
    ['a draft of two lines', withFiles(paste(prose))],
    ['a shell line, empty', withFiles('!')],
    ['a shell line', withFiles('!npm test')],
    ['a chip', withFiles('Explain ', paste(SIXTY), ' in one line')],
    [
      'a draft in Japanese, the cursor on a character',
      withFiles('ランプを明るくしてください。夜だけです。芯はそのままにしておいてください。', LEFT),
    ],
    [
      'a draft that is scrolled',
      withFiles(paste('one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine'), UP),
    ],
    ['history', withFiles(UP, UP)],
    ['all commands', withFiles('/')],
    ['commands that match', withFiles('/re', DOWN)],
    ['arguments', withFiles('/autocompact ')],
    ['files', withFiles('look at @', DOWN, DOWN, DOWN)],
    ['files that match', withFiles('look at @md')],
  ];
  const frames = scenes
    .flatMap(([title, typist]) => [wide, narrow, ascii].map((canvas) => frameOf(title, typist, canvas)))
    .join('\n');
  if (process.env['BATON_FRAMES'] === 'write') writeFileSync(GOLDEN, frames);
  assert.equal(frames, readFileSync(GOLDEN, 'utf8'));
});
