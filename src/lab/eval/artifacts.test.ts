import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { agentSays, harnessSays, toolCall } from '../../../test/support/records.ts';
import type { Item } from '../../protocol/item.ts';
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

  it('are the files of every agent’s edit tool, but not what its editor only looked at', () => {
    const cell = 'create_file("src/cell.py")\nedit_file_by_replace(file_name="src/old.py", to_replace="a")';
    const { files, scripts } = artifactsOf(
      toolCall('c1', 'edit', { filePath: 'src/opencode.ts', oldString: 'a', newString: 'b' }, ''),
      toolCall('c2', 'replace', { file_path: 'src/gemini.ts', old_string: 'a', new_string: 'b' }, ''),
      toolCall('c3', 'create', { path: 'src/copilot.ts', file_text: 'a' }, ''),
      toolCall('c4', 'str_replace_editor', { command: 'view', path: 'src/looked-at.ts' }, ''),
      toolCall('c5', 'str_replace_editor', { command: 'create', path: 'src/hands.ts' }, ''),
      toolCall('c6', 'run_ipython', { code: cell }, ''),
      toolCall('c7', 'run', { command: 'npm test' }, ''),
      toolCall('c8', 'terminal', { command: 'npm run lint' }, ''),
    );
    const edited = ['opencode.ts', 'gemini.ts', 'copilot.ts', 'hands.ts', 'cell.py', 'old.py'];
    assert.deepEqual(
      files,
      edited.map((name) => `src/${name}`),
    );
    assert.equal(scripts, 'npm test\nnpm run lint');
  });

  it('are read from the answers of agents that call no tools', () => {
    const read = (style: 'shell' | 'editor', ...messages: readonly Item[]) => {
      const ledger = new ArtifactLedger(style);
      for (const message of messages) ledger.add(message);
      return ledger.artifacts();
    };
    const shell = read(
      'shell',
      agentSays('First the build.\n\n```bash\nnpm run build && git commit -am x\n```'),
      harnessSays('<returncode>0</returncode>\n<output>\n[main 9f3c2ab1] Turn the bed\n</output>'),
    );
    assert.deepEqual(shell.commands, ['npm run build', 'git commit -am']);
    assert.deepEqual(shell.commits, [{ hash: '9f3c2ab', subject: 'Turn the bed' }]);
    const editor = read(
      'editor',
      agentSays('```\nopen src/seen.py 3\n```'),
      agentSays('```\ncreate reproduce.py\n```'),
      agentSays('```\nedit 1:1\nimport bed\nend_of_edit\n```'),
      agentSays('```\nopen "src/bed.py"\n```'),
      agentSays('```\nedit 3:7\nturn()\nend_of_edit\n```'),
    );
    assert.deepEqual(editor.files, ['reproduce.py', 'src/bed.py']);
    assert.deepEqual(artifactsOf(agentSays('```bash\nnpm test\n```')).commands, [], 'an example, no call');
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

  it('holds claims also to what commands wrote, deleted or moved', () => {
    const script = [
      "sed -i 's/a; b/c/\ns/d/e/' src/sed.ts",
      'cat <<EOF > src/here.ts\nx\nEOF',
      'rm -f "src/gone.ts"; mv src/from.ts src/to.ts',
      `python -c "open('src/cell.py', 'w').write('x')"`,
      'grep -n turn src/seen.ts 2>&1 | head',
    ].join('\n');
    const changed = artifactsOf(toolCall('c1', 'Bash', { command: script }, ''));
    const precisionOf = (...names: readonly string[]) =>
      scoreArtifacts(
        names.map((name) => `edited ${name}`),
        changed,
        '',
      ).precision;
    assert.equal(precisionOf('src/sed.ts', 'src/here.ts', 'src/gone.ts', 'src/from.ts', 'src/to.ts'), 1);
    assert.equal(precisionOf('src/cell.py'), 1);
    assert.equal(precisionOf('src/seen.ts'), 0);
    assert.deepEqual(changed.files, [], 'a scratch file need not be told');
  });

  it('knows a path with spaces by its last word', () => {
    const spaced = artifactsOf(toolCall('c1', 'Write', { file_path: '/w/Shop Notes/bed.md' }, ''));
    assert.equal(scoreArtifacts(['edited Shop Notes/bed.md'], spaced, '/w').precision, 1);
  });

  it('is precise when every claim is true', () => {
    const claims = ['edited src/bed.ts', 'commit 9f3c2ab', 'ran `npm run build`'];
    assert.equal(scoreArtifacts(claims, done, '').precision, 1);
    assert.equal(scoreArtifacts([...claims, 'edited src/other.ts'], done, '').precision, 3 / 4);
    assert.equal(scoreArtifacts(['commit 1234abc', 'ran `npm test`'], done, '').precision, 0);
  });
});
