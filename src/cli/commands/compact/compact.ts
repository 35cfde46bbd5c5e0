// `baton compact`: one compaction of one session, previewed, written to another file or installed.

import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { checkDestination, writeOutput } from '../../../calls/output.io.ts';
import type { Destination } from '../../../calls/output.io.ts';
import {
  compactedPieces,
  estimateCounter,
  occasionOf,
  readForCompaction,
  redacted,
  subjectOf,
  tokenCounter,
} from '../../../calls/session-compaction.ts';
import type { ReadForCompaction } from '../../../calls/session-compaction.ts';
import { withSource } from '../../../calls/session-source.ts';
import { openSummarizers } from '../../../calls/summarizers.ts';
import type { Config } from '../../../config/schema.ts';
import { BatonError } from '../../../errors.ts';
import { tokensSpent } from '../../../compaction/completed.ts';
import { compactHistory } from '../../../compaction/compact.io.ts';
import type { Compaction, CompactionWorld } from '../../../compaction/subject.ts';
import { noteWithin } from '../../../compaction/full/receipt.ts';
import { countKnownSecrets, countReplacedSecrets } from '../../../compaction/full/secrets.ts';
import type { WorkspaceFiles } from '../../../ports.ts';
import { redact } from '../../../text/redact.ts';
import type { ByteSource } from '../../../formats/source.io.ts';
import { isAgentFormat, isMessageFormat, sameFormat } from '../../../formats/write.ts';
import type { CompactionEvent } from '../../../protocol/wire/event.ts';
import type { Receipt } from '../../../protocol/receipt.ts';
import { withinDeadline } from '../../../system/deadline.io.ts';
import type { Trail } from '../../../trail/trail.ts';
import type { Format, OutputFormat, Strategy, WriteFormat } from '../../../vocabulary.ts';
import { openHooks } from '../../configured/hooks.ts';
import { prepareInstall, resumeCommand, printResume } from '../../session-files/install.io.ts';
import type { CommandIo } from '../../io.ts';
import { modelWorld, readSession, refuseTerminal, warnOfDamage } from '../../session-files/session.ts';
import { arrow, formatNumber, plural, printable } from '../../style.ts';
import { lossOf } from './loss.ts';
import { openWorkspace } from '../../../system/workspace.io.ts';

/** The options of the command, as the user gave them. */
export interface CompactFlags {
  readonly strategy: Strategy;
  readonly targetTokens?: number;
  /** `PROVIDER/MODEL`, or `embedded`. */
  readonly model?: string;
  /** What the summary should focus on. */
  readonly instructions?: string;
  readonly preview?: true;
  /** With `preview`: every kind, and the summary. */
  readonly full?: true;
  /** Write only the summary, without a session. */
  readonly summaryOnly?: true;
  readonly out?: string;
  readonly format: OutputFormat;
  readonly prune?: true;
  /** Also replace known secrets outside the summary. */
  readonly redact?: true;
  readonly install?: true;
  readonly workspace?: string;
  readonly force?: true;
  readonly json?: true;
}

/** From which size on of a session memory counts for more than time. @source docs/decisions/speed.md */
const LARGE_SESSION_BYTES = 64 * 1024 * 1024;

/**
 * Has V8 collect when the heap has doubled. By itself it waits for four times of what is in use: items live until the next
 * compaction in the file, so that most of what they leave is old.
 */
function collectEarlier(): void {
  setFlagsFromString('--heap-growing-percent=100');
}

