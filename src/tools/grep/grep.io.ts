// The tool `grep`: finds lines by a pattern, with ripgrep if installed, otherwise with the same result.

import { basename, dirname, join, relative } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { setImmediate } from 'node:timers/promises';
import { createContext, Script } from 'node:vm';
import * as z from 'zod';
import { readSmallFile } from '../../system/planted.io.ts';
import type { CancelSignal } from '../../ports.ts';
import { runProcess } from '../../system/processes.io.ts';
import type { ToolResult } from '../../protocol/tool.ts';
import { locate } from '../../system/workspace.io.ts';
import { capText, pathLine } from '../cap.ts';
import { pathMatcher } from '../files/glob-pattern.ts';
import type { PathMatcher } from '../files/glob-pattern.ts';
import { findSilence, isIgnored, isSilent, listFiles, MAX_FILES } from '../files/listing.io.ts';
import { defineTool, done, failed } from '../tool.ts';
import type { Tool } from '../tool.ts';
import type { ToolWorld } from '../world.ts';
import { compilePattern } from './built-in.ts';
import { showLines, withContext } from './matches.ts';
import type { FoundLine } from './matches.ts';

/** Default number of matches in one result. @source docs/decisions/tools.md */
const DEFAULT_MATCHES = 200;
const MAX_MATCHES = 2000;

/** Larger files are not searched, in bytes; sources are smaller. @source docs/decisions/tools.md */
const LARGEST_SEARCHED = 10 * 1024 * 1024;

const TIMEOUT_MS = 60_000;

/** A search that takes longer makes sure that git answers here, in milliseconds: ten times what 50,000 files take. @source docs/decisions/tools.md */
const DOUBT_MS = 3000;

/** Text that the built-in search looks at in one go, in characters, and the milliseconds that this may take. */
const BATCH_CHARACTERS = 1_000_000;
const BATCH_MS = 2000;

const ARGUMENTS = {
  pattern: z.string().min(1).max(1000).describe('A regular expression, matched line by line.'),
  path: z.string().default('.').describe('The directory or file to search.'),
  include: z
    .string()
    .min(1)
    .max(1000)
    .optional()
    .describe('Only files that match this pattern, e.g. *.ts or src/**/*.ts'),
  ignore_case: z.boolean().default(false),
  literal: z.boolean().default(false).describe('The pattern is plain text.'),
  files_only: z.boolean().default(false).describe('Return only the paths of files with a match.'),
  context: z.int().min(0).max(10).default(0).describe('Lines to show around each match.'),
  limit: z.int().min(1).max(MAX_MATCHES).default(DEFAULT_MATCHES).describe('Maximum number of matches.'),
};

interface GrepInput {
  readonly pattern: string;
  readonly path: string;
  readonly include?: string | undefined;
  readonly ignore_case: boolean;
  readonly literal: boolean;
  readonly files_only: boolean;
  readonly context: number;
  readonly limit: number;
}

/** Searches the contents of files. */
export function createGrepTool(world: ToolWorld): Tool<GrepInput> {
  return defineTool({
    name: 'grep',
    kind: 'read',
    description:
      'Searches files for a regular expression and shows path:line:text. Omits binary files, files over 10 MB, and files that git ignores, the last ones unless path is inside an ignored directory.',
    arguments: ARGUMENTS,
    run: (input, _context, signal) => grep(input, world, signal),
  });
}

/** The parameters of a search. */
interface GrepSearch {
  readonly input: GrepInput;
  readonly world: ToolWorld;
  readonly signal: CancelSignal;
  /** Absolute. */
  readonly place: string;
  readonly isFile: boolean;
  readonly includes: PathMatcher;
}

interface GrepMatches {
  readonly lines: readonly FoundLine[];
  /** Notes about the result, one sentence each. */
  readonly notes: readonly string[];
}

