// `baton undo`: undoes the newest compaction and keeps what came after it.

import type { Config } from '../../../config/schema.ts';
import { BatonError } from '../../../errors.ts';
import { continueSession, isAgentFormat } from '../../../formats/write.ts';
import type { ContextAccount } from '../../../history/context-account.ts';
import type { Format } from '../../../vocabulary.ts';
import { prepareInstall, resumeCommand, printResume } from '../../session-files/install.io.ts';
import type { CommandIo } from '../../io.ts';
import { checkDestination, writeOutput } from '../../../calls/output.io.ts';
import { readForCompaction } from '../../../calls/session-compaction.ts';
import { agentLimit, withSource } from '../../../calls/session-source.ts';
import { readSession, refuseTerminal, warnOfDamage } from '../../session-files/session.ts';
import { formatNumber, plural, printable } from '../../style.ts';

/** The options of the command, as the user gave them. */
export interface UndoFlags {
  readonly out?: string;
  readonly install?: true;
  readonly force?: true;
  readonly json?: true;
}

/**
 * Appends the undo of a compaction to a copy of a session. Never changes the file it reads.
 * @throws BatonError `nothing_to_undo` when no compaction is in effect
 */
export async function undo(io: CommandIo, config: Config, path: string, flags: UndoFlags): Promise<void> {
  if (flags.json === true && flags.out === undefined && flags.install !== true) {
    throw new BatonError('usage', '--json prints a report, so the session itself needs another destination', {
      cure: 'Add --out FILE or --install.',
    });
  }
  if (flags.out === undefined && flags.install !== true) refuseTerminal(io, 'Add --out FILE or --install');
  await withSource(io, path, async (source) => {
    const destination = { overwrites: flags.force === true, inputs: [source] };
    await checkDestination({ ...destination, path: flags.out });
    // The history before every effective compaction: each may be the next to undo.
    const { report, account, fold, history } = await readForCompaction(
      (emit) => readSession(io, source, emit),
      config,
      Infinity,
    );
    const compaction = history.compactions.at(-1);
    const undone = history.beforeNewestCompaction();
    if (compaction === undefined || undone === undefined) {
      throw new BatonError('nothing_to_undo', `${source.name} has no compaction to undo`, {
        cure: '`baton inspect` lists the compactions of a session.',
      });
    }
    warnOfDamage(io, path, report);
    const restored = [...undone.before, ...undone.since];
    fold.add({ type: 'undo_compaction', compactionId: compaction.id });
    const { used: tokens } = fold.gauge();
    const newSessionId = io.ids.uuid();
    const written = continueSession(
      report,
      { type: 'undo', compactionId: compaction.id, restored, totalTokens: tokens },
      { newSessionId, at: new Date(io.clock.now()).toISOString(), ids: io.ids },
    );
    const { format } = report.tail;
    const place =
      flags.install === true && isAgentFormat(format)
        ? await prepareInstall(io, format, account.cwd, newSessionId)
        : undefined;
    await writeOutput(io, { ...destination, path: place ?? flags.out }, [
      ...(place === undefined ? [] : written.head.map((line) => `${line}\n`)),
      { copyOf: source },
      ...written.tail.map((line) => `${line}\n`),
    ]);
    const where = place ?? flags.out;
    io.stderr(
      `The compaction ${compaction.id} is undone: the context holds ${formatNumber(tokens)} tokens again.` +
        `${where === undefined ? '' : ` Written to ${where}.`}\n`,
    );
    const over = Math.max(0, tokens - account.usableWindow);
    for (const warning of overflowWarnings(report.format, account, tokens))
      io.stderr(`baton: warning: ${warning}\n`);
    if (where !== undefined && path !== '-') {
      io.stderr(`${printable(path)} is unchanged: resume it to keep the compaction.\n`);
    }
    if (place !== undefined && isAgentFormat(format))
      printResume(io, resumeCommand(format, newSessionId, account.cwd), flags);
    if (flags.json === true) {
      const document = {
        undone: compaction.id,
        items: restored.length,
        tokens,
        usable: account.usableWindow,
        over,
        written_to: where ?? null,
      };
      io.stdout(`${JSON.stringify(document, null, 2)}\n`);
    }
  });
}

/**
 * Warns if the next request compacts again immediately: the result is written nevertheless, since the input stays and a larger
 * model may follow.
 */
function overflowWarnings(
  format: Format,
  { window, usableWindow: usable }: ContextAccount,
  tokens: number,
): readonly string[] {
  const cure = 'Resume it with a model that has a larger window, or resume the input instead.';
  if (tokens > usable) {
    return [
      `That is ${plural(tokens - usable, 'token')} more than the ${formatNumber(usable)} that the window holds: the next request will fail, or the agent compacts first. ${cure}`,
    ];
  }
  const limit = agentLimit(format, window);
  return limit !== undefined && tokens >= limit
    ? [
        `The agent compacts from about ${formatNumber(limit)} tokens, so it compacts again before it continues. ${cure}`,
      ]
    : [];
}
