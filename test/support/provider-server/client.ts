// The three adapters, set up against a provider on the loopback.

import type { Model } from '../../../src/ports.ts';
import type { ModelEvent, ModelRequest } from '../../../src/protocol/model.ts';
import type { ProviderSettings } from '../../../src/providers/wires/adapter.ts';
import { anthropicModel } from '../../../src/providers/wires/anthropic.ts';
import { chatModel } from '../../../src/providers/wires/openai-chat.ts';
import { responsesModel } from '../../../src/providers/wires/openai-responses.ts';
import { DEFAULT_RETRY_POLICY } from '../../../src/providers/retry.ts';
import type { WireApi } from '../../../src/vocabulary.ts';
import { userSays } from '../records.ts';

/** A key that no message may ever hold. */
export const KEY = 'sk-loopback-0123456789abcdef';

/** A model that reasons, by wire. */
export const MODEL: Readonly<Record<WireApi, string>> = {
  responses: 'gpt-5.1',
  chat: 'local-model',
  anthropic: 'claude-sonnet-4-5',
};

/** A client that does not wait and does not try again, unless it is told to. */
export function client(wire: WireApi, baseUrl: string, changed: Partial<ProviderSettings> = {}): Model {
  const settings: ProviderSettings = {
    provider: 'loopback',
    baseUrl,
    apiKey: KEY,
    idleTimeoutMs: 10_000,
    answerTimeoutMs: 60_000,
    retry: { ...DEFAULT_RETRY_POLICY, requestMaxRetries: 0, streamMaxRetries: 0, baseMs: 1 },
    random: () => 0.5,
    ...changed,
  };
  let calls = 0;
  switch (wire) {
    case 'responses':
      return responsesModel(settings, { compaction: 'trigger', countsTokens: true });
    case 'chat':
      return chatModel({ ...settings, outputLimitKey: 'max_tokens', newId: () => `call_made_${++calls}` });
    case 'anthropic':
      return anthropicModel(settings);
  }
}

/** A request that every wire takes. */
export function request(wire: WireApi, changed: Partial<ModelRequest> = {}): ModelRequest {
  return {
    model: MODEL[wire],
    instructions: 'You tend a lighthouse.',
    items: [userSays('Is the lamp lit?')],
    tools: [
      {
        name: 'read_meter',
        description: 'Reads a meter.',
        parameters: { type: 'object', properties: { meter: { type: 'string' } } },
      },
    ],
    ...changed,
  };
}

/** All events of an answer, or those before it failed with the failure at the end. */
export async function collect(
  events: AsyncIterable<ModelEvent>,
): Promise<{ readonly events: readonly ModelEvent[]; readonly error: unknown }> {
  const seen: ModelEvent[] = [];
  try {
    for await (const event of events) seen.push(event);
    return { events: seen, error: undefined };
  } catch (error) {
    return { events: seen, error };
  }
}
