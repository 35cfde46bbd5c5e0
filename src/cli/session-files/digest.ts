// A few facts about a session, from the beginning and the end of its file.

import type { Config } from '../../config/schema.ts';
import { BatonError } from '../../errors.ts';
import { readSmallFile } from '../../system/planted.io.ts';
import { loadSession } from '../../formats/session-file.io.ts';
import { headOf, tailOf } from '../../formats/source.io.ts';
import type { ByteSource } from '../../formats/source.io.ts';
import { AccountFold } from '../../history/account.ts';
import type { ContextAccount } from '../../history/context-account.ts';
import { authorOf, textOfParts } from '../../protocol/item.ts';
import type { Item } from '../../protocol/item.ts';
import type { LogRecord } from '../../protocol/record.ts';
import { SpendingFold } from '../../session/spending.ts';
import { redact } from '../../text/redact.ts';
import type { Format } from '../../vocabulary.ts';
import { projectRootFile } from './agents.io.ts';
import type { FoundSession } from './agents.io.ts';
import { CopyFold } from './copies.ts';
import { RequestsFold } from './requests.ts';
import type { CommandIo } from '../io.ts';
import { accountSettings, withSource } from '../../calls/session-source.ts';

/** What is known about a session without opening it completely. */
export interface SessionDigest {
  /** The user's first prompt that is not a command, as one line, known secrets replaced; undefined if not found. */
  readonly title?: string;
  readonly cwd?: string;
  readonly model?: string;
  /** Tokens in the context, as `inspect` counts them. */
  readonly used?: number;
  /** Percent of the usable window left. */
  readonly percentRemaining?: number;
  /** Effective full compactions in the part that was read. */
  readonly compactions?: number;
  /** The middle of the file was not read: there may be more compactions. */
  readonly isPartial?: boolean;
  /** Baton wrote the file from another session, and it has not been resumed since. */
  readonly isCopy?: boolean;
  /** Input and output tokens over all requests; undefined where the log has no usage, or was not read for it. */
  readonly tokens?: number;
  /** US dollars of the requests with a known price; undefined where none has one. */
  readonly dollars?: number;
  /** `dollars` excludes requests without a price. */
  readonly isPartlyPriced?: boolean;
  /** Why nothing else is known; reads after the name of the file. */
  readonly problem?: string;
}

/**
 * How many bytes to search for the first prompt, smallest first. Instructions and rules precede it.
 * @source docs/decisions/commands.md, "What `sessions` reads"
 */
const HEADS = [64 * 1024, 1024 * 1024] as const;

/**
 * How many bytes to search for the last report of usage, smallest first. @source docs/decisions/commands.md, "What `sessions`
 * reads"
 */
const TAILS = [128 * 1024, 1024 * 1024] as const;

/**
 * A file up to this size is read completely where its end does not contain the gauge. @source docs/decisions/commands.md, "What
 * `sessions` reads"
 */
const LARGEST_WHOLE = 32 * 1024 * 1024;

/** Maximum length of a title in characters: more than any terminal is wide. */
const LONGEST_TITLE = 1000;

/** The facts at the beginning of a session. */
export type SessionGlance = Pick<SessionDigest, 'title' | 'cwd' | 'model' | 'problem'>;

/**
 * Reads the beginning of a session. `problem` says why a file is unreadable.
 * @throws BatonError `interrupted`
 */
export async function glanceAt(io: CommandIo, session: FoundSession): Promise<SessionGlance> {
  return explained(session, () =>
    withSource(io, session.path, async (source) => {
      const { glance } = await readBeginning(io, source);
      if (glance !== undefined) return glance.facts;
      const whole = new GlanceFold();
      await loadSession(source, (record) => whole.add(record), { signal: io.signal });
      return whole.facts;
    }),
  );
}

/**
 * Reads the facts of a session. `problem` says why a file is unreadable.
 * @param extent `ends`: the beginning and the end of the file, or all of it where these are not enough
 * @throws BatonError `interrupted`
 */
export async function digestSession(
  io: CommandIo,
  config: Config,
  session: FoundSession,
  extent: 'ends' | 'whole',
): Promise<SessionDigest> {
  return explained(session, () =>
    withSource(io, session.path, async (source) => {
      const reading: DigestInput = { io, config, source, agent: session.agent };
      const isWhole = extent === 'whole' || source.size <= HEADS[0] + TAILS[0];
      return isWhole ? readWhole(reading) : readEnds(reading);
    }),
  );
}

