// Interprets the tool calls of the field's agents: a shell script, a file operation, a plan, a question.

import type { CallView } from '../../protocol/item.ts';
import { cellActions } from './cells.ts';
import type { Extent } from './extent.ts';
import type { TextReplacement } from './known-text.ts';
import { patchedFiles } from './patch.ts';
import { ELLIPSIS } from '../../text/sentences.ts';
import { fileActionsOf } from '../../shell/programs.ts';
import { joinPath, partedScript } from '../../shell/scripts.ts';
import type { SimpleCommand } from '../../shell/scripts.ts';
import type { Plan, PlanStep, StepStatus } from '../trail.ts';
import type { LineRange } from '../../shell/file-actions.ts';

/** What a call does to one file. */
export interface FileAction {
  /** `restore`: git restores its version, discarding edits; the path may be a directory. */
  readonly action: 'read' | 'edit' | 'create' | 'delete' | 'move' | 'restore';
  readonly path: string;
  readonly to?: string | undefined;
  readonly range?: LineRange | undefined;
  /** For a read: how much of the file was shown, if the reader reports it. */
  readonly extent?: Extent | undefined;
  /** New text that the call writes. */
  readonly added?: string | undefined;
  /** The text that an edit removes and its replacement, place by place; absent if the call does not show it. */
  readonly replaced?: readonly TextReplacement[] | undefined;
  /** Whether an edit replaced every occurrence of the old text. */
  readonly isEverywhere?: boolean | undefined;
  /** The commands given to an editing script, if its new text is unknown; for `restore`, the revision, if named. */
  readonly how?: string | undefined;
  /** For a read: whether the rest may have been cut off, as in `cat a | head`. */
  readonly mayBePart?: boolean;
  /** For a file written whole: whether it existed before, according to its tool. */
  readonly isRewrite?: boolean;
}

/** The meaning of a call. Parts that do not apply are absent. */
export interface CallMeaning {
  /** The shell script, or a phrase for a tool whose result reads like a command's. */
  readonly command?: string | undefined;
  readonly simple?: readonly SimpleCommand[] | undefined;
  /** Commands behind `||`, which may or may not have run. */
  readonly guarded?: readonly SimpleCommand[] | undefined;
  /** The directory that the call itself names. */
  readonly directory?: string | undefined;
  /** Whether the call asks to run outside the sandbox. @source Codex, Claude Code */
  readonly isEscalated?: boolean | undefined;
  readonly files: readonly FileAction[];
  readonly plan?: PlanChange | undefined;
  readonly questions?: readonly string[] | undefined;
  /** The running process that this call writes to. */
  readonly processId?: string | undefined;
  /** Text of the call worth searching for identifiers. */
  readonly text: string;
}

/** A plan as a tool wrote it: complete, or with one step changed. */
export type PlanChange =
  | { readonly type: 'whole'; readonly kind: Plan['kind']; readonly steps: readonly PlanStep[] }
  /** Presented to the user in prose. */
  | { readonly type: 'presented'; readonly text: string }
  | { readonly type: 'add'; readonly text: string }
  | {
      readonly type: 'set';
      readonly id: string;
      readonly status: StepStatus | undefined;
      readonly text?: string;
    };

type Arguments = Readonly<Record<string, unknown>>;

/** Interprets a call. Never throws: arguments that are not JSON count as plain text. */
export function meaningOf(call: CallView): CallMeaning {
  const { command, simple, guarded, directory, isEscalated, files, plan, questions, processId, text } =
    readCall(call);
  // One shape for all, whatever is absent: the engine then compiles the readers of calls once, not once per shape.
  const read = files.map(fileAction);
  return { command, simple, guarded, directory, isEscalated, files: read, plan, questions, processId, text };
}

function fileAction(file: FileAction): FileAction {
  const { action, path, to, range, added, replaced, isEverywhere, how } = file;
  return { action, path, to, range, added, replaced, isEverywhere, how };
}

function readCall(call: CallView): CallMeaning {
  const args = parseArguments(call.input);
  const name = baseName(call.name);
  const script = scriptOf(args);
  if (SHELL_TOOLS.has(name) && script !== undefined) return shellMeaning(script, args);
  const patch = patchTextOf(name, call.input, args);
  if (patch !== undefined) return { files: patchActions(patch), text: patch };
  const plan = planOf(name, args);
  if (plan !== undefined) return { files: [], plan, text: textOfPlan(plan) };
  const questions = questionsOf(name, args);
  if (questions !== undefined) return { files: [], questions, text: questions.join('\n') };
  const processId = name === 'write_stdin' ? numberText(args['session_id']) : undefined;
  if (processId !== undefined) return { files: [], processId, text: string(args['chars']) ?? '' };
  const text = Object.values(args).map(textOfValue).join('\n') || call.input;
  const cell = CELL_TOOLS.has(name) ? string(args['code']) : undefined;
  if (cell !== undefined) return { files: [...cellActions(cell, toolActions)], text: cell };
  return { files: toolActions(name, args), text };
}

