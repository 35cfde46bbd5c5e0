// Opens the model that a user names: `PROVIDER/MODEL`, or `PROVIDER` for its default model.

import { BatonError } from '../errors.ts';
import type { Model } from '../ports.ts';
import { UNKNOWN_MODEL_WINDOW } from '../tokens/models.ts';
import { formatNumber } from '../tokens/words.ts';
import { chooseProvider, openModel, providerNamed } from './choose.io.ts';
import type { ChoiceSources, ProviderChoice } from './choose.io.ts';
import { modelInfo } from './models.ts';
import type { ModelInfo } from './models.ts';

/** A ready model and its facts. */
export interface OpenedModel {
  readonly model: Model;
  /** The key of its provider. */
  readonly provider: string;
  /** The provider's name for it: `ModelRequest.model`. */
  readonly name: string;
  readonly info: ModelInfo;
  /** The raw context window in tokens: configured, else known, else `UNKNOWN_MODEL_WINDOW`. */
  readonly window: number;
  /** Warnings for the user, one sentence each. */
  readonly warnings: readonly string[];
}

/** The settings `model`, `model_provider` and `model_context_window`. */
export interface ConfiguredModel {
  readonly model?: string | undefined;
  readonly modelProvider?: string | undefined;
  /** Raw, in tokens. */
  readonly modelContextWindow?: number | undefined;
}

/** What opening a model depends on. */
export interface ModelSources extends Omit<ChoiceSources, 'wanted'> {
  readonly configured: ConfiguredModel;
  /** See `ProviderSettings.random`. */
  readonly random?: () => number;
}

/**
 * Opens the model that a text names. The first slash ends the provider; the model's name may contain more. Contacts no server,
 * except for the list of a local Ollama where no model is named.
 * @param text `openai/gpt-5.1`, `lab/org/model:8b`, `anthropic`
 * @throws BatonError `usage` for an invalid name; `config_invalid` for a provider that does not exist; `model_auth` where its key
 * is not set; `model_missing` where no model is named and there is no default
 */
export async function openNamedModel(text: string, sources: ModelSources): Promise<OpenedModel> {
  const { provider: key, model: named } = splitName(text);
  return opened(await providerNamed(key, sources, named ?? configuredFor(key, sources.configured)), sources);
}

/**
 * Opens the default model: that of the settings, else of the first provider whose key is set, else of a local Ollama that has
 * one.
 * @throws BatonError as `openNamedModel`; `model_missing` where there is none at all
 * @source spec 4-session §4
 */
export async function openMeantModel(sources: ModelSources): Promise<OpenedModel> {
  const { model, modelProvider } = sources.configured;
  if (modelProvider !== undefined) return openNamedModel(modelProvider, sources);
  const choice = await chooseProvider(sources);
  if (choice === undefined) {
    throw new BatonError('model_missing', 'No key of a provider is set, and no local Ollama has a model.', {
      cure: 'Set OPENAI_API_KEY or ANTHROPIC_API_KEY, start Ollama, or name one with --model PROVIDER/MODEL.',
    });
  }
  return opened({ ...choice, model: model ?? choice.model }, sources);
}

function opened(choice: ProviderChoice, sources: ModelSources): OpenedModel {
  const { key, model: name } = choice;
  if (name === undefined) throw noModel(choice);
  const info = modelInfo(name);
  const configured = configuredWindow(key, name, sources.configured);
  return {
    model: openModel(choice, sources.random),
    provider: key,
    name,
    info,
    window: configured ?? info.window,
    warnings: configured === undefined && !info.isWindowKnown ? [unknownWindow(key, name)] : [],
  };
}

function noModel({ key, provider }: ProviderChoice): BatonError {
  const setting = `set model_provider = ${JSON.stringify(key)} and model in config.toml`;
  const [message, cure] =
    key === 'ollama'
      ? [
          `${provider.name} does not list a model at ${provider.baseUrl}.`,
          `Start it and pull a model, write ${key}/MODEL, or ${setting}.`,
        ]
      : [`${provider.name} has no default model.`, `Write ${key}/MODEL, or ${setting}.`];
  return new BatonError('model_missing', message, { cure, data: { provider: key } });
}

function splitName(text: string): { readonly provider: string; readonly model: string | undefined } {
  const slash = text.indexOf('/');
  const provider = (slash === -1 ? text : text.slice(0, slash)).trim();
  const model = slash === -1 ? undefined : text.slice(slash + 1).trim();
  if (provider === '' || model === '') {
    throw new BatonError('usage', `${JSON.stringify(text)} does not name a model.`, {
      cure: 'Write PROVIDER/MODEL, for example openai/gpt-5.1, or PROVIDER alone.',
    });
  }
  return { provider, model };
}

/** `model`, if it belongs to this provider. */
function configuredFor(key: string, { model, modelProvider }: ConfiguredModel): string | undefined {
  return modelProvider === key ? model : undefined;
}

/** `model_context_window`, if it belongs to this model, or the model's window is unknown. @source docs/decisions/providers.md */
function configuredWindow(key: string, name: string, configured: ConfiguredModel): number | undefined {
  const { model, modelProvider, modelContextWindow } = configured;
  const isMeant = model === name && (modelProvider ?? key) === key;
  const isOnlyWord = model === undefined && !modelInfo(name).isWindowKnown;
  return isMeant || isOnlyWord ? modelContextWindow : undefined;
}

function unknownWindow(key: string, name: string): string {
  return (
    `The context window of ${key}/${name} is unknown, so Baton assumes ${formatNumber(UNKNOWN_MODEL_WINDOW)} tokens; ` +
    'set model_context_window in config.toml.'
  );
}
