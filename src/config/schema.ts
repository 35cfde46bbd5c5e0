// Every setting, declared once: its key, type, range, default, unit, meaning and source. The types below, the JSON Schema,
// docs/config.md, `defaults.ts`, `config show` and `config init` all come from here.
//
// Loading zod takes half as long as starting Node, so modules that every command loads import from here with `import type` and
// take their values from `defaults.ts`. The namespace import lets a bundler drop its locales.

import * as z from 'zod';
import { about } from './about.ts';
import type { About } from './about.ts';
import { modeOf } from '../protocol/wire/modes.ts';
import { APPROVAL_POLICIES, SANDBOX_MODES } from '../vocabulary.ts';
import { HooksSchema } from './hooks-schema.ts';
import { LimitsSchema } from './limits-schema.ts';
import { ProvidersSchema } from './provider-schema.ts';
import { WatcherSchema } from './watcher-schema.ts';

const SEED_001 = 'seed 001, configuration';

const PROVIDER_ALLOWED = 'the name of a provider in quotes: a built-in one, or one of [model_providers.NAME]';

/** The switch of a whole part, with its maturity. */
function feature(
  value: boolean,
  facts: Pick<About, 'description' | 'source'> & Required<Pick<About, 'stage'>>,
) {
  return z.boolean().default(value).meta(about(facts));
}

const FeaturesSchema = z
  .strictObject({
    micro_compact: feature(true, {
      description: 'Clears old tool results before it summarises anything.',
      stage: 'stable',
      source: 'spec 1-product',
    }),
    rawr_auto_compaction: feature(true, {
      description:
        'The watcher, which chooses when to compact and hands over; off: compacts at the built-in limit.',
      stage: 'stable',
      source: 'spec 1-product',
    }),
    compact_v2: feature(true, {
      description:
        'Compaction in eight phases; off: legacy compaction, which keeps a summary and the newest requests.',
      stage: 'stable',
      source: 'spec 2-engine §4',
    }),
    remote_compaction: feature(false, {
      description: 'The provider compacts where it can. The result is opaque, so you must enable it.',
      stage: 'experimental',
      source: 'spec 2-engine §4',
    }),
    ghost_snapshots: feature(true, {
      description:
        'Saves the work tree in git objects before a turn first changes it, so that you can undo the turn.',
      stage: 'stable',
      source: 'spec 4-session §5',
    }),
  })
  .prefault({})
  .meta({ ...about({ userOnly: true }), description: 'Switches for whole parts of the engine.' });

