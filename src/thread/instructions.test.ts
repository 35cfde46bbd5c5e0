import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { loadInstructions } from './instructions.io.ts';

const parent = realpathSync(mkdtempSync(join(tmpdir(), 'baton-instructions-')));
after(() => rmSync(parent, { recursive: true, force: true }));

/** A project with files; one that ends in a slash is a folder. */
function project(files: Readonly<Record<string, string | Buffer>>): string {
  const root = mkdtempSync(join(parent, 'p-'));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(path.endsWith('/') ? join(root, path) : dirname(join(root, path)), { recursive: true });
    if (!path.endsWith('/')) writeFileSync(join(root, path), text);
  }
  return root;
}

test('from the root of the work tree down, in each folder the one name or the other', async () => {
  const root = project({
    '.git/': '',
    'AGENTS.md': 'root',
    'CLAUDE.md': 'not this one',
    'src/CLAUDE.md': 'src',
    'src/lamp/AGENTS.md': 'lamp',
    'src/horn/AGENTS.md': 'beside',
  });
  assert.deepEqual(await loadInstructions(join(root, 'src/lamp')), {
    root,
    files: [
      { path: 'AGENTS.md', text: 'root' },
      { path: 'src/CLAUDE.md', text: 'src' },
      { path: 'src/lamp/AGENTS.md', text: 'lamp' },
    ],
    warnings: [],
  });
});

test('outside of a work tree a file further up may be of anyone', async () => {
  const root = project({ 'AGENTS.md': 'of anyone', 'inner/AGENTS.md': 'own' });
  const { files } = await loadInstructions(join(root, 'inner'));
  assert.deepEqual(files, [{ path: 'AGENTS.md', text: 'own' }]);
});

test('a link that leads out is not followed; one that stays inside is', async () => {
  writeFileSync(join(parent, 'secret'), 'key');
  const root = project({ '.git/': '', 'docs/rules.md': 'inside', 'a/': '', 'b/': '' });
  symlinkSync(join(parent, 'secret'), join(root, 'a/AGENTS.md'));
  symlinkSync('../docs/rules.md', join(root, 'b/AGENTS.md'));
  const out = await loadInstructions(join(root, 'a'));
  assert.deepEqual(out.files, []);
  assert.match(out.warnings.join(), /^a\/AGENTS\.md is not used: .*leads out/);
  assert.deepEqual((await loadInstructions(join(root, 'b'))).files, [
    { path: 'b/AGENTS.md', text: 'inside' },
  ]);
});

test('together they have a limit, which cuts no character and is told', async () => {
  const root = project({ '.git/': '', 'AGENTS.md': `x${'é'.repeat(20_000)}`, 'in/AGENTS.md': 'more' });
  const { files, warnings } = await loadInstructions(join(root, 'in'));
  const [first, ...more] = files;
  assert.equal(first?.text, `x${'é'.repeat(16_383)}`);
  assert.deepEqual(more, [{ path: 'in/AGENTS.md', text: 'm' }]);
  assert.equal(warnings.length, 2);
  assert.match(warnings.join(), /AGENTS\.md is truncated: .* 32 KiB/);
});

test('what is no text is told of, and the other name is looked at', async () => {
  const root = project({ '.git/': '', 'AGENTS.md': Buffer.from([0, 1, 2]), 'CLAUDE.md': 'text' });
  const { files, warnings } = await loadInstructions(root);
  assert.deepEqual(files, [{ path: 'CLAUDE.md', text: 'text' }]);
  assert.match(warnings.join(), /AGENTS\.md is not used: it is no text/);
});

test(
  'what a repository planted in the place of a file is named, and nobody waits for it',
  { timeout: 20_000 },
  async () => {
    const root = project({
      '.git/': '',
      'a/': '',
      'a/b/': '',
      'a/b/c/AGENTS.md': '',
      'a/b/c/d/CLAUDE.md': 'own',
    });
    execFileSync('mkfifo', [join(root, 'AGENTS.md')]);
    symlinkSync('/dev/zero', join(root, 'a/AGENTS.md'));
    mkdirSync(join(root, 'a/b/AGENTS.md'));
    truncateSync(join(root, 'a/b/c/AGENTS.md'), 100 * 1024 * 1024);
    const { files, warnings } = await loadInstructions(join(root, 'a/b/c/d'));
    assert.deepEqual(files, [{ path: 'a/b/c/d/CLAUDE.md', text: 'own' }]);
    assert.deepEqual(
      warnings.map((warning) => /^\S+/.exec(warning)?.[0]),
      ['AGENTS.md', 'a/AGENTS.md', 'a/b/AGENTS.md', 'a/b/c/AGENTS.md'],
    );
  },
);

test('hundreds of nested folders are gone through in no time', { timeout: 20_000 }, async () => {
  const root = project({ '.git/': '' });
  const deepest = `${root}${'/d'.repeat(400)}`;
  mkdirSync(deepest, { recursive: true });
  writeFileSync(join(deepest, 'AGENTS.md'), 'deep');
  const begun = performance.now();
  const { files } = await loadInstructions(deepest);
  assert.equal(files.length, 1);
  assert.ok(performance.now() - begun < 5_000, String(performance.now() - begun));
});