/** The shell script that a call runs; undefined if its tool is not a shell. */
export function shellScriptOf(call: CallView): string | undefined {
  return SHELL_TOOLS.has(baseName(call.name)) ? scriptOf(parseArguments(call.input)) : undefined;
}

/** Tools that run a shell script, by the names that agents use, lower case. */
export const SHELL_TOOLS: ReadonlySet<string> = new Set([
  'shell',
  'bash',
  'exec_command',
  'exec',
  'local_shell',
  'container.exec',
  'run_terminal_cmd',
  'run_shell_command',
  'execute_bash',
  'run_command',
  'shell_command',
  'terminal',
  'run',
]);

/** Tools that run a Python cell. @source OpenHands */
const CELL_TOOLS = new Set(['run_ipython', 'execute_ipython_cell']);

/** Tools that read one file. */
export const READ_TOOLS: ReadonlySet<string> = new Set([
  'read',
  'read_file',
  'view',
  'view_file',
  'open_file',
  'notebookread',
]);
const WRITE_TOOLS = new Set(['write', 'write_file', 'create_file', 'create', 'write_to_file']);
const EDIT_TOOLS = new Set([
  'edit',
  'multiedit',
  'notebookedit',
  'str_replace',
  'str_replace_editor',
  'str_replace_based_edit_tool',
  'replace',
  'edit_file',
  'search_replace',
  'replace_in_file',
  'insert_edit_into_file',
]);
const SEARCH_TOOLS = new Set([
  'grep',
  'glob',
  'search',
  'list_dir',
  'ls',
  'grep_search',
  'file_search',
  'codebase_search',
]);

/** Whether a tool with this base name searches for files or in their contents. */
export function isSearch(name: string): boolean {
  return SEARCH_TOOLS.has(name);
}

/** The name of a tool without its server (`mcp__server__tool`), in lower case. */
export function baseName(name: string): string {
  const parts = name.split('__');
  return (parts.at(-1) ?? name).toLowerCase();
}

