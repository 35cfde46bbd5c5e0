// Codex's modes in Codex's spelling and in Baton's, through every door: options, settings, ops.

import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { checkOp } from '../../src/protocol/wire/parse.ts';
import { APPROVAL_POLICIES, modeName, SANDBOX_MODES } from '../../src/vocabulary.ts';
import { baton, temporaryDirectory } from '../support/program.ts';

function spellings(names: readonly string[]): readonly string[] {
  return [...new Set(names.flatMap((name) => [name, name.replaceAll('_', '-')]))];
}

async function valueOf(home: string, key: string, args: readonly string[], env = {}): Promise<unknown> {
  const ran = await baton(home, [...args, 'config', 'show', '--json'], { env });
  assert.equal(ran.status, 0, ran.explanation);
  return (JSON.parse(ran.stdout) as { config: Readonly<Record<string, unknown>> }).config[key];
}

for (const [key, flag, names] of [
  ['sandbox_mode', '--sandbox', SANDBOX_MODES],
  ['approval_policy', '--approval', APPROVAL_POLICIES],
] as const) {
  describe(key, () => {
    for (const spelling of spellings(names)) {
      test(spelling, async () => {
        const meant = modeName(spelling);
        const home = temporaryDirectory();
        assert.equal(await valueOf(home, key, ['-c', `${key}=${spelling}`]), meant);
        assert.equal(await valueOf(home, key, [], { [`BATON_${key.toUpperCase()}`]: spelling }), meant);
        mkdirSync(join(home, '.baton'));
        writeFileSync(join(home, '.baton/config.toml'), `${key} = "${spelling}"\n`);
        assert.equal(await valueOf(home, key, []), meant);
        assert.deepEqual(checkOp({ type: 'set_settings', [key]: spelling }), {
          type: 'set_settings',
          [key]: meant,
        });
        const ran = await baton(home, ['exec', '--model', 'rehearsal', flag, spelling, 'Light the lamp.']);
        assert.equal(ran.status, 0, ran.explanation);
        assert.match(ran.stderr.split('\n')[0] ?? '', new RegExp(`, ${meant}(?:,|$)`));
      });
    }

    test('another word is refused', async () => {
      const home = temporaryDirectory();
      for (const args of [
        ['exec', flag, 'on-failure', 'hi'],
        ['serve', flag, 'READ-ONLY'],
      ]) {
        const ran = await baton(home, args);
        assert.equal(ran.status, 2);
        assert.match(ran.explanation, /Allowed choices are/);
      }
      assert.equal((await baton(home, ['-c', `${key}=on-failure`, 'config', 'show'])).status, 1);
    });
  });
}
