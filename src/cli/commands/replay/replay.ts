// `baton replay`: recorded sessions replayed under other policies.

import type { Config } from '../../../config/schema.ts';
import type { LoadReport } from '../../../formats/session-file.io.ts';
import type { ByteSource } from '../../../formats/source.io.ts';
import { AccountFold } from '../../../history/account.ts';
import { UndoneTurns } from '../../../history/undone.ts';
import { isUserMessage } from '../../../history/filter.ts';
import { textOfParts } from '../../../protocol/item.ts';
import { redact } from '../../../text/redact.ts';
import { ownWords } from '../../../trail/talk/requests.ts';
import { clip, oneLine } from '../../../text/sentences.ts';
import type { LogRecord } from '../../../protocol/record.ts';
import { FactsFold } from '../../../lab/replay/facts.ts';
import { rootIn } from '../../../lab/eval/log.ts';
import { FutureFold, RecallMeter } from '../../../lab/replay/recall.ts';
import { Replay } from '../../../lab/replay/replay.ts';
import type { PolicyChoice } from '../../../lab/replay/replay.ts';
import { policyWarnings } from '../../../watcher/policy.ts';
import type { PromptTrigger } from '../../../watcher/policy.ts';
import { approximateTokens, itemTokens, sumTokens } from '../../../tokens/estimate.ts';
import type { CommandIo, ExitStatus } from '../../io.ts';
import { checkDestination, filesAt, writeOutput } from '../../../calls/output.io.ts';
import type { Destination } from '../../../calls/output.io.ts';
import { choosePolicies } from './policies.ts';
import type { PolicyName } from './policy-names.ts';
import type { ReplayConfigs } from './policies.ts';
import type { PlayedFile, ReplayRun } from './run.ts';
import { accountSettings, withSource } from '../../../calls/session-source.ts';
import { readSession, warnOfDamage } from '../../session-files/session.ts';
import { findSessions, visitSessions } from '../../session-files/paths.io.ts';
import { printable } from '../../style.ts';

/** The options of the command, as the user gave them. */
export interface ReplayFlags {
  readonly policy?: readonly PolicyName[];
  /** List every decision. */
  readonly turns?: true;
  readonly json?: true;
  /** Write a report to this file. */
  readonly html?: string;
  readonly force?: true;
  /** False: do not measure recall, and read the file once less. */
  readonly recall: boolean;
}

/**
 * Replays files one after the other; an unreadable file is explained and skipped.
 * @param configs the effective configuration, and those to compare
 * @throws BatonError the error of the only file; `session_empty`; `output_exists`, `output_failed`; `interrupted`
 */
export async function replay(
  io: CommandIo,
  configs: ReplayConfigs,
  paths: readonly string[],
  flags: ReplayFlags,
): Promise<ExitStatus> {
  const sessions = await findSessions(paths);
  const place = reportPlace(flags, sessions.files);
  await checkDestination(place);
  const policies = await choosePolicies(configs, flags.policy, (config) => readTrigger(io, config));
  const { results, unread, skipped } = await visitSessions(io, sessions, (path) =>
    playFile(io, configs.effective, path, { policies, flags }),
  );
  const run: ReplayRun = { policies, files: results, unread, skipped, hasRecall: flags.recall };
  await printReplay(io, run, flags, place);
  return unread.length > 0 ? 1 : 0;
}

/** The frontmatter of the packet request on this machine. Its faults are printed. */
async function readTrigger(io: CommandIo, config: Config): Promise<PromptTrigger | undefined> {
  const { loadPrompt, promptPlace } = await import('../../../prompts/load.io.ts');
  const { frontmatter, warnings } = await loadPrompt(promptPlace(config, io), 'auto-compact.md');
  for (const warning of [...warnings, ...policyWarnings(config, frontmatter)]) {
    io.stderr(`baton: warning: ${warning}\n`);
  }
  return frontmatter;
}

