// What a thread's watcher sees of the world: the present configuration and prompts, a judge, the work tree, the notes.

import { constants } from 'node:fs';
import { appendFile, mkdir } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import type { Config } from '../config/schema.ts';
import { BatonError } from '../errors.ts';
import { hasSucceeded, runGit } from '../system/git.io.ts';
import type { Clock, Model } from '../ports.ts';
import { textOfParts } from '../protocol/item.ts';
import type { ModelRequest } from '../protocol/model.ts';
import type { LoadedPrompt } from '../prompts/load.io.ts';
import type { PromptName } from '../prompts/shipped.ts';
import type { JudgeQuestion, ScratchFiles, WatcherSettings, WatcherWorld } from '../watcher/live/agent.ts';
import { JUDGMENT_SCHEMA } from '../watcher/judgment.ts';
import { DEFAULT_SCRATCH_TEMPLATE } from '../watcher/packet/scratch.ts';
import type { GitFacts, WorldFacts } from '../watcher/packet/facts.ts';
import { lookAtRepository } from '../tools/shell/repository.io.ts';
import { resolvePolicy } from '../watcher/policy.ts';
import { locate } from '../system/workspace.io.ts';
import { userSays } from './context.ts';

/** Reads the prompts in force under a configuration. */
export interface PromptReader {
  prompt(config: Config, name: PromptName): Promise<LoadedPrompt>;
  decisionPrompt(config: Config, path: string): Promise<LoadedPrompt>;
}

/** What a watcher needs. */
export interface WatchingTerms {
  readonly root: string;
  /** The environment for git; undefined: the root is not a work tree of this thread's, and packets omit it. */
  readonly env: Readonly<Record<string, string>> | undefined;
  readonly clock: Clock;
  /** The present configuration. @throws BatonError if it has become unusable */
  readonly readConfig: () => Promise<Config>;
  readonly prompts: PromptReader;
  readonly model: Model;
  readonly modelName: string;
  readonly warn: (message: string) => void;
}

/** Joins these parts. The content of a user's file never makes it fail: the last usable state counts, with a warning. */
export class WatcherSurroundings implements WatcherWorld {
  readonly scratch: ScratchFiles;
  readonly #terms: WatchingTerms;
  readonly #warned = new Set<string>();
  #config: Config;
  #hasHidden = false;

