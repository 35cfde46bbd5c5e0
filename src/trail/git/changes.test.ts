import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HOME, begun, edited, made, open, two } from '../../../test/support/git-story.ts';
import type { Story } from '../../../test/support/story.ts';

test('what was changed after it was added is still to be committed', () => {
  const story = edited(two().sh('git add a.ts'), 'a.ts').sh('git commit -m dome', made('1a2b3c4'));
  assert.deepEqual(open(story), ['src/b.ts', 'a.ts']);
});

test('a new file is in no commit of what git knows, and gone without a trace', () => {
  const created = (): Story =>
    two().call('Write', { file_path: `${HOME}/new.ts`, content: 'x' }, 'File created');
  const listed = created().sh('git status --short', ' M a.ts\n M src/b.ts\n?? new.ts');
  assert.deepEqual(open(created()), ['a.ts', 'src/b.ts', 'new.ts']);
  assert.deepEqual(open(created().sh('rm new.ts')), ['a.ts', 'src/b.ts']);
  assert.deepEqual(open(listed.sh('git reset --hard', 'HEAD is now at 1a2b3c4 dome')), ['new.ts']);
  assert.deepEqual(open(two().sh('rm a.ts')), ['src/b.ts', 'a.ts']);
  assert.deepEqual(open(two().sh('rm a.ts', "rm: cannot remove 'a.ts': No such file or directory", 1)), [
    'a.ts',
    'src/b.ts',
  ]);
  assert.deepEqual(open(begun().sh('rm -rf dist')), [], 'what was built is none of the work');
  assert.deepEqual(open(two().sh('rm -rf src')), ['a.ts', 'src/b.ts']);
});

test('where git never lists what is made, nothing is to be committed', () => {
  const noted = (story: Story, name: string): Story =>
    story.call('Write', { file_path: `${HOME}/.notes/${name}`, content: 'x' }, 'File created');
  const known = noted(begun(), 'one.md').sh('git status --short', '');
  assert.deepEqual(open(noted(known, 'two.md')), []);
});

test('what is put back from a commit, index and all, is no change', () => {
  for (const script of ['git restore -S -W a.ts', 'git checkout HEAD -- a.ts'])
    assert.deepEqual(open(two().sh('git add a.ts').sh(script)), ['src/b.ts'], script);
});
