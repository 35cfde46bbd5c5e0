// Counts the false and misleading lines of a summary by class. The classes are those in which blind readers sorted the lines
// that misled them; docs/decisions/summary-yardstick.md explains each. The wording is not Baton's: any summary can be counted.

import type { RunEnd, StoryKey } from '../../test/summaries/story.ts';
import { blocksIn, collapse, holds } from './summary-text.ts';
import type { Block } from './summary-text.ts';

/** The classes, in the order shown. */
export const FALSE_CLASSES = [
  'run_outcome',
  'git_and_files',
  'superseded',
  'still_running',
  'others_words',
  'lost_message',
  'image_as_nothing',
  'untrue_statement',
] as const;
export type FalseClass = (typeof FALSE_CLASSES)[number];

/** A false or misleading line. */
export interface FalseLine {
  readonly class: FalseClass;
  /** Why, with the line or with what is missing. */
  readonly why: string;
}

type Counter = (blocks: readonly Block[], key: StoryKey) => readonly string[];

const COUNTERS: Readonly<Record<FalseClass, Counter>> = {
  run_outcome: (blocks, key) => [
    ...(key.runs ?? []).flatMap(({ command, ended }) => contradictions(blocks, command, ended)),
    ...(key.hasFailure === true
      ? emptySection(blocks, /error/i, 'A run failed, and the section of errors is empty')
      : []),
  ],
  git_and_files: (blocks, key) => [...gitFaults(blocks, key), ...fileFaults(blocks, key)],
  superseded: (blocks, { replaced = [] }) =>
    replaced.flatMap(({ old, by }) =>
      blocks.flatMap((block, at) =>
        holds(block.text, old) && !isCorrectedNear(blocks, at, by) ? [shown('Superseded', block)] : [],
      ),
    ),
  still_running: (blocks, { ended = [] }) =>
    ended.flatMap((command) => {
      const named = blocks.filter(({ text }) => holds(text, command));
      const last = named.at(-1);
      return last !== undefined && RUNNING.test(last.text) ? [shown('It ended', last)] : [];
    }),
  others_words: (blocks, { others = [] }) =>
    others.flatMap((words) =>
      blocks
        .filter(({ text, group }) => holds(text, words) && RULES.test(group) && !NOT_THE_USERS.test(group))
        .map((block) => shown('Not a rule of the user', block)),
    ),
  lost_message: (blocks, { requests }) => {
    const whole = blocks.map(({ text }) => text).join('\n');
    return requests.filter((phrase) => !holds(whole, phrase)).map((phrase) => `Nothing says: ${phrase}`);
  },
  image_as_nothing: (blocks, { images = [] }) =>
    images.flatMap((path) =>
      blocks
        .filter(({ text }) => holds(withoutCommands(text), path) && NOTHING.test(text))
        .map((block) => shown('The result was an image', block)),
    ),
  untrue_statement: (blocks, { untrue = [] }) =>
    untrue.flatMap((phrase) =>
      blocks.filter(({ text }) => holds(text, phrase)).map((block) => shown('Untrue', block)),
    ),
};

/** Counts the false and misleading lines of a summary, each once, in the first class that it falls into. */
export function falseLines(summary: string, key: StoryKey): readonly FalseLine[] {
  const blocks = blocksIn(summary);
  const lines = new Map<string, FalseLine>();
  for (const each of FALSE_CLASSES) {
    for (const why of COUNTERS[each](blocks, key)) {
      const line = why.slice(why.indexOf(': ') + 2);
      if (!lines.has(line)) lines.set(line, { class: each, why });
    }
  }
  return [...lines.values()];
}

const FAILED =
  /\bfail(?:ed|s|ing|ure)?\b|not seen to pass|exit(?: code| status)? [1-9]|not found|\berror\b|no rule to make|fallan?\b|fehlgeschlagen|失敗/iu;
const PASSED = /\b(?:ok|pass(?:ed|es|ing)?|ran well|succeeded|pasan?)\b|: ok\b|laufen durch/iu;
const UNREPAIRED = /not seen to pass/i;
const UNKNOWN = /not (?:known|recogni[sz]ed)|unknown/i;
const RUNNING = /no result yet|still running|running in (?:the )?background/i;
const RULES = /\brules?\b|\blimits?\b|\bcorrections?\b|\bconstraints?\b/i;
const NOT_THE_USERS = /pasted|may bind|harness|not the user|instructions of/i;
const NOTHING = /\bnothing\b|no output|printed no|empty result/i;
/** A heading that vouches for every run below it. */
const VOUCHED = /ended well|ran well|succeeded/i;

