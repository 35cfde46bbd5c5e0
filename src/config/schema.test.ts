import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import type { EstimateSettings } from '../tokens/estimate.ts';
import type { ThresholdSettings } from '../tokens/pressure.ts';
import { DEFAULT_CONFIG } from './defaults.ts';
import { listPlaces, listSettings } from './explain.ts';
import type { Setting, SettingValue } from './explain.ts';
import { camelCase, ConfigSchema, toConfig } from './schema.ts';

/** Typed out from spec 2-engine §8 and 1-product, on purpose not derived from the schema. */
const SPECIFIED: Readonly<Record<string, SettingValue | undefined>> = {
  model: undefined,
  model_provider: undefined,
  model_context_window: undefined,
  model_auto_compact_token_limit: undefined,
  compact_prompt: '',
  approval_policy: 'on_request',
  sandbox_mode: 'workspace_write',
  'shell_environment.pass': undefined,
  'features.micro_compact': true,
  'features.rawr_auto_compaction': true,
  'features.compact_v2': true,
  'features.remote_compaction': false,
  'features.ghost_snapshots': true,
  'compact.enabled': true,
  'compact.auto_compact_enabled': true,
  'compact.auto_compact_threshold': undefined,
  'compact.auto_compact_pct_override': undefined,
  'compact.free_space_buffer': 13_000,
  'compact.warning_threshold': 20_000,
  'compact.error_threshold': undefined,
  'compact.micro_compact_min_tokens_to_save': 20_000,
  'compact.micro_compact_keep_last_n_tools': 3,
  'compact.summarization_model': undefined,
  'compact.summarization_model_provider_id': undefined,
  'compact.restore_max_files': 5,
  'compact.restore_tokens_per_file': 5_000,
  'compact.restore_total_file_budget': 50_000,
  'compact.restore_todos': true,
  'compact.restore_plan': true,
  'compact.token_safety_multiplier': 1.33,
  'compact.approx_bytes_per_token': 4,
  'compact.tokens_per_image': 2_000,
  'compact.user_message_max_tokens': 20_000,
  'limits.turn_requests': 500,
  'limits.turn_tokens': 60_000_000,
  'limits.turn_dollars': 50,
  'limits.session_requests': 2_000,
  'limits.session_tokens': 200_000_000,
  'limits.session_dollars': 150,
  'limits.repeated_calls': 10,
  'rawr_auto_compaction.preset': undefined,
  'rawr_auto_compaction.mode': 'auto',
  'rawr_auto_compaction.turn_based_handoff': true,
  'rawr_auto_compaction.packet_author': 'agent',
  'rawr_auto_compaction.combine_requests': true,
  'rawr_auto_compaction.scratch_write_enabled': true,
  'rawr_auto_compaction.scratch_file_template': '.scratch/agent-{agentName}.scratch.md',
  'rawr_auto_compaction.packet_max_tail_chars': undefined,
  'rawr_auto_compaction.packet_max_tokens': 4_000,
  'rawr_auto_compaction.tail_max_items': 8,
  'rawr_auto_compaction.summary_with_packet': 'embedded',
  'rawr_auto_compaction.mid_turn': 'golden',
  'rawr_auto_compaction.cooldown_turns': 2,
  'rawr_auto_compaction.cooldown_seconds': 120,
  'rawr_auto_compaction.turn_complete_suffices_below': 40,
  'rawr_auto_compaction.judgment_deadline_seconds': 30,
  'rawr_auto_compaction.scratch_deadline_seconds': 120,
  'rawr_auto_compaction.packet_deadline_seconds': 180,
  'rawr_auto_compaction.compaction_deadline_seconds': 300,
  'rawr_auto_compaction.handoff_deadline_seconds': 30,
  'rawr_auto_compaction.compaction_model': undefined,
  'rawr_auto_compaction.compaction_reasoning_effort': undefined,
  'rawr_auto_compaction.compaction_verbosity': undefined,
  'rawr_auto_compaction.auto_compact_prompt_path': undefined,
  'rawr_auto_compaction.scratch_write_prompt_path': undefined,
  'rawr_auto_compaction.watcher_packet_prompt_path': undefined,
  'rawr_auto_compaction.judgment_context_prompt_path': undefined,
  'rawr_auto_compaction.heads_up_prompt_path': undefined,
  'rawr_auto_compaction.handoff_prompt_path': undefined,
  'rawr_auto_compaction.push_is_pr_checkpoint': true,
  'rawr_auto_compaction.info_lines': 'all',
  'rawr_auto_compaction.trigger.early_percent_remaining_lt': undefined,
  'rawr_auto_compaction.trigger.ready_percent_remaining_lt': undefined,
  'rawr_auto_compaction.trigger.asap_percent_remaining_lt': undefined,
  'rawr_auto_compaction.trigger.emergency_percent_remaining_lt': undefined,
  'rawr_auto_compaction.trigger.auto_requires_any_boundary': undefined,
  'rawr_auto_compaction.policy.early.percent_remaining_lt': undefined,
  'rawr_auto_compaction.policy.early.used_tokens_ge': undefined,
  'rawr_auto_compaction.policy.early.requires_any_boundary': undefined,
  'rawr_auto_compaction.policy.early.plan_boundaries_require_semantic_break': true,
  'rawr_auto_compaction.policy.early.decision_prompt_path': undefined,
  'rawr_auto_compaction.policy.ready.percent_remaining_lt': undefined,
  'rawr_auto_compaction.policy.ready.used_tokens_ge': undefined,
  'rawr_auto_compaction.policy.ready.requires_any_boundary': undefined,
  'rawr_auto_compaction.policy.ready.plan_boundaries_require_semantic_break': true,
  'rawr_auto_compaction.policy.ready.decision_prompt_path': undefined,
  'rawr_auto_compaction.policy.asap.percent_remaining_lt': undefined,
  'rawr_auto_compaction.policy.asap.used_tokens_ge': undefined,
  'rawr_auto_compaction.policy.asap.requires_any_boundary': undefined,
  'rawr_auto_compaction.policy.asap.plan_boundaries_require_semantic_break': false,
  'rawr_auto_compaction.policy.asap.decision_prompt_path': undefined,
  'rawr_auto_compaction.policy.emergency.percent_remaining_lt': undefined,
  'rawr_auto_compaction.policy.emergency.used_tokens_ge': undefined,
  'rawr_auto_compaction.semantic_signals.agent_done_phrases': [
    'done',
    'completed',
    'finished',
    'shipped',
    'pushed',
  ],
  'rawr_auto_compaction.semantic_signals.agent_done_negative_phrases': [
    'not done',
    'not completed',
    'not finished',
  ],
  'rawr_auto_compaction.semantic_signals.topic_shift_phrases': [
    'moving on',
    'switching to',
    'next,',
    'next:',
    'next up',
    "now, let's",
    "now let's",
    "we'll now",
  ],
  'rawr_auto_compaction.semantic_signals.concluding_thought_phrases': [
    'in summary',
    'to summarize',
    'to wrap up',
    'wrapping up',
    'conclusion',
    'concluding',
    'final thoughts',
    'next steps',
  ],
  'hooks.pre_compact': undefined,
  'hooks.post_compact': undefined,
  'hooks.session_start': undefined,
  'hooks.user_prompt_submit': undefined,
  'hooks.turn_complete': undefined,
  'model_providers.any.name': undefined,
  'model_providers.any.base_url': undefined,
  'model_providers.any.wire_api': undefined,
  'model_providers.any.env_key': undefined,
  'model_providers.any.request_max_retries': undefined,
  'model_providers.any.stream_max_retries': undefined,
  'model_providers.any.stream_idle_timeout_ms': undefined,
  'model_providers.any.answer_timeout_ms': undefined,
  'model_providers.any.remote_compaction': undefined,
};

