// The `--json` documents of Baton's setup: machine, configuration, prompts.
// No command loads this: tests validate the commands' output against it, and schema/ is generated from it.

import * as z from 'zod';
import type { PromptState } from '../../prompts/load.io.ts';
import { PROMPT_NAMES } from '../../prompts/shipped.ts';

/** `baton doctor --json`. */
export const DoctorDocument = z
  .strictObject({
    findings: z.array(
      z.strictObject({
        name: z.string(),
        state: z.enum(['ok', 'absent', 'broken']),
        detail: z.string(),
        cure: z.string().optional(),
      }),
    ),
  })
  .meta({ title: 'baton doctor --json' });

/** `baton config show --json`. */
export const ConfigShowDocument = z
  .strictObject({
    config: z.record(z.string(), z.unknown()).meta({ description: 'see config.schema.json' }),
    origins: z.record(z.string(), z.looseObject({ source: z.string() })),
  })
  .meta({ title: 'baton config show --json' });

/** `baton config check --json`. */
export const ConfigCheckDocument = z
  .strictObject({ valid: z.literal(true), keysSet: z.array(z.string()), warnings: z.array(z.string()) })
  .meta({ title: 'baton config check --json' });

/** `baton config init --json`. */
export const ConfigInitDocument = z
  .strictObject({ file: z.string() })
  .meta({ title: 'baton config init --json' });

const PROMPT_STATES = [
  'shipped',
  'changed',
  'missing',
  'unreadable',
] as const satisfies readonly PromptState[];

const promptFile = {
  name: z.enum(PROMPT_NAMES),
  file: z.string(),
  state: z.enum(PROMPT_STATES).meta({
    description: 'of the file; a missing or unreadable file is replaced by the shipped text',
  }),
};

const promptWarnings = z.array(z.string());

/** `baton prompts list --json`. */
export const PromptsListDocument = z
  .strictObject({
    prompts: z.array(
      z.strictObject({
        ...promptFile,
        placeholders: z
          .array(z.string())
          .meta({ description: 'placeholders that are replaced in this prompt' }),
      }),
    ),
    warnings: promptWarnings,
  })
  .meta({ title: 'baton prompts list --json' });

/** `baton prompts show NAME --json`. */
export const PromptsShowDocument = z
  .strictObject({
    ...promptFile,
    file: z.string().nullable().meta({ description: 'null with --shipped' }),
    text: z.string().meta({ description: 'the effective text, or the shipped one with --shipped' }),
    warnings: promptWarnings,
  })
  .meta({ title: 'baton prompts show --json' });

/** `baton prompts diff [NAME] --json`. */
export const PromptsDiffDocument = z
  .strictObject({
    prompts: z.array(
      z.strictObject({
        ...promptFile,
        diff: z
          .string()
          .meta({ description: 'unified, from the shipped text to the effective one; empty: unchanged' }),
      }),
    ),
    warnings: promptWarnings,
  })
  .meta({ title: 'baton prompts diff --json' });

/** `baton prompts reset NAME --json`. */
export const PromptsResetDocument = z
  .strictObject({
    name: z.enum(PROMPT_NAMES),
    file: z.string(),
    backup: z.string().nullable().meta({ description: 'the file that now holds the previous text' }),
  })
  .meta({ title: 'baton prompts reset --json' });
