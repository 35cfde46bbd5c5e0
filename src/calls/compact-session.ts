// One call that compacts a session file.

import { constants } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import { compactHistory } from '../compaction/compact.io.ts';
import type { Compaction } from '../compaction/subject.ts';
import type { Summarizers } from '../compaction/summarise/summarizers.ts';
import { DEFAULT_CONFIG } from '../config/defaults.ts';
import type { Config } from '../config/schema.ts';
import { BatonError } from '../errors.ts';
import { loadSession } from '../formats/session-file.io.ts';
import type { DamageNote } from '../formats/reader.ts';
import type { ByteSource } from '../formats/source.io.ts';
import { isAgentFormat, isMessageFormat } from '../formats/write.ts';
import type { CancelSignal } from '../ports.ts';
import type { Receipt } from '../protocol/receipt.ts';
import { formatNumber } from '../tokens/words.ts';
import type { Format, OutputFormat, WriteFormat } from '../vocabulary.ts';
import { withProcess } from './call-process.io.ts';
import { callWorld, TARGET_NAME } from './compact-messages.ts';
import { checkDestination, writeOutput } from './output.io.ts';
import {
  compactedPieces,
  occasionOf,
  readForCompaction,
  subjectOf,
  tokenCounter,
} from './session-compaction.ts';
import { withSource } from './session-source.ts';
import type { SourceWorld } from './session-source.ts';
import type { SummarizerWorld } from './summarizers.ts';

/** How a session file is compacted, and where the result goes. */
export interface CompactSessionOptions {
  /** Maximum size of the written session, in o200k tokens; a positive whole number. Absent: `[compact]` decides what stays. */
  readonly targetTokens?: number;
  /**
   * Who writes the summary: `PROVIDER/MODEL`, with the provider's key from the environment. Absent: no model is asked,
   * and nothing leaves the machine. The prompts in Baton's home apply, as for the command.
   */
  readonly model?: string;
  /** The file to write. Absent: no file is written, and the result holds the session as `text`. */
  readonly out?: string;
  /** Replaces an existing file at `out`, but never the session that is read. Absent: false. */
  readonly overwrites?: boolean;
  /** The output format. Absent: `same`, or `chat` for a session in a format that Baton only reads. */
  readonly format?: OutputFormat;
  /** Absent: the defaults. The user's configuration files are not read, and no hook runs. */
  readonly config?: Config;
  /** Ends the call with `interrupted`; nothing is left behind. */
  readonly signal?: CancelSignal;
}

/** Facts about a session, whether or not it was compacted. Sizes in tokens, as the gauge counts them. */
interface SessionSizes {
  /** The input format. */
  readonly format: Format;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** Instructions and tools: the part of both sizes that no compaction removes. */
  readonly fixedTokens: number;
  /** Parts of the session that were repaired, or could not be read and are missing from the summary. */
  readonly damage: readonly DamageNote[];
  /** What deviated from the request, one sentence each. */
  readonly warnings: readonly string[];
}

/** A session that was compacted. */
export interface CompactedSession extends SessionSizes {
  readonly isCompacted: true;
  /** The summary that replaced the removed work. */
  readonly summary: string;
  /** Items that stay word for word, and what is gone: summarised, dropped, cut from kept items. `receipt` has the details. */
  readonly kept: { readonly items: number; readonly tokens: number };
  readonly removed: { readonly items: number; readonly tokens: number };
  readonly receipt: Receipt;
  /** The output format. */
  readonly writtenFormat: WriteFormat;
  /** The compacted session; absent if `out` names a file, which then holds it. */
  readonly text?: string;
}

/** A session that is unchanged because compacting it is not worthwhile. Nothing was written. */
export interface UncompactedSession extends SessionSizes {
  readonly isCompacted: false;
  /** Why, in one sentence with the numbers. */
  readonly why: string;
  /** What can be done about it, one sentence that names options of the call. */
  readonly cure: string;
}

/** The outcome; `isCompacted` tells the two apart. */
export type SessionCompaction = CompactedSession | UncompactedSession;

/**
 * Compacts a session file of any format that Baton reads, as `baton compact` does: the user's requests and rules stay word
 * for word, the work becomes a summary, and no call loses its result. The file that is read is never changed.
 *
 * @example
 * ```ts
 * import { compactSession } from 'baton-agent';
 *
 * const compaction = await compactSession('session.jsonl', { targetTokens: 8_000, out: 'compacted.jsonl' });
 * const outcome = compaction.isCompacted
 *   ? `${compaction.tokensBefore} -> ${compaction.tokensAfter} tokens`
 *   : compaction.why;
 * ```
 *
 * @param path `-` reads standard input
 * @throws BatonError `file_not_found`, `not_a_file`, `file_unreadable`, `file_empty`, `file_changed` where the file cannot be
 *   read; `format_unknown`, `session_empty` where it does not hold a session; `cannot_fit` with the smallest size that is
 *   possible; `output_exists`, `output_failed` where `out` cannot be written; `compaction_disabled` by `config`; with
 *   `model`, `model_missing` and `config_invalid` where it cannot be opened; `interrupted`
 * @throws RangeError where `targetTokens` is not a positive whole number
 */
