// Carries a request through: ask dispatch, read files back, plan, and hand over one record to append. Decides nothing.

import { BatonError } from '../errors.ts';
import type { Clock, Hash, Ids, WorkspaceFiles } from '../ports.ts';
import type { Config } from '../config/schema.ts';
import type { Item, MessageItem } from '../protocol/item.ts';
import type { CompactedRecord, MicroCompactedRecord } from '../protocol/record.ts';
import type { Receipt } from '../protocol/receipt.ts';
import type { Strategy } from '../vocabulary.ts';
import type { Entry } from '../history/project.ts';
import { normalizeItems } from '../history/pairs.ts';
import { itemTokens } from '../tokens/estimate.ts';
import type { CountText } from '../tokens/estimate.ts';
import { dispatch, dispatchSettings } from './dispatch.ts';
import { compactFully, contextTokens, itemsTokens } from './full.ts';
import type { Fate, SummaryDraft } from './full.ts';
import { NEW_GUARD } from './loop-guard.ts';
import { EMPTY_COMPACT_STATE, microCompact } from './micro.ts';
import { limitFiles, prepareFile, restoreCandidates } from './restore.ts';
import type { ReadFile, RestorableFile } from './restore.ts';

/** A history to be compacted and what is known of it. */
export interface Subject {
  readonly entries: readonly Entry<Item>[];
  /** Raw window of the model. */
  readonly window: number;
  /** The gauge as one sentence: the numbers and the formula. */
  readonly pressure: string;
  /** The agent gives its initial context again by itself when the session goes on. */
  readonly leavesInitialContext: boolean;
  /** First line of the summary message, by which the agent that goes on recognises a summary. */
  readonly summaryPrefix: string;
  /** Files that the agent read. */
  readonly readFiles: readonly ReadFile[];
  /** Todo list and plan as attachments, newest state. */
  readonly state: readonly Item[];
  /** Writes the summary. */
  readonly summarise: (budget: number, preserved: readonly MessageItem[]) => SummaryDraft;
}

/** What a user asked for. */
export interface ManualCompaction {
  readonly strategy: Strategy;
  /** Largest size of the whole context afterwards. */
  readonly targetTokens?: number;
}

/** What carrying it out needs. */
export interface CompactionWorld {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly hash: Hash;
  readonly count: CountText;
  readonly counter: Receipt['counter'];
  /** Where files are read back from; nothing is restored without it. */
  readonly files?: WorkspaceFiles;
}

/** What came out. `items` is the history afterwards. */
export type Compaction =
  | {
      readonly type: 'full';
      readonly record: CompactedRecord & { readonly receipt: Receipt; readonly at: string };
      readonly items: readonly Item[];
      readonly fates: readonly Fate[];
    }
  | {
      readonly type: 'micro';
      readonly record: MicroCompactedRecord & { readonly at: string };
      readonly items: readonly Item[];
      readonly preTokens: number;
      readonly postTokens: number;
    };

/**
 * Compacts a history on a user's request. Nothing is written; the caller appends the record.
 * @throws BatonError `compaction_disabled`, `nothing_to_compact`, `cannot_fit`
 */
export async function compactHistory(
  subject: Subject,
  request: ManualCompaction,
  config: Config,
  world: CompactionWorld,
): Promise<Compaction> {
  const plan = dispatch({ from: 'manual', strategy: request.strategy }, NEW_GUARD, dispatchSettings(config));
  if (plan.type === 'none') {
    throw new BatonError('compaction_disabled', `Compaction is off: ${plan.why}`, {
      cure: 'Set the key, for this run with `-c KEY=true`.',
    });
  }
  return plan.type === 'micro'
    ? runMicro(subject, request, config, world)
    : runFull(subject, request, config, world);
}

