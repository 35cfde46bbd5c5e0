// Python cells with which an agent edits files: the helpers of OpenHands, and files that a cell opens for writing.
// @source OpenHands' agent skills, its `file_editor`, and the results of both

/** Names for the helpers' positional arguments, as used by the equivalent tools. */
const HELPERS: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    open_file: ['path', 'line'],
    create_file: ['path'],
    edit_file_by_replace: ['path', 'old_string', 'new_string'],
    insert_content_at_line: ['path', 'line', 'new_string'],
    append_file: ['path', 'new_string'],
  }),
);

/** Helper arguments with other names than the tools use. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ['filename', 'path'],
  ['file_name', 'path'],
  ['file_path', 'path'],
  ['to_replace', 'old_string'],
  ['new_content', 'new_string'],
  ['content', 'new_string'],
  ['line_number', 'line'],
]);

const HELPER_CALL =
  /(?<![\w.])(open_file|create_file|edit_file_by_replace|insert_content_at_line|append_file|file_editor|open)\(/g;

type Values = Readonly<Record<string, string>>;

/** Derives actions from the name and arguments of a tool. */
export type ReadActions<Action> = (name: string, args: Values) => readonly Action[];

/** The files that a cell reads and writes, in order. Never throws: it skips what it cannot parse. */
export function cellActions<Action>(code: string, readActions: ReadActions<Action>): readonly Action[] {
  const actions: Action[] = [];
  let end = 0;
  for (const { 1: name = '', index, 0: opening } of code.matchAll(HELPER_CALL)) {
    // Within a string passed to another call it is just text.
    if (index < end) continue;
    const found = argumentsAt(code, index + opening.length);
    end = found.end;
    const tool = toolOf(name, found.values);
    if (tool !== undefined) actions.push(...readActions(tool.name, tool.args));
  }
  return actions;
}

/** The tool equivalent to a helper, and its arguments. */
function toolOf(helper: string, values: readonly Argument[]): { name: string; args: Values } | undefined {
  if (helper === 'open') return openedToWrite(values);
  const places = HELPERS.get(helper) ?? [];
  const args = values.flatMap(({ key, value }, place) => {
    const known = key === undefined ? places[place] : (ALIASES.get(key) ?? key);
    return known === undefined ? [] : [[known, value] as const];
  });
  return { name: TOOLS.get(helper) ?? 'edit', args: Object.fromEntries(args) };
}

const TOOLS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    file_editor: 'str_replace_editor',
    open_file: 'read',
    create_file: 'write',
  }),
);

/** `open(path, 'w')`: the text written is elsewhere. */
function openedToWrite([path, mode]: readonly Argument[]): { name: string; args: Values } | undefined {
  const isNamed = path?.isText === true && path.key === undefined;
  if (!isNamed || mode?.isText !== true || !/^[wax]/.test(mode.value)) return undefined;
  return { name: mode.value.startsWith('a') ? 'edit' : 'write', args: { path: path.value } };
}

interface Argument {
  readonly key: string | undefined;
  readonly value: string;
  /** A quoted string, rather than a number, a name or an expression. */
  readonly isText: boolean;
}

const NAMED = /(?:([A-Za-z_]\w*)\s*=(?!=)|(['"])(\w+)\2\s*:)\s*/y;
const TEXT = /[bruBRU]{0,2}(?:'''([^]*?)'''|"""([^]*?)"""|'((?:[^'\\\n]|\\[^])*)'|"((?:[^"\\\n]|\\[^])*)")/y;
const OTHER = /[^,)}'"]+/y;

/** The arguments of a call after its bracket, including a dictionary spread into them; linear. */
function argumentsAt(
  code: string,
  from: number,
): { readonly values: readonly Argument[]; readonly end: number } {
  const values: Argument[] = [];
  let at = from;
  for (;;) {
    at = behind(/(?:[\s,]|\*\*\{)*/y, code, at);
    const end = code[at];
    if (end === undefined || end === ')' || end === '}') return { values, end: at };
    const named = matchAt(NAMED, code, at);
    at += named?.[0].length ?? 0;
    const key = named?.[1] ?? named?.[3];
    const text = matchAt(TEXT, code, at);
    const other = text === null ? matchAt(OTHER, code, at) : null;
    if (text !== null) values.push({ key, value: literalOf(text), isText: true });
    else if (other !== null) values.push({ key, value: other[0].trim(), isText: false });
    const length = (text ?? other)?.[0].length ?? 0;
    if (length === 0) return { values, end: at };
    at += length;
  }
}

function literalOf([whole, ...groups]: RegExpExecArray): string {
  const body = groups.find((group) => group !== undefined) ?? '';
  return /^[bu]?r/i.test(whole) ? body : unescaped(body);
}

const ESCAPES: ReadonlyMap<string, string> = new Map(Object.entries({ n: '\n', t: '\t', r: '\r', '\n': '' }));

function unescaped(text: string): string {
  return text.includes('\\')
    ? text.replace(/\\([ntr\\'"\n])/g, (_, escaped: string) => ESCAPES.get(escaped) ?? escaped)
    : text;
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

function behind(pattern: RegExp, text: string, at: number): number {
  return at + (matchAt(pattern, text, at)?.[0].length ?? 0);
}