/** Compacts a session. The file it reads is never changed. */
export async function compact(
  io: CommandIo,
  config: Config,
  path: string,
  flags: CompactFlags,
): Promise<void> {
  checkFlags(flags);
  // Markdown is meant for reading.
  if (isPrinted(flags) && flags.summaryOnly !== true && flags.format !== 'markdown') {
    refuseTerminal(
      io,
      'Add --out FILE or --install, --preview to see what would be kept, --summary-only to read the summary',
    );
  }
  await withSource(io, path, async (source) => {
    if (flags.preview !== true) await checkDestination(destinationOf(flags, source));
    if (source.size > LARGE_SESSION_BYTES) collectEarlier();
    const session = await readForCompaction((emit) => readSession(io, source, emit), config);
    const target = targetFormat(session.report.format, flags);
    const world = await compactionWorld(io, config, session, flags);
    const occasion = occasionOf(session.account, flags);
    const found = subjectOf(session, path, target);
    const subject = flags.redact === true ? redacted(found) : found;
    if (flags.summaryOnly === true) {
      warnOfDamage(io, path, session.report);
      const { writeSummaryOnly } = await import('./summary-only.ts');
      return writeSummaryOnly(io, { subject, occasion, config, world }, destinationOf(flags, source));
    }
    const commit = async (compaction: Compaction): Promise<void> => {
      // Unreadable parts are missing from the summary: the user has to know before resuming without them.
      warnOfDamage(io, path, session.report);
      await writeCompacted(io, { source, session, compaction, flags, target });
    };
    const compaction = await compactHistory(
      subject,
      occasion,
      config,
      flags.preview === true ? world : { ...world, commit },
    );
    if (flags.preview !== true) return;
    warnOfDamage(io, path, session.report);
    const notes = [
      ...clearingNotes(compaction, flags),
      ...(compaction.type === 'full' ? secretNotes(compaction, flags) : []),
    ];
    if (flags.json === true) {
      for (const note of notes) io.stderr(`${note}\n`);
      io.stdout(receiptJson(compaction, session.trail));
      return;
    }
    const { renderPreview } = await import('./view.ts');
    const view = { look: io.look, isFull: flags.full === true, notes };
    io.stdout(renderPreview(compaction, session.trail, view));
  });
}

/** Without a session most options have no effect. */
function checkSummaryOnly(flags: CompactFlags): void {
  const { strategy, format } = flags;
  const idle = [
    ...(['preview', 'install', 'prune', 'redact', 'workspace', 'json'] as const).filter(
      (key) => flags[key] !== undefined,
    ),
    ...(strategy === 'micro' || strategy === 'remote' ? [`strategy ${strategy}`] : []),
    ...(format === 'same' ? [] : ['format']),
  ];
  if (idle.length === 0) return;
  throw new BatonError(
    'usage',
    `--summary-only writes only a summary, so --${idle.join(' and --')} would do nothing`,
    {
      cure: 'Omit one of them.',
    },
  );
}

function checkFlags(flags: CompactFlags): void {
  if (flags.summaryOnly === true) checkSummaryOnly(flags);
  if (flags.full === true && (flags.preview !== true || flags.json === true)) {
    throw new BatonError('usage', '--full makes a --preview longer, and --json has everything already', {
      cure: 'Add --preview and omit --json, or omit --full.',
    });
  }
  const { strategy, model = 'embedded', instructions } = flags;
  if (strategy === 'micro' && flags.redact === true) {
    throw new BatonError(
      'usage',
      '--strategy micro does not change messages, so --redact would have no effect',
      {
        cure: 'Omit --redact, or use --strategy full.',
      },
    );
  }
  if (strategy === 'micro' && (model !== 'embedded' || instructions !== undefined)) {
    throw new BatonError('usage', '--strategy micro writes no summary, so a model has nothing to do', {
      cure: 'Omit --model and --instructions, or choose another strategy.',
    });
  }
  if (flags.json === true && isPrinted(flags)) {
    throw new BatonError(
      'usage',
      '--json prints the receipt, so the session itself needs another destination',
      {
        cure: 'Add --out FILE, --install or --preview.',
      },
    );
  }
  if (flags.install === true && flags.out !== undefined) {
    throw new BatonError('usage', '--install chooses the file itself and cannot be combined with --out', {
      cure: 'Omit one of them.',
    });
  }
}

/** Whether the session goes to standard output. */
function isPrinted({ out, install, preview }: CompactFlags): boolean {
  return out === undefined && install !== true && preview !== true;
}

function targetFormat(format: Format, flags: CompactFlags): WriteFormat {
  const { format: wanted, preview, summaryOnly, install } = flags;
  // Without an output session, the input format need not be writable.
  const own = isAgentFormat(format) || isMessageFormat(format) ? format : 'chat';
  const same = (preview === true || summaryOnly === true) && wanted === 'same' ? own : undefined;
  const target =
    same ?? (wanted === 'same' ? sameFormat(format) : wanted === 'claude' ? 'claude-code' : wanted);
  if (install === true && !isAgentFormat(target)) {
    throw new BatonError('usage', '--install needs an agent that resumes the session', {
      cure: 'Add --format codex or --format claude, or omit --install.',
    });
  }
  return target;
}