async function grep(input: GrepInput, world: ToolWorld, signal: CancelSignal): Promise<ToolResult> {
  const includes = input.include === undefined ? () => true : pathMatcher(input.include);
  if (includes === undefined) return failed('include has too many alternatives in braces.');
  const place = await locate(input.path, world.root);
  if (place.kind === 'free') return failed(`${input.path} does not exist.`);
  if (place.kind === 'refused') return failed(`${input.path} is ${place.why}.`);
  const search = { input, world, signal, place: place.path, isFile: place.kind === 'file', includes };
  const found = await (world.ripgrep === undefined
    ? searchBuiltIn(search)
    : searchRipgrep(search, world.ripgrep));
  if (typeof found === 'string') return failed(`The pattern cannot be used: ${found}`);
  return done(render(input, found));
}

function render(input: GrepInput, { lines, notes }: GrepMatches): string {
  const matches = lines.filter(({ isMatch }) => isMatch);
  const files = [...new Set(matches.map(({ path }) => path))];
  const suffix = notes.map((note) => `[${note}]`);
  if (matches.length === 0) return ['No match.', ...suffix].join('\n');
  const body = input.files_only ? files.map(pathLine) : showLines(lines, input.context > 0);
  return capText([...body, ...suffix].join('\n'), 'Narrow the pattern, include or path.');
}

/** Counts matches across all files, up to the limit. */
class Limit {
  readonly lines: FoundLine[] = [];
  readonly #input: GrepInput;
  readonly #files = new Set<string>();
  #matches = 0;
  isReached = false;

  constructor(input: GrepInput) {
    this.#input = input;
  }

  /** Adds the lines of one file. */
  add(found: readonly FoundLine[]): void {
    for (const line of found) {
      if (line.isMatch && !this.#mayTake(line)) {
        this.isReached = true;
        return;
      }
      this.lines.push(line);
    }
  }

  #mayTake({ path }: FoundLine): boolean {
    if (!this.#input.files_only) return ++this.#matches <= this.#input.limit;
    this.#files.add(path);
    return this.#files.size <= this.#input.limit;
  }

  note(): readonly string[] {
    if (!this.isReached) return [];
    const what = this.#input.files_only ? 'files' : 'matches';
    return [`The first ${this.#input.limit} ${what}; there are more. Narrow the pattern, include or path.`];
  }
}

async function searchRipgrep(search: GrepSearch, ripgrep: string): Promise<GrepMatches | string> {
  const { input, world, signal, place, isFile } = search;
  const limit = new Limit(input);
  const reader = new RipgrepReader(search, limit);
  const stop = new AbortController();
  const interrupt = (): void => stop.abort();
  signal.addEventListener('abort', interrupt);
  if (signal.aborted) stop.abort();
  const ignoresNothing =
    isFile || !world.isRepository || isSilent(world) || (await isIgnored(place, world, signal));
  // Ripgrep reads the files that git reads, and waits for the same named pipes; git's deadline is shorter.
  const doubt = ignoresNothing
    ? undefined
    : setTimeout(() => {
        void findSilence(world, stop.signal).then((silent) => {
          if (silent) stop.abort();
        });
      }, DOUBT_MS);
  const decoder = new StringDecoder('utf8');
  let errors = '';
  const command = [
    ripgrep,
    '--json',
    '--no-config',
    '--hidden',
    '--sort',
    'path',
    '--no-ignore-dot',
    '--no-messages',
    '--crlf',
    '--glob',
    '!.git',
    '--max-filesize',
    String(LARGEST_SEARCHED),
    '--context',
    String(input.context),
    ...(input.ignore_case ? ['--ignore-case'] : ['--case-sensitive']),
    ...(input.literal ? ['--fixed-strings'] : []),
    ...(ignoresNothing ? ['--no-ignore'] : []),
    '--regexp',
    input.pattern,
    '--',
    place,
  ];
  const end = await runProcess(
    { command, cwd: world.root, env: world.programEnv, timeoutMs: TIMEOUT_MS, graceMs: 0, leftovers: 'kill' },
    (chunk, stream) => {
      if (stream === 'stderr') errors = (errors + chunk.toString('utf8')).slice(0, 2000);
      else if (!limit.isReached) reader.add(decoder.write(chunk));
      if (limit.isReached) stop.abort();
    },
    stop.signal,
  );
  clearTimeout(doubt);
  signal.removeEventListener('abort', interrupt);
  if (end.type === 'not_started') return searchBuiltIn(search);
  if (end.type === 'interrupted' && !ignoresNothing && isSilent(world) && !signal.aborted && !limit.isReached)
    return searchRipgrep(search, ripgrep);
  // Status 2 is also that of a search in which one directory could not be read.
  if (end.type === 'exited' && end.status === 2 && errors.includes('regex parse error')) return errors.trim();
  const notes = [
    ...limit.note(),
    ...(world.isRepository && isSilent(world) ? [GIT_IS_SILENT] : []),
    ...(end.type === 'timed_out' ? [TIME_IS_UP] : []),
    ...interruptionOf(signal),
  ];
  return { lines: limit.lines, notes };
}

