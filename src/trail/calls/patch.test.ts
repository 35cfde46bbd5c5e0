import assert from 'node:assert/strict';
import { test } from 'node:test';
import { patchedFiles } from './patch.ts';

test('additions that others stand between are not told as neighbours', () => {
  const patch = [
    '*** Begin Patch',
    '*** Update File: src/dome.ts',
    '@@ openDome',
    '-  a();',
    '+  b();',
    '+  c();',
    '   stay();',
    '   stay();',
    '+  d();',
    '@@ closeDome',
    '+  e();',
    '   end();',
    '*** End Patch',
  ].join('\n');
  const added = '  b();\n  c();\n…\n  d();\n…\n  e();';
  const replaced = [{ old: '  a();', new: added, isLines: true }];
  assert.deepEqual(patchedFiles(patch), [{ action: 'edit', path: 'src/dome.ts', added, replaced }]);
});
