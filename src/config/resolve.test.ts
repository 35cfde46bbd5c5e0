import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { PRESETS } from './preset.ts';
import { BatonError } from '../errors.ts';
import { DEFAULT_CONFIG } from './defaults.ts';
import { listSettings, renderConfig, renderStarter } from './explain.ts';
import type { Setting, SettingValue } from './explain.ts';
import { resolveConfig } from './resolve.ts';
import type { ConfigProblem, ConfigSources, ResolvedConfig } from './resolve.ts';
import { DEFAULT_THRESHOLDS } from './tiers.ts';
import { TIERS } from '../vocabulary.ts';

const NOTHING: ConfigSources = { overrides: [], variables: {}, files: [] };

function resolveText(text: string): ResolvedConfig {
  return resolveConfig({ ...NOTHING, files: [{ source: 'user', file: '/home/me/config.toml', text }] });
}

function problemsOf(action: () => unknown): readonly ConfigProblem[] {
  try {
    action();
  } catch (error) {
    assert.ok(error instanceof BatonError, String(error));
    assert.equal(error.code, 'config_invalid');
    const problems = error.data['problems'] as readonly ConfigProblem[];
    for (const { message } of problems) assert.ok(error.message.includes(message));
    return problems;
  }
  return assert.fail('nothing was refused');
}

const messagesOf = (action: () => unknown): readonly string[] =>
  problemsOf(action).map(({ message }) => message);

describe('precedence', () => {
  const voices = {
    'command line': { overrides: ['compact.warning_threshold=1'] },
    environment: { variables: { BATON_COMPACT__WARNING_THRESHOLD: '2' } },
    project: { source: 'project', file: '/p/.baton/config.toml', text: 'compact.warning_threshold = 3' },
    user: { source: 'user', file: '/u/config.toml', text: '# mine\n[compact]\nwarning_threshold = 4' },
  } as const;
  const cases = [
    [
      ['command line', 'environment', 'project', 'user'],
      1,
      { source: 'command_line', argument: 'compact.warning_threshold=1' },
    ],
    [
      ['environment', 'project', 'user'],
      2,
      { source: 'environment', variable: 'BATON_COMPACT__WARNING_THRESHOLD' },
    ],
    [['project', 'user'], 3, { source: 'project', file: '/p/.baton/config.toml', line: 1 }],
    [['user'], 4, { source: 'user', file: '/u/config.toml', line: 3 }],
    [[], 20_000, undefined],
  ] as const;
  for (const [speaking, expected, origin] of cases) {
    it(`${speaking[0] ?? 'default'} wins over the rest`, () => {
      const speaks = new Set<string>(speaking);
      const { config, origins } = resolveConfig({
        overrides: speaks.has('command line') ? voices['command line'].overrides : [],
        variables: speaks.has('environment') ? voices.environment.variables : {},
        files: [voices.project, voices.user].filter(({ source }) => speaks.has(source)),
      });
      assert.equal(config.compact.warningThreshold, expected);
      assert.deepEqual(origins.get('compact.warning_threshold'), origin);
    });
  }

  it('looks each key up on its own', () => {
    const { config, origins } = resolveConfig({
      overrides: ['compact.restore_todos=false'],
      variables: { BATON_MODEL_CONTEXT_WINDOW: '200_000' },
      files: [
        { source: 'project', file: '/p', text: 'compact.restore_plan = false' },
        { source: 'user', file: '/u', text: 'compact = { restore_plan = true, restore_max_files = 9 }' },
      ],
    });
    const { restoreTodos, restorePlan, restoreMaxFiles, enabled } = config.compact;
    assert.deepEqual([restoreTodos, restorePlan, restoreMaxFiles, enabled], [false, false, 9, true]);
    assert.equal(config.modelContextWindow, 200_000);
    const sources = [...origins].map(([key, { source }]) => `${key} ${source}`);
    assert.deepEqual(sources, [
      'model_context_window environment',
      'compact.restore_max_files user',
      'compact.restore_todos command_line',
      'compact.restore_plan project',
    ]);
  });

  it('lets the last -c win, and a variable for a key win over one for its table', () => {
    const overrides = ['compact.restore_max_files=1', 'compact={restore_max_files=2, restore_plan=false}'];
    assert.equal(resolveConfig({ ...NOTHING, overrides }).config.compact.restoreMaxFiles, 2);
    const reversed = resolveConfig({ ...NOTHING, overrides: overrides.toReversed() }).config.compact;
    assert.deepEqual([reversed.restoreMaxFiles, reversed.restorePlan], [1, false]);
    const variables = {
      BATON_COMPACT: '{restore_max_files = 3, restore_plan = false}',
      BATON_COMPACT__RESTORE_MAX_FILES: '4',
    };
    const { compact } = resolveConfig({ ...NOTHING, variables }).config;
    assert.deepEqual([compact.restoreMaxFiles, compact.restorePlan], [4, false]);
  });

  it('leaves unset keys out, so that code can tell them from set ones', () => {
    const { config, origins } = resolveConfig(NOTHING);
    assert.deepEqual(config, DEFAULT_CONFIG);
    assert.equal(Object.hasOwn(config.compact, 'errorThreshold'), false);
    assert.equal(origins.size, 0);
  });
});