async function explained(session: FoundSession, read: () => Promise<SessionDigest>): Promise<SessionDigest> {
  if (session.agent === 'opencode') return opencodeDigest(session);
  try {
    const digest = await read();
    const cwd = digest.cwd ?? projectRoot(session);
    return cwd === undefined ? digest : { ...digest, cwd };
  } catch (error) {
    if (!(error instanceof BatonError) || error.code === 'interrupted') throw error;
    return { problem: error.message.replace(`${session.path} `, '') };
  }
}

interface DigestInput {
  readonly io: CommandIo;
  readonly config: Config;
  readonly source: ByteSource;
  readonly agent: FoundSession['agent'];
}

async function readWhole({ io, config, source, agent }: DigestInput): Promise<SessionDigest> {
  // An undo needs the history before the compaction that it undoes.
  const account = new AccountFold(accountSettings(config));
  const glance = new GlanceFold();
  const copy = new CopyFold();
  const requests = new RequestsFold();
  const spending = new SpendingFold();
  const { format } = await loadSession(
    source,
    (record) => {
      for (const fold of [account, glance, copy, requests, spending]) fold.add(record);
    },
    { signal: io.signal },
  );
  const own = spending.spending.session;
  const spent = agent === 'baton' && own.requests > 0 ? own : requests.spent;
  return {
    ...glance.facts,
    ...factsOf(account.account()),
    isPartial: false,
    isCopy: agent !== 'baton' && copy.isCopyIn(format),
    // The numbers of a damaged file may exceed the safe range.
    ...(spent.requests === 0 || !Number.isSafeInteger(spent.tokens) ? {} : { tokens: spent.tokens }),
    ...(spent.requests === spent.unpriced ? {} : { dollars: spent.dollars }),
    isPartlyPriced: spent.unpriced > 0,
  };
}

interface Beginning {
  /** Undefined where a part of the file cannot be read on its own. */
  readonly glance: GlanceFold | undefined;
  /** Facts about the session and its settings. */
  readonly settings: readonly LogRecord[];
}

async function readBeginning(io: CommandIo, source: ByteSource): Promise<Beginning> {
  let beginning: Beginning = { glance: undefined, settings: [] };
  for (const bytes of HEADS) {
    const glance = new GlanceFold();
    const settings: LogRecord[] = [];
    const format = await readPart(io, headOf(source, bytes), (record) => {
      glance.add(record);
      if (record.type === 'session_meta' || record.type === 'settings') settings.push(record);
    });
    if (format !== undefined) beginning = { glance, settings };
    if (glance.facts.title !== undefined) break;
  }
  return beginning;
}

async function readEnds(reading: DigestInput): Promise<SessionDigest> {
  const { io, config, source, agent } = reading;
  const { glance, settings } = await readBeginning(io, source);
  const canReadWhole = source.size <= LARGEST_WHOLE;
  // The windows that providers report for Baton's own threads may be in the middle.
  if (canReadWhole && (glance === undefined || agent === 'baton')) return readWhole(reading);
  for (const bytes of TAILS) {
    const fold = new AccountFold(accountSettings(config));
    const copy = new CopyFold();
    let hasChanges = false;
    for (const record of settings) fold.add(record);
    const format = await readPart(io, tailOf(source, bytes), (record) => {
      fold.add(record);
      copy.add(record);
      hasChanges ||= CHANGES.has(record.type);
    });
    if (format === undefined) continue;
    const account = fold.account();
    const { used, percentRemaining, ...facts } = factsOf(account);
    const isGauge = account.usage.anchor === 'reported' && !hasChanges;
    if (!isGauge && canReadWhole) continue;
    return {
      ...glance?.facts,
      ...facts,
      ...(isGauge ? { used, percentRemaining } : {}),
      isPartial: true,
      isCopy: agent !== 'baton' && copy.isCopyIn(format),
    };
  }
  return canReadWhole ? readWhole(reading) : { ...glance?.facts, isPartial: true };
}

const CHANGES: ReadonlySet<LogRecord['type']> = new Set([
  'compacted',
  'micro_compacted',
  'undo_compaction',
  'undo_turn',
]);

