import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { PLACEHOLDERS, renderPrompt, SNIPPET_PLACEHOLDER } from './render.ts';
import { PROMPT_NAMES, SHIPPED_PROMPTS } from './shipped.ts';

test('both spellings of a placeholder take the same value', () => {
  assert.equal(renderPrompt('{scratchFile} {scratch_file}', { scratchFile: 'a.md' }), 'a.md a.md');
  assert.equal(renderPrompt(SNIPPET_PLACEHOLDER, { RAWR_VERBATIM_CONTINUATION_SNIPPET: 'tail' }), 'tail');
});

test('what has no value stays, also what every object inherits', () => {
  const text = '{unknown} {constructor} { tier } {} {{x}} {"json": 1}';
  assert.equal(renderPrompt(text, { tier: 'asap' }), text);
});

test('an inserted text is never expanded again, and no pattern of replacement counts in it', () => {
  const inserted = fc
    .array(fc.constantFrom('{tier}', '{threadId}', SNIPPET_PLACEHOLDER, '$&', '$1', '{', '}', 'x'))
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(inserted, inserted, (tier, threadId) => {
      assert.equal(renderPrompt('<{tier}|{threadId}>', { tier, threadId }), `<${tier}|${threadId}>`);
    }),
    { seed: 11 },
  );
});

for (const name of PROMPT_NAMES) {
  test(`${name} holds no placeholder that it does not have`, () => {
    const used = SHIPPED_PROMPTS[name].match(/\{\{\w+\}\}|\{\w+\}/g) ?? [];
    for (const placeholder of used) {
      assert.ok(PLACEHOLDERS[name].includes(placeholder), `${placeholder} in ${name}`);
    }
  });
}
