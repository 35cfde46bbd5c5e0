// Reads the blocks of Markdown line by line, as CommonMark describes it, and hands each one out as soon as no later line can change
// it: an item of a list, a line of code. Each costs what it is long, wherever it is nested, so a message is read in linear time.
// Pure.
//
// Deliberate differences from CommonMark: a definition of a link is shown as text, because what refers to it has been printed;
// an item is set apart from the next by an empty line if its source is, not if any item of the list is.

import { beginCode, nextCodeLine, type CodeState } from '../code.ts';
import type { Line } from '../line.ts';

/** A quote or an item of a list around a block. */
export type Container =
  | { readonly type: 'quote'; readonly isShown: boolean }
  | {
      readonly type: 'item';
      /** `-` or `3.`: what the list counts to. */
      readonly marker: string;
      /** Columns that its other lines are indented by. */
      readonly indent: number;
      /** Its marker has been handed out with an earlier block. */
      readonly isShown: boolean;
    };

/** What a block holds. Texts have no indentation and no markers of their containers. */
export type BlockContent =
  /** `text` has line ends where the source has. */
  | { readonly type: 'paragraph'; readonly text: string }
  | { readonly type: 'heading'; readonly level: number; readonly text: string }
  | { readonly type: 'rule' }
  /** Rows with a header and a line of dashes, as in the source. */
  | { readonly type: 'table'; readonly text: string }
  /** One line of HTML. */
  | { readonly type: 'html'; readonly text: string }
  /** The language of the code that follows. */
  | { readonly type: 'caption'; readonly text: string }
  /** One line of code, highlighted. */
  | { readonly type: 'code'; readonly row: Line }
  /** An item without content. */
  | { readonly type: 'nothing' };

/** A finished block. */
export interface Block {
  /** Outermost first. */
  readonly containers: readonly Container[];
  /** How many of the containers an empty line before the block is in; undefined: no empty line. */
  readonly gap: number | undefined;
  readonly content: BlockContent;
}

/** A block that is open. */
type Leaf =
  | { readonly type: 'paragraph'; readonly text: string; readonly gap: number | undefined }
  | { readonly type: 'table'; readonly text: string; readonly gap: number | undefined }
  | { readonly type: 'html'; readonly end: string; readonly gap: number | undefined }
  | {
      readonly type: 'fence';
      readonly mark: string;
      readonly indent: number;
      readonly code: CodeState;
      readonly gap: number | undefined;
    }
  /** `blanks`: empty lines, which belong to it if indented lines follow. */
  | { readonly type: 'indented'; readonly blanks: number; readonly gap: number | undefined };

/** A list whose last item has ended: the next item may continue it. */
interface OpenList {
  /** `-`, `*`, `+`, `.` or `)`. */
  readonly kind: string;
  readonly number: number;
}

/** What has been read, as far as it matters for what follows. A value. */
export interface BlockState {
  readonly containers: readonly Container[];
  /** The list at each depth, which is one deeper than there are containers. */
  readonly lists: readonly (OpenList | undefined)[];
  readonly leaf: Leaf | undefined;
  /** There was an empty line since the last content. */
  readonly hasBlank: boolean;
  /** The kind of the last block, to tell a list that belongs to a paragraph; undefined at the beginning. */
  readonly last: BlockContent['type'] | undefined;
  /** The item that has just begun continues a list, or follows the paragraph that announces it. */
  readonly isClose: boolean;
}

export const BEGINNING: BlockState = {
  containers: [],
  lists: [],
  leaf: undefined,
  hasBlank: false,
  last: undefined,
  isClose: false,
};

/** Quotes and lists in each other; deeper markers are text. @source decision: half of 80 columns, two for each */
const DEEPEST = 20;

/**
 * Characters of a paragraph or table until it is handed out in parts. What is not finished is drawn at every frame.
 * @source about four screens of 80 × 24
 */
export const LONGEST_BLOCK = 8_000;

/** Reads one line. @param text without its line end */
export function readLine(
  state: BlockState,
  text: string,
): { readonly state: BlockState; readonly blocks: readonly Block[] } {
  const reader = new Reader(state);
  reader.read(text);
  return { state: reader.state(), blocks: reader.blocks };
}

