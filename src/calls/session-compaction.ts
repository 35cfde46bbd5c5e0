// What `baton compact` and `compactSession` do with one session: read it, choose what to compact, lay out the output.

import { resolve } from 'node:path';
import { gaugeOf } from '../compaction/subject.ts';
import type { Compaction, CompactionWorld, Occasion, Subject } from '../compaction/subject.ts';
import { withoutKnownSecrets } from '../compaction/full/secrets.ts';
import type { Config } from '../config/schema.ts';
import { BatonError } from '../errors.ts';
import type { LoadReport } from '../formats/session-file.io.ts';
import type { ByteSource } from '../formats/source.io.ts';
import { continueSession, freshSession, isAgentFormat, SUMMARY_PREFIXES } from '../formats/write.ts';
import type { CompactionChange, WriteFacts } from '../formats/write.ts';
import { AccountFold } from '../history/account.ts';
import { WHOLE_ITEMS } from '../history/clear.ts';
import type { ContextAccount } from '../history/context-account.ts';
import { HistoryFold } from '../history/project.ts';
import type { Entry } from '../history/project.ts';
import { UndoneTurns } from '../history/undone.ts';
import type { Item } from '../protocol/item.ts';
import { approximateTokens, itemTokens, withSafetyMargin } from '../tokens/estimate.ts';
import { percentRemaining } from '../tokens/pressure.ts';
import { formatNumber } from '../tokens/words.ts';
import { withinDeadline } from '../system/deadline.io.ts';
import { LazyTrail } from '../trail/lazy-trail.ts';
import type { Trail } from '../trail/trail.ts';
import type { Strategy, WriteFormat } from '../vocabulary.ts';
import type { ReadRecords } from './inspection.ts';
import type { Piece } from './output.io.ts';
import { accountSettings } from './session-source.ts';

/** Everything that a compaction learns by reading a session. */
export interface ReadForCompaction {
  readonly report: LoadReport;
  readonly account: ContextAccount;
  /** Produces the account. */
  readonly fold: AccountFold;
  readonly history: HistoryFold<Item>;
  readonly trail: Trail;
}

/** Reads a session in one pass as an account, a history and a trail. None of them includes undone turns. */
export async function readForCompaction(
  read: ReadRecords,
  config: Config,
  keepFrames = 1,
): Promise<ReadForCompaction> {
  const fold = new AccountFold(accountSettings(config), keepFrames);
  const history = new HistoryFold(WHOLE_ITEMS, keepFrames);
  const undone = new UndoneTurns();
  let trail = new LazyTrail(withinDeadline);
  const report = await read((record) => {
    fold.add(record);
    history.add(record);
    trail.add(record);
    undone.add(record);
  });
  // An undo in the file needs more of the past than is usually kept.
  if (history.hasLostPast) return readForCompaction(read, config, Infinity);
  if (undone.isAny) {
    trail = new LazyTrail(withinDeadline);
    const isStanding = undone.standing();
    await read((record) => {
      if (isStanding(record)) trail.add(record);
    });
  }
  return { report, account: fold.account(), fold, history, trail: trail.trail() };
}

/** A user's request for a compaction. @param targetTokens maximum size of the output */
export function occasionOf(
  account: ContextAccount,
  { strategy, targetTokens }: { readonly strategy: Strategy; readonly targetTokens?: number },
): Occasion {
  return {
    trigger: 'manual',
    reason: 'user_requested',
    phase: 'standalone_turn',
    strategy,
    why: `The user asked for a compaction ${pressureSentence(account)}.`,
    ...(targetTokens === undefined ? {} : { targetTokens }),
  };
}

function pressureSentence({ usage, usableWindow: usable }: ContextAccount): string {
  const left = percentRemaining(usage.used, usable);
  return `at ${formatNumber(usage.used)} of ${formatNumber(usable)} usable tokens (${left} % left)`;
}

/** Estimates what clearing frees with the gauge's method: the gauge has no other measure before and after. */
export function estimateCounter({ compact: settings }: Config): Pick<CompactionWorld, 'count' | 'counter'> {
  return { count: (text) => approximateTokens(text, settings), counter: 'approximate' };
}

/**
 * The exact tokenizer, or the estimate with its margin if the tokenizer is not installed: a target must hold either
 * way.
 * @param entries what will be counted; they are counted ahead, in slices, so that `signal` is heeded
 * @throws BatonError `interrupted`
 */