const CompactSchema = z
  .strictObject({
    enabled: z
      .boolean()
      .default(true)
      .meta(
        about({
          description: 'The master switch: off refuses every compaction, even a manual one.',
          source: SEED_001,
          userOnly: true,
        }),
      ),
    auto_compact_enabled: z
      .boolean()
      .default(true)
      .meta(
        about({
          description: 'Lets compaction start automatically; off leaves only manual compaction.',
          source: SEED_001,
          userOnly: true,
        }),
      ),
    auto_compact_threshold: z
      .int()
      .min(1)
      .optional()
      .meta(
        about({
          description:
            'The usage at which compaction starts automatically; takes effect between half of the window and the built-in limit.',
          unit: 'tokens',
          source: SEED_001,
          whenUnset: '`auto_compact_pct_override`, else the built-in limit and the free-space buffer decide',
          examples: [160_000],
        }),
      ),
    auto_compact_pct_override: z
      .int()
      .min(1)
      .max(100)
      .optional()
      .meta(
        about({
          description:
            'The same threshold as a share of the window; ignored while `auto_compact_threshold` is set.',
          unit: 'percent',
          source: SEED_001,
          whenUnset: 'the built-in limit and the free-space buffer decide',
          examples: [80],
        }),
      ),
    free_space_buffer: z
      .int()
      .min(0)
      .default(13_000)
      .meta(
        about({
          description:
            'Room that stays free for the next answer: compaction starts before the context reaches it.',
          unit: 'tokens',
          source: SEED_001,
          userOnly: true,
        }),
      ),
    warning_threshold: z
      .int()
      .min(0)
      .default(20_000)
      .meta(
        about({
          description:
            'When at most this much of the window is left, the gauge reports `warning` and a thread warns once; never before half of the window is used.',
          unit: 'tokens',
          source: SEED_001,
        }),
      ),
    error_threshold: z
      .int()
      .min(0)
      .optional()
      .meta(
        about({
          description:
            'When at most this much of the window is left, the gauge reports `error` and a thread warns once more; never before half of the window is used.',
          unit: 'tokens',
          source: 'spec 2-engine §2; seed 001 uses one number for both',
          whenUnset: 'as `warning_threshold`',
          examples: [15_000],
        }),
      ),
    micro_compact_min_tokens_to_save: z
      .int()
      .min(0)
      .default(20_000)
      .meta(
        about({
          description:
            'Clears old tool results only if that saves at least this much, because each clearing rewrites the prompt cache.',
          unit: 'tokens',
          source: SEED_001,
          userOnly: true,
        }),
      ),
    micro_compact_keep_last_n_tools: z
      .int()
      .min(0)
      .default(3)
      .meta(
        about({
          description: 'The number of newest tool results that are never cleared.',
          unit: 'tool results',
          source: SEED_001,
        }),
      ),
    summarization_model: z
      .string()
      .min(1)
      .optional()
      .meta(
        about({
          description: 'The model that writes summaries, if a model writes them.',
          source: SEED_001,
          whenUnset: 'the model of the session',
          examples: ['small-model'],
          userOnly: true,
        }),
      ),
    summarization_model_provider_id: z
      .string()
      .min(1)
      .optional()
      .meta(
        about({
          description: 'The provider of `summarization_model`.',
          source: SEED_001,
          whenUnset: 'the provider of the session',
          examples: ['openai'],
          allowed: PROVIDER_ALLOWED,
          userOnly: true,
        }),
      ),
    restore_max_files: z
      .int()
      .min(0)
      .default(5)
      .meta(
        about({
          description: 'The most recently read files that a compaction restores, at most.',
          unit: 'files',
          source: SEED_001,
          userOnly: true,
        }),
      ),
    restore_tokens_per_file: z
      .int()
      .min(0)
      .default(5_000)
      .meta(
        about({
          description: 'The size of one restored file, at most; the rest is cut.',
          unit: 'tokens',
          source: SEED_001,
          userOnly: true,
        }),
      ),
    restore_total_file_budget: z
      .int()
      .min(0)
      .default(50_000)
      .meta(
        about({
          description: 'The size of all restored files together, at most.',
          unit: 'tokens',
          source: SEED_001,
          userOnly: true,
        }),
      ),
    restore_todos: z
      .boolean()
      .default(true)
      .meta(
        about({
          description: 'Restores the todo list after a compaction while one of its steps is open.',
          source: SEED_001,
        }),
      ),
    restore_plan: z
      .boolean()
      .default(true)
      .meta(
        about({
          description: 'Restores the plan of a plan tool after a compaction while one of its steps is open.',
          source: SEED_001,
        }),
      ),
    token_safety_multiplier: z
      .number()
      .min(1)
      .default(1.33)
      .meta(
        about({
          description: 'Multiplies an estimated usage until a provider reports the real one.',
          unit: 'factor',
          source: SEED_001,
          userOnly: true,
        }),
      ),
    approx_bytes_per_token: z
      .int()
      .min(1)
      .default(4)
      .meta(
        about({
          description: 'UTF-8 bytes that the estimate counts as one token.',
          unit: 'bytes',
          source: SEED_001,
          userOnly: true,
        }),
      ),
    tokens_per_image: z
      .int()
      .min(0)
      .default(2_000)
      .meta(
        about({
          description: 'The size of an image, whatever its dimensions.',
          unit: 'tokens',
          source: SEED_001,
          userOnly: true,
        }),
      ),
    user_message_max_tokens: z
      .int()
      .min(0)
      .default(20_000)
      .meta(
        about({
          description:
            'The size of the user messages that a compaction keeps verbatim, newest first, at most.',
          unit: 'tokens',
          source: SEED_001,
          userOnly: true,
        }),
      ),
  })
  .prefault({})
  .meta({ description: 'When and how a history is compacted.' });

