// `baton compact --summary-only`: the summary alone, for a pipe or a file. Nothing is compacted, so no hook runs.

import type { Config } from '../../../config/schema.ts';
import { compactHistory } from '../../../compaction/compact.io.ts';
import type { CompactionWorld, Occasion, Subject } from '../../../compaction/subject.ts';
import { modelFreeSummary } from '../../../compaction/full/summary.ts';
import { pinnedItems } from '../../../trail/pins.ts';
import { DEFAULT_SUMMARY_TOKENS } from '../../../summary/write.ts';
import type { CommandIo } from '../../io.ts';
import { writeOutput } from '../../../calls/output.io.ts';
import type { Destination } from '../../../calls/output.io.ts';
import { formatNumber, plural } from '../../style.ts';

/** The input and the recipient of a summary. */
interface SummaryRequest {
  readonly subject: Subject;
  readonly occasion: Occasion;
  readonly config: Config;
  readonly world: CompactionWorld;
}

interface LoneSummary {
  readonly text: string;
  readonly redactions: Readonly<Record<string, number>>;
  readonly notes: readonly string[];
}

/**
 * Writes a self-contained summary: it refers to no kept message, file or plan. `targetTokens` limits the whole text, including
 * pinned texts.
 * @throws BatonError as `compactHistory` with a model; `output_exists`, `output_failed`, `interrupted`
 */
export async function writeSummaryOnly(
  io: CommandIo,
  request: SummaryRequest,
  destination: Destination,
): Promise<void> {
  const { count, summarizers } = request.world;
  const { text, redactions, notes } =
    summarizers === undefined ? withoutModel(request) : await withModel(request);
  const whole = [text, ...pinnedItems(request.subject.trail.pins).map((pinned) => pinned.text)].join('\n\n');
  await writeOutput(io, destination, [`${whole}\n`]);
  const secrets = Object.values(redactions).reduce((sum, kind) => sum + kind, 0);
  io.stderr(
    `The summary has ${plural(count(whole), 'token')}${secrets === 0 ? '' : `, ${plural(secrets, 'secret')} replaced`}. ` +
      `The session is unchanged.${destination.path === undefined ? '' : ` Written to ${destination.path}.`}\n`,
  );
  for (const note of notes) io.stderr(`${note}\n`);
}

function withoutModel({ subject, occasion, world }: SummaryRequest): LoneSummary {
  const { entries, trail } = subject;
  const pinned = pinnedItems(trail.pins).reduce((sum, { text }) => sum + world.count(text) + 1, 0);
  const budget = (occasion.targetTokens ?? DEFAULT_SUMMARY_TOKENS + pinned) - pinned;
  const { within, count } = world;
  const material = { entries, count, ...(within === undefined ? {} : { within }) };
  const { notes = [], ...draft } = modelFreeSummary(material, trail).summarise(Math.max(1, budget), []);
  return { ...draft, notes };
}

async function withModel({ subject, occasion, config, world }: SummaryRequest): Promise<LoneSummary> {
  const alone = { userMessageMaxTokens: 0, restoreMaxFiles: 0, restorePlan: false, restoreTodos: false };
  const compaction = await compactHistory(
    subject,
    occasion,
    { ...config, compact: { ...config.compact, ...alone } },
    world,
  );
  if (compaction.type !== 'full') throw new RangeError('A request for a summary cleared results instead');
  const { summary = '', receipt } = compaction.record;
  const spent = (receipt.attempts ?? []).length;
  return {
    text: summary,
    redactions: receipt.redactions,
    notes: [
      `${receipt.model ?? 'Baton, without a model'} wrote it: ${plural(spent, 'request')}, ${formatNumber(receipt.summaryTokens)} tokens.`,
      ...receipt.notes,
    ],
  };
}
