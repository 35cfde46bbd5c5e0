import assert from 'node:assert/strict';
import { test } from 'node:test';
import { constraintsOf } from './constraints.ts';

for (const rule of [
  'Never touch the vendored folder.',
  "Please don't add dependencies.",
  'Use tabs, not spaces.',
  'Only run the unit tests.',
  'The limit must stay at 40 requests per minute.',
  'Prefer composition over inheritance.',
  'No, that is the wrong file.',
  'Bitte keine neuen Abhängigkeiten.',
  'Benutze immer die alte Schnittstelle.',
  "N'utilise jamais le cache.",
  'Il faut garder les noms.',
  'Nunca borres las migraciones.',
  'Usa siempre la rama principal.',
  '不要修改测试文件。',
  '必须使用中文注释。',
  'テストは変更しないでください。',
  '必ず型を付けて。',
]) {
  test(`a rule: ${rule}`, () => assert.deepEqual(constraintsOf(rule), [rule]));
}

for (const none of [
  'Add a button to the toolbar.',
  'Why is it never called?',
  'Bau bitte die Tabelle um.',
  'Ajoute un bouton.',
  'Añade un botón.',
  '加一个按钮。',
  'ボタンを追加して。',
  'ImportError: cannot import name Foo from bar',
]) {
  test(`no rule: ${none}`, () => assert.deepEqual(constraintsOf(none), []));
}

test('a rule is the whole sentence, verbatim, and code is no sentence', () => {
  const message =
    'Build the page. It must load in e.g. 2 s, not more. Thanks!\n```\nnever()\n```\n- always log it';
  assert.deepEqual(constraintsOf(message), ['It must load in e.g. 2 s, not more.', 'always log it']);
});

test('what is listed below a heading about rules binds, whatever its words; other lists do not', () => {
  const message =
    'Ground rules:\n- keep every function short\n2. tabs for indentation\n\nSteps:\n- add a lamp\n- paint the door';
  assert.deepEqual(constraintsOf(message), ['keep every function short', 'tabs for indentation']);
});