  /** @param config in force at the start */
  constructor(terms: WatchingTerms, config: Config) {
    this.#terms = terms;
    this.#config = config;
    this.scratch = scratchFilesIn(terms, () => this.#hideNotes());
  }

  async settings(): Promise<WatcherSettings> {
    try {
      this.#config = await this.#terms.readConfig();
    } catch (error) {
      if (!(error instanceof BatonError)) throw error;
      this.#warnOnce(`${error.message} The configuration is unchanged.`);
    }
    const { frontmatter } = await this.#load('auto-compact.md');
    const { rawrAutoCompaction: watcher } = this.#config;
    const packetMaxTailChars = watcher.packetMaxTailChars ?? frontmatter.maxTailCharacters;
    const config =
      packetMaxTailChars === undefined
        ? this.#config
        : { ...this.#config, rawrAutoCompaction: { ...watcher, packetMaxTailChars } };
    return { config, policy: resolvePolicy(config, frontmatter) };
  }

  async prompt(name: PromptName): ReturnType<WatcherWorld['prompt']> {
    const { body, state } = await this.#load(name);
    return { body, isOwn: state === 'changed' };
  }

  async judgePrompt(path: string): Promise<string> {
    const { body, warnings } = await this.#terms.prompts.decisionPrompt(this.#config, path);
    for (const warning of warnings) this.#warnOnce(warning);
    return body;
  }

  async askJudge({ instructions, text }: JudgeQuestion, signal: AbortSignal): Promise<string> {
    const request: ModelRequest = {
      model: this.#terms.modelName,
      instructions,
      items: [userSays(text)],
      tools: [],
      schema: { name: 'judgment', schema: JUDGMENT_SCHEMA },
    };
    let said = '';
    for await (const event of this.#terms.model.stream(request, signal)) {
      if (event.type === 'restarted') said = '';
      if (event.type === 'item_done' && event.item.type === 'message')
        said += textOfParts(event.item.content);
    }
    return said;
  }

  async facts(): Promise<WorldFacts> {
    const { root, env } = this.#terms;
    const git = env === undefined ? undefined : await gitFacts(root, env);
    return git === undefined ? {} : { git };
  }

  nowMs(): number {
    return this.#terms.clock.now();
  }

  /** Once: whatever keeps git from ignoring the notes then would do so again. */
  async #hideNotes(): Promise<void> {
    const { root, env } = this.#terms;
    if (this.#hasHidden || env === undefined) return;
    this.#hasHidden = true;
    try {
      await excludeNotes(root, env);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      this.#warnOnce(`git does not ignore the notes in ${NOTES_FOLDER} (${why}).`);
    }
  }

  async #load(name: PromptName): Promise<LoadedPrompt> {
    const loaded = await this.#terms.prompts.prompt(this.#config, name);
    for (const warning of loaded.warnings) this.#warnOnce(warning);
    return loaded;
  }

  #warnOnce(message: string): void {
    if (this.#warned.has(message)) return;
    this.#warned.add(message);
    this.#terms.warn(message);
  }
}

/** @param hide called before anyone writes notes into the default folder */
function scratchFilesIn({ root }: WatchingTerms, hide: () => Promise<void>): ScratchFiles {
  return {
    size: async (path) => {
      // The next step asks the agent for notes.
      if (path.startsWith(`${NOTES_FOLDER}/`)) await hide();
      const place = await locate(path, root);
      return place.kind === 'file' ? place.stats.size : undefined;
    },
    append: async (path, text) => {
      const place = await locate(path, root);
      if (place.kind === 'refused') throw new Error(`${path} is ${place.why}`);
      if (place.kind === 'directory') throw new Error(`${path} is a directory`);
      await mkdir(dirname(place.path), { recursive: true, mode: 0o700 });
      // Notes contain the transcript's words: no one else may read them, and a new link is not followed.
      await appendFile(place.path, text, { mode: 0o600, flag: APPEND });
    },
  };
}

/** The folder of the default template. The user decides whether git ignores a custom folder. */
const NOTES_FOLDER = DEFAULT_SCRATCH_TEMPLATE.slice(0, DEFAULT_SCRATCH_TEMPLATE.indexOf('/'));

/**
 * Makes git ignore the notes folder in this clone, so that the agent's next `git add -A` does not commit it. Does
 * nothing if the user tracks or ignores the folder, or if the repository is not this workspace's own.
 */
async function excludeNotes(root: string, env: Readonly<Record<string, string>>): Promise<void> {
  const signal = AbortSignal.timeout(FACTS_TIMEOUT_MS);
  const facts = await lookAtRepository({ root, env, signal });
  if (facts === undefined) return;
  const ask = (...args: readonly string[]) => runGit(args, root, { env, signal });
  const [tracked, ignored] = await Promise.all([
    ask('ls-files', '-z', '--', NOTES_FOLDER),
    ask('check-ignore', '-q', '--', `${NOTES_FOLDER}/x`),
  ]);
  if (!hasSucceeded(tracked) || tracked.output.length > 0 || hasSucceeded(ignored)) return;
  const info = join(facts.commonDirectory, 'info');
  await mkdir(info, { recursive: true });
  const folder = ['', ...relative(facts.top, root).split('/'), NOTES_FOLDER].filter(
    (name, at) => at === 0 || name !== '',
  );
  await appendFile(join(info, 'exclude'), `\n# Notes of Baton's agents\n${folder.join('/')}/\n`, {
    flag: APPEND,
  });
}

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_WRONLY } = constants;
const APPEND = O_WRONLY | O_APPEND | O_CREAT | (O_NOFOLLOW ?? 0) | (O_NONBLOCK ?? 0);

/** Maximum number of reported changed paths; a packet shows far fewer. */
const MOST_CHANGES = 200;

/** What git reports about a work tree; undefined if there is none. */
async function gitFacts(root: string, env: Readonly<Record<string, string>>): Promise<GitFacts | undefined> {
  const signal = AbortSignal.timeout(FACTS_TIMEOUT_MS);
  if ((await lookAtRepository({ root, env, signal })) === undefined) return undefined;
  const ask = (...args: readonly string[]) => runGit(args, root, { env, signal });
  const [status, head] = await Promise.all([
    // Inside a submodule, git would follow the submodule's configuration.
    ask(
      'status',
      '--porcelain=v1',
      '-z',
      '--branch',
      '--untracked-files=normal',
      '--ignore-submodules=dirty',
    ),
    ask('log', '-1', '--format=%H%n%s'),
  ]);
  if (!hasSucceeded(status)) return undefined;
  const [branchLine = '', ...entries] = status.output.toString('utf8').split('\0');
  const [hash = '', subject = ''] = hasSucceeded(head) ? head.output.toString('utf8').split('\n') : [];
  return {
    branch: branchOf(branchLine),
    head: hash === '' ? undefined : { hash, subject },
    changes: changesIn(entries),
  };
}

/** A question about facts that takes longer is dropped: the packet must not wait for it. */
const FACTS_TIMEOUT_MS = 5_000;

function branchOf(line: string): string | undefined {
  const name = /^## (?:No commits yet on |Initial commit on )?((?:[^.]|\.(?!\.\.))+)/.exec(line)?.[1];
  return name === undefined || name.startsWith('HEAD (') ? undefined : name;
}

/** In the format with NUL bytes, a renamed path precedes its former name. */
function changesIn(entries: readonly string[]): GitFacts['changes'] {
  const changes: { status: string; path: string }[] = [];
  for (let at = 0; at < entries.length && changes.length < MOST_CHANGES; at++) {
    const entry = entries[at] ?? '';
    if (entry.length < 4) continue;
    const status = entry.slice(0, 2);
    changes.push({ status, path: entry.slice(3) });
    if (/[RC]/.test(status)) at++;
  }
  return changes;
}
