// Checks every regular expression of `src` for superlinear time: a gate of `npm test`. Why, and how to cure what it finds:
// docs/decisions/patterns.md. `--write` judges all that the list lacks and rewrites it; stopped, it continues where it was.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { build } from 'esbuild';
import { parseSync } from 'oxc-parser';

// The pure backend needs neither Java nor a binary for the platform, and behaves alike everywhere.
process.env.RECHECK_BACKEND = 'pure';
process.env.RECHECK_SYNC_BACKEND = 'pure';
const { checkSync } = await import('recheck');

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const LIST = join(root, 'scripts', 'patterns.json');

/** Proves that a pattern is linear, or finds the text that shows that it is not; some take it too long or are beyond it. */
const PROOF = { checker: 'automaton', timeout: 1_500 };

/**
 * Attacks what cannot be proved, with a fixed seed. The limits end an attack long before the time does on an idle machine; the
 * time is there so that no pattern stalls the tests.
 */
const ATTACK = {
  checker: 'fuzz',
  randomSeed: 0,
  timeout: 60_000,
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

/** What the verdicts of the list go by: with other settings, all are judged again. */
const SETTINGS = createHash('sha256')
  .update(JSON.stringify([PROOF, ATTACK, version('recheck')]))
  .digest('hex')
  .slice(0, 16);

/** Milliseconds that one run of the gate may spend on patterns that the list lacks. */
const MOST_MS = 60_000;

/** Characters of a pattern that a complaint shows. */
const MOST_SHOWN = 300;

function version(name) {
  return JSON.parse(readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8')).version;
}

/** @returns undefined for a linear pattern, else why it is none, as a sentence goes on behind it. */
function judge({ source, flags }, mostMs) {
  const began = Date.now();
  const proof = checkSync(source, flags, { ...PROOF, timeout: Math.min(PROOF.timeout, mostMs) });
  if (proof.status === 'safe') return undefined;
  const rest = mostMs - (Date.now() - began);
  const verdict =
    proof.status === 'vulnerable' || rest <= 0
      ? proof
      : checkSync(source, flags, { ...ATTACK, timeout: Math.min(ATTACK.timeout, rest) });
  if (verdict.status === 'safe') return undefined;
  return verdict.status === 'vulnerable'
    ? `takes ${verdict.complexity.summary} time on ${verdict.attack.pattern.slice(0, 300)}.\n    Let neighbouring parts match different characters, begin a run with (?<!x), or write a loop: docs/decisions/patterns.md.`
    : `cannot be judged (${verdict.error?.kind}). Split it into simpler patterns.`;
}

function sourceFiles(directory) {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) return sourceFiles(path);
    return entry.name.endsWith('.ts') && !entry.name.endsWith('.test.ts') ? [path] : [];
  });
}

/** Functions with a name are called whenever; what an arrow in a list of the file makes is made while it loads. */
const FUNCTIONS = new Set(['FunctionDeclaration', 'FunctionExpression']);

function visit(node, see, isInFunction = false) {
  if (Array.isArray(node)) for (const one of node) visit(one, see, isInFunction);
  else if (node !== null && typeof node === 'object') {
    see(node, isInFunction);
    const isInside = isInFunction || FUNCTIONS.has(node.type);
    for (const key of Object.keys(node)) visit(node[key], see, isInside);
  }
}

/** Methods that compile a text that they are given. */
const COMPILERS = new Set(['match', 'matchAll', 'search']);

