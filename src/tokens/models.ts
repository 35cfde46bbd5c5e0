// What is known about models without a request.

/** Window of a model that is not in the table, the file or the settings. @source spec 2-engine §2. */
export const UNKNOWN_MODEL_WINDOW = 128_000;

/**
 * Tokens that any model since 2024 can answer with: requested if the model's own limit is unknown. @source
 * docs/decisions/providers.md
 */
export const UNKNOWN_OUTPUT_LIMIT = 8_192;

interface KnownModel {
  readonly prefix: string;
  /** Raw context windows in tokens, smallest first; the larger ones are variants that share the name. */
  readonly windows: readonly number[];
}

/**
 * Raw windows by model name; the longest matching prefix counts.
 * @source Codex: 272,000 for the gpt-5 family and 128,000 for codex-spark, as `model_context_window` / 0.95 in its
 * rollouts. Claude Code: 200,000 and the 1,000,000 variants, from the usage at automatic compactions in its sessions
 * and claude-code-behaviour §1. The others: the providers' model pages.
 */
const KNOWN_MODELS: readonly KnownModel[] = [
  { prefix: 'gpt-5', windows: [272_000] },
  { prefix: 'gpt-5.3-codex-spark', windows: [128_000] },
  { prefix: 'gpt-4.1', windows: [1_047_576] },
  { prefix: 'gpt-4o', windows: [128_000] },
  { prefix: 'o3', windows: [200_000] },
  { prefix: 'o4-mini', windows: [200_000] },
  { prefix: 'codex-', windows: [272_000] },
  { prefix: 'claude-', windows: [200_000, 1_000_000] },
  { prefix: 'claude-opus-5', windows: [1_000_000] },
  { prefix: 'gemini-', windows: [1_048_576] },
];

/**
 * The raw window of a model; undefined for an unknown one.
 * @param leastUsage the largest usage seen with it: a model that used 300,000 tokens is not the 200,000 variant
 */
export function knownWindow(model: string, leastUsage = 0): number | undefined {
  // Gateways prefix the provider: google/gemini-3-pro.
  const name = model.slice(model.lastIndexOf('/') + 1);
  let best: KnownModel | undefined;
  for (const known of KNOWN_MODELS) {
    if (name.startsWith(known.prefix) && known.prefix.length > (best?.prefix.length ?? 0)) best = known;
  }
  return best?.windows.find((window) => window >= leastUsage) ?? best?.windows.at(-1);
}

/** Windows of the models in the table, from the one assumed for an unknown model on. */
const USUAL_WINDOWS = [UNKNOWN_MODEL_WINDOW, 200_000, 272_000, 1_000_000] as const;

/**
 * The raw window assumed for a model outside the table: 128,000, or more if it was seen to hold more.
 * @param leastUsage the largest usage seen with it
 */
export function assumedWindow(leastUsage: number): number {
  return USUAL_WINDOWS.find((window) => window >= leastUsage) ?? 1_000_000;
}

/**
 * Whether o200k is the model's own tokenizer; for all others its count is an approximation.
 * @source OpenAI's tokenizer by model: GPT-4 itself and GPT-4 Turbo still have cl100k
 */
export function isO200kModel(model: string | undefined): boolean {
  return model !== undefined && /^(?:gpt-4o|gpt-4\.[15]|gpt-5|o[134]|codex-|chatgpt-4o)/.test(model);
}
