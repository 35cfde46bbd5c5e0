import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkOp } from '../../protocol/wire/parse.ts';
import { COMMANDS, parseCommand } from './commands.ts';
import type { Command } from './commands.ts';
import { performCommand } from './perform.ts';
import type { CommandSubject, Performed } from './perform.ts';

const SUBJECT: CommandSubject = {
  isPlanning: false,
  isReviewing: true,
  pins: [
    { id: 'p1', text: 'Keep the API stable' },
    { id: 'p2', text: 'Keep the tests green' },
  ],
};

function commandOf(draft: string): Command {
  const parsed = parseCommand(draft);
  assert.equal(parsed?.type, 'command', draft);
  return parsed.command;
}

function perform(draft: string, subject: Partial<CommandSubject> = {}): Performed {
  return performCommand(commandOf(draft), { ...SUBJECT, ...subject });
}

test('commands with their arguments', () => {
  const cases: readonly (readonly [draft: string, command: Command])[] = [
    ['/compact', { name: 'compact', isPreview: false }],
    [
      '/compact the parser\nand its tests',
      { name: 'compact', isPreview: false, focus: 'the parser\nand its tests' },
    ],
    ['/compact --preview', { name: 'compact', isPreview: true }],
    ['/undo', { name: 'undo' }],
    ['/undo turn', { name: 'undo', what: 'turn' }],
    ['/UNDO compaction ', { name: 'undo', what: 'compaction' }],
    ['/autocompact off', { name: 'autocompact', mode: 'off' }],
    ['/pin Keep the API', { name: 'pin', text: 'Keep the API' }],
    ['/unpin 2', { name: 'unpin', which: '2' }],
    ['/model', { name: 'model' }],
    ['/model ollama/qwen3', { name: 'model', model: 'ollama/qwen3' }],
    ['/resume last', { name: 'resume', session: 'last' }],
    ['/exit', { name: 'quit' }],
    ['/clear', { name: 'new' }],
  ];
  for (const [draft, command] of cases) assert.deepEqual(commandOf(draft), command, draft);
});

test('a slash that begins a path or a sentence is a message', () => {
  for (const draft of [
    '/usr/bin/env is missing',
    '/',
    '// a comment',
    '/2 of it',
    '/tmp.log',
    ' /why',
    'a /why',
  ]) {
    assert.equal(parseCommand(draft), undefined, draft);
  }
});

test('a mistake is one sentence with its cure', () => {
  const cases: readonly (readonly [draft: string, sentence: string])[] = [
    ['/compcat', '/compcat is not a command: did you mean /compact?'],
    ['/Contxt', '/Contxt is not a command: did you mean /context?'],
    ['/frobnicate', '/frobnicate is not a command: /help lists the commands.'],
    ['/pin', '/pin needs a text: /pin TEXT.'],
    ['/undo all', '/undo takes turn or compaction.'],
    ['/autocompact maybe', '/autocompact takes tag, suggest, auto or off.'],
    ['/why not', '/why takes no argument: leave out what follows it.'],
    ['/compact --preview tests', '/compact --preview takes no focus: leave out one of them.'],
  ];
  for (const [draft, sentence] of cases) assert.deepEqual(parseCommand(draft), { type: 'mistake', sentence });
});

test('names are unique, and every command makes something that a thread accepts', () => {
  const names = COMMANDS.flatMap(({ name, aliases = [] }) => [name, ...aliases]);
  assert.equal(new Set(names).size, names.length);
  for (const { words } of COMMANDS) assert.ok(words.length <= 48, words);
  for (const { name, isArgumentRequired, values = [] } of COMMANDS) {
    for (const argument of ['', ...values].filter((each) => each !== '' || isArgumentRequired !== true)) {
      const { effects, panel } = perform(`/${name} ${argument}`);
      assert.ok(effects.length > 0 || panel !== undefined, name);
      for (const effect of effects) if (effect.type === 'send') checkOp(effect.op);
    }
  }
});

test('what commands make', () => {
  const sent = (draft: string, subject?: Partial<CommandSubject>): unknown =>
    perform(draft, subject).effects.map((effect) => (effect.type === 'send' ? effect.op : effect));
  assert.deepEqual(sent('/compact the parser'), [
    { type: 'compact', trigger: { type: 'user' }, instructions: 'the parser' },
  ]);
  assert.deepEqual(perform('/compact --preview').panel, { name: 'preview' });
  assert.deepEqual(sent('/compact --preview'), [
    { type: 'compact', trigger: { type: 'user' }, preview: true },
  ]);
  assert.deepEqual(sent('/plan'), [{ type: 'set_settings', plan_mode: true }]);
  assert.deepEqual(sent('/plan', { isPlanning: true }), [{ type: 'set_settings', plan_mode: false }]);
  assert.deepEqual(sent('/review'), [{ type: 'review_mode', is_on: false }]);
  assert.deepEqual(sent('/resume last'), [{ type: 'resume', session: 'last' }]);
  assert.deepEqual(sent('/quit'), [{ type: 'quit' }]);
  // An undo says first what it reverts: the panel sends the op.
  assert.deepEqual(perform('/undo turn'), { effects: [], panel: { name: 'undo', what: 'turn' } });
});

test('/unpin removes by number, by words, or the only one', () => {
  const unpinned = (draft: string, subject?: Partial<CommandSubject>): unknown => {
    const { effects, panel, mistake } = perform(draft, subject);
    const [effect] = effects;
    if (effect?.type === 'send' && effect.op.type === 'unpin') return effect.op.id;
    return mistake ?? panel?.name;
  };
  assert.equal(unpinned('/unpin 2'), 'p2');
  assert.equal(unpinned('/unpin TESTS'), 'p2');
  assert.equal(unpinned('/unpin', { pins: SUBJECT.pins.slice(0, 1) }), 'p1');
  assert.equal(unpinned('/unpin'), 'unpin');
  assert.equal(unpinned('/unpin keep'), '2 pins have these words: /unpin lists the pins with their numbers.');
  assert.equal(unpinned('/unpin 0'), 'No pin is that: /unpin lists the pins with their numbers.');
  assert.equal(unpinned('/unpin', { pins: [] }), 'Nothing is pinned: /pin TEXT pins a text.');
});
