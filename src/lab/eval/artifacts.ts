// The artifact trail: compares what the agent really did, read only from its calls, with what a context says it did.

import { authorOf, callOf, resultCallId } from '../../protocol/item.ts';
import type { CallView, Item, MessageItem } from '../../protocol/item.ts';
import { identifiersIn } from './identifiers.ts';
import type { SessionLog } from './log.ts';
import { decodeArguments, parseJson, textOfItem } from './text.ts';

/** The changes that a session made to the world, each once. */
export interface Artifacts {
  /** Paths edited, created, deleted or moved, as the agent named them. */
  readonly files: readonly string[];
  /** Commands that change or check something, by program and up to two words: `npm run build`. */
  readonly commands: readonly string[];
  readonly commits: readonly MadeCommit[];
  /**
   * Paths that commands wrote, deleted or moved: claims are checked against them, but a context need not mention every
   * scratch file.
   */
  readonly changed: readonly string[];
  /**
   * Everything that ran, including read-only commands, one distinct script per line with white space collapsed: claims
   * are checked against it.
   */
  readonly scripts: string;
}

/** A commit as git reported it. */
export interface MadeCommit {
  /** Seven digits. */
  readonly hash: string;
  readonly subject: string;
}

/**
 * How well a context covers the artifacts; shares between 0 and 1, undefined if there is nothing to cover or nothing is
 * claimed.
 */
export interface ArtifactScore {
  readonly files: number | undefined;
  readonly commands: number | undefined;
  readonly commits: number | undefined;
  /** The true share of the context's explicit claims (edited …, commit …, ran `…`). */
  readonly precision: number | undefined;
}

const PATCHED = /^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$/gm;
/** @source the tools of Codex, Claude Code, pi, opencode, Gemini CLI, Copilot CLI and OpenHands */
const EDIT_TOOL =
  /(?:^|[._])(?:edit|multiedit|write|replace|create|notebookedit|write_file|edit_file|str_replace\w{0,100}|create_file)$/i;
const SHELL_TOOL =
  /(?:^|[._])(?:bash|shell|local_shell|exec_command|exec|run_shell_command|execute_bash|run|terminal)$/i;