export async function compactSession(
  path: string,
  options: CompactSessionOptions = {},
): Promise<SessionCompaction> {
  const { targetTokens, signal } = options;
  if (targetTokens !== undefined && (!Number.isSafeInteger(targetTokens) || targetTokens < 1)) {
    throw new RangeError(`targetTokens is ${targetTokens}; it must be a positive whole number`);
  }
  return withProcess(signal, (world) =>
    withSource(world, path, (source) => compactSource(source, path, options, world)),
  );
}

async function compactSource(
  source: ByteSource,
  path: string,
  options: CompactSessionOptions,
  world: SourceWorld,
): Promise<SessionCompaction> {
  const { targetTokens, out, overwrites = false, config = DEFAULT_CONFIG } = options;
  const { signal } = world;
  const destination = { path: out, overwrites, inputs: [source] };
  await checkDestination(destination);
  const session = await readForCompaction((emit) => loadSession(source, emit, { signal }), config);
  const { report, account, fold } = session;
  const warnings: string[] = [];
  const warn = (warning: string): void => void warnings.push(warning);
  if (report.hasGrown) warn('The file grew while Baton read it; the appended part is not included.');
  const target = targetFormat(report.format, options);
  const summarizers = await openSummarizersFor(options, config, { ...world, warn });
  const { count, counter } = await tokenCounter(session.history.entries, config, { signal, warn });
  const before = account.usage.used;
  const sizes = {
    format: report.format,
    tokensBefore: before,
    fixedTokens: fold.fixed,
    damage: report.damage,
    warnings,
  };
  let text: string | undefined;
  const write = async (compaction: Compaction): Promise<void> => {
    const facts = { newSessionId: randomUUID(), at: new Date().toISOString(), ids: { uuid: randomUUID } };
    const { pieces } = compactedPieces({ source, session, compaction, target, isPruned: false }, facts);
    const chunks: Buffer[] = [];
    const stdoutBytes = (bytes: Uint8Array): Promise<void> => {
      // The buffer of a chunk is reused for the next one.
      chunks.push(Buffer.from(bytes));
      return Promise.resolve();
    };
    await writeOutput({ ids: facts.ids, signal, stdoutBytes }, destination, pieces);
    if (out === undefined) text = textOf(chunks);
  };
  try {
    const compaction = await compactHistory(
      subjectOf(session, path, target),
      {
        ...occasionOf(account, { strategy: 'auto', ...(targetTokens === undefined ? {} : { targetTokens }) }),
        targetName: TARGET_NAME,
      },
      config,
      {
        ...callWorld(count, signal),
        counter,
        emit: (event) => {
          if (event.type === 'warning') warn(event.message);
        },
        ...(summarizers === undefined ? {} : { summarizers }),
        commit: write,
      },
    );
    if (compaction.type !== 'full') throw new RangeError('Clearing results replaced the requested summary');
    const { receipt, summary = '' } = compaction.record;
    return {
      ...sizes,
      isCompacted: true,
      tokensAfter: receipt.postTokens,
      summary,
      ...balanceOf(receipt),
      receipt,
      writtenFormat: target,
      ...(text === undefined ? {} : { text }),
    };
  } catch (error) {
    if (!(error instanceof BatonError) || error.code !== 'nothing_to_compact') throw error;
    return { ...sizes, isCompacted: false, tokensAfter: before, why: error.message, cure: error.cure };
  }
}

function targetFormat(format: Format, { format: wanted = 'same' }: CompactSessionOptions): WriteFormat {
  if (wanted === 'same') return isAgentFormat(format) || isMessageFormat(format) ? format : 'chat';
  return wanted === 'claude' ? 'claude-code' : wanted;
}

/** Opens the models of a call; their code is loaded only if the call names one. */
async function openSummarizersFor(
  { model }: CompactSessionOptions,
  config: Config,
  world: SummarizerWorld,
): Promise<Summarizers | undefined> {
  if (model === undefined) return undefined;
  const { openSummarizers } = await import('./summarizers.ts');
  return openSummarizers(world, config, { model });
}

function balanceOf({ kept, summarised, dropped, cut }: Receipt): Pick<CompactedSession, 'kept' | 'removed'> {
  return {
    kept: { items: kept.count, tokens: kept.tokens },
    removed: {
      items: summarised.count + dropped.count,
      tokens: summarised.tokens + dropped.tokens + (cut?.tokens ?? 0),
    },
  };
}

function textOf(chunks: readonly Buffer[]): string {
  const bytes = Buffer.concat(chunks);
  if (bytes.length <= constants.MAX_STRING_LENGTH) return bytes.toString('utf8');
  throw new BatonError(
    'output_failed',
    `The session has ${formatNumber(bytes.length)} bytes, more than a string can hold`,
    {
      cure: 'Name a file with `out`.',
    },
  );
}
