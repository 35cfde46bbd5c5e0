// How well a line fits each format that Baton reads, and each format that is easily mistaken for one.

import type { Format } from '../vocabulary.ts';
import { looksLikeAnthropic } from './messages/anthropic.ts';
import { looksLikeChat } from './messages/chat.ts';
import { looksLikeClaudeCode } from './claude-code/detect.ts';
import { looksLikeCodex } from './codex/detect.ts';
import { looksLikeCopilot } from './agents/copilot.ts';
import type { Likeness, LookAlike } from './detect.ts';
import { looksLikeGemini } from './agents/gemini.ts';
import { looksLikeMiniSweAgent } from './agents/mini-swe-agent.ts';
import { looksLikeOpencode } from './agents/opencode.ts';
import { looksLikeOpenHands } from './openhands/read.ts';
import { looksLikePi } from './pi/read.ts';
import { looksLikeResponses } from './messages/responses.ts';
import { looksLikeSweAgent } from './agents/swe-agent.ts';

/** On a tie, the first one wins: bare items without a rollout's header are Responses items. */
export const LIKENESS: Readonly<Record<Format, Likeness>> = {
  responses: looksLikeResponses,
  codex: looksLikeCodex,
  'claude-code': looksLikeClaudeCode,
  pi: looksLikePi,
  opencode: looksLikeOpencode,
  gemini: looksLikeGemini,
  copilot: looksLikeCopilot,
  openhands: looksLikeOpenHands,
  'swe-agent': looksLikeSweAgent,
  'mini-swe-agent': looksLikeMiniSweAgent,
  chat: looksLikeChat,
  anthropic: looksLikeAnthropic,
};

/** JSON Lines formats with keys like those of a session, each with its description for the user. */
export const LOOK_ALIKES: readonly LookAlike[] = [
  {
    name: 'it is a recording of the terminal UI of Codex, which contains screen drawings and keystrokes instead of the conversation; the rollout is in the sessions folder',
    matches: (value) =>
      typeof value['ts'] === 'string' &&
      typeof value['dir'] === 'string' &&
      typeof value['kind'] === 'string',
  },
  {
    name: 'it is the prompt history of Codex, which contains what you typed but no answers; the rollout is in the sessions folder',
    matches: (value) =>
      typeof value['session_id'] === 'string' &&
      typeof value['ts'] === 'number' &&
      typeof value['text'] === 'string',
  },
  {
    name: 'it is the output of `codex exec --json`, which omits what the model was sent; the rollout is in the sessions folder',
    matches: ({ type }) =>
      typeof type === 'string' &&
      /^(?:thread\.started|turn\.(?:started|completed|failed)|item\.(?:started|updated|completed))$/.test(
        type,
      ),
  },
  {
    name: 'it is the output of `claude --output-format stream-json`, not the session; sessions are in ~/.claude/projects',
    matches: (value) =>
      typeof value['session_id'] === 'string' &&
      typeof value['type'] === 'string' &&
      !('parentUuid' in value),
  },
  {
    name: 'it is the prompt history of Claude Code, which contains no answers; sessions are in ~/.claude/projects',
    matches: (value) => typeof value['display'] === 'string' && 'project' in value && 'timestamp' in value,
  },
];
