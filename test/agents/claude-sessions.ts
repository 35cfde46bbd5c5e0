// Claude Code sessions written by hand: a short session about a tide table, in the shapes of claude-code 2.1.329.

import { createHash } from 'node:crypto';
import type { JsonObject } from '../../src/protocol/item.ts';

/** A line of a session that is part of the conversation. */
export type SessionLine = JsonObject & { readonly uuid: string };

/** A UUID that is the same for the same name, so that the tests read like the sessions they build. */
export function uuidOf(name: string): string {
  const hex = createHash('sha256').update(name).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

interface Place {
  /** Names the line; its uuid is made from it. */
  readonly name: string;
  /** The name of the line before it; absent for the first one. */
  readonly after?: string;
}

function commonKeys({ name, after }: Place): SessionLine {
  return {
    parentUuid: after === undefined ? null : uuidOf(after),
    isSidechain: false,
    userType: 'external',
    entrypoint: 'sdk-cli',
    cwd: '/home/dev/tides',
    sessionId: '00000000-0000-4000-8000-000000000000',
    version: '2.1.329',
    gitBranch: 'main',
    uuid: uuidOf(name),
    timestamp: '2026-01-02T03:04:05.000Z',
  };
}

export function userLine(
  place: Place,
  content: string | readonly JsonObject[],
  more: JsonObject = {},
): SessionLine {
  return { ...commonKeys(place), type: 'user', message: { role: 'user', content }, ...more };
}

export function assistantLine(place: Place, block: JsonObject): SessionLine {
  const message = {
    id: `msg_${uuidOf(place.name)}`,
    type: 'message',
    role: 'assistant',
    model: 'claude-opus-5-5',
    content: [block],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 10, output_tokens: 1 },
  };
  return { ...commonKeys(place), type: 'assistant', message };
}

/** The history that a boundary sets: its summary, then the lines of these names. */
export interface Preserved {
  /** The line that the others follow: the summary, or the boundary itself where there is none. */
  readonly anchor: string;
  readonly names: readonly string[];
}

/** A boundary; `preserved` is absent in those of older versions. */
export function boundaryLine(name: string, preserved?: Preserved): SessionLine {
  const uuids = preserved?.names.map(uuidOf);
  return {
    ...commonKeys({ name }),
    type: 'system',
    subtype: 'compact_boundary',
    content: 'Conversation compacted',
    level: 'info',
    compactMetadata: {
      trigger: 'manual',
      preTokens: 900,
      postTokens: 40,
      cumulativeDroppedTokens: 860,
      baton: { version: 1 },
      ...(preserved === undefined
        ? {}
        : { preservedMessages: { anchorUuid: uuidOf(preserved.anchor), uuids, allUuids: uuids } }),
    },
  };
}

export const SUMMARY = 'Summary: the tide table prints as CSV in metres.';

export function summaryLine(place: Place): SessionLine {
  return userLine(place, SUMMARY, { isCompactSummary: true, isVisibleInTranscriptOnly: true });
}

export function attachmentLine(place: Place, attachment: JsonObject): SessionLine {
  return { ...commonKeys(place), type: 'attachment', attachment };
}

/** Names the leaf of the branch that a resumed session continues. */
export function lastPromptLine(leaf: string): JsonObject {
  return {
    type: 'last-prompt',
    lastPrompt: 'x',
    leafUuid: uuidOf(leaf),
    sessionId: '00000000-0000-4000-8000-000000000000',
  };
}

/** One question, one tool call with its result, one answer, a second question and answer. */
export const TIDES: readonly SessionLine[] = [
  userLine({ name: 'ask' }, 'Print the tide table of the harbour as CSV.'),
  assistantLine({ name: 'call', after: 'ask' }, toolUse('toolu_1', 'Bash', { command: 'ls' })),
  userLine({ name: 'result', after: 'call' }, [toolResult('toolu_1', 'harbour.dat\ntides.py')]),
  assistantLine(
    { name: 'answer', after: 'result' },
    { type: 'text', text: 'I will print one row per tide.' },
  ),
  userLine({ name: 'again', after: 'answer' }, 'Use metres, not feet.'),
  assistantLine({ name: 'done', after: 'again' }, { type: 'text', text: 'Heights are in metres now.' }),
];

/** The names of `TIDES`, in order. */
export const TIDES_NAMES = ['ask', 'call', 'result', 'answer', 'again', 'done'] as const;

/** `TIDES` as the contract sees it. */
export const TIDES_SENT = [
  { role: 'user', text: 'Print the tide table of the harbour as CSV.' },
  { role: 'tool_call', text: 'Bash {"command":"ls"}' },
  { role: 'tool_result', text: 'harbour.dat\ntides.py' },
  { role: 'assistant', text: 'I will print one row per tide.' },
  { role: 'user', text: 'Use metres, not feet.' },
  { role: 'assistant', text: 'Heights are in metres now.' },
] as const;

export function toolUse(id: string, name: string, input: JsonObject): JsonObject {
  return { type: 'tool_use', id, name, input };
}

export function toolResult(id: string, content: string): JsonObject {
  return { type: 'tool_result', tool_use_id: id, content };
}

/** A line of no meaning and of this many bytes. */
export function fillerLine(bytes: number): JsonObject {
  return {
    type: 'mode',
    mode: 'normal',
    sessionId: '00000000-0000-4000-8000-000000000000',
    fill: 'x'.repeat(bytes),
  };
}

/** Lines as the text of a file. */
export function sessionText(...lines: readonly JsonObject[]): string {
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}
