// The artifact trail: what the agent really did, read from its calls alone, against what a context says it did.

import { callOf, resultCallId, textOfOutput } from '../protocol/item.ts';
import type { CallView, Item } from '../protocol/item.ts';
import { identifiersIn } from './identifiers.ts';
import type { SessionLog } from './log.ts';
import { decodeArguments, parseJson } from './text.ts';

/** What a session did to the world, each thing once. */
export interface Artifacts {
  /** Paths edited, created, deleted or moved, as the agent named them. */
  readonly files: readonly string[];
  /** Commands that change or check something, by program and up to two words: `npm run build`. */
  readonly commands: readonly string[];
  /** Seven digits of each commit. */
  readonly commits: readonly string[];
}

/** How well a context tells it; shares between 0 and 1, undefined where there is nothing to tell or nothing is told. */
export interface ArtifactScore {
  readonly files: number | undefined;
  readonly commands: number | undefined;
  readonly commits: number | undefined;
  /** Of what the context claims in so many words (edited …, commit …, ran `…`), the share that is true. */
  readonly precision: number | undefined;
}

const PATCHED = /^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$/gm;
const EDIT_TOOL =
  /^(?:.*[._])?(?:edit|multiedit|write|notebookedit|write_file|edit_file|str_replace\w*|create_file)$/i;
const SHELL_TOOL = /(?:^|[._])(?:bash|shell|local_shell|exec_command|exec|run_shell_command|execute_bash)$/i;
const COMMITTED = /^\[[^\]\n]*?\b([\da-f]{7,40})\] /gm;

/** Programs that only look: what they were run on is no artifact. */
const LOOKING = new Set(
  (
    'cat ls sed awk rg grep find head tail nl wc pwd echo printf which file stat tree less diff sort uniq cut tr cd ' +
    'sleep true test date env export set source xargs du jq for while if [ ps kill'
  ).split(' '),
);
const LOOKING_GIT =
  /^git(?: -\S+)* (?:status|diff|log|show|branch|rev-parse|blame|ls-files|remote|config|grep)\b/;

/** Reads the calls before a cut. Calls whose result says that they failed count for nothing but as commands. */
export function readArtifacts({ steps }: SessionLog, cut: number): Artifacts {
  const failed = new Set<string>();
  const files = new Set<string>();
  const commands = new Set<string>();
  const commits = new Set<string>();
  for (const { item } of steps.slice(0, cut)) {
    const result = resultOf(item);
    if (result === undefined) continue;
    if (result.failed) failed.add(result.callId);
    for (const [, hash] of result.text.matchAll(COMMITTED)) commits.add((hash ?? '').slice(0, 7));
  }
  for (const { item } of steps.slice(0, cut)) {
    const call = callOf(item);
    if (call === undefined) continue;
    for (const command of commandsOf(call)) commands.add(command);
    if (call.callId !== undefined && failed.has(call.callId)) continue;
    for (const path of editedBy(call)) files.add(path);
  }
  return { files: [...files], commands: [...commands], commits: [...commits] };
}

/** Compares a context with what was done. */
export function scoreArtifacts(lines: readonly string[], done: Artifacts, root: string): ArtifactScore {
  const text = lines.join('\n');
  const claims = claimsIn(lines, root);
  const isTrue = (claim: Claim): boolean =>
    claim.type === 'file'
      ? done.files.some((path) => isSamePath(path, claim.text))
      : claim.type === 'commit'
        ? done.commits.includes(claim.text.slice(0, 7))
        : done.commands.some((command) => claim.text.includes(command));
  return {
    files: shareOf(done.files, (path) => text.includes(relativeTo(path, root))),
    commands: shareOf(done.commands, (command) => text.includes(command)),
    commits: shareOf(done.commits, (hash) => text.includes(hash)),
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

/** What a context claims outright. Code and listings claim nothing: the line has to hold the verb. */
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

function isSamePath(path: string, named: string): boolean {
  return path === named || path.endsWith(`/${named}`) || named.endsWith(`/${path}`);
}

function relativeTo(path: string, root: string): string {
  if (root !== '' && path.startsWith(`${root}/`)) return path.slice(root.length + 1);
  return path.startsWith('./') ? path.slice(2) : path;
}

function resultOf(item: Item): { callId: string; text: string; failed: boolean } | undefined {
  const callId = resultCallId(item);
  if (callId === undefined) return undefined;
  if (item.type !== 'function_call_output' && item.type !== 'custom_tool_call_output') return undefined;
  return { callId, text: textOfOutput(item.output), failed: item.success === false };
}

function editedBy(call: CallView): readonly string[] {
  const decoded = decodeArguments(call.input);
  const patched = [...decoded.matchAll(PATCHED)].map(([, path]) => (path ?? '').trim());
  if (!EDIT_TOOL.test(call.name)) return patched;
  const input = parseJson(call.input);
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return patched;
  const fields = input as Readonly<Record<string, unknown>>;
  const path = fields['file_path'] ?? fields['notebook_path'] ?? fields['path'];
  return typeof path === 'string' ? [...patched, path] : patched;
}

/** The telling commands of a shell call. */
function commandsOf(call: CallView): readonly string[] {
  if (!SHELL_TOOL.test(call.name)) return [];
  const script = scriptOf(call.input);
  const [first = ''] = script.split('\n');
  return first
    .split(/&&|\|\||[;|]/)
    .map((part) => part.trim().replace(/^(?:\w+=\S+ )+/, ''))
    .filter((part) => isTelling(part))
    .map((part) => part.split(/\s+/).slice(0, 3).join(' '));
}

function scriptOf(input: string): string {
  const parsed = parseJson(input);
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return input;
  const fields = parsed as Readonly<Record<string, unknown>>;
  const script = fields['cmd'] ?? fields['command'];
  if (typeof script === 'string') return script;
  // ["bash", "-lc", SCRIPT]
  return Array.isArray(script) && typeof script.at(-1) === 'string' ? String(script.at(-1)) : '';
}

function isTelling(command: string): boolean {
  const [program = ''] = command.split(/\s+/, 1);
  return /^[a-z][\w.-]*$/.test(program) && !LOOKING.has(program) && !LOOKING_GIT.test(command);
}