/** The patterns that stand in the sources, the places where one is built while the program runs, and texts that are compiled. */
function patternsOf(files) {
  const literals = [];
  const built = [];
  const hidden = [];
  for (const path of files) {
    const text = readFileSync(path, 'utf8');
    const file = relative(root, path).replaceAll('\\', '/');
    const place = (node) => `${file}:${text.slice(0, node.start).split('\n').length}`;
    visit(parseSync(path, text).program, (node, isInFunction) => {
      if (node.type === 'Literal' && node.regex != null) {
        literals.push({ at: place(node), source: node.regex.pattern, flags: node.regex.flags });
      } else if (node.type === 'Identifier' && node.name === 'RegExp') {
        // The name of the type needs no entry: a reference to a type is no node of its own in an expression.
        built.push({ at: place(node), file, path, start: node.start, isInFunction });
      } else if (
        node.type === 'CallExpression' &&
        COMPILERS.has(node.callee.property?.name) &&
        (node.arguments[0]?.type === 'TemplateLiteral' || typeof node.arguments[0]?.value === 'string')
      ) {
        hidden.push(place(node));
      } else if (node.type === 'TSTypeReference' && node.typeName.name === 'RegExp') {
        node.typeName.name = '';
      }
    });
  }
  return { literals, built, hidden };
}

/** Calls by which the places that build patterns in functions do so, with what the program itself gives them. */
const EXAMPLES = `
  import { compilePattern } from '../src/tools/grep/built-in.ts';
  import { PhraseReader } from '../src/watcher/signals/phrases.ts';
  import { SignalDetector } from '../src/watcher/signals/signals.ts';
  globalThis.callsExamples = true;
  new PhraseReader();
  new SignalDetector();
  compilePattern('a', { isLiteral: false, ignoresCase: false });
`;

/**
 * What is built where a pattern is built: the files are loaded, the examples called, and each `RegExp` in them keeps a record.
 */
async function patternsBuilt(places) {
  const recorded = [];
  globalThis.recordedRegExp = new Proxy(
    {},
    {
      get: (_, at) => {
        const record = (make) => (_target, parts) => {
          const pattern = make(parts);
          const isAtLoad = globalThis.callsExamples !== true;
          recorded.push({ at, isAtLoad, source: pattern.source, flags: pattern.flags });
          return pattern;
        };
        const make = record((parts) => new RegExp(...parts));
        return new Proxy(RegExp, { construct: make, apply: (target, _this, parts) => make(target, parts) });
      },
    },
  );
  const files = [...new Set(places.map(({ path }) => path))];
  const folder = join(root, 'node_modules', '.cache');
  const bundle = join(folder, `baton-patterns-${process.pid}.mjs`);
  mkdirSync(folder, { recursive: true });
  try {
    await build({
      stdin: {
        contents: `${files.map((path) => `import ${JSON.stringify(path)};`).join('\n')}${EXAMPLES}`,
        resolveDir: join(root, 'scripts'),
      },
      bundle: true,
      outfile: bundle,
      format: 'esm',
      platform: 'node',
      packages: 'external',
      // The package declares its files free of effects; here the patterns that they build while loading are what counts.
      ignoreAnnotations: true,
      treeShaking: false,
      logLevel: 'error',
      plugins: [{ name: 'record', setup: (hooks) => recordIn(hooks, places) }],
    });
    await import(pathToFileURL(bundle));
  } finally {
    rmSync(bundle, { force: true });
  }
  return recorded;
}

function recordIn(hooks, places) {
  hooks.onLoad({ filter: /\.ts$/ }, ({ path }) => {
    let contents = readFileSync(path, 'utf8');
    for (const place of places.filter((one) => one.path === path).toSorted((a, b) => b.start - a.start)) {
      const name = `recordedRegExp[${JSON.stringify(place.at)}]`;
      contents = contents.slice(0, place.start) + name + contents.slice(place.start + 'RegExp'.length);
    }
    return { contents, loader: 'ts' };
  });
}

function keyOf({ source, flags }) {
  return createHash('sha256').update(`/${source}/${flags}`).digest('hex').slice(0, 16);
}

function complaintAbout({ at, source, flags }, why) {
  const shown = source.length > MOST_SHOWN ? `${source.slice(0, MOST_SHOWN)}…` : source;
  return `${at}: /${shown}/${flags} ${why}`;
}

function save(list, linear) {
  writeFileSync(
    LIST,
    `${JSON.stringify({ ...list, settings: SETTINGS, linear: [...linear].toSorted() }, null, 2)}\n`,
  );
}