describe('values from the command line and the environment', () => {
  const cases: readonly (readonly [text: string, model: string])[] = [
    ['small-model', 'small-model'],
    ['"quoted"', 'quoted'],
    ["'it''", "'it''"],
    ['vendor/model:1.5 # not a comment', 'vendor/model:1.5 # not a comment'],
    ['a=b', 'a=b'],
    ['x\nenabled = false', 'x\nenabled = false'],
    ['"x"\nvalue2 = 1', '"x"\nvalue2 = 1'],
    ['"x"\n[compact]\nenabled = false', '"x"\n[compact]\nenabled = false'],
  ];
  for (const [text, model] of cases) {
    it(`reads ${JSON.stringify(text)} as ${JSON.stringify(model)} and nothing more`, () => {
      const expected = {
        ...DEFAULT_CONFIG,
        compact: { ...DEFAULT_CONFIG.compact, summarizationModel: model },
      };
      const overrides = [`compact.summarization_model=${text}`];
      assert.deepEqual(resolveConfig({ ...NOTHING, overrides }).config, expected);
      const variables = { BATON_COMPACT__SUMMARIZATION_MODEL: text };
      assert.deepEqual(resolveConfig({ ...NOTHING, variables }).config, expected);
    });
  }

  it('refuses a text where another type belongs', () => {
    assert.deepEqual(
      messagesOf(() => resolveConfig({ ...NOTHING, overrides: ['compact.enabled=yes'] })),
      ['-c compact.enabled=yes: compact.enabled is "yes", but must be true or false.'],
    );
  });

  for (const argument of ['', 'compact.enabled', '=1', 'compact.=1', '.enabled=1', 'compact..enabled=1']) {
    it(`calls ${JSON.stringify(argument)} wrong usage`, () => {
      assert.throws(
        () => resolveConfig({ ...NOTHING, overrides: [argument] }),
        (error) =>
          error instanceof BatonError &&
          error.code === 'usage' &&
          error.message.includes(JSON.stringify(argument)),
      );
    });
  }

  it('suggests the variable, not the key, for a misspelt variable', () => {
    const variables = { BATON_COMPACT_ENABLED: 'true' };
    const [problem] = problemsOf(() => resolveConfig({ ...NOTHING, variables }));
    assert.equal(problem?.nearest, 'compact.enabled');
    assert.match(problem?.message ?? '', /nearest known one is BATON_COMPACT__ENABLED\.$/);
  });
});