export async function tokenCounter(
  entries: readonly Entry<Item>[],
  config: Config,
  { signal, warn }: { readonly signal: AbortSignal; readonly warn: (warning: string) => void },
): Promise<Pick<CompactionWorld, 'count' | 'counter'>> {
  try {
    const { loadPatientTokenizer } = await import('../tokens/tokenizer.io.ts');
    const { count, countAhead } = await loadPatientTokenizer();
    await countAhead(
      entries.flatMap(({ value }) => countedTexts(value)),
      signal,
    );
    return { count, counter: 'precise' };
  } catch (error) {
    if (!(error instanceof BatonError) || error.code !== 'tokenizer_missing') throw error;
    warn(`${error.message}; sizes are estimates. ${error.cure}`);
    const { tokenSafetyMultiplier } = config.compact;
    return {
      count: (text) => withSafetyMargin(approximateTokens(text, config.compact), tokenSafetyMultiplier),
      counter: 'approximate',
    };
  }
}

/** The texts that counting an item will count. */
function countedTexts(item: Item): readonly string[] {
  const texts: string[] = [];
  itemTokens(item, (text) => {
    texts.push(text);
    return 0;
  });
  return texts;
}

/**
 * The part of a session that is compacted.
 * @param file the session's file; `-`: none
 * @param target the output format
 */
export function subjectOf(session: ReadForCompaction, file: string, target: WriteFormat): Subject {
  const { account, trail } = session;
  return {
    entries: session.history.entries,
    window: account.window,
    gauge: gaugeOf(session.fold),
    targetsWhatIsWritten: true,
    // Codex restores its initial context on resume; Claude Code never records it. @source docs/real-tools.md An agent's
    // initial context is equally foreign to other formats: docs/decisions/commands.md.
    leavesInitialContext: isAgentFormat(target) || isAgentFormat(session.report.format),
    summaryPrefix: SUMMARY_PREFIXES[target],
    holdsProviderState: target === 'codex' || target === 'responses',
    session: {
      sessionId: account.sessionId,
      transcriptPath: file === '-' ? undefined : resolve(file),
      cwd: account.cwd,
      model: account.model,
    },
    trail,
  };
}

/** A history with its known secrets replaced, so that sizes and receipt describe the output. */
export function redacted(subject: Subject): Subject {
  const entries = subject.entries.map((entry) => ({ ...entry, value: withoutKnownSecrets(entry.value) }));
  return { ...subject, entries };
}

/** A compacted session, ready to be written. */
export interface CompactedWrite {
  readonly source: ByteSource;
  readonly session: ReadForCompaction;
  readonly compaction: Compaction;
  readonly target: WriteFormat;
  /** Write only the present context, without the original bytes. */
  readonly isPruned: boolean;
}

/** The pieces of a compacted session: the original bytes plus the appended lines, or a new session. */
export function compactedPieces(
  { source, session, compaction, target, isPruned }: CompactedWrite,
  facts: WriteFacts,
): { readonly head: readonly Piece[]; readonly pieces: readonly Piece[] } {
  const change = changeOf(session, compaction);
  const isAppended = isAgentFormat(target) && target === session.report.format && !isPruned;
  const written = isAppended
    ? continueSession(session.report, change, facts)
    : { head: [], tail: freshSession({ ...facts, ...freshFacts(session), format: target, change }) };
  return {
    head: written.head.map(asLine),
    pieces: [...(isAppended ? [{ copyOf: source }] : []), ...written.tail.map(asLine)],
  };
}

function changeOf({ history }: ReadForCompaction, compaction: Compaction): CompactionChange {
  if (compaction.type === 'full') return { type: 'compaction', record: compaction.record };
  const { record, items, postTokens } = compaction;
  return { type: 'micro', record, entries: history.entries, items, postTokens };
}

function freshFacts({ report, account }: ReadForCompaction) {
  return {
    source: report.tail,
    meta: account.cwd === undefined ? {} : { cwd: account.cwd },
    settings: {
      ...(account.model === undefined ? {} : { model: account.model }),
      ...(account.cwd === undefined ? {} : { cwd: account.cwd }),
    },
  };
}

function asLine(json: string): string {
  return `${json}\n`;
}
