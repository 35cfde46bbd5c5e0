// Why a compaction is refused, each with its cure.

import { BatonError } from '../errors.ts';
import type { CompactionPlan } from '../protocol/plan.ts';
import { formatNumber, plural } from '../tokens/words.ts';
import type { CompactFailure } from '../vocabulary.ts';
import type { FullRefusal } from './full/request.ts';
import type { Job } from './job.ts';
import { LEAST_FREED_SHARE } from './loop-guard.ts';
import type { RemoteObstacle } from './remote/obstacle.ts';

/** The reason that clients are given for an error of a compaction. */
export function failureReason({ code }: BatonError): CompactFailure {
  return FAILURES[code] ?? 'not_written';
}

const FAILURES: Readonly<Record<string, CompactFailure>> = {
  nothing_to_compact: 'nothing_to_compact',
  cannot_fit: 'cannot_fit',
  interrupted: 'interrupted',
  compaction_vetoed: 'vetoed',
  usage: 'unavailable',
};

/** The arbiter has turned a request down. @param obstacle what keeps the provider from compacting, where that is why */
export function planRefused(
  { reason, why }: Extract<CompactionPlan, { type: 'none' }>,
  obstacle: RemoteObstacle | undefined,
): BatonError {
  switch (reason) {
    case 'remote_unavailable':
      return new BatonError('usage', `The provider cannot compact here, because ${why}`, {
        cure: obstacle?.cure ?? '',
      });
    case 'legacy_only':
      return new BatonError('usage', `The legacy compaction cannot do this: ${why}`, {
        cure: 'Omit --strategy, or set features.compact_v2 = true.',
      });
    default:
      return new BatonError('compaction_disabled', `Compaction is off: ${why}`, {
        cure: 'Set the key, for this run with `-c KEY=true`.',
      });
  }
}

/** A history that cannot be made small enough, or is not worth it. */
export function fullRefused(job: Job, refusal: FullRefusal): BatonError {
  const { gauge, targetsWhatIsWritten } = job.subject;
  if (refusal.outcome === 'nothing_to_compact') {
    return nothingToCompact(job, gauge?.used ?? refusal.preTokens);
  }
  const { leastTarget, parts } = refusal;
  if (gauge === undefined || targetsWhatIsWritten === true) return cannotFit(job, leastTarget, parts);
  return cannotFit(job, gauge.usedWith(leastTarget), { ...parts, instructionsAndTools: gauge.fixed });
}

/** The thread went in a circle: nothing came in that was not there before. */
export function nothingNew({ preTokens, targetName }: Job): BatonError {
  return new BatonError(
    'nothing_to_compact',
    'Nothing has happened since the last compaction, so another one would only lose detail',
    {
      cure: `Continue the session first, undo the last compaction, or set a target with ${targetName}.`,
      data: { preTokens },
    },
  );
}

function nothingToCompact(job: Job, preTokens: number): BatonError {
  const { gauge, targetsWhatIsWritten } = job.subject;
  const fixed = gauge?.fixed ?? 0;
  const share = job.leastFreedShare === LEAST_FREED_SHARE ? 'a tenth' : 'a quarter';
  // The estimate of them can exceed what is used, where a report counted less.
  const beside =
    fixed === 0 || fixed >= preTokens
      ? ''
      : `; ${formatNumber(fixed)} are instructions and tools, which stay`;
  const canOrder = fixed > 0 && targetsWhatIsWritten === true && !job.isOrdered;
  return new BatonError(
    'nothing_to_compact',
    `The context holds ${formatNumber(preTokens)} tokens, and a compaction would not free ${share} of them${beside}`,
    {
      cure: `Nothing needs to be done${canOrder ? `; to compact anyway, set a target with ${job.targetName}` : ''}.`,
      data: { preTokens },
    },
  );
}

function cannotFit(
  { occasion: { targetTokens = 0 }, targetName }: Job,
  leastTarget: number,
  parts: Readonly<Record<string, number>>,
): BatonError {
  const { fixed = 0, instructionsAndTools } = parts;
  const beside =
    instructionsAndTools === undefined
      ? ''
      : `, and ${formatNumber(instructionsAndTools)} for instructions and tools, which are in every request`;
  return new BatonError(
    'cannot_fit',
    `The context cannot be compacted to ${plural(targetTokens, 'token')}; it needs at least ${formatNumber(leastTarget)}, ${formatNumber(fixed)} of them for content that is kept as it is, such as the instructions at the start${beside}`,
    { cure: `Ask for ${targetName} ${leastTarget} or more.`, data: { leastTarget, parts } },
  );
}
