// Agents that call no tools. Their command is in a fenced block of the answer, its result in the harness's next message, and
// their task in the harness's template. @source the prompts and parsers of mini-swe-agent and SWE-agent

import { shellMeaning } from './calls.ts';
import type { CallMeaning, FileAction } from './calls.ts';
import { joinPath } from '../../shell/scripts.ts';

/** How an agent writes its commands: in a shell block, or in a block that may also hold commands of SWE-agent's editor. */
export type ActionStyle = 'shell' | 'editor';

/** A parsed answer. */
export interface TextAction {
  /** The agent's text around its command. */
  readonly text: string;
  /** Absent if the answer holds no script that the harness would run. */
  readonly script: string | undefined;
  /** The command submits the work: the agent is done. */
  readonly isSubmission: boolean;
}

/** A harness's answer to a command. */
export interface Observation {
  readonly text: string;
  readonly exitCode: number | undefined;
  /** The state of the editor afterwards. */
  readonly editor: EditorPlace;
}

/** The file open in the editor and the shell's directory, if the harness reports them. */
export interface EditorPlace {
  readonly file?: string;
  readonly directory?: string;
}

const SHELL_FENCE = /^```(?:bash|mswea_bash_command)[ \t]*\n([^]*?)\n```/gm;
const ANY_FENCE = /^```[^`\n]*\n([^]*?)\n?^```[ \t]*$/gm;

/** Extracts the command from an answer: the only shell block, or the last editor block. */
export function textActionOf(answer: string, style: ActionStyle): TextAction {
  const fences = [...answer.matchAll(style === 'shell' ? SHELL_FENCE : ANY_FENCE)];
  const fence = style === 'shell' && fences.length > 1 ? undefined : fences.at(-1);
  const script = fence?.[1];
  const around =
    fence === undefined ? answer : answer.slice(0, fence.index) + answer.slice(fence.index + fence[0].length);
  const isSubmission =
    script !== undefined && /^\s*submit\s*$|COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT/.test(script);
  return {
    text: around.replace(/^\s*THOUGHT: ?/, '').trim(),
    script: script?.trim() === '' || isSubmission ? undefined : script,
    isSubmission,
  };
}

/** Commands of the editor. All others are shell commands. */
const EDITOR_COMMANDS = new Set([
  'open',
  'create',
  'edit',
  'goto',
  'scroll_up',
  'scroll_down',
  'find_file',
  'search_dir',
  'search_file',
]);

/** A command as a call: its name, its meaning, and what may be quoted if no file describes it. */
export interface ActionCall {
  readonly name: string;
  readonly meaning: CallMeaning;
  readonly quotable: string | undefined;
}

/** Converts a command to a call. `place` is the editor's state before it. */
export function actionCallOf(script: string, style: ActionStyle, place: EditorPlace): ActionCall {
  const [head = ''] = script.trimStart().split('\n', 1);
  const [name = '', ...operands] = head.split(/\s+/);
  if (style === 'shell' || !EDITOR_COMMANDS.has(name)) {
    const meaning = shellMeaning(script, { cwd: place.directory });
    return { name: 'bash', meaning, quotable: script };
  }
  const files = editorActions(name, { operands, script, place });
  const text = name === 'edit' ? script : operands.join(' ');
  return { name, meaning: { files, text }, quotable: files.length > 0 ? undefined : head };
}

function editorActions(
  name: string,
  { operands, script, place }: { operands: readonly string[]; script: string; place: EditorPlace },
): FileAction[] {
  const [first = ''] = operands;
  if (name === 'open' && first !== '') {
    return [{ action: 'read', path: joinPath(place.directory, unquoted(first)) }];
  }
  if (name === 'create' && first !== '') {
    return [{ action: 'create', path: joinPath(place.directory, unquoted(first)), added: '' }];
  }
  if (place.file === undefined) return [];
  if (name === 'edit') return [{ action: 'edit', path: place.file, added: editedText(script) }];
  const isLook = name === 'goto' || name.startsWith('scroll_');
  return isLook ? [{ action: 'read', path: place.file }] : [];
}

function unquoted(word: string): string {
  return word.replace(/^(["'])(.*)\1$/, '$2');
}

/** The lines with which `edit 3:7` replaces others. */
function editedText(script: string): string {
  const body = script.slice(script.indexOf('\n') + 1);
  const end = body.lastIndexOf('end_of_edit');
  return script.includes('\n') ? (end < 0 ? body : body.slice(0, end)).trimEnd() : '';
}

/** Parses an answer of a harness: the status and tags of mini-swe-agent, the footer of SWE-agent's editor. */
export function observationOf(answer: string): Observation {
  const status = /^\s*<returncode>(-?\d{1,9})<\/returncode>\n?/.exec(answer);
  if (status !== null) {
    const output = withoutElided(
      answer.slice(status[0].length).replace(/^\s*<warning>[^]*?<\/warning>/, ''),
    ).replace(/^<\/?output(?:_head|_tail)?>$/gm, '');
    return { text: output.trim(), exitCode: Number(status[1]), editor: {} };
  }
  const at = footAt(answer);
  const foot = FOOT.exec(answer.slice(at).trimEnd());
  if (foot === null) return { text: answer.trim(), exitCode: undefined, editor: {} };
  const [, file = '', directory = ''] = foot;
  return {
    text: answer.slice(0, at).trim(),
    exitCode: undefined,
    editor: { ...(file === 'n/a' ? {} : { file }), directory },
  };
}

/** The footer that SWE-agent's editor prints below every output. */
const FOOT = /^\(Open file: ([^\n]*)\)\n\(Current directory: ([^\n]*)\)\n(?:bash-)?\$$/;
const FOOT_START = '(Open file: ';

/**
 * Where the footer begins, if there is one: in the third row from the end, which it shares with an output without a final line
 * feed.
 */
function footAt(answer: string): number {
  const end = answer.trimEnd();
  let row = end.length;
  for (let rows = 0; rows < 3 && row > 0; rows++) row = end.lastIndexOf('\n', row - 1);
  const at = end.indexOf(FOOT_START, Math.max(0, row));
  return at < 0 ? answer.length : at;
}

/** An output with a mark for the part that the harness omitted. */
function withoutElided(output: string): string {
  const from = output.indexOf('<elided_chars>');
  const to = from < 0 ? -1 : output.indexOf(ELIDED_END, from);
  return to < 0 ? output : `${output.slice(0, from)}…${output.slice(to + ELIDED_END.length)}`;
}

const ELIDED_END = '</elided_chars>';

/** Whether a harness rejected a command of its editor. @source SWE-agent's and OpenHands' editors */
export function isRejectedEdit(text: string): boolean {
  return /^\[?(?:Your proposed edit has introduced new syntax error|Usage: |Error: |No file open|Invalid |DO NOT re-run the same failed edit|Your edit was not applied|No exact match found|No replacement was performed)/i.test(
    text.trimStart(),
  );
}

/** The harness's reason for rejecting an edit, without its standard text. */
export function rejectionReason(text: string): string {
  const listed = /^ERRORS:[ \t]*\n((?=[ \t]*- )(?:[ \t]*- [^\n]*\n)*(?:[ \t]*- [^\n]*)?)/m.exec(text)?.[1];
  const [first = '', second = ''] = text.trim().split('\n', 2);
  const reason = first
    .replace(/^<tool_use_error>|<\/tool_use_error>$/g, '')
    .replace(/^apply_patch verification failed: (.*?)(?: in \/\S*)?$/, '$1')
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/ (?:Please|To replace) [^]*$/, '')
    .replace(/\.$/, '');
  // The place follows as `src/a.ts:22`.
  const place = /^\S{1,300}:\d{1,6}$/.test(second) ? ` at ${second}; not applied` : '';
  return listed?.replace(/\.$/, '') ?? `${reason}${place}`;
}

/** A parsed first message: the task, and the harness's instructions on how to work. */
export interface TemplatedTask {
  readonly task: string;
  readonly template: string;
}

/** Where the task is in the harnesses' templates: from the end of the first match to the second. */
const TASK_PLACES: readonly (readonly [RegExp, RegExp])[] = [
  [/<pr_description>\s*(?:Consider the following PR description:\s*)?/, /<\/pr_description>/],
  [/^ISSUE:[ \t]*\n/m, /(?<=\n)INSTRUCTIONS:[ \t]*$/m],
  [
    /^(?:Please solve this issue|Please solve the following coding issue|Task): ?/m,
    /^(?:You can execute bash commands and edit files|## Recommended Workflow)/m,
  ],
];

/** Separates a task from the template around it. A message from no known template is all task. */
export function templatedTask(message: string): TemplatedTask {
  for (const [opening, closing] of TASK_PLACES) {
    const from = opening.exec(message);
    if (from === null) continue;
    const rest = message.slice(from.index + from[0].length);
    const to = closing.exec(rest);
    const task = (to === null ? rest : rest.slice(0, to.index)).trim();
    if (task === '') continue;
    const after = to === null ? '' : rest.slice(to.index + to[0].length);
    return { task, template: `${message.slice(0, from.index)}\n${after}` };
  }
  return { task: message, template: '' };
}