async function compactionWorld(
  io: CommandIo,
  config: Config,
  session: ReadForCompaction,
  flags: CompactFlags,
): Promise<CompactionWorld> {
  const summarizers = await openSummarizers(modelWorld(io), config, flags);
  const hooks =
    flags.preview === true || flags.summaryOnly === true
      ? undefined
      : await openHooks(io, config, flags.workspace);
  return {
    clock: io.clock,
    ids: io.ids,
    hash: (text) => createHash('sha256').update(text).digest('hex'),
    ...(flags.strategy === 'micro'
      ? estimateCounter(config)
      : await tokenCounter(session.history.entries, config, {
          signal: io.signal,
          warn: modelWorld(io).warn,
        })),
    within: withinDeadline,
    signal: io.signal,
    emit: (event) => printEvent(io, event),
    ...(summarizers === undefined ? {} : { summarizers }),
    ...(hooks === undefined ? {} : { hooks }),
    ...(flags.workspace === undefined
      ? {}
      : { files: await openFiles(io, { ...flags, workspace: flags.workspace }, session.account.cwd) }),
  };
}

async function openFiles(
  io: CommandIo,
  { workspace, redact: isRedacted }: Pick<CompactFlags, 'redact'> & { readonly workspace: string },
  cwd: string | undefined,
): Promise<WorkspaceFiles> {
  const files = await openWorkspace(resolve(io.cwd, workspace), cwd);
  if (isRedacted !== true) return files;
  return {
    read: async (path) => {
      const read = await files.read(path);
      return read.kind === 'text' ? { ...read, text: redact(read.text) } : read;
    },
  };
}

/** Reports each request to a model, since they take long; the receipt reports the result at the end. */
function printEvent(io: CommandIo, event: CompactionEvent): void {
  if (event.type === 'background_event') io.stderr(`${printable(event.message)}\n`);
  if (event.type === 'warning') io.stderr(`baton: warning: ${printable(event.message)}\n`);
}

interface Write {
  readonly source: ByteSource;
  readonly session: ReadForCompaction;
  readonly compaction: Compaction;
  readonly flags: CompactFlags;
  readonly target: WriteFormat;
}

async function writeCompacted(io: CommandIo, write: Write): Promise<void> {
  const { source, session, flags, target } = write;
  const newSessionId = io.ids.uuid();
  const facts = { newSessionId, at: new Date(io.clock.now()).toISOString(), ids: io.ids };
  const { head, pieces } = compactedPieces({ ...write, isPruned: flags.prune === true }, facts);
  const isInstalled = flags.install === true && isAgentFormat(target);
  const place = isInstalled ? await prepareInstall(io, target, session.account.cwd, newSessionId) : undefined;
  await writeOutput(io, destinationOf({ ...flags, out: place ?? flags.out }, source), [
    ...(isInstalled ? head : []),
    ...pieces,
  ]);
  printResult(io, write, place, newSessionId);
}

function destinationOf(
  { out, force }: Pick<CompactFlags, 'force'> & { out?: string | undefined },
  input: ByteSource,
): Destination {
  return { path: out, overwrites: force === true, inputs: [input] };
}

function printResult(
  io: CommandIo,
  { compaction, flags, target, session }: Write,
  place: string | undefined,
  id: string,
): void {
  const { preTokens, postTokens } = sizes(compaction);
  const where = place ?? flags.out;
  io.stderr(
    `${formatNumber(preTokens)} ${arrow(io.look)} ${formatNumber(postTokens)} tokens${writtenAlone(compaction)}. ${whatHappened(compaction)}` +
      `${where === undefined ? '' : ` Written to ${where}.`}\n`,
  );
  for (const note of clearingNotes(compaction, flags)) io.stderr(`${note}\n`);
  if (compaction.type === 'full') {
    const { receipt } = compaction.record;
    const notes = [
      ...receipt.notes,
      ...secretNotes(compaction, flags),
      ...stateNotes(receipt, session, target),
    ];
    for (const note of notes) io.stderr(`${note}\n`);
    if (flags.redact === true && flags.prune !== true && target === session.report.format) {
      io.stderr('The past in the file still has its secrets, byte for byte; --prune omits it.\n');
    }
  }
  if (where !== undefined && flags.prune !== true && isAgentFormat(target)) {
    io.stderr(`Undo it with: baton undo ${where}${place === undefined ? ' --out FILE' : ' --install'}\n`);
  }
  if (place !== undefined && isAgentFormat(target)) {
    printResume(io, resumeCommand(target, id, session.account.cwd), flags);
  }
  if (flags.json === true) io.stdout(receiptJson(compaction, session.trail));
}

