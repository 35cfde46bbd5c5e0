// `[model_providers.NAME]`, the one table whose name the user chooses. model-providers.ts resolves it.

import * as z from 'zod';
import { WIRE_APIS } from '../vocabulary.ts';
import { about } from './about.ts';

const SPEC = 'spec 1-product, after Codex';

/** `--model embedded` means "without a model", so a provider cannot have that name. */
const NAME = /^(?!embedded$)[a-z\d][\w-]*$/i;

/** The rule for names; reads after "must be". */
export const PROVIDER_NAME_ALLOWED =
  'letters, digits, "-" and "_", beginning with a letter or a digit, and not "embedded"';

/** Whether a provider can have that name. */
export function isProviderName(name: string): boolean {
  return NAME.test(name);
}

/** The path of a request is appended to the address, and `fetch` rejects addresses with a user. */
const PLAIN_ADDRESS = /^https?:\/\/[^\s/?#@]+(?:\/[^\s?#]*)?$/i;

function retries(what: string, known: number) {
  return z
    .int()
    .min(0)
    .max(100)
    .optional()
    .meta(
      about({
        description: `How often Baton retries ${what}.`,
        unit: 'retries',
        source: SPEC,
        whenUnset: String(known),
        examples: [known],
      }),
    );
}

const ProviderSchema = z
  .strictObject({
    name: z
      .string()
      .min(1)
      .optional()
      .meta(
        about({
          description: 'The name shown to people.',
          source: SPEC,
          whenUnset: 'the name of the table',
          examples: ['Ollama'],
        }),
      ),
    base_url: z
      .url({ protocol: /^https?$/ })
      .regex(PLAIN_ADDRESS)
      .optional()
      .meta(
        about({
          description: 'The address, with the version and without the path of a request.',
          source: SPEC,
          whenUnset: 'that of the built-in provider of this name; others need it',
          examples: ['http://127.0.0.1:11434/v1'],
          allowed:
            'an address in quotes that begins with http:// or https:// and contains no user, key, ? or #',
          mayHoldSecret: true,
        }),
      ),
    wire_api: z
      .enum(WIRE_APIS)
      .optional()
      .meta(
        about({
          description: 'The wire format that it uses.',
          source: SPEC,
          whenUnset: 'that of the built-in provider of this name; others need it',
          examples: ['chat'],
        }),
      ),
    env_key: z
      .string()
      .regex(/^(?:[A-Za-z_]\w*)?$/)
      .optional()
      .meta(
        about({
          description: 'The environment variable that holds the key; empty: Baton sends no key.',
          source: SPEC,
          whenUnset: 'that of the built-in provider of this name, else none',
          examples: ['MY_API_KEY'],
          allowed: 'the name of an environment variable in quotes, or an empty string',
          mayHoldSecret: true,
        }),
      ),
    request_max_retries: retries('a request that failed before an answer began', 4),
    stream_max_retries: retries('a request whose answer broke off', 5),
    stream_idle_timeout_ms: z
      .int()
      .min(1)
      .optional()
      .meta(
        about({
          description:
            'How long an answer may pause before it counts as broken off; keep-alive comments do not count as progress.',
          unit: 'milliseconds',
          source: SPEC,
          whenUnset: '300000',
          examples: [300_000],
        }),
      ),
    answer_timeout_ms: z
      .int()
      .min(1)
      .optional()
      .meta(
        about({
          description:
            'How long one request may take until its answer is complete, retries and waits included.',
          unit: 'milliseconds',
          source: 'docs/decisions/limits.md',
          whenUnset: '1800000',
          examples: [1_800_000],
        }),
      ),
    remote_compaction: z
      .enum(['trigger', 'endpoint', 'off'])
      .optional()
      .meta(
        about({
          description: 'How the provider compacts a history; needs `wire_api = "responses"`.',
          source: 'codex-behaviour §4.3',
          whenUnset: 'that of the built-in provider of this name, else `off`',
          examples: ['trigger'],
        }),
      ),
  })
  .meta({ description: 'A model provider.' });

/** [model_providers] */
export const ProvidersSchema = z
  .record(z.string().regex(NAME), ProviderSchema)
  .prefault({})
  .meta({
    ...about({ userOnly: true }),
    description:
      'Model providers, under names that you choose. A table with a built-in name (openai, anthropic, ollama) overrides only the keys it sets.',
  });
