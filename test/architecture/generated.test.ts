import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { generateFiles, ROOT } from '../../scripts/generate.ts';

describe('generated files', () => {
  for (const { path, content } of generateFiles()) {
    it(`${path} is current`, () => {
      const stored = readFileSync(join(ROOT, path), 'utf8');
      assert.ok(stored === content, `${path} is stale; run \`npm run generate\``);
    });
  }
});