const SETTINGS = listSettings(['any']);

const tree = ({ path }: Setting, value: unknown): unknown =>
  path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);

/** Values that a setting must refuse: of every other type, and numbers outside of its range or with a fraction. */
function refusedValues({
  kind,
  minimum = -Infinity,
  maximum = Infinity,
  minLength,
}: Setting): fc.Arbitrary<unknown> {
  const refusedTexts = kind !== 'string' ? [fc.string()] : minLength === undefined ? [] : [fc.constant('')];
  const others = [
    fc.constant(null),
    fc.array(fc.integer(), { minLength: 1 }),
    fc.dictionary(fc.string(), fc.integer()),
    fc.date(),
    ...(kind === 'boolean' ? [] : [fc.boolean()]),
    ...refusedTexts,
  ];
  if (kind !== 'integer' && kind !== 'number') return fc.oneof(fc.double(), ...others);
  const outside = fc
    .oneof(fc.double(), fc.integer(), fc.constantFrom(minimum - 1, maximum + 1, -1, -0.5))
    .filter((value) => !(value >= minimum && value <= maximum));
  const fraction = fc.double({ noNaN: true, min: 1, max: 1e6 }).filter((value) => !Number.isInteger(value));
  const infinite = fc.constantFrom(Infinity, -Infinity, Number.NaN);
  return fc.oneof(outside, infinite, ...(kind === 'integer' ? [fraction] : []), ...others);
}

