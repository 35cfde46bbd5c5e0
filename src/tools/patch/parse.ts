// Parses the `*** Begin Patch` envelope. Strict wherever another reading could change the wrong text.

/** The effect of a patch on one file. */
export type PatchAction =
  | { readonly action: 'create'; readonly path: string; readonly lines: readonly string[] }
  | { readonly action: 'delete'; readonly path: string }
  | {
      readonly action: 'edit';
      readonly path: string;
      readonly to: string | undefined;
      readonly hunks: readonly Hunk[];
    };

/** A place in a file and its new content. */
export interface Hunk {
  /** The text after `@@`: lines that precede the hunk in the file, in order but not necessarily adjacent. */
  readonly anchors: readonly string[];
  readonly lines: readonly HunkLine[];
  /** It must match the end of the file: `*** End of File`. */
  readonly isAtEnd: boolean;
  /** Its first line in the patch, counted from 1. */
  readonly patchLine: number;
}

export interface HunkLine {
  readonly sign: ' ' | '-' | '+';
  readonly text: string;
}

export type ParsedPatch =
  | { readonly type: 'patch'; readonly actions: readonly PatchAction[] }
  /** One sentence, with the line number in the patch. */
  | { readonly type: 'complaint'; readonly text: string };

const BEGIN = '*** Begin Patch';
const END = '*** End Patch';
const ADD = '*** Add File: ';
const DELETE = '*** Delete File: ';
const UPDATE = '*** Update File: ';
const MOVE = '*** Move to: ';
const END_OF_FILE = '*** End of File';

/** Whether a text looks like a patch by its first line: freeform calls send it without JSON around it. */
export function isPatch(text: string): boolean {
  return text.trimStart().startsWith(BEGIN);
}

/** Parses a patch with line feeds. Never throws. @source Codex, `apply_patch` grammar */
export function parsePatch(text: string): ParsedPatch {
  const lines = text.replaceAll('\r\n', '\n').split('\n');
  const begin = lines.findIndex((line) => line.trim() !== '' && !isHeredocStart(line));
  if (lines[begin]?.trim() !== BEGIN) return complain(Math.max(begin, 0), `a patch begins with ${BEGIN}`);
  const end = lines.findIndex((line, index) => index > begin && line.trim() === END);
  if (end < 0) return complain(lines.length - 1, `the patch does not end with ${END}`);
  const after = lines.findIndex(
    (line, index) => index > end && line.trim() !== '' && !/^\w+$/.test(line.trim()),
  );
  if (after >= 0) return complain(after, `there is text after ${END}; one call takes one patch`);
  return new PatchReader(lines, begin + 1, end).read();
}

