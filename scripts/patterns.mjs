// Checks every regular expression of `src` for superlinear time: a gate of `npm test`. Why, and how to cure what it finds:
// docs/decisions/patterns.md. `--write` checks all patterns again and rewrites the list of those that were found linear.
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync } from 'oxc-parser';

// The pure backend needs neither Java nor a binary for the platform, and behaves alike everywhere.
process.env.RECHECK_BACKEND = 'pure';
const { checkSync } = await import('recheck');

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const LIST = join(root, 'scripts', 'patterns.json');

/** Fixed limits and a fixed seed: the same pattern gets the same verdict everywhere. Without a clock, only the limits end a check. */
const FUZZING = {
  checker: 'fuzz',
  randomSeed: 0,
  timeout: null,
  attackTimeout: null,
  incubationTimeout: null,
  recallTimeout: -1,
  attackLimit: 2_000_000,
  maxAttackStringSize: 4_000,
  incubationLimit: 8_000,
  maxInitialGenerationSize: 100,
  maxGenerationSize: 40,
  maxIteration: 3,
  maxGeneStringSize: 1_000,
};

function sourceFiles(directory) {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) return sourceFiles(path);
    return entry.name.endsWith('.ts') && !entry.name.endsWith('.test.ts') ? [path] : [];
  });
}

function visit(node, see) {
  if (Array.isArray(node)) for (const one of node) visit(one, see);
  else if (node !== null && typeof node === 'object') {
    see(node);
    for (const key of Object.keys(node)) visit(node[key], see);
  }
}

/** Methods that compile a text that they are given. */
const COMPILERS = new Set(['match', 'matchAll', 'search']);

/** The patterns that stand in the sources, and the places where a pattern is built while the program runs. */
function patternsOf(files) {
  const literals = [];
  const built = [];
  for (const path of files) {
    const text = readFileSync(path, 'utf8');
    const file = relative(root, path).replaceAll('\\', '/');
    const place = (node) => `${file}:${text.slice(0, node.start).split('\n').length}`;
    visit(parseSync(path, text).program, (node) => {
      if (node.type === 'Literal' && node.regex != null) {
        literals.push({ at: place(node), source: node.regex.pattern, flags: node.regex.flags });
      } else if (node.type === 'Identifier' && node.name === 'RegExp') {
        // The name of the type needs no entry: a reference to a type is no node of its own in an expression.
        built.push({ at: place(node), file, isType: false, node });
      } else if (
        node.type === 'CallExpression' &&
        COMPILERS.has(node.callee.property?.name) &&
        (node.arguments[0]?.type === 'TemplateLiteral' || typeof node.arguments[0]?.value === 'string')
      ) {
        built.push({ at: place(node), file });
      } else if (node.type === 'TSTypeReference' && node.typeName.name === 'RegExp') {
        node.typeName.name = '';
      }
    });
  }
  return { literals, built };
}

function keyOf({ source, flags }) {
  return createHash('sha256').update(`/${source}/${flags}`).digest('hex').slice(0, 16);
}

const { literals, built } = patternsOf(sourceFiles(join(root, 'src')));
const list = JSON.parse(readFileSync(LIST, 'utf8'));
const writes = process.argv.includes('--write');
const known = new Set(writes ? [] : list.linear);
const complaints = [];

const keys = new Set();
for (const pattern of literals) {
  const key = keyOf(pattern);
  if (keys.has(key)) continue;
  keys.add(key);
  const shown = `/${pattern.source}/${pattern.flags}`;
  const exception = list.exceptions.find(({ pattern: one }) => one === shown);
  if (exception !== undefined || known.has(key)) continue;
  const { status, complexity, attack, error } = checkSync(pattern.source, pattern.flags, FUZZING);
  if (status === 'safe') known.add(key);
  else if (status === 'vulnerable')
    complaints.push(
      `${pattern.at}: ${shown} takes ${complexity.summary} time on ${attack.pattern}.\n    Let neighbouring parts match different characters, begin a run with (?<!x), or write a loop: docs/decisions/patterns.md.`,
    );
  else
    complaints.push(
      `${pattern.at}: ${shown} cannot be judged (${error?.kind}). Split it into simpler patterns.`,
    );
}

const counts = new Map();
for (const { file } of built) counts.set(file, (counts.get(file) ?? 0) + 1);
for (const [file, count] of counts) {
  const entry = list.built.find((one) => one.file === file);
  if (entry?.count !== count)
    complaints.push(
      `${file}: builds ${count} patterns, scripts/patterns.json lists ${entry?.count ?? 0}. Write literals, or list the file with its reason.`,
    );
}
const shownPatterns = new Set(literals.map(({ source, flags }) => `/${source}/${flags}`));
for (const { pattern } of list.exceptions)
  if (!shownPatterns.has(pattern))
    complaints.push(`scripts/patterns.json: ${pattern} is in no source. Remove it.`);
for (const { file } of list.built)
  if (!counts.has(file)) complaints.push(`scripts/patterns.json: ${file} builds no pattern. Remove it.`);

if (writes) {
  list.linear = [...keys].filter((key) => known.has(key)).toSorted();
  writeFileSync(LIST, `${JSON.stringify(list, null, 2)}\n`);
} else if (complaints.length === 0) {
  const unlisted = [...keys].filter((key) => known.has(key) && !list.linear.includes(key)).length;
  if (unlisted > 0)
    console.log(`${unlisted} new patterns are linear; --write lists them, and the next run is faster`);
}
for (const complaint of complaints) console.error(complaint);
if (complaints.length > 0) process.exitCode = 1;
