// A home with sessions of every agent that Baton finds, where those agents keep them.

import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Agent } from '../../src/cli/session-files/words.ts';
import { LOOK_ALIKE_FILES } from './format-lines.ts';
import { temporaryDirectory } from './program.ts';
import { asFile, workLines } from './work-sessions.ts';

/** Where a session of each agent lies, its id, and what is in it. */
export const PLACED: Readonly<Record<Agent, { readonly path: string; readonly id: string }>> = {
  baton: {
    path: '.baton/sessions/2026/01/01/rollout-2026-01-01T08-00-00-0b000000-0000-7000-8000-00000000000b.jsonl',
    id: '0b000000-0000-7000-8000-00000000000b',
  },
  codex: {
    path: '.codex/sessions/2026/01/01/rollout-2026-01-01T09-00-00-0c000000-0000-7000-8000-00000000000c.jsonl',
    id: '0c000000-0000-7000-8000-00000000000c',
  },
  claude: {
    path: '.claude/projects/-home-dev-project/c1a0de00-0000-4000-8000-000000000001.jsonl',
    id: 'c1a0de00-0000-4000-8000-000000000001',
  },
  pi: {
    path: '.pi/agent/sessions/--home-dev--/2026-01-01T10-00-00-000Z_31415926-0000-4000-8000-000000000002.jsonl',
    id: '31415926-0000-4000-8000-000000000002',
  },
  opencode: {
    path: '.local/share/opencode/storage/session/project/ses_openharbour.json',
    id: 'ses_openharbour',
  },
  gemini: {
    path: '.gemini/tmp/harbour/chats/session-2026-01-01T11-00-9e31a1ab.json',
    id: '9e31a1ab',
  },
  copilot: {
    path: '.copilot/session-state/c0b11070-0000-4000-8000-000000000003/events.jsonl',
    id: 'c0b11070-0000-4000-8000-000000000003',
  },
};

/** Puts a file where it belongs, written so many minutes after the first of 2026. */
export function place(home: string, path: string, content: string | Buffer, minutes: number): string {
  const whole = join(home, path);
  mkdirSync(dirname(whole), { recursive: true });
  writeFileSync(whole, content);
  const seconds = Date.UTC(2026, 0, 1) / 1000 + minutes * 60;
  utimesSync(whole, seconds, seconds);
  return whole;
}

/** A home with one session of each agent; the last of `Agent` is the newest. */
export function homeOfAllAgents(): string {
  const home = temporaryDirectory();
  const contents: Readonly<Record<Agent, string | Buffer>> = {
    baton: asFile(workLines('codex')),
    codex: asFile(workLines('codex')),
    claude: asFile(workLines('claude-code')),
    pi: lookAlike('pi'),
    opencode: JSON.stringify({
      id: 'ses_openharbour',
      title: 'Open the harbour',
      directory: '/home/dev/harbour',
    }),
    gemini: lookAlike('gemini'),
    copilot: lookAlike('copilot'),
  };
  for (const [index, agent] of (Object.keys(PLACED) as Agent[]).entries()) {
    place(home, PLACED[agent].path, contents[agent], index);
  }
  return home;
}

function lookAlike(format: 'pi' | 'gemini' | 'copilot'): string {
  const file = LOOK_ALIKE_FILES.find((each) => each.format === format);
  if (file === undefined) throw new RangeError(`There is no look-alike of ${format}`);
  return file.text;
}
