// The scratch file: its name, whether the agent wrote to it, and what the watcher writes if the agent did not.

import { redact } from '../../text/redact.ts';
import type { Redacted } from '../../text/redact.ts';
import type { Trail } from '../../trail/trail.ts';
import { approximateTokens } from '../../tokens/estimate.ts';
import { endOf, writeTail } from './tail.ts';

/** @source spec 3-watcher §4.3: `scratch_file_template`. */
export const DEFAULT_SCRATCH_TEMPLATE = '.scratch/agent-{agentName}.scratch.md';

/** Names for agents that have none. @source rawr-behaviour §7.2 */
const NAMES = [
  'aria',
  'atlas',
  'beau',
  'cleo',
  'ezra',
  'jade',
  'juno',
  'luna',
  'milo',
  'nova',
  'orion',
  'pax',
  'quinn',
  'reid',
  'remy',
  'rhea',
  'rory',
  'sage',
  'skye',
  'toby',
  'vera',
  'wren',
  'zane',
  'zoe',
] as const;

/** The name if none can be derived. @source seed 004 */
const NAMELESS = 'codex';

const MOST_NAME = 64;

/** The owner of a scratch file. */
export interface ScratchOwner {
  /** Identity of a subagent, as its host names it. */
  readonly subagent?: string | undefined;
  /** Empty or absent if the thread has none. */
  readonly threadId?: string | undefined;
}

/**
 * The agent's name in lower case, of letters, digits and single `-`: the subagent's, else one of a fixed list by a
 * stable hash of the thread id, else `codex`. The same owner always has the same name.
 */
export function scratchAgentName({ subagent = '', threadId = '' }: ScratchOwner): string {
  const own = sanitized(subagent.replace(/^subagent_/, ''));
  if (own !== '') return own;
  return threadId === '' ? NAMELESS : (NAMES[stableHash(threadId) % NAMES.length] ?? NAMELESS);
}

function sanitized(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, MOST_NAME)
    .replace(/^-|-$/g, '');
}

/** FNV-1a over UTF-16 units, 32 bits: the same on every machine and in every version. */
function stableHash(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193) >>> 0;
  }
  return hash;
}

/**
 * The path of the scratch file, relative to the workspace. Fills in `{agentName}`, `{agent_name}` and `{threadId}`,
 * sanitized; replaces a template that leads outside the workspace with the default.
 */
export function scratchPath(template: string, owner: ScratchOwner): string {
  const filled = fill(template, owner);
  return isInsideWorkspace(filled) ? filled : fill(DEFAULT_SCRATCH_TEMPLATE, owner);
}

function fill(template: string, owner: ScratchOwner): string {
  const name = scratchAgentName(owner);
  const thread = sanitized(owner.threadId ?? '');
  const values: Readonly<Record<string, string>> = {
    agentName: name,
    agent_name: name,
    threadId: thread === '' ? name : thread,
  };
  return template
    .trim()
    .replace(/\{(agentName|agent_name|threadId)\}/g, (_, key: string) => values[key] ?? '');
}

/**
 * Whether a path, by its letters alone, names a file below the workspace: relative, forward slashes, only ordinary
 * components, outside the tools' own folders. The code that opens the file must reject links on the disk.
 */
export function isInsideWorkspace(path: string): boolean {
  if (path === '' || path.length > 400 || /[\\:]|\p{Cc}/u.test(path)) return false;
  const components = path.split('/');
  if (components.some((name) => name === '' || name === '.' || name === '..' || name.trim() !== name))
    return false;
  return components[0]?.toLowerCase() !== '.git';
}

/** Whether the agent wrote: the file grew or was created. Bytes; undefined: no such file. */
export function hasGrown(before: number | undefined, after: number | undefined): boolean {
  return (after ?? 0) > (before ?? 0);
}

/** What the watcher writes instead of the agent. */
export interface OwnScratch {
  readonly sequenceId: string;
  /** The agent's last message, complete; otherwise the trail's sentences have to do. */
  readonly lastAgentMessage?: string | undefined;
}

/**
 * Characters of the agent's last message, and of the activities. @source half of a screenful of each is too little for
 * notes
 */
const MESSAGE_LENGTH = 6_000;
const ACTIVITY_TOKENS = 2_000;
const ACTIVITIES = 20;

/** The last work, verbatim and bounded, with known secrets replaced; a section to append. */
export function scratchText(trail: Trail, { sequenceId, lastAgentMessage = '' }: OwnScratch): Redacted {
  const said = endOf(redact(lastAgentMessage.trim()), MESSAGE_LENGTH);
  const done = writeTail(trail, {
    maxItems: ACTIVITIES,
    maxMessageChars: 0,
    roomTokens: ACTIVITY_TOKENS,
    count: approximateTokens,
  });
  const parts = [
    `## Last work before compaction (sequence ${sequenceId})`,
    'Written by the watcher: the agent was asked for notes, but the file did not grow.',
    said === '' ? '' : `### The agent's last message\n\n${said}`,
    done === '' ? '' : `### Last activities, oldest first\n\n${done}`,
  ];
  return redact(`${parts.filter((part) => part !== '').join('\n\n')}\n`);
}