/** Reads the rest of a line that was too long to be read at once: it belongs to what is open. */
export function readRestOfLine(
  state: BlockState,
  text: string,
): { readonly state: BlockState; readonly blocks: readonly Block[] } {
  const reader = new Reader(state);
  reader.readRest(text);
  return { state: reader.state(), blocks: reader.blocks };
}

/** What is open at the end of the text. */
export function endBlocks(state: BlockState): readonly Block[] {
  const reader = new Reader(state);
  reader.closeTo(0);
  return reader.blocks;
}

const BULLET = /^([-+*])(?:[ \t]|$)/;
const NUMBER = /^(\d{1,9})([.)])(?:[ \t]|$)/;
const FENCE = /^(?:`{3,}|~{3,})/;
const HEADING = /^(#{1,6})(?:[ \t]|$)/;
const DELIMITERS = /^[ |:-]+$/;

/** Elements that begin a block of HTML. @source CommonMark 0.31, HTML blocks, the seven kinds; shortened to what models write */
const ELEMENTS =
  /^<\/?(?:address|article|aside|blockquote|body|br|center|dd|details|dialog|div|dl|dt|fieldset|figcaption|figure|footer|form|h[1-6]|head|header|hr|html|iframe|img|legend|li|link|main|menu|meta|nav|ol|option|p|section|summary|table|tbody|td|tfoot|th|thead|title|tr|ul)(?:[ />]|$)/i;
const RAW_ELEMENTS = /^<(script|pre|style|textarea)(?:[ >]|$)/i;

class Reader {
  readonly blocks: Block[] = [];
  #containers: Container[];
  #lists: (OpenList | undefined)[];
  #leaf: Leaf | undefined;
  #hasBlank: boolean;
  #last: BlockState['last'];
  /** The item that has just begun continues a list, or follows the paragraph that announces it. */
  #isClose: boolean;

  constructor({ containers, lists, leaf, hasBlank, last, isClose }: BlockState) {
    this.#containers = [...containers];
    this.#lists = [...lists];
    this.#leaf = leaf;
    this.#hasBlank = hasBlank;
    this.#last = last;
    this.#isClose = isClose;
  }

  state(): BlockState {
    return {
      containers: this.#containers,
      lists: this.#lists,
      leaf: this.#leaf,
      hasBlank: this.#hasBlank,
      last: this.#last,
      isClose: this.#isClose,
    };
  }

  read(text: string): void {
    const matched = this.#match(expandIndent(text));
    let { rest } = matched;
    let { depth } = matched;
    const isBlank = rest.trim() === '';
    const isMatched = depth === this.#containers.length;
    if (isMatched && this.#continueLeaf(rest, isBlank)) return;
    if (isBlank) {
      this.#readBlank(depth);
      return;
    }
    const paragraph = this.#leaf?.type === 'paragraph' ? this.#leaf : undefined;
    const interrupts = isMatched && paragraph !== undefined;
    if (interrupts && this.#endParagraph(rest, paragraph)) return;
    let isNew = false;
    for (; depth < DEEPEST; depth++) {
      const opened = this.#openContainer(rest, depth, interrupts && !isNew);
      if (opened === undefined) break;
      rest = opened;
      isNew = true;
    }
    if (rest.trim() === '') return;
    if (
      this.#openLeaf(rest, depth, {
        interrupts: interrupts && !isNew,
        isLazy: paragraph !== undefined && !isNew,
      })
    )
      return;
    if (paragraph !== undefined && !isNew) {
      this.#growParagraph(paragraph, `\n${rest.trimStart()}`);
      return;
    }
    this.closeTo(depth);
    this.#open({ type: 'paragraph', text: rest.trimStart(), gap: this.#gap() });
  }

  readRest(text: string): void {
    const leaf = this.#leaf;
    if (leaf === undefined) {
      this.#open({ type: 'paragraph', text, gap: undefined });
    } else if (leaf.type === 'paragraph') {
      this.#growParagraph(leaf, text);
    } else if (leaf.type === 'table') {
      this.#leaf = { ...leaf, text: leaf.text + text };
    } else if (leaf.type === 'fence') {
      this.#addCode(leaf, text);
    } else {
      this.#emit(leaf.type === 'html' ? { type: 'html', text } : { type: 'code', row: [{ text }] }, leaf.gap);
    }
  }

  /** Ends what is open deeper than `depth`. */
  closeTo(depth: number): void {
    this.#closeLeaf();
    while (this.#containers.length > depth) {
      const container = this.#containers.at(-1);
      if (container?.type === 'item' && !container.isShown) this.#emit({ type: 'nothing' }, this.#gap());
      this.#containers.pop();
    }
    this.#lists.length = Math.min(this.#lists.length, depth + 1);
  }

  #closeLeaf(): void {
    const leaf = this.#leaf;
    this.#leaf = undefined;
    if (leaf?.type === 'paragraph' || leaf?.type === 'table') {
      if (leaf.text !== '') this.#emit({ type: leaf.type, text: leaf.text.trimEnd() }, leaf.gap);
    }
  }

  /** How many containers a line continues, and what it says inside them. */
  #match(text: string): { readonly rest: string; readonly depth: number } {
    let rest = text;
    let depth = 0;
    for (const container of this.#containers) {
      if (container.type === 'quote') {
        const inner = afterQuoteMark(rest);
        if (inner === undefined) break;
        rest = inner;
      } else if (rest.trim() === '') {
        rest = '';
      } else if (indentOf(rest) >= container.indent) {
        rest = rest.slice(container.indent);
      } else {
        break;
      }
      depth++;
    }
    return { rest, depth };
  }

  /** Gives a line to the open block if it takes it whatever it says. */
  #continueLeaf(rest: string, isBlank: boolean): boolean {
    const leaf = this.#leaf;
    if (leaf?.type === 'fence') {
      const trimmed = rest.trim();
      const isEnd =
        indentOf(rest) < 4 &&
        trimmed.length >= leaf.mark.length &&
        trimmed === (leaf.mark[0] ?? '').repeat(trimmed.length);
      if (isEnd) this.#leaf = undefined;
      else this.#addCode(leaf, rest.slice(Math.min(leaf.indent, indentOf(rest))));
      return true;
    }
    if (leaf?.type === 'html' && (leaf.end !== '' || !isBlank)) {
      this.#emit({ type: 'html', text: rest.trimEnd() }, leaf.gap);
      this.#leaf =
        leaf.end !== '' && rest.toLowerCase().includes(leaf.end) ? undefined : { ...leaf, gap: undefined };
      return true;
    }
    if (leaf?.type === 'indented') {
      if (isBlank) {
        this.#leaf = { ...leaf, blanks: leaf.blanks + 1 };
        this.#hasBlank = true;
        return true;
      }
      if (indentOf(rest) < 4) return false;
      for (let blank = 0; blank < leaf.blanks; blank++) this.#emit({ type: 'code', row: [] }, undefined);
      this.#emit({ type: 'code', row: [{ text: rest.slice(4) }] }, leaf.gap);
      this.#leaf = { type: 'indented', blanks: 0, gap: undefined };
      return true;
    }
    return false;
  }

  #readBlank(depth: number): void {
    const leaf = this.#leaf;
    if (leaf?.type !== 'fence') this.#closeLeaf();
    // An empty line ends a quote that it is not in. It ends no item, unless the item has nothing yet.
    const open = this.#containers[depth - 1];
    const isEmptyItem = depth === this.#containers.length && open?.type === 'item' && !open.isShown;
    if (depth < this.#containers.length || isEmptyItem) this.closeTo(isEmptyItem ? depth - 1 : depth);
    this.#hasBlank = true;
  }

  /** A line below a paragraph that makes it a heading or a table. */
  #endParagraph(rest: string, { text, gap }: Leaf & { type: 'paragraph' }): boolean {
    const line = rest.trim();
    if (indentOf(rest) >= 4) return false;
    if (text !== '' && (isAll(line, '=') || isAll(line, '-'))) {
      this.#leaf = undefined;
      this.#emit({ type: 'heading', level: line.startsWith('=') ? 1 : 2, text: text.trimEnd() }, gap);
      return true;
    }
    if (!line.includes('-') || !DELIMITERS.test(line)) return false;
    const start = text.lastIndexOf('\n') + 1;
    const header = text.slice(start);
    if (!isTableHead(header, line)) return false;
    if (start > 0) {
      this.#leaf = { type: 'paragraph', text: text.slice(0, start), gap };
      this.#closeLeaf();
      this.#open({ type: 'table', text: `${header}\n${line}`, gap: this.#gap() });
    } else {
      this.#open({ type: 'table', text: `${header}\n${line}`, gap });
    }
    return true;
  }

  /** Opens a quote or an item. @returns the rest of the line; undefined if none begins */
  #openContainer(rest: string, depth: number, interrupts: boolean): string | undefined {
    const indent = indentOf(rest);
    if (indent >= 4) return undefined;
    const inner = afterQuoteMark(rest);
    if (inner !== undefined) {
      this.closeTo(depth);
      this.#lists[depth] = undefined;
      this.#containers.push({ type: 'quote', isShown: false });
      return inner;
    }
    const text = rest.slice(indent);
    if (isRule(text)) return undefined;
    const number = NUMBER.exec(text);
    const mark = number?.[0].trimEnd() ?? BULLET.exec(text)?.[1];
    if (mark === undefined) return undefined;
    const content = expandIndent(text.slice(mark.length));
    const isEmpty = content.trim() === '';
    if (interrupts && (isEmpty || (number !== null && number[1] !== '1'))) return undefined;
    this.closeTo(depth);
    const kind = number?.[2] ?? mark;
    const list = this.#lists[depth];
    const count = list?.kind === kind ? list.number + 1 : Number(number?.[1] ?? 0);
    const isFirstNew = this.#containers.every(({ isShown }) => isShown);
    if (isFirstNew) this.#isClose = list === undefined ? this.#last === 'paragraph' : list.kind === kind;
    this.#lists[depth] = { kind, number: count };
    const spaces = indentOf(content);
    const padding = isEmpty || spaces > 4 ? 1 : spaces;
    this.#containers.push({
      type: 'item',
      marker: number === null ? '-' : `${count}${kind}`,
      indent: indent + mark.length + padding,
      isShown: false,
    });
    return isEmpty ? '' : content.slice(padding);
  }

  /** Opens a block other than a paragraph. */
  #openLeaf(
    rest: string,
    depth: number,
    { interrupts, isLazy }: { readonly interrupts: boolean; readonly isLazy: boolean },
  ): boolean {
    const indent = indentOf(rest);
    const text = rest.slice(indent);
    if (indent >= 4) {
      if (isLazy) return false;
      this.closeTo(depth);
      this.#open({ type: 'indented', blanks: 0, gap: this.#gap() });
      return this.#continueLeaf(rest, false);
    }
    const heading = HEADING.exec(text);
    if (heading !== null) {
      this.closeTo(depth);
      const level = heading[1]?.length ?? 1;
      this.#emit({ type: 'heading', level, text: headingText(text.slice(level)) }, this.#gap());
      return true;
    }
    const mark = FENCE.exec(text)?.[0];
    if (mark !== undefined && !(mark.startsWith('`') && text.includes('`', mark.length))) {
      this.closeTo(depth);
      const name = text.slice(mark.length).trim();
      this.#open({ type: 'fence', mark, indent, code: beginCode(name), gap: this.#gap() });
      if (name !== '') {
        const [word = ''] = name.split(/[\s,{]/, 1);
        this.#emit({ type: 'caption', text: word === '' ? name : word }, this.#leaf?.gap);
        this.#leaf = { type: 'fence', mark, indent, code: beginCode(name), gap: undefined };
      }
      return true;
    }
    if (isRule(text)) {
      this.closeTo(depth);
      this.#emit({ type: 'rule' }, this.#gap());
      return true;
    }
    const end = htmlEnd(text, interrupts || isLazy);
    if (end !== undefined) {
      this.closeTo(depth);
      this.#open({ type: 'html', end, gap: this.#gap() });
      return this.#continueLeaf(text, false);
    }
    if (this.#leaf?.type === 'table' && depth === this.#containers.length) {
      const grown = `${this.#leaf.text}\n${text}`;
      this.#leaf = { ...this.#leaf, text: grown };
      if (grown.length > LONGEST_BLOCK) {
        const head = grown.split('\n', 2).join('\n');
        this.#closeLeaf();
        // The columns of the next part are as wide as its cells need. Its header is shown again.
        if (head.length < LONGEST_BLOCK / 2) this.#leaf = { type: 'table', text: head, gap: undefined };
      }
      return true;
    }
    return false;
  }

  #growParagraph(leaf: Leaf & { type: 'paragraph' }, more: string): void {
    const text = leaf.text === '' ? more.trimStart() : leaf.text + more;
    if (text.length > LONGEST_BLOCK) {
      this.#leaf = { ...leaf, text };
      this.#closeLeaf();
      this.#leaf = { type: 'paragraph', text: '', gap: undefined };
    } else {
      this.#leaf = { ...leaf, text };
    }
  }

  #addCode(leaf: Leaf & { type: 'fence' }, text: string): void {
    const { row, state } = nextCodeLine(leaf.code, text);
    this.#emit({ type: 'code', row }, leaf.gap);
    this.#leaf = { ...leaf, code: state, gap: undefined };
  }

  #open(leaf: Leaf): void {
    this.#leaf = leaf;
    this.#lists[this.#containers.length] = undefined;
  }

  /** Whether an empty line belongs before what comes now: in how many containers. */
  #gap(): number | undefined {
    if (this.#last === undefined) return undefined;
    const shown = this.#containers.findIndex(({ isShown }) => !isShown);
    const common = shown < 0 ? this.#containers.length : shown;
    const first = this.#containers[common];
    const isInItem = this.#containers.slice(0, common).some(({ type }) => type === 'item');
    const isTight = isInItem || (first?.type === 'item' && this.#isClose);
    return this.#hasBlank || !isTight ? common : undefined;
  }

  #emit(content: BlockContent, gap: number | undefined): void {
    this.blocks.push({ containers: [...this.#containers], gap, content });
    this.#containers = this.#containers.map((each) => (each.isShown ? each : { ...each, isShown: true }));
    if (this.#leaf === undefined) this.#lists[this.#containers.length] = undefined;
    this.#hasBlank = false;
    this.#last = content.type;
  }
}

/** Indentation as spaces: a tab goes to the next column that four divides. */
function expandIndent(text: string): string {
  let column = 0;
  let at = 0;
  for (; at < text.length; at++) {
    if (text[at] === '\t') column += 4 - (column % 4);
    else if (text[at] === ' ') column++;
    else break;
  }
  return column === at ? text : ' '.repeat(column) + text.slice(at);
}

function indentOf(text: string): number {
  let indent = 0;
  while (text[indent] === ' ') indent++;
  return indent;
}

function afterQuoteMark(text: string): string | undefined {
  const indent = indentOf(text);
  if (indent >= 4 || text[indent] !== '>') return undefined;
  const inner = expandIndent(text.slice(indent + 1));
  return inner.startsWith(' ') ? inner.slice(1) : inner;
}

function isAll(text: string, character: string): boolean {
  return text !== '' && text === character.repeat(text.length);
}

function isRule(text: string): boolean {
  const [first = ''] = text;
  if (first !== '-' && first !== '*' && first !== '_') return false;
  let count = 0;
  for (const character of text) {
    if (character === first) count++;
    else if (character !== ' ' && character !== '\t') return false;
  }
  return count >= 3;
}

/** Without the closing `#`. */
function headingText(text: string): string {
  const trimmed = text.trim();
  let end = trimmed.length;
  while (trimmed[end - 1] === '#') end--;
  return end === 0 || trimmed[end - 1] === ' ' ? trimmed.slice(0, end).trimEnd() : trimmed;
}

/** As many cells in both: a header and its line of dashes. */
function isTableHead(header: string, dashes: string): boolean {
  if (!header.includes('|')) return false;
  const cells = cellsOf(dashes);
  return cells.length === cellsOf(header).length && cells.every((cell) => /^:?-+:?$/.test(cell.trim()));
}

/** The cells of a row of a table. A `\|` is not a border; it means `|`. */
export function cellsOf(row: string): readonly string[] {
  const cells = row.trim().split(/(?<!\\)\|/);
  if (cells[0]?.trim() === '') cells.shift();
  if (cells.length > 1 && cells.at(-1)?.trim() === '') cells.pop();
  return cells.map((cell) => cell.trim().replaceAll('\\|', '|'));
}

/** What ends a block of HTML that begins here: a text, or `''` for an empty line. */
function htmlEnd(text: string, isInParagraph: boolean): string | undefined {
  if (!text.startsWith('<')) return undefined;
  const raw = RAW_ELEMENTS.exec(text)?.[1];
  if (raw !== undefined) return `</${raw.toLowerCase()}>`;
  if (text.startsWith('<!--')) return '-->';
  if (text.startsWith('<?')) return '?>';
  if (ELEMENTS.test(text)) return '';
  if (isInParagraph) return undefined;
  return /^<\/?[a-z][a-z0-9-]*(?: [^<>]*)?>$/i.test(text.trimEnd()) ? '' : undefined;
}
