import assert from 'node:assert/strict';
import { test } from 'node:test';

import { isFragment } from './fragments.ts';

const FRAGMENTS = 'L92 drwxr-xr-x -rw-r--r-- 100644 100755 33mRunning 0000000..1568694'.split(' ');
const NAMES = 'Lens src/s/lens.ts 2734651404 E0602 v1.2.0 5763b90d s3_bucket 3d_model 100644th'.split(' ');

test('pieces of what a program printed or was given are no names', () => {
  assert.deepEqual(FRAGMENTS.filter(isFragment), FRAGMENTS);
  assert.deepEqual(NAMES.filter(isFragment), []);
});