describe('problems', () => {
  it('are all reported at once, in order, from every source', () => {
    const text = '[compact]\nrestore_todo = false\nfree_space_buffer = -1\n\n[compcat]\nenabled = 1\n';
    const messages = messagesOf(() =>
      resolveConfig({
        overrides: ['compact=5'],
        variables: { BATON_FEATURES__MICRO_COMPACT: '2' },
        files: [
          { source: 'project', file: '/p', text: 'enabled = ' },
          { source: 'user', file: '/u', text },
        ],
      }),
    );
    assert.deepEqual(messages, [
      '/p:1:11: this is not valid TOML: invalid value.',
      '-c compact=5: compact is 5, but must be a table.',
      'BATON_FEATURES__MICRO_COMPACT: features.micro_compact is 2, but must be true or false.',
      '/u:2: unknown key compact.restore_todo; the nearest known one is compact.restore_todos.',
      '/u:3: compact.free_space_buffer is -1, but must be a whole number of at least 0.',
      '/u:5: unknown key compcat; the nearest known one is compact.',
    ]);
  });

  it('carry key, value, what is allowed, the nearest key and the line as data', () => {
    const problems = problemsOf(() =>
      resolveText('compact.auto_compact_pct_override = 101\nmodel_context_windo = 9000'),
    );
    assert.deepEqual(
      problems.map(({ message: _, ...facts }) => facts),
      [
        {
          origin: { source: 'user', file: '/home/me/config.toml', line: 1 },
          key: 'compact.auto_compact_pct_override',
          value: '101',
          allowed: 'a whole number from 1 to 100',
        },
        {
          origin: { source: 'user', file: '/home/me/config.toml', line: 2 },
          key: 'model_context_windo',
          nearest: 'model_context_window',
        },
      ],
    );
  });

  it('name the full key and its line for any bad value of any setting', () => {
    const settings = listSettings();
    const badValue = fc.constantFrom('nan', '[]', '1979-05-27', '{ x = 1 }', '""', '-1', '0.5', '[[1]]');
    fc.assert(
      fc.property(fc.constantFrom(...settings), badValue, fc.nat(4), (setting, value, blankLines) => {
        fc.pre(!['list', 'tables'].includes(setting.kind) || value !== '[]'); // a list may be empty
        fc.pre(setting.kind !== 'string' || setting.minLength !== undefined || value !== '""'); // a text, too
        const text = `${'\n'.repeat(blankLines)}${setting.key} = ${value}\n`;
        const [problem] = problemsOf(() => resolveText(text));
        const place = `/home/me/config.toml:${blankLines + 1}: ${setting.key} is `;
        assert.ok(problem?.message.startsWith(place), problem?.message);
      }),
      { seed: 8 },
    );
  });

  const syntax: readonly (readonly [text: string, place: string])[] = [
    ['[compact\nenabled = true', ':1:'],
    ['compact.enabled = true\n\ncompact.enabled = false', ':3:'],
    ['[compact]\nenabled = tru\n', ':2:'],
    ['[compact]\r\nsummarization_model = "never closed\r\n', ':2:'],
    ['free = 9223372036854775807', ':1:'],
  ];
  for (const [text, place] of syntax) {
    it(`says where ${JSON.stringify(text)} is not TOML`, () => {
      const messages = messagesOf(() => resolveText(text));
      assert.equal(messages.length, 1);
      assert.ok(messages[0]?.startsWith(`/home/me/config.toml${place}`), messages[0]);
      assert.doesNotMatch(messages[0] ?? '', /\n/);
    });
  }

  const hostile = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'prototype'];
  for (const key of hostile) {
    it(`treat ${key} as an unknown key and leave prototypes alone`, () => {
      const texts = [`${key} = { polluted = 1 }`, `[${key}]\npolluted = 1`, `compact.${key}.polluted = 1`];
      for (const text of texts) {
        const [problem] = problemsOf(() => resolveText(text));
        assert.match(problem?.message ?? '', /:1: unknown key /);
      }
      const overrides = [`${key}.polluted=1`, `compact.${key}=1`];
      assert.equal(problemsOf(() => resolveConfig({ ...NOTHING, overrides })).length, 2);
      const variables = { [`BATON_${key}`]: '1' };
      assert.equal(problemsOf(() => resolveConfig({ ...NOTHING, variables })).length, 1);
      assert.equal(Object.hasOwn(Object.prototype, 'polluted'), false);
      assert.equal('polluted' in {}, false);
    });
  }

  it('shorten what is long and keep control characters out of the sentence', () => {
    const messages = messagesOf(() =>
      resolveText(`"bell\\u0007 ${'k'.repeat(500)}" = 1\ncompact.enabled = "${'v'.repeat(500)}"`),
    );
    for (const message of messages) {
      assert.ok(message.length < 200, message);
      assert.doesNotMatch(message, /\p{Cc}/u);
    }
  });
});