function parseArguments(input: string): Arguments {
  if (!input.trimStart().startsWith('{')) return {};
  try {
    const value: unknown = JSON.parse(input);
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}

function isRecord(value: unknown): value is Arguments {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function string(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function numberText(value: unknown): string | undefined {
  return typeof value === 'number' || typeof value === 'string' ? String(value) : undefined;
}

function textOfValue(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? '');
}

/** The script of `{"cmd":…}`, `{"command":"…"}` or `{"command":["bash","-lc","…"]}`. */
export function scriptOf(args: Arguments): string | undefined {
  const command = args['cmd'] ?? args['command'] ?? args['script'];
  if (typeof command === 'string') return command;
  if (!Array.isArray(command) || !command.every((word) => typeof word === 'string')) return undefined;
  const [program = '', flag = '', script] = command;
  if (/(?:^|\/)(?:ba|z|da|k)?sh$/.test(program) && /^-\w*c$/.test(flag)) return script;
  return command.map(quoteWord).join(' ');
}

function quoteWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** Interprets a shell script; `args` may name the directory it runs in. */
export function shellMeaning(script: string, args: Arguments): CallMeaning {
  const directory = string(args['workdir']) ?? string(args['cwd']);
  const patch = script.includes('*** Begin Patch') ? patchActions(script) : undefined;
  if (patch !== undefined && patch.length > 0) {
    return { files: patch.map((file) => within(directory, file)), text: script };
  }
  const { simple, guarded } = partedScript(script);
  const files = simple.flatMap(fileActionsOf).map(({ action, path, to, range, content, how }) => {
    return { action, path, to, range, added: content, how };
  });
  return {
    command: script,
    simple,
    guarded,
    ...(directory === undefined ? {} : { directory }),
    isEscalated: asksToLeaveSandbox(args),
    files: files.map((file) => within(directory, file)),
    text: script,
  };
}

function asksToLeaveSandbox(args: Arguments): boolean {
  return (
    args['with_escalated_permissions'] === true ||
    args['sandbox_permissions'] === 'require_escalated' ||
    args['dangerouslyDisableSandbox'] === true
  );
}

function within(directory: string | undefined, file: FileAction): FileAction {
  const { action, path, to, range, added, replaced, how } = file;
  const newPath = to === undefined ? undefined : joinPath(directory, to);
  return { action, path: joinPath(directory, path), to: newPath, range, added, replaced, how };
}

function patchTextOf(name: string, input: string, args: Arguments): string | undefined {
  if (name !== 'apply_patch' && !input.startsWith('*** Begin Patch')) return undefined;
  return string(args['input']) ?? string(args['patch']) ?? input;
}

function patchActions(text: string): FileAction[] {
  return patchedFiles(text);
}

/** The files that a tool with this name reads or writes. */
function toolActions(name: string, args: Arguments): FileAction[] {
  const path =
    string(args['file_path']) ??
    string(args['filePath']) ??
    string(args['path']) ??
    string(args['notebook_path']) ??
    string(args['filename']);
  if (path === undefined || SEARCH_TOOLS.has(name)) return [];
  const verb = string(args['command']);
  if (READ_TOOLS.has(name) || verb === 'view') return [readAction(path, args)];
  if (WRITE_TOOLS.has(name) || verb === 'create') {
    const added = string(args['content']) ?? string(args['file_text']) ?? '';
    return [{ action: 'create', path, added }];
  }
  if (EDIT_TOOLS.has(name)) return [editAction(path, args)];
  return [];
}

function readAction(path: string, args: Arguments): FileAction {
  const from = Number(args['offset'] ?? args['start_line'] ?? args['line']);
  const count = Number(args['limit']);
  const end = Number(args['end_line']);
  if (!Number.isInteger(from) || from < 1) {
    return Number.isInteger(count) && count > 0
      ? { action: 'read', path, range: { from: 1, to: count } }
      : { action: 'read', path };
  }
  const to = Number.isInteger(end) ? end : Number.isInteger(count) ? from + count - 1 : undefined;
  return { action: 'read', path, range: to === undefined ? { from } : { from, to } };
}

function editAction(path: string, args: Arguments): FileAction {
  const places = Array.isArray(args['edits']) ? args['edits'].filter(isRecord) : [args];
  const replaced = places.flatMap((place) => {
    const old = oldText(place);
    return old === undefined || old === '' ? [] : [{ old, new: newText(place) ?? '', isLines: false }];
  });
  const added = newText(args) ?? places.map((place) => newText(place) ?? '').join(`\n${ELLIPSIS}\n`);
  const isEverywhere = [args['replace_all'], args['replaceAll']].includes(true);
  return { action: 'edit', path, added, replaced, isEverywhere };
}

function oldText(args: Arguments): string | undefined {
  return (
    string(args['old_string']) ??
    string(args['oldString']) ??
    string(args['old_str']) ??
    string(args['oldText'])
  );
}

function newText(args: Arguments): string | undefined {
  return (
    string(args['new_string']) ??
    string(args['newString']) ??
    string(args['new_str']) ??
    string(args['newText']) ??
    string(args['new_source']) ??
    string(args['insert_text'])
  );
}

const STATUSES: ReadonlyMap<string, StepStatus> = new Map([
  ['pending', 'pending'],
  ['todo', 'pending'],
  ['not_started', 'pending'],
  ['open', 'pending'],
  ['in_progress', 'in_progress'],
  ['inprogress', 'in_progress'],
  ['active', 'in_progress'],
  ['completed', 'completed'],
  ['complete', 'completed'],
  ['done', 'completed'],
  ['cancelled', 'cancelled'],
  ['canceled', 'cancelled'],
  ['deleted', 'cancelled'],
]);

function statusOf(value: unknown): StepStatus | undefined {
  return typeof value === 'string' ? STATUSES.get(value.toLowerCase().replaceAll('-', '_')) : undefined;
}

function planOf(name: string, args: Arguments): PlanChange | undefined {
  if (name === 'taskcreate') {
    const text = string(args['subject']) ?? string(args['title']);
    return text === undefined ? undefined : { type: 'add', text };
  }
  if (name === 'taskupdate') {
    const id = numberText(args['taskId'] ?? args['id']);
    const text = string(args['subject']);
    if (id === undefined) return undefined;
    return { type: 'set', id, status: statusOf(args['status']), ...(text === undefined ? {} : { text }) };
  }
  if (name === 'exitplanmode') {
    const text = string(args['plan']);
    return text === undefined ? undefined : { type: 'presented', text };
  }
  const list = args['plan'] ?? args['todos'] ?? args['items'];
  if (!Array.isArray(list) || !/plan|todo/.test(name)) return undefined;
  const steps = list.flatMap((entry: unknown): PlanStep[] => {
    if (!isRecord(entry)) return [];
    const text =
      string(entry['step']) ?? string(entry['content']) ?? string(entry['text']) ?? string(entry['title']);
    return text === undefined ? [] : [{ text, status: statusOf(entry['status']) ?? 'pending' }];
  });
  return { type: 'whole', kind: name.includes('plan') ? 'plan' : 'todo', steps };
}

/** The text of a plan's steps: the tool's own words are not names from the work. */
function textOfPlan(plan: PlanChange): string {
  return plan.type === 'whole' ? plan.steps.map(({ text }) => text).join('\n') : (plan.text ?? '');
}

function questionsOf(name: string, args: Arguments): string[] | undefined {
  if (
    !/^(?:askuserquestion|ask_user|ask_user_question|request_user_input|ask_followup_question|question)$/.test(
      name,
    )
  ) {
    return undefined;
  }
  const list = Array.isArray(args['questions']) ? args['questions'] : [args];
  const questions = list.flatMap((entry: unknown) => {
    const text = isRecord(entry) ? string(entry['question']) : undefined;
    return text === undefined ? [] : [text];
  });
  return questions.length === 0 ? undefined : questions;
}

/** Whether an edit tool was called, rather than a command. */
export function isEdit({ command, files }: CallMeaning): boolean {
  return command === undefined && /^(?:edit|create)$/.test(files[0]?.action ?? '');
}
