// What people see of a call before and after it ran, for the tools of every agent.

import { textOfOutput } from '../protocol/item.ts';
import type { CallView, Item, Json, JsonObject } from '../protocol/item.ts';
import type { TranscriptEntry } from '../protocol/wire/event.ts';
import type { NoteRecord } from '../protocol/record.ts';
import { LONGEST_OUTPUT } from '../protocol/wire/shown.ts';
import type { FileChangeView } from '../protocol/tool.ts';
import { baseName, isSearch, meaningOf, shellScriptOf } from '../trail/calls/calls.ts';
import { clippedLine } from '../text/sentences.ts';
import { CALL_STATUSES } from '../vocabulary.ts';
import type { CallKind, CallStatus } from '../vocabulary.ts';

type CallBegin = Extract<TranscriptEntry, { type: 'tool_call_begin' }>;
type CallEnd = Extract<TranscriptEntry, { type: 'tool_call_end' }>;

/** Facts that the result of a call does not contain. */
export interface CallDetails {
  /** Absent: as the result says. */
  readonly status?: CallStatus;
  readonly changes?: readonly FileChangeView[];
}

/** The kind of the notes that hold such details; each precedes its result. */
const CALL_NOTE = 'tool_call';

/** The note that preserves the details of a call for a resumed thread. */
export function callNote(callId: string, { status, changes }: CallDetails): NoteRecord {
  const value = {
    call_id: callId,
    ...(status === undefined ? {} : { status }),
    ...(changes === undefined ? {} : { changes: changes as unknown as readonly JsonObject[] }),
  };
  return { type: 'note', kind: CALL_NOTE, value };
}

/** The call and its details in a note; undefined for other notes, and for unreadable ones. */
export function notedCall({
  kind,
  value,
}: NoteRecord): { readonly callId: string; readonly details: CallDetails } | undefined {
  const { call_id: callId, status, changes } = value;
  if (kind !== CALL_NOTE || typeof callId !== 'string') return undefined;
  const known = CALL_STATUSES.find((each) => each === status);
  return {
    callId,
    details: {
      ...(known === undefined ? {} : { status: known }),
      ...(isList(changes) ? { changes: changes.flatMap(changeOf) } : {}),
    },
  };
}

function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

/** Anyone may have written a session file. */
function changeOf(value: Json): FileChangeView[] {
  const isWhole =
    isObject(value) &&
    ['create', 'edit', 'delete', 'move'].some((action) => action === value['action']) &&
    typeof value['path'] === 'string' &&
    ['string', 'undefined'].includes(typeof value['to']) &&
    Number.isInteger(value['added_lines']) &&
    Number.isInteger(value['removed_lines']) &&
    typeof value['diff'] === 'string' &&
    typeof value['is_diff_cut'] === 'boolean';
  return isWhole ? [value as unknown as FileChangeView] : [];
}

function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Longest title, in characters: a line. @source the progress lines of `exec` */
const LONGEST_TITLE = 160;

/** Maximum number of named files and directories of a call; diffs show the rest of a larger patch. */
const MOST_LOCATIONS = 50;

const KINDS: ReadonlyMap<string, CallKind> = new Map([
  ['shell', 'execute'],
  ['write_stdin', 'execute'],
  ['read', 'read'],
  ['write', 'edit'],
  ['edit', 'edit'],
  ['apply_patch', 'edit'],
  ['update_plan', 'plan'],
  ['todo', 'plan'],
  ['phase_checkpoint', 'plan'],
  ['ask_user', 'question'],
  ['recall', 'recall'],
]);

/** The event for the start of a call. Never throws: a model may write any arguments. */
export function callBegin(view: CallView & { readonly callId: string }, turnId: string | null): CallBegin {
  return { type: 'tool_call_begin', call_id: view.callId, turn_id: turnId, tool: view.name, ...about(view) };
}

function about(view: CallView): Pick<CallBegin, 'kind' | 'title' | 'locations'> {
  const script = shellScriptOf(view);
  // Not parsed here, where the user waits: a script may be long.
  if (script !== undefined) return { kind: 'execute', title: titled(script), locations: [] };
  const name = baseName(view.name);
  if (isSearch(name)) return aboutSearch(view, name);
  const { files, plan, questions } = meaningOf(view);
  const kind =
    KINDS.get(name) ??
    (questions !== undefined ? 'question' : plan !== undefined ? 'plan' : kindOfFiles(files));
  const [first, ...others] = files;
  const more = others.length === 0 ? '' : ` and ${others.length} more`;
  const title = questions?.[0] ?? (first === undefined ? view.name : `${view.name} ${first.path}${more}`);
  const locations = files.slice(0, MOST_LOCATIONS).map(({ path, range }) => {
    const line = range?.from;
    return line === undefined || !Number.isInteger(line) || line < 1 ? { path } : { path, line };
  });
  return { kind, title: titled(title), locations };
}

function kindOfFiles(files: readonly { readonly action: string }[]): CallKind {
  if (files.length === 0) return 'other';
  return files.every(({ action }) => action === 'read') ? 'read' : 'edit';
}

function aboutSearch(view: CallView, name: string): ReturnType<typeof about> {
  const { path, pattern, query } = argumentsOf(view);
  const what = textOf(pattern) ?? textOf(query);
  const where = textOf(path);
  const title = [name, what, where === undefined ? undefined : what === undefined ? where : `in ${where}`];
  return {
    kind: 'search',
    title: titled(title.filter((part) => part !== undefined).join(' ')),
    locations: where === undefined ? [] : [{ path: where }],
  };
}

function argumentsOf({ input }: CallView): JsonObject {
  try {
    const value = JSON.parse(input) as Json;
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function titled(text: string): string {
  return clippedLine(text, LONGEST_TITLE);
}

/** The event for the recorded result of a call. */
export function callEnd(
  callId: string,
  result: Item,
  { status, changes = [] }: CallDetails,
  turnId: string | null,
): CallEnd {
  const isOutput = result.type === 'function_call_output' || result.type === 'custom_tool_call_output';
  const text = isOutput ? textOfOutput(result.output) : '';
  const isFailure = isOutput && result.success === false;
  const isCut = text.length > LONGEST_OUTPUT;
  return {
    type: 'tool_call_end',
    call_id: callId,
    turn_id: turnId,
    status: status ?? (isFailure ? 'failed' : 'completed'),
    output: isCut ? text.slice(0, LONGEST_OUTPUT).replace(/[\uD800-\uDBFF]$/, '') : text,
    is_output_cut: isCut,
    exit_code: (isOutput ? result.exit_code : undefined) ?? null,
    changes,
  };
}