/** Models wrap patches in the heredoc of a shell command. */
function isHeredocStart(line: string): boolean {
  return /^(?:apply_patch\s+)?<<\s*['"]?\w+['"]?\s*$/.test(line.trim());
}

function complain(index: number, text: string): ParsedPatch & { type: 'complaint' } {
  return { type: 'complaint', text: `Line ${index + 1} of the patch: ${text}.` };
}

class PatchReader {
  readonly #lines: readonly string[];
  #at: number;
  readonly #end: number;
  /** The first non-blank line from here on, if already searched. */
  #afterBlanks = -1;

  constructor(lines: readonly string[], begin: number, end: number) {
    this.#lines = lines;
    this.#at = begin;
    this.#end = end;
  }

  read(): ParsedPatch {
    const actions: PatchAction[] = [];
    while (this.#at < this.#end) {
      const line = this.#line();
      if (line.trim() === '') {
        this.#at++;
        continue;
      }
      const action = this.#action(line);
      if ('type' in action) return action;
      if (action.path === '') return complain(this.#at - 1, 'the path is missing');
      actions.push(action);
    }
    return actions.length === 0 ? complain(this.#at, 'the patch is empty') : { type: 'patch', actions };
  }

  #line(): string {
    return this.#lines[this.#at] ?? '';
  }

  #action(line: string): PatchAction | (ParsedPatch & { type: 'complaint' }) {
    this.#at++;
    if (line.startsWith(DELETE)) return { action: 'delete', path: line.slice(DELETE.length).trim() };
    if (line.startsWith(ADD)) {
      const lines: string[] = [];
      for (; this.#at < this.#end && this.#line().startsWith('+'); this.#at++)
        lines.push(this.#line().slice(1));
      return { action: 'create', path: line.slice(ADD.length).trim(), lines };
    }
    if (line.startsWith(UPDATE)) return this.#update(line.slice(UPDATE.length).trim());
    return complain(
      this.#at - 1,
      `neither ${ADD.trim()} nor ${UPDATE.trim()} nor ${DELETE.trim()}, nor a line of one`,
    );
  }

  #update(path: string): PatchAction | (ParsedPatch & { type: 'complaint' }) {
    const start = this.#at;
    let to: string | undefined;
    if (this.#line().startsWith(MOVE)) {
      to = this.#line().slice(MOVE.length).trim();
      this.#at++;
    }
    const hunks: Hunk[] = [];
    while (this.#at < this.#end && !this.#isHeader()) {
      if (this.#line().trim() === '' && this.#isLastBlank()) {
        this.#at++;
        continue;
      }
      const hunk = this.#hunk(hunks.length === 0);
      if ('type' in hunk) return hunk;
      hunks.push(hunk);
    }
    if (hunks.length === 0 && to === undefined) return complain(start, 'the update changes nothing');
    return { action: 'edit', path, to, hunks };
  }

  #isHeader(): boolean {
    return [ADD, UPDATE, DELETE].some((header) => this.#line().startsWith(header));
  }

  /** A blank line before a header or the end belongs to the layout of the patch, not to the file. */
  #isLastBlank(): boolean {
    if (this.#afterBlanks < this.#at) {
      this.#afterBlanks = this.#at;
      while (this.#afterBlanks < this.#end && (this.#lines[this.#afterBlanks] ?? '').trim() === '')
        this.#afterBlanks++;
    }
    const line = this.#lines[this.#afterBlanks] ?? '';
    return this.#afterBlanks === this.#end || [ADD, UPDATE, DELETE].some((header) => line.startsWith(header));
  }

  #hunk(isFirst: boolean): Hunk | (ParsedPatch & { type: 'complaint' }) {
    const patchLine = this.#at + 1;
    const anchors: string[] = [];
    for (; this.#at < this.#end && this.#line().startsWith('@@'); this.#at++) {
      const anchor = anchorOf(this.#line());
      if (anchor !== '') anchors.push(anchor);
    }
    if (this.#at + 1 === patchLine && !isFirst)
      return complain(this.#at, 'another part of an update must begin with @@');
    const lines: HunkLine[] = [];
    let isAtEnd = false;
    for (; this.#at < this.#end; this.#at++) {
      const line = this.#line();
      if (line.startsWith('@@') || this.#isHeader() || (line === '' && this.#isLastBlank())) break;
      if (line.trim() === END_OF_FILE) {
        isAtEnd = true;
        this.#at++;
        break;
      }
      const sign = line === '' ? ' ' : line[0];
      if (sign !== ' ' && sign !== '-' && sign !== '+') {
        return complain(
          this.#at,
          `a line of an update must begin with a space, - or +, not with ${JSON.stringify(sign)}`,
        );
      }
      lines.push({ sign, text: line.slice(1) });
    }
    if (!lines.some(({ sign }) => sign !== ' ')) return complain(patchLine - 1, 'this part changes nothing');
    return { anchors, lines, isAtEnd, patchLine };
  }
}

/** The text after `@@`; for `@@ -1,3 +1,4 @@ text` only the text, since models cannot count lines. */
function anchorOf(line: string): string {
  return line
    .slice(2)
    .replace(/^ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@/, '')
    .replace(/^ /, '')
    .trimEnd();
}
