// docs/protocol.md and the JSON Schemas of ops and events, from the schemas of src/protocol.

import * as z from 'zod';
import { EventSchema } from '../src/protocol/wire/event.ts';
import { OpSchema } from '../src/protocol/wire/op.ts';
import { PROTOCOL_VERSION } from '../src/protocol/wire/version.ts';

/** The parts of a generated JSON Schema that the page shows. */
interface Node {
  readonly type?: string | readonly string[];
  readonly const?: string | number;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly Node[];
  readonly oneOf?: readonly Node[];
  readonly properties?: Readonly<Record<string, Node>>;
  readonly required?: readonly string[];
  readonly items?: Node;
  readonly description?: string;
}

/** The JSON Schema (2020-12) of every op. */
export function opJsonSchema(): object {
  return published(OpSchema);
}

/** The JSON Schema (2020-12) of every event; it allows further fields, as readers do. */
export function eventJsonSchema(): object {
  return published(EventSchema);
}

function published(schema: z.ZodType): object {
  return z.toJSONSchema(schema, {
    io: 'input',
    // Bounds of the number format say nothing about a field.
    override: ({ jsonSchema }) => {
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
    },
  });
}

/** docs/protocol.md. */
export function renderProtocolPage(): string {
  return `${HEAD}
## Ops

${table('op', opJsonSchema())}

## Events

${table('event', eventJsonSchema())}

${ORDER}`;
}

const HEAD = `<!-- Generated from src/protocol by \`npm run generate\`; do not edit. -->

# The protocol: ops in, events out

Version ${PROTOCOL_VERSION}. Everything that happens to a thread passes through this protocol: the user interface, the watcher and \`exec\` have no other
interface. Every message is one JSON object, tagged by \`type\`, in snake_case. Schemas: [schema/op.schema.json](../schema/op.schema.json),
[schema/event.schema.json](../schema/event.schema.json).

- **Invalid ops do nothing**: an unknown op, an unknown field or a wrong value causes an error with the code \`op_invalid\`, the key and what
  is allowed. Half of an op could mean something else.
- **Readers of events are tolerant**: they ignore an unknown field and skip an unknown type of event, because the thread may be
  newer than its reader. A known event with a missing field or a wrong value is an error, \`event_invalid\`.
- **The version** is in \`session_configured\`. A new op, a new type of event and a new field of an event do not change it; every other
  change raises it, and a reader refuses a version later than its own.
- **Every message may name its thread** in \`thread_id\`, which the tables omit. An op without it goes to the first thread of the process. Every event of a
  thread of \`exec\` and \`serve\` has it; an event without it comes from the process itself.
- **null** means unknown. Fields with a \`?\` may be absent. Token counts are whole numbers, durations milliseconds.
- **Only the user approves.** \`origin\` says whose turn it is; in the watcher's turns, calls that need approval are denied.
`;