/** Blocks that say of a command the opposite of how it ended. */
function contradictions(blocks: readonly Block[], command: string, ended: RunEnd): readonly string[] {
  const named = blocks.filter(({ text }) => holds(commandsIn(text), command));
  const hasFailed = ({ text }: Block): boolean => FAILED.test(withoutCommands(text));
  const hasPassed = ({ text }: Block): boolean => PASSED.test(withoutCommands(text));
  if (ended === 'passed') {
    return named
      .filter((block, at) => {
        if (UNREPAIRED.test(block.text)) return true;
        if (!hasFailed(block) || hasPassed(block)) return false;
        // The account of the work is in order: a failure in it is history once a later run is without one.
        const others = /current/i.test(block.section)
          ? named
          : named.slice(at + 1).filter(({ section }) => section === block.section);
        return others.every(hasFailed);
      })
      .map((block) => shown('It passed', block));
  }
  if (named.some(hasFailed)) return [];
  return named
    .filter((block) => hasPassed(block) || VOUCHED.test(block.group))
    .filter(({ text }) => !UNKNOWN.test(text))
    .map((block) => shown(ended === 'failed' ? 'It failed' : 'Nothing shows how it ended', block));
}

/** What stands in backticks: commands. Without any, the whole text. */
function commandsIn(text: string): string {
  const quoted = text.match(/`[^`]+`/g);
  return quoted === null ? text : quoted.join(' ');
}

function withoutCommands(text: string): string {
  return text.replaceAll(/`[^`]+`/g, '`…`');
}

function emptySection(blocks: readonly Block[], title: RegExp, why: string): readonly string[] {
  const inside = blocks.filter(({ section }) => title.test(section));
  return inside.length === 1 && inside[0]?.text === 'None.' ? [why] : [];
}

function gitFaults(blocks: readonly Block[], { git }: StoryKey): readonly string[] {
  if (git === undefined) return [];
  const faults: string[] = [];
  const { newest, branch, subjects = [] } = git;
  for (const block of blocks) {
    const text = collapse(block.text);
    if (newest !== undefined) {
      if (text.startsWith('Newest commit') && !text.includes(newest))
        faults.push(shown('Not the newest commit', block));
      if (
        (/commits/i.test(block.group) || text.startsWith('Newest commit')) &&
        /\$\{?\w/.test(withoutCommands(text))
      )
        faults.push(shown('A variable instead of a subject', block));
      if (/no commit (?:by|was|made)/i.test(text)) faults.push(shown('There is a commit', block));
    }
    const told = /\bbranch `?([\w./-]*\w)/.exec(text)?.[1];
    const isOfGit = /^Working directory|^Branch|^On branch/.test(text);
    if (branch !== undefined && isOfGit && told !== undefined && told !== branch)
      faults.push(shown('Another branch', block));
  }
  for (const subject of subjects) {
    const rows = blocks.filter(({ group, text }) => /commits/i.test(group) && holds(text, subject));
    if (rows.length > 1) faults.push(`One commit shown ${rows.length} times: ${subject}`);
  }
  return faults;
}

function fileFaults(blocks: readonly Block[], { changed = [] }: StoryKey): readonly string[] {
  if (changed.length === 0) return [];
  const files = blocks.filter(({ section }) => /files/i.test(section));
  const whole = blocks.map(({ text }) => text).join('\n');
  return [
    ...emptySection(blocks, /files/i, 'Files changed, and the section of files is empty'),
    ...changed.flatMap((path) => {
      if (!whole.includes(path)) return [`No word about a changed file: ${path}`];
      const name = path.slice(path.lastIndexOf('/') + 1);
      const spelled = new Set(
        files.flatMap(({ text }) => {
          const first = /^- (\S+)/.exec(text)?.[1]?.replace(/[,:]$/, '') ?? '';
          return first === path || (isSameFile(first, path) && first.endsWith(name)) ? [first] : [];
        }),
      );
      return spelled.size > 1 ? [`One file in ${spelled.size} spellings: ${[...spelled].join(', ')}`] : [];
    }),
  ];
}

/** Whether a spelling can mean the file: it ends in the path, or the path ends in it. */
function isSameFile(spelling: string, path: string): boolean {
  const bare = spelling.replace(/^(?:\.{1,2}\/)+/, '');
  return bare.endsWith(`/${path}`) || path.endsWith(`/${bare}`) || bare === path;
}

/**
 * Whether the newer value stands where a reader of the older one finds it: in the same section. The list of all messages is
 * in order, so that anywhere else will do for it.
 */
function isCorrectedNear(blocks: readonly Block[], at: number, by: string): boolean {
  const section = blocks[at]?.section ?? '';
  return blocks.some(
    (block) => (block.section === section || /messages/i.test(section)) && holds(block.text, by),
  );
}

function shown(why: string, { text }: Block): string {
  const line = collapse(text);
  return `${why}: ${line.length > 160 ? `${line.slice(0, 160)}…` : line}`;
}