describe('places', () => {
  it('hold no control characters, whatever a path or an argument holds', () => {
    const overrides = ['compact.enabled="\u001B[31m\n"'];
    const [message = ''] = messagesOf(() => resolveConfig({ ...NOTHING, overrides }));
    assert.match(message, /^-c compact\.enabled=/);
    assert.doesNotMatch(message, /\p{Cc}/u);
  });
});

describe('encodings of a file', () => {
  const plain = '[compact]\n# a comment\nenabled = false\nsummarization_model = "a\\tb"\n';
  const variants: Readonly<Record<string, string>> = {
    'CR LF': plain.replaceAll('\n', '\r\n'),
    'a byte order mark': `\uFEFF${plain}`,
    tabs: plain.replaceAll(/^(?=[^[])/gm, '\t').replaceAll(' = ', '\t=\t'),
    'no last line end': plain.trimEnd(),
  };
  for (const [name, text] of Object.entries(variants)) {
    it(`does not care about ${name}`, () => {
      const { config, origins } = resolveText(text);
      const { enabled, summarizationModel } = config.compact;
      assert.deepEqual([enabled, summarizationModel], [false, 'a\tb']);
      assert.deepEqual(origins.get('compact.enabled'), {
        source: 'user',
        file: '/home/me/config.toml',
        line: 3,
      });
    });
  }

  it('takes an empty file for the defaults', () => {
    assert.deepEqual(resolveText('').config, DEFAULT_CONFIG);
  });
});

describe('warnings', () => {
  it('name settings that are valid but do nothing', () => {
    const { warnings } = resolveText(
      'model = "m"\ncompact.auto_compact_threshold = 9\ncompact.auto_compact_pct_override = 9',
    );
    assert.deepEqual(
      warnings.map((warning) => warning.replace('/home/me/config.toml', '')),
      [
        ':1: model has no effect without model_provider.',
        ':3: compact.auto_compact_pct_override has no effect while compact.auto_compact_threshold is set.',
      ],
    );
    assert.match(
      resolveText('model_provider = "openai"').warnings.join(),
      /:1: model_provider has no effect without model\./,
    );
    for (const text of [
      'model = "m"\nmodel_provider = "openai"',
      'model = "m"\nmodel_context_window = 9000',
      'compact.summarization_model = "m"\ncompact.summarization_model_provider_id = "anthropic"',
    ]) {
      assert.deepEqual(resolveText(text).warnings, [], text);
    }
  });

  it('are silent about defaults and about a percentage alone', () => {
    assert.deepEqual(resolveConfig(NOTHING).warnings, []);
    assert.deepEqual(resolveText('compact.auto_compact_pct_override = 9').warnings, []);
  });
});

/** Any value that a setting takes. */
function allowedValue({
  key,
  kind,
  minimum = 0,
  maximum = Number.MAX_SAFE_INTEGER,
  choices,
}: Setting): fc.Arbitrary<SettingValue> {
  switch (kind) {
    case 'boolean':
      return fc.boolean();
    case 'list':
      return fc.array(choices === undefined ? fc.string({ minLength: 1 }) : fc.constantFrom(...choices));
    case 'string':
      if (choices !== undefined) return fc.constantFrom(...choices);
      return fc.string({ minLength: 1, unit: 'grapheme' });
    case 'integer':
      return fc.integer({ min: minimum, max: maximum });
    case 'number':
      return fc.double({ min: minimum, max: Math.min(maximum, 1e9), noNaN: true });
    case 'tables':
      return fc.array(
        fc.record(
          {
            command: fc.oneof(fc.constant('a "b" \\ | c\n'), fc.array(fc.string(), { minLength: 1 })),
            timeout_seconds: fc.integer({ min: 1, max: 3_600 }),
            ...(key === 'hooks.turn_complete' || key === 'hooks.user_prompt_submit'
              ? {}
              : {
                  matcher: fc.constantFrom(
                    ...(key === 'hooks.session_start' ? ['resume'] : ['auto|manual', 'auto']),
                  ),
                }),
          },
          { requiredKeys: ['command'] },
        ),
      );
  }
}

/** A value as TOML; its texts are written as in JSON. */
function toToml(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toToml).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{ ${Object.entries(value)
    .map(([key, inner]) => `${key} = ${toToml(inner)}`)
    .join(', ')} }`;
}

/** Settings that depend on no other one: thresholds have an order, the preset sets many, providers must be there, names have a form. */
const INDEPENDENT = listSettings().filter(
  ({ key }) => !/percent_remaining_lt$|\.preset$|\.pass$|model_provider(?:_id)?$/.test(key),
);

const overridesOf = fc
  .tuple(...INDEPENDENT.map((setting) => fc.option(allowedValue(setting), { nil: undefined })))
  .map((values) =>
    INDEPENDENT.flatMap(({ key }, index) => {
      const value = values[index];
      return value === undefined ? [] : [`${key}=${toToml(value)}`];
    }),
  );

describe('round trips', () => {
  it('what is shown parses to the configuration that is in effect, with or without origins', () => {
    fc.assert(
      fc.property(overridesOf, fc.constantFrom('set', 'all'), (overrides, shown) => {
        const { config, origins } = resolveConfig({ ...NOTHING, overrides });
        assert.deepEqual(resolveText(renderConfig(config, origins, shown)).config, config);
      }),
      { seed: 8 },
    );
  });

  it('a path with line feeds cannot break out of its comment', () => {
    const { config } = resolveConfig(NOTHING);
    const origin = { source: 'user', file: 'a\nb = 1\r\u007F\u0000' } as const;
    const shown = renderConfig(config, new Map([['compact.enabled', origin]]), 'all');
    assert.deepEqual(resolveText(shown).config, config);
  });

  it('the starter file changes nothing, as it is and with every setting uncommented', () => {
    const starter = renderStarter();
    assert.equal(resolveText(starter).origins.size, 0);
    const uncommented = starter.replaceAll(/^#(?! )/gm, '');
    const { config, origins } = resolveText(uncommented);
    assert.deepEqual(config, DEFAULT_CONFIG);
    const documented = INDEPENDENT.filter(({ isUndocumented }) => isUndocumented !== true);
    const withDefault = documented.filter((setting) => setting.default !== undefined);
    assert.deepEqual(
      [...origins.keys()],
      withDefault.map(({ key }) => key),
    );
    for (const { description, source } of documented) {
      assert.ok(starter.includes(`# ${description}`), description);
      assert.ok(starter.includes(`Source: ${source}.\n`));
    }
  });
});