/** Notes on clearing old results, which has no receipt. */
function clearingNotes(compaction: Compaction, { targetTokens }: CompactFlags): readonly string[] {
  const within = compaction.type === 'micro' ? noteWithin(targetTokens, compaction.preTokens) : undefined;
  return within === undefined ? [] : [within];
}

/** Notes on secrets outside the summary: replaced, or replaceable. */
function secretNotes({ items }: Compaction, { redact: isRedacted }: CompactFlags): readonly string[] {
  if (isRedacted === true) {
    return [`${plural(countReplacedSecrets(items), 'secret')} replaced in the text that is kept verbatim.`];
  }
  return countKnownSecrets(items) === 0
    ? []
    : ['--redact also replaces known secrets in the text that is kept verbatim.'];
}

/** What a user who resumes the file must know about a provider's own compaction. */
function stateNotes(
  { implementation, model = '' }: Receipt,
  { report: { tail } }: ReadForCompaction,
  target: WriteFormat,
): readonly string[] {
  if (implementation !== 'remote') return [];
  const provider = printable(model.slice(0, model.indexOf('/')));
  if (target === 'responses') {
    return [
      `An array of items has no place for the summary in words: only ${provider} can continue from this one.`,
    ];
  }
  const own = tail.format === 'codex' ? tail.state.meta?.['model_provider'] : undefined;
  return typeof own === 'string' && own !== provider
    ? [
        `Codex resumes with the provider ${printable(own)}, and accepts the file only if that is the same as ${provider}.`,
      ]
    : [];
}

/** The part that a target limits: the rest of the context is in every request, whatever is written. */
function writtenAlone(compaction: Compaction): string {
  if (compaction.type !== 'full') return '';
  const { postTokens, targetTokens, beside } = compaction.record.receipt;
  if (targetTokens === undefined || beside === undefined) return '';
  const written = postTokens - beside.after;
  return `, ${formatNumber(written)} of them written here (target ${formatNumber(targetTokens)})`;
}

/** Tokens before and after. */
export function sizes(compaction: Compaction): { readonly preTokens: number; readonly postTokens: number } {
  return compaction.type === 'full' ? compaction.record.receipt : compaction;
}

function whatHappened(compaction: Compaction): string {
  if (compaction.type === 'micro') {
    return `${plural(compaction.record.callIds.length, 'old tool result')} cleared.`;
  }
  const { receipt } = compaction.record;
  const secrets = Object.values(receipt.redactions).reduce((sum, count) => sum + count, 0);
  return (
    `${plural(receipt.summarised.count, 'item')} summarised, ${formatNumber(receipt.kept.count)} kept, ` +
    `${formatNumber(receipt.dropped.count)} dropped.` +
    (secrets > 0 ? ` ${plural(secrets, 'secret')} replaced in the summary.` : '') +
    authorOf(receipt)
  );
}

/** Who wrote the summary, if models were asked, and the cost. */
function authorOf({ implementation, model, attempts = [] }: Receipt): string {
  if (attempts.length === 0) return '';
  const { inputTokens: input, outputTokens: output } = tokensSpent(attempts);
  const priced = attempts.flatMap(({ costUsd }) => costUsd ?? []);
  const cost = priced.length === 0 ? '' : `, $${priced.reduce((sum, each) => sum + each, 0).toFixed(4)}`;
  return (
    ` ${implementation === 'remote' ? 'Compacted' : 'Summary'} by ${model === undefined ? 'Baton, without a model' : printable(model)}: ` +
    `${plural(attempts.length, 'request')}, ${formatNumber(input)} tokens in, ${formatNumber(output)} out${cost}.`
  );
}

function receiptJson(compaction: Compaction, trail: Trail): string {
  const document =
    compaction.type === 'full'
      ? { ...compaction.record.receipt, loss: lossOf(compaction, trail) }
      : { ...compaction.record, preTokens: compaction.preTokens, postTokens: compaction.postTokens };
  return `${JSON.stringify(document, null, 2)}\n`;
}
