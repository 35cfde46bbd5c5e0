import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { generateFiles, ROOT } from '../../scripts/generate.ts';

await describe('generated files', async () => {
  for (const { path, content } of await generateFiles()) {
    it(`${path} is current`, () => {
      const stored = readFileSync(join(ROOT, path), 'utf8');
      assert.ok(stored === content, `${path} is stale; run \`npm run generate\``);
    });
  }
});
