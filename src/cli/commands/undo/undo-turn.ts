// `baton undo --turn`: undoes the newest turn of one of Baton's own sessions, conversation and files.

import { batonHome } from '../../../config/load.io.ts';
import { BatonError } from '../../../errors.ts';
import { WHOLE_ITEMS } from '../../../history/clear.ts';
import { HistoryFold, requireUndoable } from '../../../history/project.ts';
import type { NewestTurn } from '../../../history/project.ts';
import { programEnvironment } from '../../../system/environment.ts';
import { authorOf, textOfParts } from '../../../protocol/item.ts';
import type { Item } from '../../../protocol/item.ts';
import type { LogRecord } from '../../../protocol/record.ts';
import { openRollout } from '../../../rollout/rollout.io.ts';
import type { Rollout } from '../../../rollout/rollout.io.ts';
import { recordedDirectory } from '../../../thread/context.ts';
import type { SnapshotDescription } from '../../../snapshots/undo.ts';
import { TurnSnapshots, refuseRestore } from '../../../thread/snapshots/turn-snapshots.io.ts';
import type { FilesRestored } from '../../../thread/snapshots/turn-snapshots.io.ts';
import { UndoIncomplete } from '../../../thread/snapshots/incomplete.ts';
import { sweepWorkshops } from '../../../thread/snapshots/workshop.io.ts';
import type { LaterEdits } from '../../../vocabulary.ts';
import { shellQuote } from '../../session-files/install.io.ts';
import type { CommandIo } from '../../io.ts';
import { warnOfDamage } from '../../session-files/session.ts';
import { plural, printable } from '../../style.ts';

/** Longest excerpt of the user's message, in characters. */
const MAX_WORDS = 80;

/** The options of the command. */
export interface UndoTurnFlags {
  /** Change nothing. */
  readonly preview?: true;
  /** Also print it as JSON. */
  readonly json?: true;
  /** What to do with files that were changed after the turn; absent: ask about those that the turn changed as well. */
  readonly laterEdits?: LaterEdits;
}

/**
 * Describes what undoing the newest turn reverts and, unless only previewing, does it.
 * @param which a thread id, a path, or `last`
 * @throws UndoIncomplete; BatonError `nothing_to_undo`, also where the files cannot be restored: then nothing changes; as
 * `openRollout`
 */
export async function undoTurn(
  io: CommandIo,
  which: string,
  { preview, json, laterEdits }: UndoTurnFlags,
): Promise<void> {
  const { clock, ids, signal } = io;
  const records: LogRecord[] = [];
  const keep = (record: LogRecord): void => void records.push(record);
  const { rollout, damage } = await openRollout(batonHome(io), which, { clock, ids, signal }, keep);
  try {
    warnOfDamage(io, rollout.path, { damage, hasGrown: false });
    const history = new HistoryFold(WHOLE_ITEMS);
    for (const record of records) history.add(record);
    const turn = requireUndoable(history.newestTurn(), false);
    const turnSnapshots = openTurnSnapshots(io, { rollout, records });
    await sweepWorkshops(batonHome(io), clock);
    try {
      const planned = await describe(io, turn, { turnSnapshots, laterEdits });
      const files =
        preview === true ? planned : await carryOut(io, turn, { turnSnapshots, rollout, laterEdits });
      if (json === true) io.stdout(`${JSON.stringify(documentOf(turn, files, preview === true), null, 2)}\n`);
    } finally {
      await turnSnapshots.close();
    }
  } finally {
    await rollout.close();
  }
}

function openTurnSnapshots(
  io: CommandIo,
  { rollout, records }: { readonly rollout: Rollout; readonly records: readonly LogRecord[] },
): TurnSnapshots {
  const turnSnapshots = new TurnSnapshots({
    directory: recordedDirectory(records) ?? io.cwd,
    home: batonHome(io),
    threadId: rollout.threadId,
    env: programEnvironment(io.env),
    clock: io.clock,
    warn: (message) => io.stderr(`baton: warning: ${message}\n`),
    note: async (record) => void (await rollout.append([record])),
  });
  for (const record of records) turnSnapshots.add(record);
  return turnSnapshots;
}

type Described = Extract<SnapshotDescription, { readonly type: 'described' }>;

/** The effect on files; undefined where none were saved. */
type Files = Pick<Described, 'changes' | 'laterEdits' | 'untouched'> & Partial<Pick<FilesRestored, 'first'>>;

