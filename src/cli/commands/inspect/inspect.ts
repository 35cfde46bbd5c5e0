// `baton inspect`: what fills a session's window, and how it got there.

import { BatonError } from '../../../errors.ts';
import type { Config } from '../../../config/schema.ts';
import type { ByteSource } from '../../../formats/source.io.ts';
import { AccountFold } from '../../../history/account.ts';
import { WHOLE_ITEMS } from '../../../history/clear.ts';
import { HistoryFold } from '../../../history/project.ts';
import type { Entry } from '../../../history/project.ts';
import type { Item } from '../../../protocol/item.ts';
import { topOf } from './top.ts';
import type { ContextAccount } from '../../../history/context-account.ts';
import type { Prediction } from '../../../tokens/anchor.ts';
import { approximateTokens, itemTokens } from '../../../tokens/estimate.ts';
import type { CountText } from '../../../tokens/estimate.ts';
import { thresholdState } from '../../../tokens/pressure.ts';
import type { Signal } from '../../../protocol/signal.ts';
import { errorJson, explain } from '../../explain.ts';
import type { CommandIo, ExitStatus } from '../../io.ts';
import type { Inspection } from './view.ts';
import {
  accountSettings,
  agentLimit,
  readSession,
  thresholdSettings,
  withSource,
} from '../../session-files/session.ts';

export interface InspectOptions {
  readonly json: boolean;
  /** Count categories with the exact tokenizer. */
  readonly precise: boolean;
  /** List so many of what takes most; undefined: none. */
  readonly top?: number | undefined;
}

/** Inspects files one after the other. A file that cannot be read is explained and the others are still shown. */
export async function inspect(
  io: CommandIo,
  config: Config,
  paths: readonly string[],
  options: InspectOptions,
): Promise<ExitStatus> {
  const { inspectionJson } = await import('./json.ts');
  const { renderInspection } = await import('./view.ts');
  const documents: unknown[] = [];
  let status: ExitStatus = 0;
  for (const path of paths) {
    try {
      const inspection = await inspectFile(io, config, path, options);
      if (documents.length > 0 && !options.json) io.stdout('\n');
      documents.push(inspectionJson(inspection));
      if (!options.json) io.stdout(renderInspection(inspection, io.look, io.homeDirectory));
    } catch (error) {
      if (paths.length === 1 || !(error instanceof BatonError) || error.code === 'interrupted') throw error;
      io.stderr(explain(error));
      documents.push({ path, error: errorJson(error) });
      status = 1;
    }
  }
  if (options.json) io.stdout(`${JSON.stringify(paths.length === 1 ? documents[0] : documents, null, 2)}\n`);
  return status;
}

async function inspectFile(
  io: CommandIo,
  config: Config,
  path: string,
  { precise, top }: InspectOptions,
): Promise<Inspection> {
  const count = precise ? await (await import('../../../tokens/tokenizer.io.ts')).loadTokenizer() : undefined;
  const reading = { config, count, holdsItems: top !== undefined };
  const { entries, ...read } = await withSource(io, path, (source) => readForInspection(io, source, reading));
  const { account } = read;
  const threshold = thresholdState(account.usage.used, account.window, thresholdSettings(config));
  const limit = agentLimit(read.report.format, account.window);
  const settings = accountSettings(config, count);
  const countText = count ?? ((text: string) => approximateTokens(text, settings.estimate));
  return {
    path,
    ...read,
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

interface InspectInput {
  readonly config: Config;
  readonly count: CountText | undefined;
  readonly holdsItems: boolean;
}

/** Reads a session two ways at once, its account and its signals, and a third way where its items are wanted. */
async function readForInspection(
  io: CommandIo,
  source: ByteSource,
  reading: InspectInput,
  keepFrames = 1,
): Promise<
  Pick<Inspection, 'report' | 'account' | 'signals'> & { readonly entries: readonly Entry<Item>[] }
> {
  const { config, count, holdsItems } = reading;
  const { SignalDetector, signalSettings } = await import('../../../watcher/signals/signals.ts');
  const fold = new AccountFold(accountSettings(config, count), keepFrames);
  const detector = new SignalDetector(signalSettings(config));
  const signals: Signal[] = [];
  const history = holdsItems ? new HistoryFold(WHOLE_ITEMS, keepFrames) : undefined;
  const report = await readSession(io, source, (record) => {
    fold.add(record);
    history?.add(record);
    signals.push(...detector.add(record));
  });
  // An undo in the file needs more of the past than is usually kept.
  if (fold.hasLostPast) return readForInspection(io, source, reading, Infinity);
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