/** The configuration in the form of a file: TOML tables with snake_case keys, every key optional on input. */
export const ConfigSchema = z
  .strictObject({
    model: z
      .string()
      .min(1)
      .optional()
      .meta(
        about({
          description:
            'The model for `--model PROVIDER` if PROVIDER is `model_provider`; `model_context_window` describes this model.',
          source: 'Codex',
          whenUnset: 'the default of the provider',
          examples: ['gpt-5.2'],
          userOnly: true,
        }),
      ),
    model_provider: z
      .string()
      .min(1)
      .optional()
      .meta(
        about({
          description: 'The provider of `model`.',
          source: 'Codex',
          whenUnset: '`--model` names it',
          examples: ['openai'],
          allowed: PROVIDER_ALLOWED,
          userOnly: true,
        }),
      ),
    model_context_window: z
      .int()
      .min(1_000)
      .optional()
      .meta(
        about({
          description:
            'The context window of the model of the session; overrides the known one. Applies to a model that `--model` names only if it is `model`.',
          unit: 'tokens',
          source: 'Codex; lower bound: docs/decisions/configuration.md',
          whenUnset: 'the value in the session, else in the model table, else 128000',
          examples: [272_000],
          userOnly: true,
        }),
      ),
    model_auto_compact_token_limit: z
      .int()
      .min(1)
      .optional()
      .meta(
        about({
          description:
            'The built-in limit: the usage at which automatic compaction starts at the latest; never above 90 % of the window.',
          unit: 'tokens',
          source: 'Codex, seed 002',
          whenUnset: '90 % of the window',
          examples: [244_800],
          userOnly: true,
        }),
      ),
    compact_prompt: z
      .string()
      .default('')
      .meta(
        about({
          description: "Replaces the prompt for a summary that a model writes; empty: Baton's own prompt.",
          source: 'Codex, spec 2-engine §4',
          userOnly: true,
        }),
      ),
    approval_policy: modeOf(APPROVAL_POLICIES)
      .prefault('on_request')
      .meta(
        about({
          description:
            "Which calls of Baton's own agent need the user's approval; where no user can be asked, Baton denies them.",
          source: 'Codex, spec 4-session §5',
          userOnly: true,
        }),
      ),
    sandbox_mode: modeOf(SANDBOX_MODES)
      .prefault('workspace_write')
      .meta(
        about({
          description: "What calls of Baton's own agent may change.",
          source: 'Codex, spec 4-session §5',
          userOnly: true,
        }),
      ),
    shell_environment: z
      .strictObject({
        pass: z
          .array(z.string().regex(/^[A-Za-z_]\w*\*?$/))
          .optional()
          .meta(
            about({
              description:
                "Further variables that commands of Baton's own agent get, by name, with `*` at the end for any ending. A full name passes any value except the keys of providers.",
              source: 'Codex; docs/decisions/tools.md',
              allowed: 'a list of names of variables in quotes',
              whenUnset: 'none',
              examples: [['MY_FLAG', 'MY_TEAM_*']],
            }),
          ),
      })
      .prefault({})
      .meta({
        ...about({ userOnly: true }),
        description:
          "Which variables of your environment commands of Baton's own agent see, besides the usual ones.",
      }),
    features: FeaturesSchema,
    compact: CompactSchema,
    limits: LimitsSchema,
    rawr_auto_compaction: WatcherSchema,
    hooks: HooksSchema,
    model_providers: ProvidersSchema,
  })
  .meta({ title: 'Configuration of Baton' });

/** A validated configuration with its defaults, under the keys of the file. */
export type ConfigValues = z.output<typeof ConfigSchema>;

type CamelCase<Key extends string> = Key extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Key;

type CamelKeys<Value> = Value extends readonly (infer Member)[]
  ? readonly CamelKeys<Member>[]
  : Value extends object
    ? { readonly [Key in keyof Value as CamelCase<Key & string>]: CamelKeys<Value[Key]> }
    : Value;

/** The configuration as code reads it: the same tables, camelCase and readonly; unset keys are absent. */
export type Config = CamelKeys<ConfigValues>;

/** Tables whose keys are names that the user chose; they keep their spelling. */
const NAMED_TABLES: ReadonlySet<string> = new Set(['model_providers']);

/** Renames the keys of a validated configuration; values and user-chosen names keep their spelling. */
export function toConfig(values: ConfigValues): Config {
  return renameKeys(values, []) as Config;
}

function renameKeys(value: unknown, path: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((member) => renameKeys(member, path));
  if (typeof value !== 'object' || value === null) return value;
  const renamed = Object.entries(value).map(([key, inner]: [string, unknown]) => {
    const innerPath = [...path, key];
    return [codePath(innerPath).at(-1), renameKeys(inner, innerPath)];
  });
  return Object.fromEntries(renamed) as object;
}

/**
 * Converts the path of a setting in a file to its path in a `Config`: `['model_providers', 'my_own', 'base_url']`, camelCase
 * except for the name.
 */
export function codePath(path: readonly string[]): readonly string[] {
  return path.map((key, index) => (index === 1 && NAMED_TABLES.has(path[0] ?? '') ? key : camelCase(key)));
}

/** Converts `auto_compact_enabled` to `autoCompactEnabled`. */
export function camelCase(key: string): string {
  return key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