/** Editors of one name for all, of which one command only looks. @source the text editor tool of Anthropic, OpenHands' editor */
const LOOKING_EDITORS = new Set(['view', 'undo_edit']);
/** Edits by a call inside of a Python cell. @source OpenHands' agent skills */
const CELL_EDIT =
  /\b(?:create_file|edit_file\w*|append_file|insert_content_at_line)\(\s*(?:file_name\s*=\s*)?["']([^"'\n]+)["']/g;
const CELL_TOOL = /(?:^|[._])(?:run_ipython|execute_ipython_cell)$/i;
/** A command in a fenced block of the answer. @source mini-swe-agent, SWE-agent */
const FENCE_START = /^```[^`\n]*\n/gm;
const FENCE_END = /\n?^```[ \t]*$/gm;
/** @source SWE-agent's editor */
const EDITOR_COMMAND = /^(open|create|edit)\b[ \t]*"?([^"\s]*)/;
const COMMITTED = /^\[[^\][\n\r\u2028\u2029]*?\b([\da-f]{7,40})\] (.*)$/gm;

/** Read-only programs: their operands are not artifacts. */
const LOOKING = new Set(
  (
    'cat ls sed awk rg grep find head tail nl wc pwd echo printf which file stat tree less diff sort uniq cut tr cd ' +
    'sleep true test date env export set source xargs du jq ps kill apply_patch do done for while if then else fi'
  ).split(' '),
);
const LOOKING_GIT =
  /^git(?: -\S+)* (?:status|diff|log|show|branch|rev-parse|blame|ls-files|remote|config|grep)\b/;

/** Reads calls and results, in order. A call that reports failure counts only as a command. */
export class ArtifactLedger {
  readonly #failed = new Set<string>();
  readonly #edits: { readonly callId: string | undefined; readonly path: string }[] = [];
  readonly #commands = new Set<string>();
  readonly #commits = new Map<string, string>();
  readonly #changed = new Set<string>();
  /** Each once: a repeated run makes no claim truer. */
  readonly #scripts = new Set<string>();
  readonly #textActions: SessionLog['textActions'];
  /** The file that is open in an editor of text actions. */
  #openFile: string | undefined;

  /** @param textActions how an agent without tools writes its commands */
  constructor(textActions?: SessionLog['textActions']) {
    this.#textActions = textActions;
  }

  add(item: Item): void {
    const result = resultOf(item);
    if (result?.failed === true) this.#failed.add(result.callId);
    if (result !== undefined) this.#noteCommits(result.text);
    else if (item.type === 'message') this.#addMessage(item);
    const call = callOf(item);
    if (call === undefined) return;
    this.#noteScript(scriptOf(call));
    for (const path of editedBy(call)) this.#edits.push({ callId: call.callId, path });
  }

  /** If an agent does not call tools, its answer is the call and the harness's next message the result. */
  #addMessage(message: MessageItem): void {
    if (this.#textActions === undefined) return;
    const text = textOfItem(message);
    if (authorOf(message) !== 'agent') return this.#noteCommits(text);
    const script = lastFenced(text);
    const [, command, operand = ''] = EDITOR_COMMAND.exec(script) ?? [];
    if (this.#textActions === 'shell' || command === undefined) return this.#noteScript(script);
    if (command !== 'edit' && operand !== '') this.#openFile = operand;
    if (command === 'open' || this.#openFile === undefined) return;
    this.#edits.push({ callId: undefined, path: this.#openFile });
  }

  #noteScript(script: string): void {
    for (const command of commandsIn(script)) this.#commands.add(command);
    for (const path of changedBy(script)) this.#changed.add(path);
    if (script !== '') this.#scripts.add(collapse(script));
  }

  #noteCommits(output: string): void {
    for (const [, hash = '', subject = ''] of output.matchAll(COMMITTED)) {
      this.#commits.set(hash.slice(0, 7), subject.trim());
    }
  }

  artifacts(): Artifacts {
    const done = this.#edits.filter(({ callId }) => callId === undefined || !this.#failed.has(callId));
    return {
      files: [...new Set(done.map(({ path }) => path))],
      commands: [...this.#commands],
      commits: [...this.#commits].map(([hash, subject]) => ({ hash, subject })),
      changed: [...this.#changed],
      scripts: [...this.#scripts].join('\n'),
    };
  }
}

/** Compares a context with what was done. */
export function scoreArtifacts(lines: readonly string[], done: Artifacts, root: string): ArtifactScore {
  const text = lines.join('\n');
  const claims = claimsIn(lines, root);
  const isTrue = (claim: Claim): boolean =>
    claim.type === 'file'
      ? [...done.files, ...done.changed].some((path) => isSamePath(path, claim.text))
      : claim.type === 'commit'
        ? done.commits.some(({ hash }) => hash === claim.text.slice(0, 7))
        : done.scripts.includes(collapse(claim.text).slice(0, CLAIM_LENGTH));
  return {
    files: shareOf(done.files, (path) => text.includes(relativeTo(path, root))),
    commands: shareOf(done.commands, (command) => text.includes(command)),
    commits: shareOf(
      done.commits,
      ({ hash, subject }) => text.includes(hash) || (subject !== '' && text.includes(subject)),
    ),
    precision: shareOf(claims, isTrue),
  };
}

function shareOf<T>(all: readonly T[], is: (one: T) => boolean): number | undefined {
  return all.length === 0 ? undefined : all.filter(is).length / all.length;
}

interface Claim {
  readonly type: 'file' | 'commit' | 'command';
  readonly text: string;
}

const SAYS_EDITED = /\b(?:edited|created|wrote|deleted|modified|moved)\b/i;
const SAYS_COMMIT = /\bcommit(?:ted|s)?\b/i;
const SAYS_RAN = /\bran `([^`]{3,200})`/gi;

/** Characters that must match at the start of a command that a summary names; the summary may shorten the rest. */
const CLAIM_LENGTH = 40;

/** The explicit claims of a context. Code and listings claim nothing: the line must contain the verb. */
function claimsIn(lines: readonly string[], root: string): readonly Claim[] {
  const claims = new Map<string, Claim>();
  const add = (type: Claim['type'], text: string): void => void claims.set(`${type} ${text}`, { type, text });
  for (const line of lines) {
    for (const [, command] of line.matchAll(SAYS_RAN)) if (command !== undefined) add('command', command);
    const rest = line.replaceAll(SAYS_RAN, '');
    const saysEdited = SAYS_EDITED.test(rest);
    const saysCommit = SAYS_COMMIT.test(rest);
    if (!saysEdited && !saysCommit) continue;
    for (const identifier of identifiersIn(rest, root)) {
      if (saysEdited && /[\w/]\.[A-Za-z]\w{0,5}$/.test(identifier) && /[/]/.test(identifier)) {
        add('file', identifier);
      }
      if (saysCommit && /^(?=.*\d)[\da-f]{7,40}$/.test(identifier)) add('commit', identifier);
    }
  }
  return [...claims.values()];
}

/** A name of several words is identified by what follows its last space. */
function isSamePath(path: string, named: string): boolean {
  return (
    path === named || path.endsWith(`/${named}`) || path.endsWith(` ${named}`) || named.endsWith(`/${path}`)
  );
}

function relativeTo(path: string, root: string): string {
  if (root !== '' && path.startsWith(`${root}/`)) return path.slice(root.length + 1);
  return path.startsWith('./') ? path.slice(2) : path;
}

function resultOf(item: Item): { callId: string; text: string; failed: boolean } | undefined {
  const callId = resultCallId(item);
  if (callId === undefined) return undefined;
  if (item.type !== 'function_call_output' && item.type !== 'custom_tool_call_output') return undefined;
  return { callId, text: textOfItem(item), failed: item.success === false };
}

function editedBy(call: CallView): readonly string[] {
  const decoded = decodeArguments(call.input);
  const edits = CELL_TOOL.test(call.name) ? CELL_EDIT : PATCHED;
  const patched = [...decoded.matchAll(edits)].map(([, path]) => (path ?? '').trim());
  if (!EDIT_TOOL.test(call.name)) return patched;
  const input = parseJson(call.input);
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return patched;
  const fields = input as Readonly<Record<string, unknown>>;
  if (LOOKING_EDITORS.has(String(fields['command']))) return patched;
  const path = fields['file_path'] ?? fields['filePath'] ?? fields['notebook_path'] ?? fields['path'];
  return typeof path === 'string' ? [...patched, path] : patched;
}

/** The script of a shell call; empty for other calls. */
function scriptOf(call: CallView): string {
  if (!SHELL_TOOL.test(call.name)) return '';
  const parsed = parseJson(call.input);
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return call.input;
  const fields = parsed as Readonly<Record<string, unknown>>;
  const script = fields['cmd'] ?? fields['command'];
  if (typeof script === 'string') return script;
  // ["bash", "-lc", SCRIPT]
  return Array.isArray(script) && typeof script.at(-1) === 'string' ? String(script.at(-1)) : '';
}

/** Where a shell, or a program that a shell was given, says that it writes. */
const WRITTEN = [
  /(?<![-=<])>>?\s*["']?([^\s"'&|;<>()]+)/g,
  /\bopen\(\s*["']([^"'\n]+)["']\s*,\s*["'][wax]/g,
  /\bPath\(\s*["']([^"'\n]+)["']\s*\)\s*\.write_/g,
  /\bwriteFile(?:Sync)?\(\s*["']([^"'\n]+)["']/g,
];
/** Programs whose operands are files that they change. */
const CHANGING =
  /^(?:sudo )?(?:(?:rm|mv|cp|touch|tee|patch|git (?:rm|mv|checkout|restore))\s|sed\s[^]*-i|perl\s[^]*-\w*i)/;

/** The paths that a script changes, as it names them. */
function changedBy(script: string): readonly string[] {
  const written = WRITTEN.flatMap((pattern) => [...script.matchAll(pattern)].map(([, path = '']) => path));
  const operands = simpleCommands(script)
    .filter((command) => CHANGING.test(command))
    .flatMap((command) => command.split(/\s+/).slice(1))
    .map((word) => word.replaceAll(/^["']|["']$/g, ''))
    .filter((word) => /^[\w~./@+-]*[\w/]$/.test(word) && !word.startsWith('-'));
  return [...written, ...operands];
}

/** The identifying commands of a script by their first words; the content of a here-document is not a command. */
function commandsIn(script: string): readonly string[] {
  const [first = ''] = script.split('\n');
  return simpleCommands(first)
    .filter(isInformative)
    .map((command) => plainWords(command).join(' '));
}

/** The commands of a script, split where the shell would: a quoted `;` or `|` separates nothing. */
function simpleCommands(line: string): readonly string[] {
  const commands: string[] = [];
  let command = '';
  let quote = '';
  for (const sign of line) {
    if (quote === '' && /[;&|()\n]/.test(sign)) {
      commands.push(command);
      command = '';
      continue;
    }
    if (quote === sign) quote = '';
    else if (quote === '' && /["'`]/.test(sign)) quote = sign;
    command += sign;
  }
  return [...commands, command].map((one) => one.trim().replace(/^(?:\w+=\S* )+/, ''));
}

/** Program and up to two words, up to the first that is quoted, expanded or redirected. */
function plainWords(command: string): readonly string[] {
  const words = command.split(/\s+/).slice(0, 3);
  const odd = words.findIndex((word) => /["'`$<>{}\\]/.test(word));
  return odd === -1 ? words : words.slice(0, odd);
}

function isInformative(command: string): boolean {
  const [program = ''] = plainWords(command);
  return /^[a-z][\w.-]*$/.test(program) && !LOOKING.has(program) && !LOOKING_GIT.test(command);
}

function collapse(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

/** The content of the last closed fence of an answer. */
function lastFenced(text: string): string {
  let fenced = '';
  for (let from = 0; ;) {
    FENCE_START.lastIndex = from;
    if (FENCE_START.exec(text) === null) return fenced;
    const start = FENCE_START.lastIndex;
    FENCE_END.lastIndex = start;
    const end = FENCE_END.exec(text);
    if (end === null) return fenced;
    fenced = text.slice(start, end.index);
    from = FENCE_END.lastIndex;
  }
}
