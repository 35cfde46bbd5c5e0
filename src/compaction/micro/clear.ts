// Tier 1 over a subject: what clearing old tool results frees, or why it frees nothing. Pure.

import type { Config } from '../../config/schema.ts';
import { BatonError } from '../../errors.ts';
import { normalizeItems } from '../../history/pairs.ts';
import { formatNumber } from '../../tokens/words.ts';
import { planFull } from '../full/full.ts';
import type { Job } from '../job.ts';
import { itemsTokens } from '../measure.ts';
import type { Compaction, CompactionWorld, Subject } from '../subject.ts';
import { microCompact } from './micro.ts';
import type { MicroResult } from './micro.ts';

/** What clearing old results would free. Counts only items that nobody has counted yet. */
export function clearSubject(
  { entries, kept }: Subject,
  { compact }: Config,
  { count }: Pick<CompactionWorld, 'count'>,
): MicroResult {
  const items = entries.map(({ value }) => value);
  return microCompact(items, {
    minTokensToSave: compact.microCompactMinTokensToSave,
    keepLastTools: compact.microCompactKeepLastNTools,
    approxBytesPerToken: compact.approxBytesPerToken,
    tokensPerImage: compact.tokensPerImage,
    count,
    ...(kept === undefined ? {} : { kept }),
  });
}

/**
 * Clears the old results of a job's subject.
 * @throws BatonError `nothing_to_compact`, `cannot_fit`
 */
export function clearResults(job: Job): Extract<Compaction, { type: 'micro' }> {
  const { id, at, subject, occasion, config, world, preTokens } = job;
  const result = clearSubject(subject, config, world);
  if (!result.wasEffective) throw nothingToClear(job, result.tokensSaved);
  const normalized = normalizeItems(result.items).items;
  const postTokens = subject.gauge?.usedWithout(result.tokensSaved) ?? itemsTokens(normalized, job.measure);
  if (occasion.targetTokens !== undefined && postTokens > occasion.targetTokens) {
    const left = `Clearing old tool results leaves ${formatNumber(postTokens)} tokens`;
    throw new BatonError(
      'cannot_fit',
      `${left}, more than the target of ${formatNumber(occasion.targetTokens)}`,
      {
        cure: `Ask for ${job.targetName} ${postTokens} or more, or use --strategy full.`,
        data: { leastTarget: postTokens, parts: { contextAfterClearing: postTokens } },
      },
    );
  }
  return {
    type: 'micro',
    record: {
      type: 'micro_compacted',
      id,
      at,
      trigger: occasion.trigger,
      callIds: result.callIds,
      preTokens,
      tokensSaved: result.tokensSaved,
    },
    items: normalized,
    preTokens,
    postTokens,
  };
}

/** Why nothing is cleared, with a cure of its own. @param saved tokens that clearing would save */
function nothingToClear(job: Job, saved: number): BatonError {
  const { subject, config, world, preTokens } = job;
  const { microCompactMinTokensToSave: least, microCompactKeepLastNTools: kept } = config.compact;
  const cures: string[] = [];
  let why = 'There is no tool result left to clear';
  if (saved > 0) {
    why = `Clearing old tool results would save ${formatNumber(saved)} tokens, less than the minimum of ${formatNumber(least)}`;
    cures.push(`set compact.micro_compact_min_tokens_to_save = ${saved}`);
  } else {
    const compact = { ...config.compact, microCompactKeepLastNTools: 0, microCompactMinTokensToSave: 1 };
    const all = clearSubject(subject, { ...config, compact }, world);
    if (all.wasEffective) {
      why = `The only tool results that could be cleared are among the newest ${kept}, which are kept`;
      if (all.tokensSaved >= least) cures.push('lower compact.micro_compact_keep_last_n_tools');
    }
  }
  if (planFull(job.fullRequest([], 0)).outcome === 'planned') cures.push('use --strategy full');
  const cure = cures.length === 0 ? 'Nothing needs to be done' : cures.join(', or ');
  return new BatonError('nothing_to_compact', why, {
    cure: `${cure.charAt(0).toUpperCase()}${cure.slice(1)}.`,
    data: { preTokens },
  });
}
