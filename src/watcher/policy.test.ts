import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DEFAULT_CONFIG } from '../config/defaults.ts';
import { resolveConfig } from '../config/resolve.ts';
import type { Boundary } from '../vocabulary.ts';
import { DEFAULT_POLICY, policyWarnings, resolvePolicy, TIER_BOUNDARIES } from './policy.ts';
import type { Policy, PromptTrigger } from './policy.ts';
import { signalSettings } from './signals/signals.ts';

const configWith = (...overrides: readonly string[]) =>
  resolveConfig({ overrides, variables: {}, files: [] }).config;

const watched = (...overrides: readonly string[]): Policy =>
  resolvePolicy(configWith(...overrides.map((each) => `rawr_auto_compaction.${each}`)));

const setKey = (key: string, value: readonly Boundary[] | undefined): string[] =>
  value === undefined ? [] : [`rawr_auto_compaction.${key}=${JSON.stringify(value)}`];

const thresholdsOf = (policy: Policy): readonly number[] =>
  Object.values(policy.tiers).map(({ percentRemainingBelow }) => percentRemainingBelow);

describe('requires_any_boundary, the trigger and the sets of the tiers', () => {
  const early = TIER_BOUNDARIES.early;
  const cases: readonly (readonly [
    own: readonly Boundary[] | undefined,
    configured: readonly Boundary[] | undefined,
    frontmatter: readonly Boundary[],
    required: readonly Boundary[],
  ])[] = [
    [undefined, undefined, [], early],
    [undefined, [], [], early],
    [undefined, [], ['topic_shift'], early],
    [undefined, undefined, ['topic_shift', 'commit'], ['topic_shift']],
    [undefined, ['plan_update'], ['topic_shift'], ['plan_update']],
    [undefined, ['commit'], [], []],
    [undefined, ['turn_complete', 'commit', 'pr_checkpoint'], [], ['turn_complete', 'pr_checkpoint']],
    [undefined, undefined, ['turn_complete'], ['turn_complete']],
    [[], undefined, [], []],
    [[], ['plan_update'], ['plan_update'], []],
    [['commit', 'agent_done'], ['plan_update'], ['topic_shift'], ['commit', 'agent_done']],
    [['commit'], undefined, [], ['commit']],
  ];
  for (const [own, configured, frontmatter, required] of cases) {
    it(JSON.stringify({ own, configured, frontmatter }), () => {
      const config = configWith(
        ...setKey('policy.early.requires_any_boundary', own),
        ...setKey('trigger.auto_requires_any_boundary', configured),
      );
      const trigger: PromptTrigger = { thresholds: {}, requiresAnyBoundary: frontmatter };
      const policy = resolvePolicy(config, trigger);
      assert.deepEqual(policy.tiers.early.required, required);
      assert.deepEqual(policy.tiers.emergency.required, []);
    });
  }

  it('are those of the specification', () => {
    const ready = [...early, 'commit'];
    assert.deepEqual(early, [
      'plan_checkpoint',
      'plan_update',
      'pr_checkpoint',
      'phase_completed',
      'topic_shift',
    ]);
    assert.deepEqual(DEFAULT_POLICY.tiers.ready.required, ready);
    assert.deepEqual(DEFAULT_POLICY.tiers.asap.required, [...ready, 'agent_done', 'concluding_thought']);
  });
});

describe('thresholds', () => {
  it('come from the configuration, else the frontmatter, else the default', () => {
    const config = configWith('rawr_auto_compaction.policy.early.percent_remaining_lt=90');
    const trigger: PromptTrigger = { thresholds: { early: 88, ready: 70 }, requiresAnyBoundary: [] };
    assert.deepEqual(thresholdsOf(resolvePolicy(config, trigger)), [90, 70, 45, 15]);
    assert.deepEqual(thresholdsOf(DEFAULT_POLICY), [65, 55, 45, 15]);
  });

  it('of a frontmatter that upset the order of configured ones count for nothing', () => {
    const config = configWith('rawr_auto_compaction.policy.early.percent_remaining_lt=80');
    const trigger: PromptTrigger = { thresholds: { ready: 82, asap: 60 }, requiresAnyBoundary: [] };
    assert.deepEqual(thresholdsOf(resolvePolicy(config, trigger)), [80, 55, 45, 15]);
    assert.deepEqual(policyWarnings(config, trigger), [
      'The thresholds in the frontmatter of auto-compact.md are not used: that of early (80, the configuration) would be below that of ready (82, the frontmatter).',
    ]);
  });

  it('of a frontmatter are warned of exactly where they are not used', () => {
    const config = configWith('rawr_auto_compaction.policy.early.percent_remaining_lt=90');
    const fits: PromptTrigger = { thresholds: { ready: 88 }, requiresAnyBoundary: [] };
    assert.deepEqual(thresholdsOf(resolvePolicy(config, fits)), [90, 88, 45, 15]);
    assert.deepEqual(policyWarnings(config, fits), []);
    assert.match(policyWarnings(DEFAULT_CONFIG, fits)[0] ?? '', /early \(65, the default\)/);
    assert.deepEqual(policyWarnings(DEFAULT_CONFIG, { thresholds: {}, requiresAnyBoundary: [] }), []);
  });
});

