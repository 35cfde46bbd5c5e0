// Records of a thread drawn at random: any that a session of Baton's may append.

import * as fc from 'fast-check';
import type { Item, Json, JsonObject, Part } from '../../src/protocol/item.ts';
import type { LogRecord } from '../../src/protocol/record.ts';
import { AUTHORS, STEPS } from '../../src/vocabulary.ts';

/** Texts that have fooled readers: markers, prefixes, control characters, halves of pairs, nothing. */
const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc.constantFrom(
    '',
    '<environment_context>\n<cwd>/home/dev</cwd>',
    '# AGENTS.md instructions for /home/dev',
    '[baton:packet_request sequence=7f3c]\nWrite your packet.',
    'Exit code: 3\nWall time: 0.1 seconds\nOutput:\nno',
    '{"output":"no","metadata":{"exit_code":1,"duration_seconds":0.1}}',
    '[Old tool result content cleared]',
    'half \ud800 of a pair',
    'line\nfeed\r\n\u2028 and NUL \0',
  ),
);

const anyJson: fc.Arbitrary<Json> = fc.jsonValue({ maxDepth: 2 }).map((value) => value as Json);
const anyObject: fc.Arbitrary<JsonObject> = fc.dictionary(
  fc.string({ maxLength: 6 }).filter((key) => key !== '__proto__'),
  anyJson,
  { maxKeys: 3 },
);
const anyId = fc.uuid();
const tokens = fc.nat(500_000);

/** An object without the keys that were not drawn, as JSON would keep it. */
function sparse<T extends object>(
  required: { [K in keyof T]: fc.Arbitrary<T[K]> },
  optional: Readonly<Record<string, fc.Arbitrary<unknown>>> = {},
): fc.Arbitrary<T> {
  return fc
    .tuple(fc.record(required), fc.record(optional, { requiredKeys: [] }))
    .map(([must, may]) => ({ ...must, ...may }) as T);
}

const anyPart: fc.Arbitrary<Part> = fc.oneof(
  fc.record({ type: fc.constantFrom('input_text', 'output_text'), text: anyText }),
  fc.record({ type: fc.constant('input_image'), image_url: fc.constant('data:image/gif;base64,R0lGOD') }),
  fc.record({ type: fc.constant('refusal'), refusal: anyText }),
  fc.record({ type: fc.constant('other'), value: sparse<JsonObject>({ type: fc.constant('input_file') }) }),
) as fc.Arbitrary<Part>;

const anyOrigin = sparse(
  { author: fc.constantFrom(...AUTHORS) },
  { step: fc.constantFrom(...STEPS), sequenceId: anyId },
);

/** Fields that any item may have. */
const BASE = { id: anyText, provider: fc.constantFrom('openai', 'anthropic'), origin: anyOrigin };

const anyResult = <Type extends string>(type: Type) =>
  sparse(
    {
      type: fc.constant(type),
      call_id: anyId,
      output: fc.oneof(anyText, fc.array(anyPart, { maxLength: 2 })),
    },
    { ...BASE, success: fc.boolean(), exit_code: fc.integer({ min: -1, max: 255 }) },
  );