const GIT_IS_SILENT = 'Git does not answer here, so ignored files were searched, too.';

const TIME_IS_UP = 'The search took too long and was ended; there may be more. Narrow include or path.';

function interruptionOf(signal: CancelSignal): readonly string[] {
  return signal.aborted ? ['The user stopped the search; there may be more.'] : [];
}

/** Parses ripgrep's JSON lines. */
class RipgrepReader {
  readonly #search: GrepSearch;
  readonly #limit: Limit;
  #rest = '';
  #file: FoundLine[] = [];

  constructor(search: GrepSearch, limit: Limit) {
    this.#search = search;
    this.#limit = limit;
  }

  add(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.#event(JSON.parse(line) as RipgrepEvent);
  }

  #event({ type, data }: RipgrepEvent): void {
    if (type === 'begin') this.#file = [];
    else if (type === 'end') {
      // A zero byte further down makes the earlier matches binary as well.
      if (typeof data.binary_offset !== 'number') this.#limit.add(this.#file);
      this.#file = [];
    } else if (type === 'match' || type === 'context') {
      const { root } = this.#search.world;
      const path = relative(root, textOf(data.path));
      const own = this.#search.isFile ? path : relative(this.#search.place, textOf(data.path));
      if (!this.#search.includes(own) || data.line_number == null) return;
      const text = textOf(data.lines).replace(/\r?\n$/, '');
      this.#file.push({ path, line: data.line_number, text, isMatch: type === 'match' });
    }
  }
}

interface RipgrepText {
  readonly text?: string;
  /** Base64 of invalid UTF-8. */
  readonly bytes?: string;
}

/** @source ripgrep, `--json` */
interface RipgrepEvent {
  readonly type: string;
  readonly data: {
    readonly path?: RipgrepText;
    readonly lines?: RipgrepText;
    readonly line_number?: number | null;
    readonly binary_offset?: number | null;
  };
}

function textOf(value: RipgrepText | undefined): string {
  return value?.text ?? Buffer.from(value?.bytes ?? '', 'base64').toString('utf8');
}

