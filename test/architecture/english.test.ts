// What people read is plain English: turns of phrase that were weeded out stay out.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseSync } from 'oxc-parser';
import { ROOT } from '../../scripts/generate.ts';

interface Turn {
  /** A regular expression in which a space matches a line break, too. */
  readonly turn: string;
  /** What to write instead. */
  readonly better: string;
}

/** Only turns that are practically never right; AGENTS.md asks for more than this list can hold. */
const TURNS: readonly Turn[] = [
  {
    turn: '(?<!\\bthere )(?:is|are|was|were) no (?!longer|more|less|fewer|one|other|different|better|worse|doubt|need|use|such|way|larger|smaller|later|older|newer|earlier|slower|faster|higher|lower)[a-z]+',
    better: '“is not a …”',
  },
  { turn: '(?:tells?|told|telling) of', better: '“report”, “mention”, “list”' },
  {
    turn: '(?:is|are|was|were|be|been) told (?:as|in|by|with|at|on|once|twice|beside|below|behind|too)',
    better: '“is reported”, “is shown”',
  },
  { turn: 'in the place of', better: '“instead of”, “replaces”' },
  { turn: '(?:takes?|took|taken|taking) the place of', better: '“replace”' },
  { turn: 'go(?:es|ne|ing)? on with', better: '“resume”, “continue”' },
  { turn: 'whoever', better: '“anyone who”, or name the reader' },
  { turn: 'for which it (?:is|was)', better: 'name what it is for' },
  { turn: 'that there (?:is|are|was|were) not', better: '“unknown”, “missing”' },
  { turn: 'what (?:is|was|were) asked for', better: '“the request”' },
  { turn: '(?:what|nothing) (?:came|comes|has come) of', better: '“the outcome of”, “without a result”' },
  { turn: 'held against', better: '“compared with”' },
  { turn: 'a yes', better: '“approval”, “consent”' },
  { turn: '(?:turn|turns|turned|turning) (?:it |them |this |all )?down', better: '“deny”, “reject”' },
  {
    turn: '(?<!\\b(?:a|one|first|second|the) )pass(?:es|ed|ing)? over(?! the (?:wire|network))',
    better: '“skip”',
  },
  { turn: 'taken back', better: '“undone”, “withdrawn”' },
  { turn: 'anew', better: '“again”' },
  { turn: 'what stands', better: '“what is”, “the text”' },
  { turn: '(?:can|could) be had', better: '“is available”' },
  { turn: 'how it (?:stands|stood|came)', better: '“its state”, “why”' },
  { turn: "(?:sessions?|threads?|folders?|files?) of Baton's(?! own)", better: '“a Baton session”' },
];

const DOCUMENTS: readonly string[] = [
  'README.md',
  'AGENTS.md',
  'ARCHITECTURE.md',
  'CHANGELOG.md',
  ...['docs', 'prompts', 'examples'].flatMap(filesIn).filter((path) => /\.(?:md|ts)$/.test(path)),
];
const SOURCES: readonly string[] = filesIn('src').filter(
  (path) => path.endsWith('.ts') && !path.endsWith('.test.ts') && path !== 'src/prompts/shipped.ts',
);

/** Rooms of src that are still to be rewritten: they quote what agents and summaries say. Strike out a room that is clean. */
const ROOMS_TO_REWRITE: ReadonlySet<string> = new Set(['summary', 'trail']);

interface Passage {
  readonly text: string;
  /** Where the text begins in its file, in UTF-16 units. */
  readonly at: number;
}

function filesIn(folder: string): readonly string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length).replace(/^\//, ''));
}

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

/** The first segment of a path in src: `watcher` of `src/watcher/tiers.ts`, `errors.ts` of `src/errors.ts`. */
function roomOf(path: string): string {
  return path.split('/')[1] ?? '';
}

/** What a file says to people: the literals and templates of its code, and its comments. */
function passagesOf(path: string): {
  readonly strings: readonly Passage[];
  readonly comments: readonly Passage[];
} {
  const { program, comments } = parseSync(path, read(path));
  const strings: Passage[] = [];
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    if ('type' in value && 'start' in value) {
      const node = value as { readonly type: string; readonly start: number; readonly value?: unknown };
      if (node.type === 'Literal' && typeof node.value === 'string') {
        strings.push({ text: node.value, at: node.start + 1 });
      } else if (node.type === 'TemplateElement') {
        const { raw } = node.value as { readonly raw: string };
        strings.push({ text: raw, at: node.start });
      }
    }
    for (const child of Object.values(value)) visit(child);
  };
  visit(program);
  return { strings, comments: comments.map(({ value, start }) => ({ text: value, at: start + 2 })) };
}

/** The old turns in some passages, as `file:line: turn; better: …`. */
function oldTurns(path: string, passages: readonly Passage[]): readonly string[] {
  const whole = read(path);
  return passages.flatMap(({ text, at }) =>
    TURNS.flatMap(({ turn, better }) => {
      const pattern = new RegExp(`(?<![\\w-])(?:${turn.replaceAll(' ', '[\\s*/]+')})(?![\\w-])`, 'gi');
      return [...text.matchAll(pattern)].map((match) => {
        const line = whole.slice(0, at + match.index).split('\n').length;
        return `${path}:${line}: “${match[0].replaceAll(/[\s*/]+/g, ' ')}”; better: ${better}`;
      });
    }),
  );
}

function assertNone(found: readonly string[]): void {
  assert.equal(found.length, 0, `\n${found.join('\n')}\n`);
}

test('documents use none of the old turns of phrase', () => {
  assert.ok(DOCUMENTS.length > 50, `${DOCUMENTS.length} documents`);
  assertNone(DOCUMENTS.flatMap((path) => oldTurns(path, [{ text: read(path), at: 0 }])));
});

test('texts and comments in the code use none of the old turns of phrase', (t) => {
  assert.ok(SOURCES.length > 400, `${SOURCES.length} files`);
  const found: string[] = [];
  const left = new Map<string, number>();
  for (const path of SOURCES) {
    const { strings, comments } = passagesOf(path);
    const turns = [...oldTurns(path, strings), ...oldTurns(path, comments)];
    const room = roomOf(path);
    if (!ROOMS_TO_REWRITE.has(room)) found.push(...turns);
    else left.set(room, (left.get(room) ?? 0) + turns.length);
  }
  t.diagnostic(`still to rewrite: ${[...left].map(([what, count]) => `${what} ${count}`).join(', ')}`);
  assertNone(found);
});

test('the list finds each turn of a sentence, across lines too', () => {
  const text = 'It is no model, is put in the\n * place of it, and there is no way back.';
  const found = TURNS.flatMap(({ turn }) =>
    [...text.matchAll(new RegExp(turn.replaceAll(' ', '[\\s*/]+'), 'gi'))].map((match) => match[0]),
  );
  assert.deepEqual(found, ['is no model', 'in the\n * place of']);
});
