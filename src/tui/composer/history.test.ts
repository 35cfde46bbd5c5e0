import assert from 'node:assert/strict';
import {
  appendFileSync,
  chmodSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { openPromptHistory } from './history.io.ts';
import { MOST_PROMPTS, recentPrompts, withPrompt } from './history.ts';

let home: string;
beforeEach(() => {
  home = join(mkdtempSync(join(tmpdir(), 'baton-history-')), 'home');
});
afterEach(() => rmSync(join(home, '..'), { recursive: true, force: true }));

const file = (): string => join(home, 'history.jsonl');

function lineOf(at: number): string {
  return `${JSON.stringify({ at: new Date(at).toISOString(), text: `p${at}` })}\n`;
}

async function texts(): Promise<string[]> {
  return (await openPromptHistory(home)).prompts.map(({ text }) => text);
}

test('prompts survive the session, in a file of the user alone', async () => {
  const history = await openPromptHistory(home);
  const results = await Promise.all([
    history.append({ at: 1000, text: 'first' }),
    history.append({ at: 2000, text: 'second\nline 日本' }),
    history.append({ at: 3000, text: 'second\nline 日本' }),
    history.append({ at: 4000, text: '  ' }),
  ]);
  assert.deepEqual(results, [undefined, undefined, undefined, undefined]);
  assert.deepEqual((await openPromptHistory(home)).prompts, [
    { at: 1000, text: 'first' },
    { at: 2000, text: 'second\nline 日本' },
  ]);
  assert.equal(statSync(file()).mode & 0o777, 0o600);
  assert.equal(statSync(home).mode & 0o777, 0o700);
  chmodSync(file(), 0o644);
  await openPromptHistory(home);
  assert.equal(statSync(file()).mode & 0o777, 0o600);
});

test('secrets and pasted files stay out of it', async () => {
  const history = await openPromptHistory(home);
  await history.append({ at: 1, text: `use sk-${'abcdEFGH12345678'.repeat(2)} please` });
  await history.append({ at: 2, text: 'x'.repeat(10_001) });
  assert.deepEqual(await texts(), ['use [redacted api_key] please']);
});

test('damaged lines are skipped, and a torn last line swallows nothing', async () => {
  await (await openPromptHistory(home)).append({ at: 1, text: 'one' });
  appendFileSync(file(), 'noise\n{"at":1}\n[]\n{"at":"never","text":"x"}\n{"at":"2020-01-01T00:00:00Z","te');
  await (await openPromptHistory(home)).append({ at: 2, text: 'two' });
  assert.deepEqual(await texts(), ['one', 'two']);
});

test('the file keeps the newest thousand', async () => {
  await (await openPromptHistory(home)).append({ at: 1, text: 'first' });
  writeFileSync(file(), Array.from({ length: 2001 }, (_, at) => lineOf(at)).join(''));
  const { prompts } = await openPromptHistory(home);
  assert.deepEqual(
    [prompts.length, prompts[0]?.text, prompts.at(-1)?.text],
    [MOST_PROMPTS, 'p1001', 'p2000'],
  );
  assert.equal(readFileSync(file(), 'utf8').split('\n').length, MOST_PROMPTS + 1);
  assert.equal(statSync(file()).mode & 0o777, 0o600);
});

test('a link is not followed, and a full disk or a closed home ends in one sentence', async () => {
  const history = await openPromptHistory(home);
  await history.append({ at: 1, text: 'mine' });
  rmSync(file());
  symlinkSync('/etc/hostname', file());
  const linked = await openPromptHistory(home);
  assert.match(linked.problem ?? '', /^Earlier prompts are missing: .*history\.jsonl is a symbolic link/);
  assert.equal(await linked.append({ at: 2, text: 'more' }), undefined);
  assert.match((await history.append({ at: 3, text: 'late' })) ?? '', /cannot be written \(ELOOP\)\.$/);
});

test('a search lists the newest first, each text once', () => {
  const prompts = ['fix the parser', 'run tests', 'fix the lamp', 'run tests'].map((text, at) => ({
    at,
    text,
  }));
  assert.deepEqual(
    recentPrompts(prompts).map(({ at }) => at),
    [3, 2, 0],
  );
  assert.equal(withPrompt(prompts, { at: 9, text: 'run tests' }), prompts);
});
