// A summary as its reader sees it: sections, headings, and blocks of rows that belong together.

/** A row that starts a thought, with the indented rows below it. */
export interface Block {
  /** The heading of its section; empty before the first. */
  readonly section: string;
  /** The heading inside the section under which it stands; empty without one. */
  readonly group: string;
  /** Its rows, joined by line feeds. */
  readonly text: string;
}

const SECTION = /^\d+\. ([A-Z][^:]*):$/;
/** A heading inside a section: a row of its own, neither indented nor a list item, that ends in a colon. */
const GROUP = /^(?![-\s]).*:$/;
const INDENTED = /^\s/;

/** The blocks of a summary, in order. Headings are not blocks; an empty section has the block "None.". */
export function blocksIn(summary: string): readonly Block[] {
  const blocks: { section: string; group: string; text: string }[] = [];
  let section = '';
  let group = '';
  let isOpen = false;
  for (const row of summary.split('\n')) {
    const title = SECTION.exec(row)?.[1];
    if (title !== undefined) {
      section = title;
      group = '';
      isOpen = false;
    } else if (row.trim() === '') isOpen = false;
    else if (GROUP.test(row)) {
      group = row.slice(0, -1);
      isOpen = false;
    } else {
      const open = blocks.at(-1);
      if (isOpen && INDENTED.test(row) && open !== undefined) open.text += `\n${row}`;
      else blocks.push({ section, group, text: row });
      isOpen = true;
    }
  }
  return blocks;
}

/** A summary without the rows that `isOut` rejects; a heading goes with its last row. */
export function withoutRows(summary: string, isOut: (row: PlacedRow) => boolean): string {
  const kept: string[] = [];
  let below = 2;
  for (const { row, level, ...place } of placedRows(summary).toReversed()) {
    // Below a heading stands a row, or a heading of a lower level.
    if (level > 0 ? below >= level : isOut({ row, ...place })) continue;
    kept.push(row);
    below = level;
  }
  return kept.toReversed().join('\n');
}

/** A row with the headings above it. */
export interface PlacedRow {
  readonly row: string;
  readonly section: string;
  readonly group: string;
}

/** All rows but blank ones. `level`: 2 for the heading of a section, 1 for one inside of it, 0 for a row. */
export function placedRows(summary: string): readonly (PlacedRow & { readonly level: 0 | 1 | 2 })[] {
  let section = '';
  let group = '';
  return summary
    .split('\n')
    .filter((row) => row.trim() !== '')
    .map((row) => {
      const title = SECTION.exec(row)?.[1];
      if (title !== undefined) {
        section = title;
        group = '';
        return { row, section, group, level: 2 };
      }
      if (!GROUP.test(row)) return { row, section, group, level: 0 };
      group = row.slice(0, -1);
      return { row, section, group, level: 1 };
    });
}

/** White space as one space: a phrase is verbatim wherever its lines break. */
export function collapse(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

/** Whether a text has a phrase verbatim, white space aside. */
export function holds(text: string, phrase: string): boolean {
  return collapse(text).includes(collapse(phrase));
}

/** Fewer names in a row are part of a thought. @source docs/decisions/summary-yardstick.md */
const LEAST_NAMES = 3;
/** From this share of its pieces on, a row only lists names. @source docs/decisions/summary-yardstick.md */
const LIST_SHARE = 0.6;

/** What stands before a list: up to its first colon, or the file whose names follow. */
const LABEL = /^.{0,80}?(?::| names) /;
/** A label that says what was done: the row is a fact about files, and not only their names. */
const FACT = /\b(?:changed|committed|edited|created|deleted|stashed|written|wrote|moved)\b|\([^)]*\)/i;

/**
 * Whether a row only lists names: below a label, if any, at least three pieces between commas, most of them a single word
 * with the shape of a name (a path, an option, a dotted or compound identifier) or a word in backticks.
 */
export function isNameList(row: string): boolean {
  const bare = row.replace(/^\s*(?:[-*] )?/, '');
  const label = LABEL.exec(bare)?.[0] ?? '';
  if (FACT.test(label)) return false;
  const pieces = bare
    .slice(label.length)
    .split(/[,;] /)
    .map((piece) => piece.replace(/^(?:function|const|type|class|def|interface) /, ''));
  if (pieces.length < LEAST_NAMES) return false;
  return pieces.filter(isName).length >= LIST_SHARE * pieces.length;
}

/** A name may be followed by a count or a note in brackets: `npm test` (8×). */
function isName(piece: string): boolean {
  const bare = piece.replace(/ \([^)]*\)\.?$/, '').trim();
  if (/^`[^`]+`$/.test(bare)) return true;
  return bare.length > 0 && !bare.includes(' ') && /[./_-]|[a-z][A-Z]|\d|^[A-Z_]{2,}$/.test(bare);
}