const ORDER = `## A client in five rules

1. **Ids identify messages and calls.** Deltas carry the \`id\` of the message that follows; a call has its \`call_id\` from
   \`tool_call_begin\` through approval and live output to \`tool_call_end\`. Discard deltas whose message does not follow before the end of the turn,
   and all deltas before a \`stream_error\`.
2. **A prompt is answered** with the \`turn_complete\` or \`turn_aborted\` that names its id in \`answers\`, or refused by the
   \`error\` that names it in \`op_id\`, for example when a hook vetoes it. Turns with the origin \`watcher\` may follow;
   \`thread_idle\` says that nothing is in progress.
3. **A resumed thread** sends \`session_configured\`, then the pins, then \`transcript\` and the current state (\`plan_update\`,
   \`token_count\`, \`queue_changed\`, and \`watcher_state\` if a sequence was interrupted), and \`thread_idle\` unless work is pending. Draw the entries of
   the transcript like live events. \`status\` has the cost so far.
4. **The golden path is one block**, drawn from the newest \`watcher_state\`. Between \`packet\` and \`handoff\` the stage is \`compacting\`.
5. **Sentences are for people.** Never base a decision on \`message\`, \`why\` or \`title\`.

## From version 1

| version 1 | version 2 |
| --- | --- |
| \`patch_apply_begin\`, \`patch_apply_end\` | \`tool_call_begin\`, \`tool_call_end\` of the kind \`edit\`; \`changes\` has the diffs |
| calls of other tools sent no events | \`tool_call_begin\`, \`tool_call_end\` for every call; for a command, \`exec_command_*\` come between them |
| \`user_message.step\` | \`steps\`: everything in the message; also \`sequence_id\` |
| \`message\` began with a marker line if the watcher wrote it | without it |
| \`agent_message\` could be the watcher's packet | \`author\` says so |
| \`turn_complete\` and \`turn_aborted\` did not say what they answer | \`answers\`, \`stop_reason\`, \`error_code\` |
| \`plan_update.call_id\` was a text | null where the plan is repeated |
| \`token_count\` had no tier | \`tier\` |

## Order

Around a turn:

\`\`\`text
user_turn ─▶ [hook_begin  hook_end]                    (user_prompt_submit, which may veto)
             turn_started
             user_message
             [message_steered]                          (the user steers: user_message follows with its id)
             agent_reasoning_delta… agent_message_delta… [stream_error: deltas are void] agent_message
             tool_call_begin…                            (all calls of the answer)
             token_count                                 (if the agent called tools)
             exec_approval_request ◀─ exec_approval      (or patch_approval_request, with the diff)
             exec_command_begin  exec_command_output_delta…  exec_command_end
             tool_call_end                               (each call when it is done, with its diff)
             (again, as long as the agent calls tools or is steered)
             [error]
             turn_complete | turn_aborted
             token_count
             [hook_begin  hook_end]                    (turn_complete; nothing waits for it)
             watcher_decision  watcher_state…           (with its own turns, if it compacts)
             queue_changed, and the next message of the queue
             thread_idle                                 (nothing is in progress or queued)
\`\`\`

Around a compaction that replaces the history:

\`\`\`text
compact ─▶ [turn_started: a separate turn]
           background_event  "RAWR decision: …"          (of the watcher)
           background_event  "Compacting thread context"
           item_started
           hook_begin  hook_end                          (pre_compact, which may veto)
           background_event…                             (requests, retries, rungs of the ladder)
           hook_begin  hook_end                          (session_start)
           item_completed                                (it is in the log)
           context_compacted
           background_event  "Context compacted."
           compact_completed
           hook_begin  hook_end                          (post_compact)
           [compact_threshold_exceeded]
           [warning]
           [turn_complete, task_kind = compact]
           [token_count]
\`\`\`

If the compaction fails, \`compact_failed\` replaces everything from \`item_completed\` on. Clearing only old tool results is
one event, \`micro_compact_completed\`.
`;

function table(name: string, schema: object): string {
  const variants = (schema as Node).oneOf ?? [];
  const rows = variants.map((variant) => {
    const tag = variant.properties?.['type']?.const ?? '';
    return `| \`${tag}\` | ${cell(variant.description ?? '')} | ${fieldList(variant)} |`;
  });
  return [`| ${name} | meaning | fields |`, '| --- | --- | --- |', ...rows].join('\n');
}

function fieldList({ properties = {}, required = [] }: Node): string {
  return Object.entries(properties)
    .filter(([key]) => key !== 'type' && key !== 'thread_id')
    .map(([key, field]) => {
      const about = field.description === undefined ? '' : `; ${field.description}`;
      return cell(`\`${key}${required.includes(key) ? '' : '?'}\`: ${kindOf(field)}${about}`);
    })
    .join('<br>');
}

/** What a field may hold, in words. */
function kindOf(node: Node): string {
  if (node.const !== undefined) return `\`${node.const}\``;
  if (node.enum !== undefined) return node.enum.map((value) => `\`${value}\``).join(' \\| ');
  const choices = node.oneOf ?? node.anyOf;
  if (choices !== undefined) return choices.map(kindOf).join(' or ');
  if (typeof node.type === 'object') return node.type.map((type) => kindOf({ type })).join(' or ');
  if (node.type === 'array') return `list of ${kindOf(node.items ?? {})}`;
  if (node.type === 'object')
    return `{ ${Object.entries(node.properties ?? {})
      .map(member(node))
      .join(', ')} }`;
  return WORDS[node.type ?? ''] ?? node.type ?? 'anything';
}

function member({ required = [] }: Node): (entry: readonly [string, Node]) => string {
  return ([key, field]) => {
    const name = `\`${key}${required.includes(key) ? '' : '?'}\``;
    return key === 'type'
      ? `${name} ${kindOf(field)}`
      : `${name}${isSimple(field) ? '' : ` ${kindOf(field)}`}`;
  };
}

/** Inside of a field the name of a text or a number says enough. */
function isSimple({ type, enum: values }: Node): boolean {
  return values === undefined && typeof type === 'string' && type in WORDS;
}

const WORDS: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'number',
  number: 'number',
  boolean: 'true or false',
  null: 'null',
};

function cell(text: string): string {
  return text.replaceAll('\n', ' ');
}
