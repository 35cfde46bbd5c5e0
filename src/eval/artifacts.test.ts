import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { toolCall } from '../../test/support/records.ts';
import type { Item } from '../protocol/item.ts';
import { ArtifactLedger, scoreArtifacts } from './artifacts.ts';

function artifactsOf(...items: readonly (Item | readonly Item[])[]) {
  const ledger = new ArtifactLedger();
  for (const item of items.flat()) ledger.add(item);
  return ledger.artifacts();
}

const PATCH = '*** Begin Patch\n*** Update File: src/bed.ts\n+x\n*** Add File: src/new.ts\n+y\n*** End Patch';

describe('artifacts of a session', () => {
  it('are the files of patches and edit tools, unless the tool failed', () => {
    const failed: readonly Item[] = [
      { type: 'function_call', name: 'Edit', arguments: '{"file_path":"src/no.ts"}', call_id: 'c3' },
      { type: 'function_call_output', call_id: 'c3', output: 'no such text', success: false },
    ];
    const { files } = artifactsOf(
      { type: 'custom_tool_call', name: 'apply_patch', input: PATCH, call_id: 'c1' },
      toolCall('c2', 'Write', { file_path: '/w/src/gear.ts', content: 'z' }, 'written'),
      failed,
      toolCall('c4', 'Read', { file_path: 'src/seen.ts' }, 'seen'),
    );
    assert.deepEqual(files, ['src/bed.ts', 'src/new.ts', '/w/src/gear.ts']);
  });

  it('are the commands that change or check something, split as a shell splits them', () => {
    const { commands } = artifactsOf(
      toolCall('c1', 'Bash', { command: 'cd src && CI=1 npm test -- --grep "a; b | c" | tail -5; ls' }, ''),
      toolCall('c2', 'shell', { command: ['bash', '-lc', 'git status && git push origin main'] }, ''),
      toolCall('c3', 'exec_command', { cmd: 'python - <<EOF\nimport os; os.remove("x")\nEOF' }, ''),
    );
    assert.deepEqual(commands, ['npm test --', 'git push origin', 'python -']);
  });

  it('are the commits that git reported, also inside of JSON', () => {
    const { commits } = artifactsOf(
      toolCall('c1', 'Bash', { command: 'git commit' }, '[main 9f3c2ab1] Turn the bed\n 1 file changed'),
      toolCall(
        'c2',
        'shell',
        { command: ['git'] },
        JSON.stringify({ output: '[main a1b2c3d] Oil the gear\n' }),
      ),
    );
    assert.deepEqual(commits, [
      { hash: '9f3c2ab', subject: 'Turn the bed' },
      { hash: 'a1b2c3d', subject: 'Oil the gear' },
    ]);
  });
});

describe('score of an artifact trail', () => {
  const done = artifactsOf(
    { type: 'custom_tool_call', name: 'apply_patch', input: PATCH, call_id: 'c1' },
    toolCall('c2', 'Bash', { command: 'npm run build && git commit' }, '[main 9f3c2ab1] Turn the bed'),
  );

  it('is what is still told, by kind', () => {
    const score = scoreArtifacts(['- src/bed.ts', 'ran npm run build', 'Turn the bed'], done, '');
    assert.deepEqual([score.files, score.commands, score.commits], [1 / 2, 1 / 2, 1]);
    assert.equal(score.precision, undefined, 'a list claims nothing');
  });

  it('is precise when every claim is true', () => {
    const claims = ['edited src/bed.ts', 'commit 9f3c2ab', 'ran `npm run build`'];
    assert.equal(scoreArtifacts(claims, done, '').precision, 1);
    assert.equal(scoreArtifacts([...claims, 'edited src/other.ts'], done, '').precision, 3 / 4);
    assert.equal(scoreArtifacts(['commit 1234abc', 'ran `npm test`'], done, '').precision, 0);
  });
});
