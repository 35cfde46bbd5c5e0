// Where the user writes: the draft between two rules, its history, its completions.

import type { Canvas, Line, Span } from '../lines/line.ts';
import { cut, widthOf } from '../lines/wrap.ts';
import type { KeyPress } from '../panels/panel.ts';
import { completionLines, indexFiles, mentionAt, suggestCommands, suggestFiles } from './completion.ts';
import type { CompletionList, FileIndex, Mention, Suggestion } from './completion.ts';
import { DraftEditor } from './editor.ts';
import { recentPrompts, withPrompt } from './history.ts';
import type { Prompt } from './history.ts';
import type { KeyAction } from './keys.ts';

/** What a composer needs. */
export interface ComposerTerms {
  /** Of earlier sessions, oldest first. */
  readonly prompts: readonly Prompt[];
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** A mention of a file begins: `setFiles` should follow. Called again with each mention, because files come and go. */
  readonly wantFiles: () => void;
}

/** What the user sends. */
export interface Submission {
  /** Not blank; pastes as a whole. A shell line begins with `!`, a command with `/`. */
  readonly text: string;
  /** The message should wait for the end of the turn. */
  readonly isForLater: boolean;
}

/** The actions that a composer performs. */
export type ComposerAction = Extract<
  KeyAction,
  'send' | 'queue' | 'newline' | 'complete' | 'accept' | 'close_list' | 'next' | 'previous' | 'clear'
>;

/** What a composer shows. */
export interface ComposerView {
  /** The draft between its rules: at least three rows. */
  readonly lines: readonly Line[];
  /** The list of completions: at most six rows. */
  readonly list: readonly Line[];
  /** The cursor's row in `lines`, and its column: for the terminal's own cursor, where input methods open. */
  readonly cursor: { readonly row: number; readonly column: number };
}

const PLACEHOLDER = 'Describe a task. / commands, @ files, ? help';
const SHELL_PLACEHOLDER = 'a command for your shell; no model sees it';

/** A draft that is recalled from history, or the user's own. */
interface Recalled {
  /** Index in the prompts. */
  readonly at: number;
  /** The draft that was there before. */
  readonly draft: string;
}

/** The composer. Give it every key for which `actionFor` answers `edit`, and perform the actions that are its own. */
export class Composer {
  readonly #terms: ComposerTerms;
  readonly #editor = new DraftEditor();
  /** With chips for pastes, so that a recalled draft is as short as it was. */
  #prompts: readonly Prompt[];
  #recall: Recalled | undefined;
  /** The draft begins with `!`, which the sign before the draft shows. */
  #isShell = false;
  #files: FileIndex | undefined;
  #completion: CompletionList | undefined;
  #hasMoved = false;
  /** The user closed the list of this mention. */
  #isClosed = false;
  #isMentioning = false;
  #drawn: { readonly canvas: Canvas; readonly view: ComposerView } | undefined;

  constructor(terms: ComposerTerms) {
    this.#terms = terms;
    this.#prompts = terms.prompts;
  }

  /** The draft with chips instead of pastes. */
  get draft(): string {
    return this.#isShell ? `!${this.#editor.text}` : this.#editor.text;
  }

  get isCompleting(): boolean {
    return this.#completion !== undefined;
  }