describe('every key that the policy reads changes it', () => {
  const cases: readonly (readonly [override: string, read: (policy: Policy) => unknown, value: unknown])[] = [
    ['mode="tag"', ({ mode }) => mode, 'tag'],
    ['turn_based_handoff=false', ({ isTurnBased }) => isTurnBased, false],
    ['packet_author="watcher"', ({ packetAuthor }) => packetAuthor, 'watcher'],
    ['combine_requests=false', ({ combinesRequests }) => combinesRequests, false],
    ['scratch_write_enabled=false', ({ writesScratch }) => writesScratch, false],
    ['mid_turn="off"', ({ midTurn }) => midTurn, 'off'],
    ['cooldown_turns=0', ({ cooldownTurns }) => cooldownTurns, 0],
    ['cooldown_seconds=7', ({ cooldownMs }) => cooldownMs, 7_000],
    ['turn_complete_suffices_below=0', (policy) => policy.turnCompleteSufficesBelow, 0],
    ['judgment_deadline_seconds=1', ({ deadlinesMs }) => deadlinesMs.judgment, 1_000],
    ['scratch_deadline_seconds=2', ({ deadlinesMs }) => deadlinesMs.scratch, 2_000],
    ['packet_deadline_seconds=3', ({ deadlinesMs }) => deadlinesMs.packet, 3_000],
    ['compaction_deadline_seconds=4', ({ deadlinesMs }) => deadlinesMs.compaction, 4_000],
    ['handoff_deadline_seconds=5', ({ deadlinesMs }) => deadlinesMs.handoff, 5_000],
    ['info_lines="off"', ({ infoLines }) => infoLines, 'off'],
    ['policy.early.percent_remaining_lt=99', ({ tiers }) => tiers.early.percentRemainingBelow, 99],
    ['trigger.ready_percent_remaining_lt=60', ({ tiers }) => tiers.ready.percentRemainingBelow, 60],
    ['policy.asap.used_tokens_ge=9', ({ tiers }) => tiers.asap.usedTokensFrom, 9],
    ['policy.emergency.used_tokens_ge=9', ({ tiers }) => tiers.emergency.usedTokensFrom, 9],
    ['policy.emergency.percent_remaining_lt=0', ({ tiers }) => tiers.emergency.percentRemainingBelow, 0],
    [
      'policy.early.plan_boundaries_require_semantic_break=false',
      ({ tiers }) => tiers.early.plansNeedSemanticBreak,
      false,
    ],
    ['policy.asap.decision_prompt_path="j.md"', ({ tiers }) => tiers.asap.decisionPromptPath, 'j.md'],
  ];
  for (const [override, read, value] of cases) {
    it(override, () => {
      assert.notDeepEqual(read(DEFAULT_POLICY), value);
      assert.deepEqual(read(watched(override)), value);
    });
  }

  for (const key of ['features.rawr_auto_compaction', 'compact.enabled', 'compact.auto_compact_enabled']) {
    it(`${key}=false`, () => {
      assert.equal(resolvePolicy(configWith(`${key}=false`)).isEnabled, false);
    });
  }

  it('a watcher-written packet waits for the next message only where the end of the turn is required', () => {
    const required = 'trigger.auto_requires_any_boundary=["turn_complete"]';
    assert.equal(watched('packet_author="watcher"').defersToNextMessage, false);
    assert.equal(watched(required).defersToNextMessage, false);
    assert.equal(watched(required, 'packet_author="watcher"').defersToNextMessage, true);
  });
});

describe('signalSettings', () => {
  it('takes whole lists and the push', () => {
    const settings = signalSettings(
      configWith(
        'rawr_auto_compaction.push_is_pr_checkpoint=false',
        'rawr_auto_compaction.semantic_signals.agent_done_phrases=["all set"]',
        'rawr_auto_compaction.semantic_signals.topic_shift_phrases=[]',
      ),
    );
    assert.equal(settings.pushIsPrCheckpoint, false);
    assert.deepEqual(settings.phrases.agentDone, ['all set']);
    assert.deepEqual(settings.phrases.topicShift, []);
    assert.deepEqual(
      settings.phrases.concludingThought,
      signalSettings(DEFAULT_CONFIG).phrases.concludingThought,
    );
  });
});