/** @returns undefined where the part is not a valid session */
async function readPart(
  io: CommandIo,
  part: ByteSource,
  emit: (record: LogRecord) => void,
): Promise<Format | undefined> {
  try {
    return (await loadSession(part, emit, { signal: io.signal })).format;
  } catch (error) {
    if (error instanceof BatonError && PART_OF_NOTHING.has(error.code)) return undefined;
    throw error;
  }
}

const PART_OF_NOTHING: ReadonlySet<BatonError['code']> = new Set(['format_unknown', 'session_empty']);

function factsOf(account: ContextAccount) {
  const { usage, percentRemaining, cwd, model, compactions } = account;
  return {
    ...(cwd === undefined ? {} : { cwd }),
    ...(model === undefined ? {} : { model }),
    used: usage.used,
    percentRemaining,
    compactions: compactions.filter(({ kind, isUndone }) => kind === 'full' && !isUndone).length,
  };
}

/** Finds the user's first words and their directory. */
class GlanceFold {
  #facts: { title?: string; cwd?: string; model?: string } = {};
  /** The title is a command, which is less informative than a prompt. */
  #isCommand = false;

  get facts(): SessionGlance {
    return this.#facts;
  }

  add(record: LogRecord): void {
    switch (record.type) {
      case 'session_meta':
        return this.#take({ cwd: record.cwd });
      case 'settings':
        return this.#take({ cwd: record.cwd, model: record.model });
      case 'item':
        return this.#takePrompt([record.item]);
      case 'compacted':
        return this.#takePrompt(record.replacement);
    }
  }

  #take({ cwd, model }: { readonly cwd?: string | undefined; readonly model?: string | undefined }): void {
    if (cwd !== undefined) this.#facts.cwd = cwd;
    if (model !== undefined) this.#facts.model = model;
  }

  #takePrompt(items: readonly Item[]): void {
    for (const item of items) {
      if (this.#facts.title !== undefined && !this.#isCommand) return;
      const text = promptIn(item);
      if (text === undefined) continue;
      const isCommand = COMMAND.test(text);
      if (isCommand && this.#facts.title !== undefined) continue;
      this.#isCommand = isCommand;
      this.#facts.title = isCommand ? nameOfCommand(text) : text;
    }
  }
}

/** Commands to the agent itself (`/model`), as the terminal and Claude Code record them. */
const COMMAND = /^(?:\/\S*$|<command-(?:name|message|args)>)/;

function nameOfCommand(text: string): string {
  return /<command-name>([^<]*)<\/command-name>/.exec(text)?.[1] ?? text;
}

/** The user's words in an item, as one line; undefined where there are none. */
function promptIn(item: Item): string | undefined {
  if (item.type !== 'message' || authorOf(item) !== 'user') return undefined;
  return oneLine(textOfParts(item.content));
}

function oneLine(text: string): string | undefined {
  const line = redact(text.trimStart().slice(0, LONGEST_TITLE)).replaceAll(/\s+/g, ' ').trim();
  return line === '' ? undefined : line;
}

/** Limit for files of less than a page: a path, or opencode's facts about a session. */
const SMALL_FILE = { maxBytes: 64 * 1024, links: 'refuse' } as const;

function projectRoot(session: FoundSession): string | undefined {
  const place = projectRootFile(session);
  const read = place === undefined ? undefined : readSmallFile(place, SMALL_FILE);
  const text = read?.kind === 'bytes' ? read.bytes.toString('utf8').trim() : '';
  return text === '' ? undefined : text;
}

/** opencode keeps each message in separate files; this reads only the facts about the whole session. */
function opencodeDigest({ path }: FoundSession): SessionDigest {
  const read = readSmallFile(path, SMALL_FILE);
  if (read.kind !== 'bytes') return { problem: read.kind === 'refused' ? read.problem : 'no longer exists' };
  let info: unknown;
  try {
    info = JSON.parse(read.bytes.toString('utf8'));
  } catch {
    return { problem: 'is not JSON' };
  }
  const text = (key: string): string | undefined => {
    const value =
      typeof info === 'object' && info !== null ? (info as Record<string, unknown>)[key] : undefined;
    return typeof value === 'string' ? value : undefined;
  };
  const title = oneLine(text('title') ?? '');
  const cwd = text('directory');
  return { ...(title === undefined ? {} : { title }), ...(cwd === undefined ? {} : { cwd }) };
}