/** Judges in as many threads as there are processors, and saves now and then. @returns the complaints */
async function judgeAll(list, patterns, linear) {
  const complaints = [];
  const open = [...patterns];
  let judged = 0;
  const serve = () =>
    new Promise((resolve, reject) => {
      const worker = new Worker(fileURLToPath(import.meta.url));
      let current;
      const next = () => {
        current = open.shift();
        if (current === undefined) return worker.terminate().then(resolve, reject);
        worker.postMessage({ source: current.source, flags: current.flags });
      };
      worker.on('error', reject);
      worker.on('message', (why) => {
        if (why === null) linear.add(keyOf(current));
        else complaints.push(complaintAbout(current, why));
        if (++judged % 20 === 0) {
          save(list, linear);
          console.log(`${judged} of ${patterns.length} judged`);
        }
        next();
      });
      next();
    });
  await Promise.all(Array.from({ length: availableParallelism() }, serve));
  save(list, linear);
  return complaints;
}

/** Judges here until the time is up. @returns the complaints */
function judgeSome(patterns, linear) {
  const complaints = [];
  const end = Date.now() + MOST_MS;
  for (const [index, pattern] of patterns.entries()) {
    const rest = end - Date.now();
    if (rest <= 0) {
      complaints.push(
        `${pattern.at}: ${patterns.length - index} patterns are not judged yet, this one is the first: node scripts/patterns.mjs --write`,
      );
      break;
    }
    const why = judge(pattern, rest);
    if (why === undefined) linear.add(keyOf(pattern));
    else complaints.push(complaintAbout(pattern, why));
  }
  return complaints;
}

async function main() {
  const { literals, built, hidden } = patternsOf(sourceFiles(join(root, 'src')));
  const recorded = await patternsBuilt(built);
  const list = JSON.parse(readFileSync(LIST, 'utf8'));
  const writes = process.argv.includes('--write');
  const complaints = hidden.map((at) => `${at}: compiles a text. Write a literal.`);
  if (list.settings !== SETTINGS && !writes)
    complaints.push(
      'scripts/patterns.json was judged with other settings: node scripts/patterns.mjs --write',
    );

  const patterns = new Map([...literals, ...recorded].map((pattern) => [keyOf(pattern), pattern]));
  const listed = list.settings === SETTINGS ? list.linear.filter((key) => patterns.has(key)) : [];
  const linear = new Set(listed);
  const open = [...patterns].filter(([key]) => !linear.has(key)).map(([, pattern]) => pattern);

  const silent = built.filter(({ at }) => !recorded.some((one) => one.at === at));
  for (const { at } of silent)
    complaints.push(`${at}: builds a pattern that nothing builds here. Add a call to EXAMPLES of the gate.`);
  const loaded = new Set(recorded.filter(({ isAtLoad }) => isAtLoad).map(({ at }) => at));
  const inFunctions = built.filter(({ at, isInFunction }) => isInFunction || !loaded.has(at));
  const files = new Set(inFunctions.map(({ file }) => file));
  for (const file of Object.keys(list.foreign))
    if (!files.has(file))
      complaints.push(`scripts/patterns.json: ${file} builds no pattern in a function. Remove it.`);
  for (const { at, file } of inFunctions)
    if (list.foreign[file] === undefined)
      complaints.push(
        `${at}: builds a pattern of what it is given. Write a literal, or list the file in scripts/patterns.json with the reason.`,
      );

  complaints.push(...(writes ? await judgeAll(list, open, linear) : judgeSome(open, linear)));
  if (!writes && complaints.length === 0 && open.length > 0)
    console.log(`${open.length} new patterns are linear; --write lists them, and the next run is faster`);
  for (const complaint of complaints) console.error(complaint);
  if (complaints.length > 0) process.exitCode = 1;
}

if (isMainThread) await main();
else
  parentPort.on('message', (pattern) =>
    parentPort.postMessage(judge(pattern, PROOF.timeout + ATTACK.timeout) ?? null),
  );
