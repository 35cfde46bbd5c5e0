// What `baton inspect` and `inspectSession` learn about one session.

import type { Config } from '../config/schema.ts';
import type { LoadReport } from '../formats/session-file.io.ts';
import type { Emit } from '../formats/reader.ts';
import { AccountFold } from '../history/account.ts';
import { WHOLE_ITEMS } from '../history/clear.ts';
import type { ContextAccount } from '../history/context-account.ts';
import { HistoryFold } from '../history/project.ts';
import type { Entry } from '../history/project.ts';
import type { Item } from '../protocol/item.ts';
import type { Signal } from '../protocol/signal.ts';
import type { Prediction } from '../tokens/anchor.ts';
import { approximateTokens, itemTokens } from '../tokens/estimate.ts';
import type { CountText } from '../tokens/estimate.ts';
import { thresholdState } from '../tokens/pressure.ts';
import type { ThresholdState } from '../tokens/pressure.ts';
import { topOf } from './inspect-top.ts';
import type { Top } from './inspect-top.ts';
import { accountSettings, agentLimit, thresholdSettings } from './session-source.ts';

/** Reads a session from start to end. A second call reads it again. */
export type ReadRecords = (emit: Emit) => Promise<LoadReport>;

/** The results of inspecting a session. */
export interface Inspection {
  readonly report: LoadReport;
  readonly account: ContextAccount;
  /** Every boundary of the session, in order. */
  readonly signals: readonly Signal[];
  readonly threshold: ThresholdState;
  /** Where the agent that wrote the file compacts by itself, in tokens; undefined if unknown. */
  readonly agentLimit: number | undefined;
  /** Whether the configuration enables automatic compaction. */
  readonly isAutoCompactOn: boolean;
  /** How the categories were counted. */
  readonly counter: 'precise' | 'approximate';
  /** Median of the gauge's relative errors against reported usage; undefined without samples. */
  readonly gaugeError: { readonly median: number; readonly samples: number } | undefined;
  /** What takes up most of the context; undefined if `top` is absent. */
  readonly top: Top | undefined;
}

/** How detailed the inspection is. */
export interface InspectionDepth {
  /** Count categories with the exact tokenizer. */
  readonly precise: boolean;
  /** Length of each list of the largest parts; undefined: no lists. */
  readonly top?: number | undefined;
}

/** @throws BatonError as `read`; `tokenizer_missing` */
export async function inspectRecords(
  read: ReadRecords,
  config: Config,
  depth: InspectionDepth & { readonly top: number },
): Promise<Inspection & { readonly top: Top }>;
export async function inspectRecords(
  read: ReadRecords,
  config: Config,
  depth: InspectionDepth,
): Promise<Inspection>;
export async function inspectRecords(
  read: ReadRecords,
  config: Config,
  { precise, top }: InspectionDepth,
): Promise<Inspection> {
  const count = precise ? await (await import('../tokens/tokenizer.io.ts')).loadTokenizer() : undefined;
  const { entries, ...found } = await readForInspection(read, {
    config,
    count,
    holdsItems: top !== undefined,
  });
  const { account } = found;
  const threshold = thresholdState(account.usage.used, account.window, thresholdSettings(config));
  // Baton's own threads compact where Baton's settings say.
  const limit = account.producer === 'baton' ? undefined : agentLimit(found.report.format, account.window);
  const settings = accountSettings(config, count);
  const countText = count ?? ((text: string) => approximateTokens(text, settings.estimate));
  return {
    ...found,
    threshold,
    agentLimit: limit,
    isAutoCompactOn: config.compact.enabled && config.compact.autoCompactEnabled,
    counter: precise ? 'precise' : 'approximate',
    gaugeError: gaugeError(account),
    top:
      top === undefined
        ? undefined
        : topOf(entries, account, {
            limit: top,
            compactsFrom: limit ?? threshold.autoCompactThreshold,
            sizeOf: (item) => itemTokens(item, countText, settings.estimate),
          }),
  };
}

interface Reading {
  readonly config: Config;
  readonly count: CountText | undefined;
  readonly holdsItems: boolean;
}

/** Reads a session in one pass as an account and as signals, and also as items if they are wanted. */
async function readForInspection(
  read: ReadRecords,
  reading: Reading,
  keepFrames = 1,
): Promise<
  Pick<Inspection, 'report' | 'account' | 'signals'> & { readonly entries: readonly Entry<Item>[] }
> {
  const { config, count, holdsItems } = reading;
  const { SignalDetector, signalSettings } = await import('../watcher/signals/signals.ts');
  const fold = new AccountFold(accountSettings(config, count), keepFrames);
  const detector = new SignalDetector(signalSettings(config));
  const signals: Signal[] = [];
  const history = holdsItems ? new HistoryFold(WHOLE_ITEMS, keepFrames) : undefined;
  const report = await read((record) => {
    fold.add(record);
    history?.add(record);
    signals.push(...detector.add(record));
  });
  // An undo in the file needs more of the past than is usually kept.
  if (fold.hasLostPast) return readForInspection(read, reading, Infinity);
  signals.push(...detector.end());
  return { report, account: fold.account(), signals, entries: history?.entries ?? [] };
}

function gaugeError(account: ContextAccount): Inspection['gaugeError'] {
  const errors = account.predictions
    .filter((prediction: Prediction) => prediction.anchored)
    .map(({ relativeError }) => relativeError)
    .toSorted((a, b) => a - b);
  const median = errors[errors.length >> 1];
  return median === undefined ? undefined : { median, samples: errors.length };
}