/** Any item of a history. */
export const anyItem: fc.Arbitrary<Item> = fc.oneof(
  sparse(
    {
      type: fc.constant('message'),
      role: fc.constantFrom('user', 'assistant', 'developer', 'system'),
      content: fc.array(anyPart, { maxLength: 3 }),
    },
    {
      ...BASE,
      isCompactSummary: fc.boolean(),
      isVisibleInTranscriptOnly: fc.constant(true),
      isApiErrorMessage: fc.constant(true),
      model: anyText,
    },
  ),
  sparse(
    {
      type: fc.constant('reasoning'),
      summary: fc.array(fc.record({ type: fc.constant('summary_text'), text: anyText }), { maxLength: 2 }),
    },
    { ...BASE, text: anyText, signature: anyText, encrypted_content: fc.option(anyText) },
  ),
  sparse({ type: fc.constant('function_call'), name: anyText, arguments: anyText, call_id: anyId }, BASE),
  sparse({ type: fc.constant('custom_tool_call'), name: anyText, input: anyText, call_id: anyId }, BASE),
  sparse({ type: fc.constant('local_shell_call'), call_id: anyId, action: anyObject }, BASE),
  anyResult('function_call_output'),
  anyResult('custom_tool_call_output'),
  sparse({ type: fc.constant('web_search_call') }, { ...BASE, action: anyObject }),
  sparse({ type: fc.constant('compaction') }, { ...BASE, encrypted_content: anyText }),
  sparse(
    {
      type: fc.constant('compact_boundary'),
      uuid: anyId,
      timestamp: fc.constant('2026-01-02T03:04:05.000Z'),
      trigger: fc.constantFrom('manual', 'auto'),
    },
    { ...BASE, preTokens: tokens },
  ),
  sparse(
    {
      type: fc.constant('attachment'),
      kind: fc.constantFrom('file', 'todo', 'plan', 'other'),
      text: anyText,
    },
    { ...BASE, path: anyText },
  ),
  sparse({ type: fc.constant('progress'), text: anyText }, BASE),
  sparse({ type: fc.constant('ghost_snapshot'), ghost_commit: anyObject }, BASE),
  sparse({
    type: fc.constant('unknown'),
    raw: sparse<JsonObject>(
      { type: fc.constantFrom('tool_search_call', 'message', 'reasoning') },
      { x: anyJson },
    ),
  }),
) as fc.Arbitrary<Item>;

const anyTurn = sparse(
  { type: fc.constantFrom('turn_started', 'turn_complete', 'turn_aborted') },
  {
    turnId: anyId,
    kind: fc.constantFrom('regular', 'shell', 'compact', 'review'),
    origin: fc.oneof(
      sparse({ type: fc.constant('user') }, { messageId: anyId }),
      fc.record({ type: fc.constant('watcher'), number: fc.nat() }),
    ),
    reason: fc.constantFrom('interrupted', 'replaced', 'failed'),
    lastAgentMessage: anyText,
  },
);

/** Any record that stands for itself: all but those that a history decides about. */
export const anyPlainRecord: fc.Arbitrary<LogRecord> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ type: fc.constant('item'), item: anyItem }) },
  sparse(
    { type: fc.constant('session_meta'), sessionId: fc.constant('01a00000-0000-7000-8000-00000000000a') },
    { cwd: anyText, producerVersion: anyText, gitBranch: anyText, instructions: anyText },
  ),
  sparse({ type: fc.constant('settings') }, { model: anyText, cwd: anyText, usableWindow: fc.nat() }),
  fc.record({
    type: fc.constant('usage'),
    usage: sparse(
      {
        source: fc.constantFrom('reported', 'estimated'),
        covers: fc.constantFrom('response', 'request', 'history'),
        total: tokens,
      },
      { cachedInput: tokens, output: tokens, reasoningOutput: tokens, input: tokens, cacheWrite: tokens },
    ),
  }),
  anyTurn,
  fc.record({
    type: fc.constant('event'),
    event: sparse(
      { type: fc.constantFrom('warning', 'background_event', 'agent_message', 'context_compacted') },
      { message: anyText, baton: anyObject },
    ),
  }),
  fc.record({ type: fc.constant('note'), kind: anyText, value: anyObject }),
  fc.record({ type: fc.constant('opaque'), kind: anyText }),
  fc.record({
    type: fc.constant('side_item'),
    item: anyItem,
    why: fc.constantFrom('subagent', 'abandoned_branch', 'other_conversation'),
  }),
) as fc.Arbitrary<LogRecord>;

/** Any compaction that makes items the history. */
export const anyCompacted: fc.Arbitrary<LogRecord> = sparse(
  { type: fc.constant('compacted'), id: anyId, replacement: fc.array(anyItem, { maxLength: 6 }) },
  {
    trigger: fc.constantFrom('manual', 'auto'),
    phase: fc.constantFrom('standalone_turn', 'pre_turn', 'mid_turn', 'post_turn'),
    preTokens: tokens,
    postTokens: tokens,
    summary: anyText,
    receipt: sparse({ version: fc.constant(1), id: anyId }, { why: anyText, preTokens: tokens }),
  },
) as fc.Arbitrary<LogRecord>;