const earlyThreshold = ({ config }: ReturnType<typeof resolveText>): unknown =>
  config.rawrAutoCompaction.policy.early.percentRemainingLt;
const withBoth = (older: number): string =>
  `[rawr_auto_compaction]\ntrigger.early_percent_remaining_lt = ${older}\npolicy.early.percent_remaining_lt = 90`;

function sampleOf({ kind, choices, minimum = 1 }: Setting): SettingValue {
  if (kind === 'integer') return minimum;
  if (kind === 'list') return [];
  return kind === 'boolean' ? true : (choices?.[0] ?? 'x');
}

describe('thresholds of the tiers', () => {
  it('are read under their older names', () => {
    const resolved = resolveText('rawr_auto_compaction.trigger.early_percent_remaining_lt = 90');
    assert.equal(earlyThreshold(resolved), 90);
    assert.deepEqual(resolved.warnings, []);
    assert.deepEqual(
      resolved.origins.get('rawr_auto_compaction.policy.early.percent_remaining_lt'),
      resolved.origins.get('rawr_auto_compaction.trigger.early_percent_remaining_lt'),
    );
  });

  for (const tier of TIERS) {
    it(`of ${tier} are read under their older name, from every place, and lose to the newer one`, () => {
      const value = DEFAULT_THRESHOLDS[tier];
      const older = `rawr_auto_compaction.trigger.${tier}_percent_remaining_lt`;
      const newer = `rawr_auto_compaction.policy.${tier}.percent_remaining_lt`;
      const read = (sources: Partial<ConfigSources>) => {
        const { config, warnings } = resolveConfig({ ...NOTHING, ...sources });
        return { value: config.rawrAutoCompaction.policy[tier].percentRemainingLt, warnings };
      };
      const set = { value: value + 1, warnings: [] };
      assert.deepEqual(read({ overrides: [`${older}=${value + 1}`] }), set);
      const variable = `BATON_${older.replaceAll('.', '__').toUpperCase()}`;
      assert.deepEqual(read({ variables: { [variable]: String(value + 1) } }), set);
      const both = read({ overrides: [`${older}=${value + 2}`, `${newer}=${value + 1}`] });
      assert.equal(both.value, value + 1);
      assert.match(both.warnings.join(), new RegExp(`${older} has no effect while ${newer} is set`));
    });
  }

  it('are read under their newer names where both are set, with a warning where they differ', () => {
    const differing = resolveText(withBoth(80));
    assert.equal(earlyThreshold(differing), 90);
    assert.match(
      differing.warnings.join(),
      /:2: .*trigger\.early_percent_remaining_lt has no effect while .*policy\.early\.percent_remaining_lt is set/,
    );
    assert.deepEqual(resolveText(withBoth(90)).warnings, []);
  });

  for (const [text, told] of [
    ['policy.ready.percent_remaining_lt = 90', /early.*\(65, default\) is below .*ready.*\(90, .*:1\)/],
    ['policy.asap.percent_remaining_lt = 5', /asap.*\(5, .*:1\) is below .*emergency.*\(15, default\)/],
    ['trigger.emergency_percent_remaining_lt = 70', /asap.*\(45, default\) is below .*emergency.*\(70/],
  ] as const) {
    it(`are refused out of order: ${text}`, () => {
      assert.throws(
        () => resolveText(`rawr_auto_compaction.${text}`),
        (error: unknown) => {
          assert.ok(error instanceof BatonError, String(error));
          assert.equal(error.code, 'config_invalid');
          assert.match(error.message, told);
          return true;
        },
      );
    });
  }

  it('may be equal', () => {
    assert.equal(
      earlyThreshold(resolveText('rawr_auto_compaction.policy.early.percent_remaining_lt = 75')),
      75,
    );
  });
});

describe('the preset', () => {
  it('sets what nobody set, and says so', () => {
    const { config, origins } = resolveText(
      '[rawr_auto_compaction]\npreset = "seed"\nmode = "auto"\ntrigger.early_percent_remaining_lt = 95',
    );
    const { rawrAutoCompaction: watcher } = config;
    assert.equal(watcher.mode, 'auto');
    assert.equal(watcher.packetAuthor, 'watcher');
    assert.equal(watcher.midTurn, 'tiered');
    assert.equal(watcher.turnCompleteSufficesBelow, 0);
    assert.equal(watcher.policy.early.percentRemainingLt, 95);
    assert.equal(watcher.policy.emergency.percentRemainingLt, 15);
    assert.equal(origins.get('rawr_auto_compaction.mid_turn')?.source, 'preset');
    assert.notEqual(origins.get('rawr_auto_compaction.mode')?.source, 'preset');
  });

  it('names only settings that exist, each with a value that it takes', () => {
    const known = new Set(listSettings().map(({ key }) => key));
    for (const key of Object.keys(PRESETS.seed)) assert.ok(known.has(key), `${key} is no setting`);
  });
});

describe('keys of the live session', () => {
  it('name what a choice and a list may hold', () => {
    assert.throws(
      () => resolveText('rawr_auto_compaction.mode = "loud"'),
      /mode is "loud", but must be one of "tag", "suggest", "auto"/,
    );
    assert.throws(
      () => resolveText('rawr_auto_compaction.policy.early.requires_any_boundary = ["comit"]'),
      /requires_any_boundary is \["comit"\], but must be a list of any of "commit"/,
    );
  });
});

describe('every key of the watcher is read', () => {
  for (const setting of INDEPENDENT.filter(({ key }) => key.startsWith('rawr_auto_compaction.'))) {
    it(`${setting.key}: no warning where it is set`, () => {
      const overrides = [`${setting.key}=${JSON.stringify(sampleOf(setting))}`];
      assert.deepEqual(resolveConfig({ ...NOTHING, overrides }).warnings, []);
    });
  }
});
