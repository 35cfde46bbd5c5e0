// On which line of a TOML file a key is set. The parser does not report lines, so this file parses one statement at a time (a
// table
// header or an assignment, which may span lines).

import { parse } from 'smol-toml';
import type { TomlTable, TomlValue } from 'smol-toml';

/** Keys, and 0-based indexes in lists of tables. */
type Path = readonly (string | number)[];

interface Statement {
  /** 1-based first line. */
  readonly line: number;
  /** The table that the statement opens, or assigns into. */
  readonly table: Path;
  /** The assignment; undefined for a header. */
  readonly assigned: TomlTable | undefined;
}

/**
 * Finds keys in a valid TOML text.
 * @returns a function from the path of a key or table to the 1-based line that first sets it, or undefined. A path without an
 * index in a list of tables matches in all of them.
 */
export function locateKeys(text: string): (path: Path) => number | undefined {
  const statements = splitStatements(text);
  return (path) => {
    const among = path.some((part) => typeof part === 'number')
      ? statements
      : statements.map((statement) => ({ ...statement, table: statement.table.filter(isKey) }));
    return among.find((statement) => sets(statement, path))?.line;
  };
}

function isKey(part: string | number): boolean {
  return typeof part === 'string';
}

function sets({ table, assigned }: Statement, path: Path): boolean {
  const isInTable = table.slice(0, path.length).every((key, index) => key === path[index]);
  if (!isInTable) return false;
  if (assigned === undefined) return table.length >= path.length;
  return table.length < path.length && hasPath(assigned, path.slice(table.length));
}

function hasPath(table: TomlTable, path: Path): boolean {
  let value: TomlValue = table;
  for (const key of path) {
    if (typeof key === 'number') {
      const member: TomlValue | undefined = Array.isArray(value) ? value[key] : undefined;
      if (member === undefined) return false;
      value = member;
      continue;
    }
    if (!isTable(value) || !Object.hasOwn(value, key)) return false;
    value = value[key] ?? {};
  }
  return true;
}

/** The end of a possible multi-line value: an array, a table or a string. */
const CLOSING = /[\]}]|"""|'''/;

function splitStatements(text: string): readonly Statement[] {
  const statements: Statement[] = [];
  const counts = new Map<string, number>();
  let table: Path = [];
  let start = 1;
  let source = '';
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const isFirst = source === '';
    source += `${line}\n`;
    // Most lines of a long value cannot end it, and trying each would take quadratic time.
    const parsed = isFirst || CLOSING.test(line) ? parseWhole(source) : undefined;
    if (parsed === undefined) continue;
    const isHeader = source.trimStart().startsWith('[');
    if (isHeader) table = placed(headerPath(parsed), counts, source);
    if (Object.keys(parsed).length > 0) {
      statements.push({ line: start, table, assigned: isHeader ? undefined : parsed });
    }
    source = '';
    start = index + 2;
  }
  return statements;
}

function parseWhole(source: string): TomlTable | undefined {
  try {
    return parse(source);
  } catch {
    // The whole text is valid, so an invalid part ends in the middle of a statement.
    return undefined;
  }
}

/** The path of a header; `[[a.b]]` opens the next table of its list. */
function placed(path: readonly string[], counts: Map<string, number>, header: string): Path {
  if (!header.trimStart().startsWith('[[')) return path;
  const key = JSON.stringify(path);
  const place = counts.get(key) ?? 0;
  counts.set(key, place + 1);
  return [...path, place];
}

/** `[a.b]` and `[[a.b]]` alone parse to nested single keys. */
function headerPath(parsed: TomlTable): readonly string[] {
  const path: string[] = [];
  let value: TomlValue | undefined = parsed;
  while (value !== undefined && isTable(value)) {
    const key: string | undefined = Object.keys(value)[0];
    if (key === undefined) break;
    path.push(key);
    value = value[key];
    if (Array.isArray(value)) value = value[0];
  }
  return path;
}

/** Whether a TOML value is a table, not an array or a date. */
export function isTable(value: TomlValue): value is TomlTable {
  return typeof value === 'object' && !Array.isArray(value) && !(value instanceof Date);
}
