import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import type { EstimateSettings } from '../tokens/estimate.ts';
import type { ThresholdSettings } from '../tokens/pressure.ts';
import { DEFAULT_CONFIG } from './defaults.ts';
import { listSettings } from './explain.ts';
import type { Setting } from './explain.ts';
import { camelCase, ConfigSchema, toConfig } from './schema.ts';

/** Typed out from spec 2-engine §8 and 1-product, on purpose not derived from the schema. */
const SPECIFIED: Readonly<Record<string, boolean | number | undefined>> = {
  model_context_window: undefined,
  model_auto_compact_token_limit: undefined,
  'features.micro_compact': true,
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
};

const tree = ({ path }: Setting, value: unknown): unknown =>
  path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);

/** Values that a setting must refuse: of every other type, and numbers outside of its range or with a fraction. */
function refusedValues({ kind, minimum = -Infinity, maximum = Infinity }: Setting): fc.Arbitrary<unknown> {
  const others = [
    fc.constant(null),
    fc.array(fc.integer()),
    fc.dictionary(fc.string(), fc.integer()),
    fc.date(),
    ...(kind === 'boolean' ? [] : [fc.boolean()]),
    ...(kind === 'string' ? [fc.constant('')] : [fc.string()]),
  ];
  if (kind === 'boolean' || kind === 'string') return fc.oneof(fc.double(), ...others);
  const outside = fc
    .oneof(fc.double(), fc.integer(), fc.constantFrom(minimum - 1, maximum + 1, -1, -0.5))
    .filter((value) => !(value >= minimum && value <= maximum));
  const fraction = fc.double({ noNaN: true, min: 1, max: 1e6 }).filter((value) => !Number.isInteger(value));
  const infinite = fc.constantFrom(Infinity, -Infinity, Number.NaN);
  return fc.oneof(outside, infinite, ...(kind === 'integer' ? [fraction] : []), ...others);
}

describe('ConfigSchema', () => {
  it('has exactly the specified settings, in order, with the specified defaults', () => {
    const declared = listSettings().map((setting) => [setting.key, setting.default]);
    assert.deepEqual(declared, Object.entries(SPECIFIED));
  });

  it('restricts the values that the specification restricts', () => {
    const ranges = Object.fromEntries(
      listSettings().map(({ key, minimum, maximum }) => [key, [minimum, maximum]]),
    );
    assert.deepEqual(ranges['compact.auto_compact_pct_override'], [1, 100]);
    assert.deepEqual(ranges['compact.token_safety_multiplier'], [1, undefined]);
    assert.deepEqual(ranges['compact.approx_bytes_per_token'], [1, undefined]);
  });

  it('documents every setting: meaning, source, a unit for numbers, and what unset means', () => {
    for (const setting of listSettings()) {
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

  for (const setting of listSettings()) {
    it(`refuses what ${setting.key} must not be, and says that it is this key`, () => {
      fc.assert(
        fc.property(refusedValues(setting), (value) => {
          const result = ConfigSchema.safeParse(tree(setting, value));
          assert.equal(result.success, false, `accepted ${JSON.stringify(value)}`);
          assert.deepEqual(result.error.issues[0]?.path, setting.path);
        }),
        { seed: 8, numRuns: 60 },
      );
    });
  }

  it('accepts both ends of every range', () => {
    for (const setting of listSettings()) {
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
  it('renames every key and changes no value', () => {
    const config = toConfig(ConfigSchema.parse({ compact: { micro_compact_keep_last_n_tools: 7 } }));
    assert.equal(config.compact.microCompactKeepLastNTools, 7);
    assert.deepEqual(
      Object.keys(config.compact),
      Object.keys(ConfigSchema.parse({}).compact).map((key) => camelCase(key)),
    );
  });
});
