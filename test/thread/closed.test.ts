// A thread that is closed before its first message leaves nothing behind: `sessions` and `last` find conversations only.

import assert from 'node:assert/strict';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openThreadIn } from '../support/opened-thread.ts';
import { temporaryDirectory } from '../support/program.ts';

test('a thread that is closed before its first message leaves no file', async () => {
  const folder = temporaryDirectory();
  const [home, work] = [join(folder, 'home'), join(folder, 'work')];
  mkdirSync(home);
  mkdirSync(work);
  const model = {
    provider: 'nobody',
    stream: () => {
      throw new Error('no model is asked');
    },
  };
  const thread = await openThreadIn({ home, work, model, modelName: 'silent' });
  await thread.close();
  const files = readdirSync(home, { recursive: true, encoding: 'utf8' });
  assert.deepEqual(
    files.filter((name) => name.includes('rollout-')),
    [],
  );
});
