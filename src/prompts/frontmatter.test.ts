import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parsePrompt } from './frontmatter.ts';
import { loadPrompt } from './load.io.ts';
import { NO_FRONTMATTER } from './parts.ts';
import { PROMPT_NAMES, SHIPPED_PROMPTS } from './shipped.ts';

describe('parsePrompt', () => {
  it('reads every key', () => {
    const { frontmatter, body, warnings } = parsePrompt(
      '---\r\nversion: 1\r\ntrigger:\r\n  early_percent_remaining_lt: 90\r\n  auto_requires_any_boundary: [commit]\r\npacket:\r\n  max_tail_chars: 7\r\n---\r\n\r\nText\r\n',
    );
    assert.deepEqual(warnings, []);
    assert.equal(body, 'Text');
    assert.deepEqual(frontmatter, {
      version: 1,
      thresholds: { early: 90 },
      requiresAnyBoundary: ['commit'],
      maxTailCharacters: 7,
    });
  });

  for (const text of ['Text', 'Text\n---\nversion: 9\n---\n', '---\nversion: 9', '--- \nversion: 9\n---\n']) {
    it(`takes ${JSON.stringify(text)} as text alone`, () => {
      assert.deepEqual(parsePrompt(text), { frontmatter: NO_FRONTMATTER, body: text.trim(), warnings: [] });
    });
  }

  it('takes an empty frontmatter', () => {
    assert.deepEqual(parsePrompt('---\n---\nText'), { frontmatter: NO_FRONTMATTER, body: 'Text', warnings: [] });
  });

  const cases: readonly (readonly [yaml: string, ...warnings: readonly string[]])[] = [
    ['version: [1', '3:1: this is not valid YAML: Flow sequence in block collection must be sufficiently indented and end with a ].'],
    [`a: ${'['.repeat(100_000)}`, '1:1: this is longer than 4096 characters.'],
    ['version: 1\nversion: 2', '3:1: this is not valid YAML: Map keys must be unique.'],
    ['version: 1\ntriger: {}', '3:1: unknown key triger; the nearest known one is trigger.'],
    ['trigger:\r\n  frob: 1\r\n', '3:3: unknown key trigger.frob.'],
    ['xyzzy: 1\nplugh: 2', '2:1: unknown key xyzzy.', '3:1: unknown key plugh.'],
    ['trigger:\n  early_percent_remaining_lt: 101', '3:31: trigger.early_percent_remaining_lt must be a whole number from 0 to 100.'],
    ['trigger:\n  early_percent_remaining_lt: "90"', '3:31: trigger.early_percent_remaining_lt must be a whole number from 0 to 100.'],
    ['trigger:\n  early_percent_remaining_lt:\n', '3:3: trigger.early_percent_remaining_lt must be a whole number from 0 to 100.'],
    ['trigger: 3', '2:10: trigger must be a table of keys with values.'],
    [
      'trigger:\n  emergency_percent_remaining_lt: 10\n  asap_percent_remaining_lt: 90\n  early_percent_remaining_lt: 80',
      '4:3: trigger.early_percent_remaining_lt (80) is below trigger.asap_percent_remaining_lt (90), but thresholds must fall from early over ready and asap to emergency.',
    ],
    [
      'trigger:\n  auto_requires_any_boundary: [commit, comit]',
      '3:40: trigger.auto_requires_any_boundary must be a list of any of commit, pr_checkpoint, plan_checkpoint, plan_update, phase_completed, agent_done, topic_shift, concluding_thought, turn_complete.',
    ],
    ['packet:\n  max_tail_chars: 0', '3:19: packet.max_tail_chars must be a whole number of at least 1.'],
    ['version: &a 1\npacket: {max_tail_chars: *a}', '2:10: anchors and aliases are not supported here.'],
    ['version: 1\npacket: &far {max_tail_chars: 1}', '3:9: anchors and aliases are not supported here.'],
    ['- a list', '2:1: the frontmatter must be keys with values.'],
  ];
  for (const [yaml, ...expected] of cases) {
    it(`warns of ${JSON.stringify(yaml)}, and all defaults hold`, () => {
      const { frontmatter, body, warnings } = parsePrompt(`---\n${yaml}\n---\nText`);
      assert.deepEqual(warnings, expected);
      assert.deepEqual(frontmatter, NO_FRONTMATTER);
      assert.equal(body, 'Text');
    });
  }

  it('leaves thresholds that only the defaults contradict to the policy', () => {
    const { frontmatter } = parsePrompt('---\ntrigger: {ready_percent_remaining_lt: 99}\n---\nText');
    assert.deepEqual(frontmatter.thresholds, { ready: 99 });
  });

  it('takes no comment and no text for an anchor', () => {
    const { warnings } = parsePrompt('---\nversion: 1 # see &here and *there\n---\nText');
    assert.deepEqual(warnings, []);
  });
});

it('what is told of the shipped prompts without reading their frontmatter is what it says', async () => {
  const place = { folder: '/nowhere', homeDirectory: '/nowhere', cwd: '/nowhere', paths: {} };
  for (const name of PROMPT_NAMES) {
    const { frontmatter, body } = await loadPrompt(place, name);
    const { warnings, ...read } = parsePrompt(SHIPPED_PROMPTS[name]);
    assert.deepEqual({ frontmatter, body, warnings }, { ...read, warnings: [] }, name);
  }
});
