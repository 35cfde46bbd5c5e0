// The prompts of earlier sessions, in `history.jsonl` of Baton's home: one line of JSON each, without secrets, for the user alone.

import { constants } from 'node:fs';
import { appendFile, chmod, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { readSmallFile } from '../../system/planted.io.ts';
import { redact } from '../../text/redact.ts';
import { MOST_PROMPTS, withPrompt } from './history.ts';
import type { Prompt } from './history.ts';

/** Longest prompt to keep, in characters: a longer one holds a pasted log or file. @source ten times what the draft shows as a chip */
const LONGEST_PROMPT = 10_000;

/** Largest file to read, in bytes: `MOST_LINES` of the longest prompts in a script of three bytes a character. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Lines that the file may have before it is written again with the newest `MOST_PROMPTS`. */
const MOST_LINES = 2 * MOST_PROMPTS;

/** A new line at the end; a link is not followed, and a pipe is not waited for. */
const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_WRONLY } = constants;
const APPEND = O_WRONLY | O_APPEND | O_CREAT | (O_NOFOLLOW ?? 0) | (O_NONBLOCK ?? 0);

/** The prompts of earlier sessions. */
export interface PromptHistory {
  /** Oldest first. */
  readonly prompts: readonly Prompt[];
  /** Why there are none, although the file exists: one sentence. Nothing is written then. */
  readonly problem?: string;
  /**
   * Adds a prompt to the file, unless it repeats the last one or is longer than 20,000 characters. Never rejects.
   * @returns why it could not be written: one sentence
   */
  append(prompt: Prompt): Promise<string | undefined>;
}

/** Reads the prompts of earlier sessions; damaged lines are skipped. Never rejects. @param home Baton's home, absolute */
export async function openPromptHistory(home: string): Promise<PromptHistory> {
  const path = join(home, 'history.jsonl');
  const file = readSmallFile(path, { maxBytes: MAX_BYTES, links: 'refuse' });
  if (file.kind === 'refused') {
    const problem = `Earlier prompts are missing: ${path} ${file.problem}. Move it away to start again.`;
    return { prompts: [], problem, append: () => Promise.resolve(undefined) };
  }
  const text = file.kind === 'missing' ? '' : file.bytes.toString('utf8');
  const [torn = '', ...whole] = text.split('\n').toReversed();
  const prompts = whole.toReversed().flatMap(parsePrompt).slice(-MOST_PROMPTS);
  if (file.kind === 'bytes') await chmod(path, 0o600).catch(() => undefined);
  const problem = whole.length > MOST_LINES ? await rewrite(path, prompts) : undefined;
  return {
    prompts,
    ...(problem === undefined ? {} : { problem }),
    append: appender(path, prompts.at(-1), torn === '' || whole.length > MOST_LINES ? '' : '\n'),
  };
}

/** @param first what the first line is written after: a line end, if a crash cut the last one short */
function appender(path: string, newest: Prompt | undefined, first: string): PromptHistory['append'] {
  let last = newest;
  let before = first;
  let written = Promise.resolve<string | undefined>(undefined);
  return (prompt) => {
    const text: string = redact(prompt.text);
    const known = last === undefined ? [] : [last];
    if (text.length > LONGEST_PROMPT || withPrompt(known, { ...prompt, text }) === known) {
      return Promise.resolve(undefined);
    }
    last = { at: prompt.at, text };
    const line = before + lineOf(last);
    before = '';
    written = written.then(() =>
      attempt(path, async () => {
        await mkdir(dirname(path), { recursive: true, mode: 0o700 });
        await appendFile(path, line, { flag: APPEND, mode: 0o600 });
      }),
    );
    return written;
  };
}

/** Replaces the file in one step: a crash leaves the former one. */
function rewrite(path: string, prompts: readonly Prompt[]): Promise<string | undefined> {
  const draft = `${path}.${process.pid}.new`;
  return attempt(path, async () => {
    try {
      await writeFile(draft, prompts.map(lineOf).join(''), { flag: 'wx', mode: 0o600 });
      await rename(draft, path);
    } finally {
      await rm(draft, { force: true });
    }
  });
}

async function attempt(path: string, work: () => Promise<void>): Promise<string | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? String(error);
    return `Your prompts are not kept for later sessions: ${path} cannot be written (${code}).`;
  }
}

function lineOf({ at, text }: Prompt): string {
  return `${JSON.stringify({ at: new Date(at).toISOString(), text })}\n`;
}

function parsePrompt(line: string): Prompt[] {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value !== 'object' || value === null || !('at' in value) || !('text' in value)) return [];
    const at = typeof value.at === 'string' ? Date.parse(value.at) : Number.NaN;
    if (Number.isNaN(at) || typeof value.text !== 'string' || value.text.length > LONGEST_PROMPT) return [];
    return [{ at, text: value.text }];
  } catch {
    return [];
  }
}