async function printReplay(
  io: CommandIo,
  run: ReplayRun,
  flags: ReplayFlags,
  place: Destination,
): Promise<void> {
  if (flags.html !== undefined) {
    const { renderReport } = await import('./html.ts');
    await writeOutput(io, place, [renderReport(run, io.homeDirectory)]);
    io.stderr(`Report written to ${printable(flags.html)}.\n`);
  }
  if (flags.json === true) {
    const { replayJson } = await import('./json.ts');
    io.stdout(`${JSON.stringify(replayJson(run), null, 2)}\n`);
  } else {
    const { renderReplay } = await import('./view.ts');
    io.stdout(renderReplay(run, { listsTurns: flags.turns === true, home: io.homeDirectory }, io.look));
  }
}

/** A report never overwrites a session, and other files only with `--force`. */
function reportPlace({ html, force }: ReplayFlags, sessions: readonly string[]): Destination {
  return { path: html, overwrites: force === true, inputs: filesAt(sessions) };
}

interface Playing {
  readonly policies: readonly PolicyChoice[];
  readonly flags: ReplayFlags;
}

async function playFile(io: CommandIo, config: Config, path: string, playing: Playing): Promise<PlayedFile> {
  return withSource(io, path, async (source) => {
    const played = await playSource(io, config, source, playing);
    warnOfDamage(io, path, played.report);
    return { path, ...played };
  });
}

type Played = Omit<PlayedFile, 'path'>;

/** Characters of a title: one line of a page. */
const LONGEST_TITLE = 90;

/** The user's own words in a record, as a title. */
function titleIn(record: LogRecord): string | undefined {
  if (record.type !== 'item' || record.item.type !== 'message' || !isUserMessage(record.item))
    return undefined;
  const words = ownWords(textOfParts(record.item.content));
  return words === undefined ? undefined : clip(redact(oneLine(words)), LONGEST_TITLE);
}

function factsFold(config: Config): FactsFold {
  const { compact } = config;
  const estimate = (text: string) => approximateTokens(text, compact);
  return new FactsFold((item) => sumTokens(itemTokens(item, estimate, compact)), estimate);
}

/** Subagents, abandoned branches and bookkeeping are not part of the context. */
const IS_PLAYED: ReadonlySet<LogRecord['type']> = new Set([
  'session_meta',
  'settings',
  'item',
  'usage',
  'note',
  'turn_started',
  'turn_complete',
  'turn_aborted',
  'compacted',
  'micro_compacted',
  'undo_compaction',
  'undo_turn',
]);

/**
 * Reads the session again for each thing that must be known before the next, and keeps no more of it than the live contexts
 * do, and what is used later.
 */
async function playSource(
  io: CommandIo,
  config: Config,
  source: ByteSource,
  { policies, flags }: Playing,
): Promise<Played> {
  const facts = factsFold(config);
  const account = new AccountFold(accountSettings(config));
  const undone = new UndoneTurns();
  let root: string | undefined;
  await readSession(io, source, (record) => {
    facts.add(record);
    account.add(record);
    undone.add(record);
    root ??= rootIn(record);
  });
  const readPlayed = (verb: string, take: (record: LogRecord) => void): Promise<LoadReport> => {
    const isStanding = undone.standing();
    return readSession(
      io,
      source,
      (record) => {
        if (isStanding(record) && IS_PLAYED.has(record.type)) take(record);
      },
      verb,
    );
  };
  const future = new FutureFold(root ?? '');
  if (flags.recall) await readPlayed('Reading', (record) => future.add(record));
  const stage = new Replay(facts.facts(), {
    recording: accountSettings(config),
    policies,
    ...(flags.recall ? { recall: new RecallMeter(future) } : {}),
  });
  let title: string | undefined;
  const report = await readPlayed('Playing', (record) => {
    title ??= titleIn(record);
    stage.add(record);
  });
  stage.end();
  return { title, report, replay: stage.result(), account: account.account() };
}
