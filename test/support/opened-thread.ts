// A thread as commands open it, with its log on the disk and real tools, and with the shipped prompts; nobody is there to ask.

import { randomUUID } from 'node:crypto';
import { DEFAULT_CONFIG } from '../../src/config/defaults.ts';
import type { Config } from '../../src/config/schema.ts';
import type { Model } from '../../src/ports.ts';
import { parsePrompt } from '../../src/prompts/frontmatter.ts';
import type { LoadedPrompt } from '../../src/prompts/load.io.ts';
import { SHIPPED_PROMPTS } from '../../src/prompts/shipped.ts';
import type { PromptName } from '../../src/prompts/shipped.ts';
import { openThread } from '../../src/thread/thread.io.ts';
import type { Thread } from '../../src/thread/terms.ts';
import type { ThreadWorld } from '../../src/thread/terms.ts';

/** How a thread of a test differs from the usual one. */
export interface OpeningTerms extends Partial<Pick<ThreadWorld, 'files' | 'clock' | 'emit' | 'summarizers'>> {
  /** Baton's home. */
  readonly home: string;
  /** Where the agent works. */
  readonly work: string;
  readonly model: Model;
  readonly modelName: string;
  /** Raw window, tokens. */
  readonly window?: number;
  readonly config?: Config;
  readonly resume?: string;
}

/** Opens the thread; its commands are not confined and need no approval. */
export function openThreadIn(terms: OpeningTerms): Promise<Thread> {
  const { home, work, model, modelName, window = 100_000, config: base = DEFAULT_CONFIG, resume } = terms;
  const { files, clock = { now: () => Date.now() }, emit = () => undefined, summarizers } = terms;
  const config: Config = {
    ...base,
    modelContextWindow: window,
    sandboxMode: 'danger_full_access',
    approvalPolicy: 'on_request',
  };
  const opened = {
    model,
    name: modelName,
    provider: model.provider,
    info: {
      isKnown: false,
      window,
      isWindowKnown: true,
      outputLimit: undefined,
      reasoning: undefined,
      price: undefined,
    },
    window,
    warnings: [],
  };
  return openThread(
    {
      directory: work,
      config,
      model: opened,
      instructions: 'You tend a lighthouse.',
      ...(resume === undefined ? {} : { resume }),
    },
    {
      home,
      env: { PATH: process.env['PATH'], HOME: home },
      platform: process.platform,
      version: '0.0.0',
      keyVariables: [],
      clock,
      ids: { uuid: () => randomUUID() },
      ...(files === undefined ? {} : { files }),
      ...(summarizers === undefined ? {} : { summarizers }),
      ask: () => Promise.resolve({ type: 'denied', why: 'Nobody is here.' }),
      readConfig: () => Promise.resolve(config),
      prompts: {
        prompt: (_, name) => Promise.resolve(shipped(name)),
        decisionPrompt: () => Promise.resolve(shipped('judgment.md')),
      },
      emit,
      signal: new AbortController().signal,
    },
  );
}

function shipped(name: PromptName): LoadedPrompt {
  const text = SHIPPED_PROMPTS[name];
  return { name, file: name, state: 'shipped', text, ...parsePrompt(text) };
}