  /** The prompts of this and earlier sessions for a search: newest first, each once, cleared drafts among them, pastes as a whole. */
  get prompts(): readonly Prompt[] {
    return recentPrompts(this.#prompts).map((prompt) => ({
      ...prompt,
      text: this.#editor.expand(prompt.text),
    }));
  }

  /** Sets the prompts of earlier sessions, oldest first; those of this session stay. */
  setPrompts(prompts: readonly Prompt[]): void {
    this.#prompts = [...prompts, ...this.#prompts];
  }

  /** Replaces the draft; the cursor goes to its end. */
  setDraft(text: string): void {
    this.#recall = undefined;
    this.#setText(text);
    this.#update();
  }

  /** The files that `@` completes: names relative to the working directory. */
  setFiles(names: readonly string[]): void {
    this.#files = indexFiles(names);
    this.#update();
  }

  /** Takes a key or a paste. */
  press({ key, text }: KeyPress): void {
    if (key === 'up' && this.#editor.isAtEdge('first') && this.#goBack()) return;
    if (key === 'down' && this.#editor.isAtEdge('last') && this.#goForward()) return;
    const isAtStart = this.#editor.isOnFirstLine && this.#editor.before === '';
    const before = this.#editor.text;
    if (key === 'backspace' && this.#isShell && isAtStart) this.#isShell = false;
    else if (key === '') this.#editor.paste(text);
    else this.#editor.press(key, text);
    if (this.#editor.text !== before) this.#recall = undefined;
    this.#update();
  }

  /** Performs an action of its own. @returns what is sent, if something is */
  perform(action: ComposerAction): Submission | undefined {
    switch (action) {
      case 'send':
        if (!this.#editor.before.endsWith('\\')) return this.#send(false);
        this.#editor.replaceBefore(1, '');
        this.#newline();
        return undefined;
      case 'queue':
        return this.#send(true);
      case 'newline':
        this.#newline();
        return undefined;
      case 'complete':
        this.#complete();
        return undefined;
      case 'accept':
        return this.#accept();
      case 'close_list':
        this.#isClosed = true;
        this.#update();
        return undefined;
      case 'next':
      case 'previous':
        this.#select(action === 'next' ? 1 : -1);
        return undefined;
      case 'clear':
        this.#clear();
        return undefined;
    }
  }

  /** The composer in a terminal; the same value as long as nothing changes. */
  draw(canvas: Canvas): ComposerView {
    const drawn = this.#drawn;
    if (
      drawn?.canvas.width === canvas.width &&
      drawn.canvas.rows === canvas.rows &&
      drawn.canvas.hasUnicode === canvas.hasUnicode
    ) {
      return drawn.view;
    }
    const view = this.#view(canvas);
    this.#drawn = { canvas, view };
    return view;
  }

  #newline(): void {
    this.#editor.newline();
    this.#recall = undefined;
    this.#update();
  }

  #setText(text: string): void {
    this.#isShell = false;
    this.#editor.replace(text);
  }

  /** After every change: the sign of a shell line, and the list of completions. */
  #update(): void {
    this.#drawn = undefined;
    if (!this.#isShell && this.#editor.text.startsWith('!')) {
      this.#isShell = true;
      this.#editor.dropFirst();
    }
    const mention = this.#isShell ? undefined : mentionAt(this.#editor.before, this.#editor.isOnFirstLine);
    const hasBegun = mention !== undefined && !this.#isMentioning;
    this.#isMentioning = mention !== undefined;
    if (mention === undefined) this.#isClosed = false;
    else if (mention.kind === 'file' && hasBegun) this.#terms.wantFiles();
    this.#completion = mention === undefined || this.#isClosed ? undefined : this.#listOf(mention);
  }

  #listOf(mention: Mention): CompletionList | undefined {
    const suggestions =
      mention.kind === 'file' ? suggestFiles(this.#files ?? [], mention.query) : suggestCommands(mention);
    if (suggestions.length === 0) return undefined;
    const former = this.#completion;
    const isSame = former !== undefined && former.mention.query === mention.query;
    const selected = former?.suggestions[former.selected]?.insert;
    // New files may arrive while a list is open: the selection stays where it is.
    const at = isSame ? suggestions.findIndex(({ insert }) => insert === selected) : -1;
    if (at === -1) this.#hasMoved = false;
    return { mention, suggestions, selected: Math.max(0, at) };
  }

  #select(step: 1 | -1): void {
    const list = this.#completion;
    if (list === undefined) return;
    const { length } = list.suggestions;
    this.#completion = { ...list, selected: (list.selected + step + length) % length };
    this.#hasMoved = true;
    this.#drawn = undefined;
  }

  /** Puts the selected suggestion into the draft. */
  #take(): { readonly mention: Mention; readonly suggestion: Suggestion } | undefined {
    const list = this.#completion;
    const suggestion = list?.suggestions[list.selected];
    if (list === undefined || suggestion === undefined) return undefined;
    this.#recall = undefined;
    this.#editor.replaceBefore(list.mention.length, suggestion.insert);
    return { mention: list.mention, suggestion };
  }

  #complete(): void {
    const taken = this.#take();
    if (taken?.mention.kind === 'command' && taken.suggestion.isWhole === true) this.#editor.press(' ', ' ');
    this.#update();
  }

  #accept(): Submission | undefined {
    const list = this.#completion;
    const suggestion = list?.suggestions[list.selected];
    if (list === undefined || suggestion === undefined) return this.#send(false);
    const { kind, query, length } = list.mention;
    // Enter sends a name that is complete already, and a command's argument only if the user chose it.
    const isTyped = kind === 'file' && this.#editor.before.slice(-length) === suggestion.insert.trim();
    if (isTyped || (kind === 'argument' && query === '' && !this.#hasMoved)) return this.#send(false);
    const taken = this.#take();
    this.#update();
    return taken?.suggestion.isWhole === true ? this.#send(false) : undefined;
  }

  #send(isForLater: boolean): Submission | undefined {
    const text = this.#editor.expandedText.trim();
    if (text === '') return undefined;
    const sent = this.#isShell ? `!${text}` : text;
    this.#remember();
    this.#setText('');
    this.#update();
    return { text: sent, isForLater };
  }

  #clear(): void {
    this.#editor.keep(this.#editor.text);
    this.#remember();
    this.#setText('');
    this.#update();
  }

  #remember(): void {
    this.#prompts = withPrompt(this.#prompts, { at: this.#terms.now(), text: this.draft.trim() });
    this.#recall = undefined;
  }

  #goBack(): boolean {
    const { at, draft } = this.#recall ?? { at: this.#prompts.length, draft: this.draft };
    const prompt = this.#prompts[at - 1];
    if (prompt === undefined) return false;
    this.#show(prompt.text);
    this.#recall = { at: at - 1, draft };
    return true;
  }

  #goForward(): boolean {
    if (this.#recall === undefined) return false;
    const { at, draft } = this.#recall;
    const prompt = this.#prompts[at + 1];
    this.#show(prompt?.text ?? draft);
    this.#recall = prompt === undefined ? undefined : { at: at + 1, draft };
    return true;
  }

  /** Shows a recalled draft, without opening the list that it might begin. */
  #show(text: string): void {
    this.#setText(text);
    this.#isClosed = true;
    this.#update();
  }

  #view(canvas: Canvas): ComposerView {
    const { width, hasUnicode } = canvas;
    const sign: Span = this.#isShell
      ? { text: '! ', hue: 'warning', isBold: true }
      : { text: hasUnicode ? '› ' : '> ', hue: 'accent', isBold: true };
    const { rows, cursor, above, below } = this.#editor.draw(width - 2, canvas.rows);
    const mark = hasUnicode ? '…' : '...';
    const body =
      this.#editor.text === '' ? [placeholderOf(this.#isShell ? SHELL_PLACEHOLDER : PLACEHOLDER)] : rows;
    const lines = body.map((row, at) =>
      cut([at === 0 && above === 0 ? sign : { text: '  ' }, ...row], width, mark),
    );
    const recall = this.#recall === undefined ? '' : `history ${this.#recall.at + 1}/${this.#prompts.length}`;
    return {
      lines: [
        rule([moreRows(above, hasUnicode ? '↑' : '^'), recall], canvas),
        ...lines,
        rule([moreRows(below, hasUnicode ? '↓' : 'v')], canvas),
      ],
      list: this.#completion === undefined ? [] : completionLines(this.#completion, canvas),
      cursor: { row: cursor.row + 1, column: Math.min(cursor.column + 2, Math.max(0, width - 1)) },
    };
  }
}

/** Rows that are scrolled out of sight. */
function moreRows(count: number, arrow: string): string {
  return count === 0 ? '' : `${arrow} ${count} more`;
}

/** The cursor is on the first character. */
function placeholderOf(text: string): Line {
  return [
    { text: text.slice(0, 1), hue: 'quiet', isInverse: true },
    { text: text.slice(1), hue: 'quiet' },
  ];
}

/** A rule over the whole width, with words at its left. */
function rule(words: readonly string[], { width, hasUnicode }: Canvas): Line {
  const dash = hasUnicode ? '─' : '-';
  const said = words.filter((word) => word !== '').join(` ${dash} `);
  const head = said === '' ? '' : `${dash.repeat(3)} ${said} `;
  const text = `${head}${dash.repeat(Math.max(0, width - widthOf(head)))}`;
  return cut([{ text, hue: 'quiet' }], width, dash);
}