describe('ConfigSchema', () => {
  it('has exactly the specified settings, in order, with the specified defaults', () => {
    const declared = SETTINGS.map((setting) => [setting.key, setting.default]);
    assert.deepEqual(declared, Object.entries(SPECIFIED));
  });

  it('restricts the values that the specification restricts', () => {
    const ranges = Object.fromEntries(SETTINGS.map(({ key, minimum, maximum }) => [key, [minimum, maximum]]));
    assert.deepEqual(ranges['compact.auto_compact_pct_override'], [1, 100]);
    assert.deepEqual(ranges['compact.token_safety_multiplier'], [1, undefined]);
    assert.deepEqual(ranges['compact.approx_bytes_per_token'], [1, undefined]);
  });

  it('documents every setting: meaning, source, a unit for numbers, and what unset means', () => {
    for (const setting of SETTINGS) {
      assert.match(setting.description, /^[A-Z].*\.$/, setting.key);
      assert.ok(setting.source.length > 0, setting.key);
      assert.equal(
        setting.unit !== undefined,
        setting.kind === 'integer' || setting.kind === 'number',
        setting.key,
      );
      assert.equal(setting.whenUnset === undefined, setting.default !== undefined, setting.key);
      const { examples = [] } = setting;
      for (const example of examples)
        assert.ok(ConfigSchema.safeParse(tree(setting, example)).success, setting.key);
      assert.equal(examples.length, setting.default === undefined ? 1 : 0, setting.key);
    }
  });

  for (const setting of SETTINGS) {
    it(`refuses what ${setting.key} must not be, and says that it is this key`, () => {
      fc.assert(
        fc.property(refusedValues(setting), (value) => {
          const result = ConfigSchema.safeParse(tree(setting, value));
          assert.equal(result.success, false, `accepted ${JSON.stringify(value)}`);
          assert.deepEqual(result.error.issues[0]?.path.slice(0, setting.path.length), setting.path);
        }),
        { seed: 8, numRuns: 60 },
      );
    });
  }

  it('accepts both ends of every range', () => {
    for (const setting of SETTINGS) {
      for (const end of [setting.minimum, setting.maximum]) {
        if (end !== undefined) assert.ok(ConfigSchema.safeParse(tree(setting, end)).success, setting.key);
      }
    }
  });
});

describe('DEFAULT_CONFIG', () => {
  it('is what the schema makes of nothing', () => {
    assert.deepEqual(DEFAULT_CONFIG, toConfig(ConfigSchema.parse({})));
  });

  it('is, as it stands, what the token account takes', () => {
    const thresholds: ThresholdSettings = DEFAULT_CONFIG.compact;
    const estimate: EstimateSettings = DEFAULT_CONFIG.compact;
    assert.equal(thresholds.freeSpaceBuffer, 13_000);
    assert.equal(estimate.approxBytesPerToken, 4);
  });
});

describe('toConfig', () => {
  it('leaves the names of providers as they are', () => {
    const config = toConfig(
      ConfigSchema.parse({ model_providers: { my_own_lab: { base_url: 'http://a.example/v1' } } }),
    );
    assert.deepEqual(config.modelProviders, { my_own_lab: { baseUrl: 'http://a.example/v1' } });
  });

  it('renames every key and changes no value', () => {
    const config = toConfig(ConfigSchema.parse({ compact: { micro_compact_keep_last_n_tools: 7 } }));
    assert.equal(config.compact.microCompactKeepLastNTools, 7);
    assert.deepEqual(
      Object.keys(config.compact),
      Object.keys(ConfigSchema.parse({}).compact).map((key) => camelCase(key)),
    );
  });
});

it('the places of settings are those of their list', () => {
  const places = SETTINGS.map(({ path, key }) => ({ path, key }));
  assert.deepEqual(listPlaces(['any']), places);
});