interface Undoing {
  readonly turnSnapshots: TurnSnapshots;
  readonly laterEdits: LaterEdits | undefined;
}

async function describe(
  io: CommandIo,
  { turnId, since }: NewestTurn<Item>,
  { turnSnapshots, laterEdits }: Undoing,
): Promise<Files | undefined> {
  const say = (line: string): void => io.stderr(`${line}\n`);
  say(`The newest turn, ${turnId} (${wordsOf(since)}), and ${plural(since.length, 'item')} since it began.`);
  const files = await turnSnapshots.describe(turnId, laterEdits, io.signal);
  if (files?.type === 'refused') refuseRestore(files.why);
  if (files === undefined) {
    say('There is no snapshot of the files: they stay unchanged.');
    return undefined;
  }
  say(`${plural(files.changes.length, 'file')} to restore:`);
  for (const { path, change } of files.changes) say(`  ${printable(path)} (${change} since)`);
  for (const { path, why } of files.blocked) say(`  ${printable(path)} cannot be restored: it is ${why}`);
  for (const { path, why } of [...files.laterEdits, ...files.untouched])
    say(`  ${printable(path)} stays: it is ${why}`);
  if (laterEdits === undefined && files.laterEdits.some(({ overlaps }) => overlaps))
    say('Files that the turn changed were edited later: add --later-edits keep or --later-edits revert.');
  for (const warning of files.warnings) say(warning);
  return { ...files, untouched: [...files.blocked, ...files.untouched] };
}

async function carryOut(
  io: CommandIo,
  { turnId }: NewestTurn<Item>,
  { turnSnapshots, rollout, laterEdits }: Undoing & { readonly rollout: Rollout },
): Promise<Files | undefined> {
  const way = (ref: string): string =>
    `git -C ${shellQuote(turnSnapshots.directory)} restore --source=${ref} -- .`;
  const files = await turnSnapshots.restore(turnId, laterEdits, io.signal).catch((error: unknown) => {
    if (error instanceof UndoIncomplete && error.keptAs !== undefined) {
      for (const { path, why } of error.left)
        io.stderr(`  ${printable(path)} was not restored: it is ${why}\n`);
      io.stderr(`Restore the files as they were before the undo with: ${way(error.keptAs)}\n`);
    }
    throw error;
  });
  await rollout.append([{ type: 'undo_turn', turnId }]);
  const count = files?.changes.length ?? 0;
  const alike = count === 0 ? '' : `, and so ${count === 1 ? 'is 1 file' : `are ${plural(count, 'file')}`}`;
  io.stderr(`Undone: the conversation is as it was before${alike}.\n`);
  if (files !== undefined && (count > 0 || files.first.ref !== files.undo.ref)) {
    io.stderr(`The files as they were until now are in git. Restore them with: ${way(files.first.ref)}\n`);
  }
  return files;
}

/** As in the schema. */
function documentOf(
  { turnId, since }: NewestTurn<Item>,
  files: Files | undefined,
  isPreview: boolean,
): unknown {
  return {
    undone_turn: turnId,
    items: since.length,
    files: files === undefined ? null : files.changes.map(({ path, change }) => ({ path, change })),
    kept_as: files?.first?.ref ?? null,
    later_edits: (files?.laterEdits ?? []).map(({ path, why, overlaps }) => ({ path, why, overlaps })),
    untouched: (files?.untouched ?? []).map(({ path, why }) => ({ path, why })),
    is_preview: isPreview,
  };
}

function wordsOf(since: NewestTurn<Item>['since']): string {
  const message = since
    .map(({ value }) => value)
    .find((item) => item.type === 'message' && authorOf(item) === 'user');
  const text =
    message?.type === 'message' ? printable(textOfParts(message.content).trim().replaceAll(/\s+/g, ' ')) : '';
  return text.length <= MAX_WORDS ? `“${text}”` : `“${text.slice(0, MAX_WORDS)}…”`;
}

/** Rejects options without effect on a turn. @throws BatonError `usage` */
export function refuseOther(flags: Readonly<Record<string, unknown>>): void {
  const given = ['out', 'install', 'force'].filter((name) => flags[name] !== undefined);
  if (given.length === 0) return;
  throw new BatonError(
    'usage',
    `--turn works on the session itself, so --${given.join(' and --')} would have no effect`,
    {
      cure: '--preview shows what it would do.',
    },
  );
}