async function runFull(
  subject: Subject,
  request: ManualCompaction,
  config: Config,
  world: CompactionWorld,
): Promise<Compaction> {
  const startedMs = world.clock.now();
  const result = compactFully({
    id: world.ids.uuid(),
    at: new Date(startedMs).toISOString(),
    trigger: 'manual',
    reason: 'user_requested',
    strategy: request.strategy,
    why: `The user asked for a compaction ${subject.pressure}.`,
    entries: subject.entries,
    window: subject.window,
    ...(request.targetTokens === undefined ? {} : { targetTokens: request.targetTokens }),
    leavesInitialContext: subject.leavesInitialContext,
    summaryPrefix: subject.summaryPrefix,
    userMessageLimit: config.compact.userMessageMaxTokens,
    files: await readBack(subject.readFiles, config, world),
    state: subject.state,
    estimate: config.compact,
    count: world.count,
    counter: world.counter,
    hash: world.hash,
    summarise: subject.summarise,
  });
  if (result.outcome === 'nothing_to_compact') throw nothingToCompact(result.preTokens);
  if (result.outcome === 'cannot_fit') throw cannotFit(request, result.leastTarget, result.parts);
  const receipt = { ...result.record.receipt, durationMs: world.clock.now() - startedMs };
  const record = { ...result.record, receipt };
  return { type: 'full', record, items: record.replacement, fates: result.fates };
}

function runMicro(
  subject: Subject,
  request: ManualCompaction,
  config: Config,
  world: CompactionWorld,
): Compaction {
  const items = subject.entries.map(({ value }) => value);
  const measure = (item: Item) => itemTokens(item, world.count, config.compact);
  const result = microCompact(items, EMPTY_COMPACT_STATE, {
    minTokensToSave: config.compact.microCompactMinTokensToSave,
    keepLastTools: config.compact.microCompactKeepLastNTools,
    approxBytesPerToken: config.compact.approxBytesPerToken,
    tokensPerImage: config.compact.tokensPerImage,
    count: world.count,
  });
  const preTokens = contextTokens(subject.entries, measure);
  if (!result.wasEffective) {
    throw new BatonError(
      'nothing_to_compact',
      `Clearing old tool results would save ${result.tokensSaved} tokens, less than the ${config.compact.microCompactMinTokensToSave} that are worth it`,
      {
        cure: 'Lower compact.micro_compact_min_tokens_to_save, or use --strategy full.',
        data: { preTokens },
      },
    );
  }
  const normalized = normalizeItems(result.items).items;
  const postTokens = itemsTokens(normalized, measure);
  if (request.targetTokens !== undefined && postTokens > request.targetTokens) {
    throw cannotFit(request, postTokens, { contextAfterClearing: postTokens });
  }
  return {
    type: 'micro',
    record: {
      type: 'micro_compacted',
      id: world.ids.uuid(),
      at: new Date(world.clock.now()).toISOString(),
      trigger: 'manual',
      callIds: result.callIds,
      preTokens,
      tokensSaved: result.tokensSaved,
    },
    items: normalized,
    preTokens,
    postTokens,
  };
}

async function readBack(
  readFiles: readonly ReadFile[],
  config: Config,
  world: CompactionWorld,
): Promise<readonly RestorableFile[]> {
  const { files } = world;
  if (files === undefined) return [];
  const settings = {
    maxFiles: config.compact.restoreMaxFiles,
    tokensPerFile: config.compact.restoreTokensPerFile,
    totalFileBudget: config.compact.restoreTotalFileBudget,
    count: world.count,
    hash: world.hash,
  };
  const prepared: RestorableFile[] = [];
  for (const { path } of restoreCandidates(readFiles)) {
    if (limitFiles(prepared, settings).length >= settings.maxFiles) break;
    const file = prepareFile(path, await files.read(path), settings);
    if (file !== undefined) prepared.push(file);
  }
  return limitFiles(prepared, settings);
}

function nothingToCompact(preTokens: number): BatonError {
  return new BatonError(
    'nothing_to_compact',
    `The context holds ${preTokens} tokens; a compaction would not make it smaller`,
    { cure: 'Nothing needs to be done.', data: { preTokens } },
  );
}

function cannotFit(
  request: ManualCompaction,
  leastTarget: number,
  parts: Readonly<Record<string, number>>,
): BatonError {
  return new BatonError(
    'cannot_fit',
    `The context cannot be compacted to ${request.targetTokens ?? 0} tokens; it needs at least ${leastTarget}`,
    { cure: `Ask for --target-tokens ${leastTarget} or more.`, data: { leastTarget, parts } },
  );
}
