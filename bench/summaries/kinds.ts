// The kinds of lines that today's summarizer writes, as far as a reader can tell them apart, for the ablation.

import type { PlacedRow } from './summary-text.ts';

/** A kind of line: by its section, the heading above it and how the row looks. What is left out matches anything. */
interface LineKind {
  readonly name: string;
  readonly section: RegExp;
  readonly group?: RegExp;
  readonly row?: RegExp;
}

const REQUEST = /^Primary/;
const CONCEPTS = /^Key Technical/;
const FILES = /^Files/;
const ERRORS = /^Errors/;
const SOLVING = /^Problem/;
const MESSAGES = /^All User/;
const PENDING = /^Pending/;
const CURRENT = /^Current/;
const NEXT = /^Optional/;

/** In each section the first that matches counts. */
const KINDS: readonly LineKind[] = [
  { name: 'rules of the user', section: REQUEST, group: /^Rules/ },
  { name: 'rules in pasted texts', section: REQUEST, group: /^In texts that the user pasted/ },
  { name: 'orders of commands and harness', section: REQUEST, group: /^(?:Orders|From the harness)/ },
  { name: 'current request', section: REQUEST, row: /^The user's current request/ },
  { name: 'first request', section: REQUEST, row: /^The session began/ },
  { name: 'request before', section: REQUEST, row: /^(?:Before that|It came while)/ },
  { name: 'working directory', section: REQUEST, row: /^Working directory/ },
  { name: 'what the request answers', section: REQUEST },
  { name: 'commands in use', section: CONCEPTS, row: /^- Commands in use/ },
  { name: 'names by message', section: CONCEPTS, group: /^Names in use/ },
  { name: 'calls on the way', section: CONCEPTS, group: /^Calls on the way/ },
  { name: 'said on the way', section: CONCEPTS, group: /^Said on the way/ },
  { name: 'options and other names', section: CONCEPTS },
  { name: 'names of a file', section: FILES, row: /^ {2}names:|^- \S+ names / },
  { name: 'rows of a file', section: FILES, row: /^ {2}[+ ] / },
  { name: 'newest small edit', section: FILES, row: /^ {2}/ },
  { name: 'also changed', section: FILES, row: /^- Also changed/ },
  { name: 'files not found', section: FILES, row: /^- Did not exist/ },
  { name: 'files read', section: FILES, row: /^- \S+ \(read/ },
  { name: 'files changed', section: FILES },
  { name: 'failures', section: ERRORS },
  { name: 'commits', section: SOLVING, group: /ommits$/ },
  { name: 'pushes and links', section: SOLVING, group: /^Pushes/ },
  { name: 'other runs', section: SOLVING, group: /^Other commands/ },
  { name: 'calls on the way', section: SOLVING, group: /^Calls on the way/ },
  { name: 'said on the way', section: SOLVING, group: /^Said on the way/ },
  { name: 'carried-over summary', section: SOLVING, group: /^Carried over/ },
  { name: 'actions on older messages', section: SOLVING, group: /^Actions on/ },
  { name: 'statements by message', section: SOLVING },
  { name: 'outcome of a message', section: MESSAGES, row: /^ {3}→/ },
  { name: 'refused calls and answers', section: MESSAGES, row: /^ {3}/ },
  { name: 'messages', section: MESSAGES },
  { name: 'plan', section: PENDING, group: /^Plan/ },
  { name: 'items of a list', section: PENDING, group: /^Items of|^Left open/ },
  { name: 'open question', section: PENDING, row: /^- The agent asked/ },
  { name: 'other pending', section: PENDING },
  {
    name: 'state of git',
    section: CURRENT,
    group: /^$/,
    row: /^(?:Newest commit|HEAD|Not committed|No commit|Stashed)/,
  },
  { name: 'checks since the last edit', section: CURRENT, row: /^(?:Since the last edit|No check)/ },
  { name: 'started, no result', section: CURRENT, row: /^Started, no result/ },
  { name: 'last actions before', section: CURRENT, group: /^(?:Last actions|Actions on)/ },
  { name: 'message before the request', section: CURRENT, group: /^The agent's last message/ },
  { name: 'steps since the request', section: CURRENT, group: /^Since the current request/, row: /^-/ },
  { name: 'results since the request', section: CURRENT, group: /^Since the current request/ },
  { name: 'older steps verbatim', section: CURRENT, group: /^Steps on/ },
  { name: 'newest message of the agent', section: CURRENT, group: /^The agent's newest/ },
  { name: 'newest result', section: CURRENT, group: /^Newest result/ },
  { name: 'other current work', section: CURRENT },
  { name: 'next step', section: NEXT },
];

/** The names of all kinds, each once, in the order of the sections. */
export const KIND_NAMES: readonly string[] = [...new Set(KINDS.map(({ name }) => name))];

/** The kind of a row; undefined for the word of an empty section, and for a row outside of the nine sections. */
export function kindOf({ row, section, group }: PlacedRow): string | undefined {
  if (row === 'None.') return undefined;
  return KINDS.find(
    (kind) =>
      kind.section.test(section) && (kind.group?.test(group) ?? true) && (kind.row?.test(row) ?? true),
  )?.name;
}
