// Help by example, and the answer to an unknown command.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { baton, temporaryDirectory } from '../support/program.ts';

const home = temporaryDirectory();
const look = { hasColor: false, seal: '', hasUnicode: true, width: 200 };

async function helpOf(...command: readonly string[]): Promise<string> {
  return (await baton(home, [...command, '--help'], { look })).stdout;
}

function commandsIn(help: string): readonly string[] {
  const [, list = ''] = help.split('Commands:\n');
  return [...list.matchAll(/^ {2}([a-z]+)/gm)].map(([, name = '']) => name).filter((name) => name !== 'help');
}

async function allCommands(path: readonly string[] = []): Promise<readonly (readonly string[])[]> {
  const names = commandsIn((await helpOf(...path)).split('\nExample')[0] ?? '');
  const below = await Promise.all(names.map((name) => allCommands([...path, name])));
  return names.flatMap((name, at) => [[...path, name], ...(below[at] ?? [])]);
}

test('the help of every command ends with examples, whose options exist', async () => {
  const commands = await allCommands();
  assert.ok(commands.length > 18);
  const globals = await helpOf();
  for (const command of commands) {
    const help = await helpOf(...command);
    const [, examples = ''] = /\nExamples?:\n([\s\S]*)$/.exec(help) ?? [];
    const lines = examples.split('\n').filter((line) => line !== '');
    assert.ok(lines.length > 0, command.join(' '));
    for (const line of lines) {
      const [, typed = '', does = ''] = /^ {2}baton (.*?) {2,}(.*)$/.exec(line) ?? [];
      assert.ok(does !== '', line);
      const words = typed.split(' | ')[0]?.split(' ') ?? [];
      if (words[0] === '-c') assert.equal((await baton(home, words)).status, 0, line);
      assert.ok(command.every((name) => words.includes(name)) || command.length > 1, line);
      for (const option of words.filter((word) => /^--?[a-z]/.test(word))) {
        assert.match(
          `${help}${globals}`,
          new RegExp(`^ {2}(?:-\\w, )?${option}[ ,]|^ {2}${option}, `, 'm'),
          line,
        );
      }
    }
    for (const width of [40, 80]) {
      const narrow = await baton(home, [...command, '--help'], { look: { ...look, width } });
      assert.equal(narrow.status, 0);
    }
  }
});

test('version, also as a command', async () => {
  assert.equal((await baton(home, ['version'])).stdout, '0.0.0\n');
  assert.equal((await baton(home, ['--version'])).stdout, '0.0.0\n');
});

test('an unknown command gets the nearest name suggested', async () => {
  for (const [typed, meant] of [
    ['sesions', 'sessions'],
    ['versoin', 'version'],
    ['inspekt', 'inspect'],
    ['complation', 'completion'],
    ['undu', 'undo'],
  ] as const) {
    const ran = await baton(home, [typed]);
    assert.equal(ran.status, 2);
    assert.match(ran.explanation, new RegExp(`nknown command '${typed}'.* Did you mean ${meant}\\?`));
  }
});
