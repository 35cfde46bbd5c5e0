// JSON that a program printed, shown object by object: adjacent rows of two objects would read as one.

import { clip } from './sentences.ts';

/** Most rows made from one output. */
const MAX_ROWS = 200;
/** Characters of a value that comes before longer ones, and of any value: a description matters as much as a title. */
const SHORT_VALUE = 90;
const LONG_VALUE = 160;
/** Levels of nested object lists with rows of their own. */
const MAX_DEPTH = 2;

/** A row for each object of a JSON output, its fields in order, long texts and addresses last; undefined for other outputs. */
export function objectRows(output: string): readonly string[] | undefined {
  const text = output.trim();
  if (!/^(?:\[\s*)?\{\s*"/.test(text.slice(0, 200))) return undefined;
  const values = parsedValues(text);
  const rows = values?.flatMap((value) => rowsOf(value, 0)).slice(0, MAX_ROWS) ?? [];
  return rows.length === 0 ? undefined : rows;
}

/** The values of a text: one, a list that may be cut off, or one on each line. */
function parsedValues(text: string): readonly unknown[] | undefined {
  const whole = parsed(text);
  if (whole !== undefined) return [whole];
  const end = text.lastIndexOf('\n  },');
  const cut = text.startsWith('[') && end > 0 ? parsed(`${text.slice(0, end)}\n  }]`) : undefined;
  if (cut !== undefined) return [cut];
  const lines = text.split('\n').map((line) => parsed(line));
  return lines.length > 1 && !lines.includes(undefined) ? lines : undefined;
}

function parsed(text: string): unknown {
  if (!/^[[{]/.test(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}

function rowsOf(value: unknown, depth: number): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((one: unknown) => rowsOf(one, depth));
  if (typeof value !== 'object' || value === null) return [];
  const fields = Object.entries(value).flatMap(([key, own]) => fieldOf(key, own));
  const short = fields.filter((field) => field.length <= SHORT_VALUE && !field.includes('://'));
  const row = [...short, ...fields.filter((field) => !short.includes(field))].join('; ');
  const below =
    depth >= MAX_DEPTH
      ? []
      : Object.entries(value).flatMap(([key, own]) =>
          Array.isArray(own) ? rowsOf(own, depth + 1).map((one) => `${key}: ${one}`) : [],
        );
  return row === '' ? below : [row, ...below];
}

/** Timestamps and empty values carry no information. */
const UNINFORMATIVE = /^(?:\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:?\d\d)?)?$/;

function fieldOf(key: string, value: unknown): readonly string[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  const plain = list.filter((one) => ['string', 'number', 'boolean'].includes(typeof one)).map(String);
  const text = plain.join(', ').replaceAll(/\s+/g, ' ');
  return UNINFORMATIVE.test(text) ? [] : [`${key}: ${clip(text, LONG_VALUE)}`];
}
