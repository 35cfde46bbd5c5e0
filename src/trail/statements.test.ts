import assert from 'node:assert/strict';
import { test } from 'node:test';
import { statementsOf } from './statements.ts';

const AT = { turn: 1, position: 1 };
const texts = (message: string): string[] => statementsOf(message, AT).map(({ text }) => text);

test('a sentence is kept with its kind', () => {
  assert.deepEqual(
    statementsOf('The cache is stale because the key lacks the branch. Next I rebuild it.', AT).map(
      ({ kind }) => kind,
    ),
    ['decision', 'intent'],
  );
});

test('rows of tables, headings and bare names say nothing by themselves', () => {
  assert.deepEqual(texts('| `stageFiles` | src/stage.ts:7 | nobody calls it, so it is dead |'), []);
  assert.deepEqual(texts('**What changed in the parser:**'), []);
  assert.deepEqual(texts('- `mcp__files__write_everything`'), []);
  assert.deepEqual(texts('`readConfig()` returns `undefined`'), []);
});

test('scripts without spaces between words are sentences too', () => {
  assert.equal(texts('缓存已经过期，因为键里没有分支名称，需要重新生成。').length, 1);
});