async function searchBuiltIn(search: GrepSearch): Promise<GrepMatches | string> {
  const { input, world, signal, place, isFile, includes } = search;
  const pattern = compilePattern(input.pattern, { isLiteral: input.literal, ignoresCase: input.ignore_case });
  if (pattern.type === 'complaint') return pattern.text;
  const listing = isFile
    ? { paths: [relative(world.root, place)], isPartial: false }
    : await listFiles(place, world, signal);
  const prefix = isFile ? '' : relative(world.root, place);
  const limit = new Limit(input);
  const matcher = new LineMatcher(pattern);
  const notes: string[] = [];
  let batch: { readonly path: string; readonly lines: readonly string[] }[] = [];
  let characters = 0;
  const deadline = world.monotonicMs() + TIMEOUT_MS;
  const flush = async (): Promise<void> => {
    const found = matcher.find(batch.map(({ lines }) => lines));
    // Each batch may take nearly the whole time limit of a pattern, so handle a stop between batches.
    await setImmediate();
    for (const [index, { path, lines }] of batch.entries()) {
      limit.add(withContext(path, lines, found[index] ?? [], input.context));
      if (limit.isReached) break;
    }
    batch = [];
    characters = 0;
  };
  const sources = new Sources(world.root);
  try {
    for (const path of listing.paths) {
      if (signal.aborted || limit.isReached) break;
      if (!includes(prefix === '' ? path : path.slice(prefix.length + 1))) continue;
      if (world.monotonicMs() > deadline) {
        notes.push(TIME_IS_UP);
        break;
      }
      const text = await sources.read(path);
      if (text === undefined) continue;
      const lines = text.split('\n').map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line));
      if (lines.at(-1) === '') lines.pop();
      batch.push({ path, lines });
      characters += text.length;
      if (characters >= BATCH_CHARACTERS) await flush();
    }
    if (!limit.isReached && batch.length > 0) await flush();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
    return 'it takes too long on these files. Use a simpler one, or literal.';
  }
  if (listing.isPartial) notes.push(`Only the first ${MAX_FILES} files were searched; narrow the path.`);
  return { lines: limit.lines, notes: [...limit.note(), ...notes, ...interruptionOf(signal)] };
}

/** Files to read before other work gets its turn. */
const SLICE = 64;

/**
 * Reads the files of a listing synchronously: reading a file takes a few microseconds, waiting takes longer. Every directory is
 * resolved once, so that no link leads out of the workspace.
 */
class Sources {
  readonly #root: string;
  readonly #directories = new Map<string, string | undefined>();
  #count = 0;

  constructor(root: string) {
    this.#root = root;
  }

  /** The text of a file; undefined if it is binary, too large, gone or outside. */
  async read(path: string): Promise<string | undefined> {
    if (++this.#count % SLICE === 0) await setImmediate();
    const directory = await this.#located(dirname(path));
    return directory === undefined ? undefined : readText(join(directory, basename(path)));
  }

  async #located(directory: string): Promise<string | undefined> {
    if (!this.#directories.has(directory)) {
      const place = await locate(directory, this.#root);
      this.#directories.set(directory, place.kind === 'directory' ? place.path : undefined);
    }
    return this.#directories.get(directory);
  }
}

function readText(path: string): string | undefined {
  const read = readSmallFile(path, { maxBytes: LARGEST_SEARCHED, links: 'refuse' });
  if (read.kind !== 'bytes' || read.bytes.length === 0 || read.bytes.includes(0)) return undefined;
  return read.bytes.toString('utf8');
}

/** Matches a model's regular expression against lines, and gives up on one that takes too long. */
class LineMatcher {
  readonly #context: { files: readonly (readonly string[])[]; source: string; flags: string };
  static readonly #script = new Script(`
    (() => {
      const pattern = new RegExp(source, flags);
      return files.map((lines) => {
        const found = [];
        for (let at = 0; at < lines.length; at++) if (pattern.test(lines[at])) found.push(at);
        return found;
      });
    })()`);

  constructor({ source, flags }: { readonly source: string; readonly flags: string }) {
    this.#context = { files: [], source, flags };
    createContext(this.#context);
  }

  /** The matching line numbers of each file, counted from 0. @throws ERR_SCRIPT_EXECUTION_TIMEOUT */
  find(files: readonly (readonly string[])[]): readonly (readonly number[])[] {
    this.#context.files = files;
    return LineMatcher.#script.runInContext(this.#context, { timeout: BATCH_MS }) as number[][];
  }
}
