// A scripted session: about forty appends with compactions, a clearing, undos and a fork. It can be begun, or gone on with
// by another process wherever an earlier one was stopped.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { LogRecord } from '../../src/protocol/record.ts';
import { createRollout, forkRollout, openRollout } from '../../src/rollout/rollout.io.ts';
import type { Rollout, RolloutWorld } from '../../src/rollout/rollout.io.ts';
import type { RolloutFiles } from '../../src/rollout/files.ts';
import { agentSays, toolCall, userSays } from '../support/records.ts';

const AT = '2026-01-02T03:04:05.000Z';
export const PARENT = '01a00000-0000-7000-8000-00000000000a';
export const FORK = '01a00000-0000-7000-8000-00000000000f';
const WINDOW = '01a00000-0000-7000-8000-0000000000f1';

/** Records that are appended in one call. An undo is asked for by name. */
type Step = readonly LogRecord[] | 'undo';

function turn(number: number): Step[] {
  const turnId = `turn-${number}`;
  const call = toolCall(
    `call-${number}`,
    'shell',
    { cmd: `make part-${number}` },
    `part ${number} is made\n`.repeat(20),
  );
  return [
    [
      { type: 'turn_started', turnId, origin: { type: 'user', messageId: `m${number}` } },
      { type: 'item', item: userSays(`Make part ${number}, and mind the Größe.`) },
    ],
    call.slice(0, 1).map((item): LogRecord => ({ type: 'item', item })),
    call.slice(1).map((item): LogRecord => ({ type: 'item', item })),
    [{ type: 'item', item: agentSays(`Part ${number} is made.`) }],
    [{ type: 'usage', usage: { source: 'reported', covers: 'response', total: 100 * number, output: 10 } }],
    [{ type: 'note', kind: 'watcher_state', value: { stage: 'idle', turn: number } }],
    [{ type: 'turn_complete', turnId, lastAgentMessage: `Part ${number} is made.` }],
  ];
}

function compaction(id: string): LogRecord {
  return {
    type: 'compacted',
    id,
    trigger: 'auto',
    phase: 'post_turn',
    replacement: [userSays('Make parts.'), { ...userSays(`Summary ${id}`), isCompactSummary: true } as never],
    summary: `Summary ${id}`,
  };
}

const PARENT_STEPS: readonly Step[] = [
  [{ type: 'settings', model: 'model-a', usableWindow: 100_000 }],
  ...turn(1),
  [compaction('01a00000-0000-7000-8000-0000000000c1')],
  ...turn(2),
  [compaction('01a00000-0000-7000-8000-0000000000c2')],
  'undo',
  ...turn(3),
  [
    {
      type: 'micro_compacted',
      id: '01a00000-0000-7000-8000-0000000000c3',
      callIds: ['call-2'],
      tokensSaved: 90,
    },
  ],
];

const FORK_STEPS: readonly Step[] = [
  ...turn(4),
  'undo',
  [
    { type: 'event', event: { type: 'warning', message: 'All parts are old.' } },
    { type: 'item', item: userSays('Thanks.') },
  ],
  ...turn(5),
  [compaction('01a00000-0000-7000-8000-0000000000c4')],
];

/** How many records the whole script appends. */
export const SCRIPT_RECORDS = countRecords([...PARENT_STEPS, ...FORK_STEPS]);

function countRecords(steps: readonly Step[]): number {
  return steps.reduce((sum, step) => sum + (step === 'undo' ? 1 : step.length), 0);
}

/** What is in the log at the end. */
export interface ScriptEnd {
  readonly parent: ThreadEnd;
  readonly fork: ThreadEnd;
}

interface ThreadEnd {
  readonly path: string;
  readonly history: Rollout['history'];
  readonly compactions: Rollout['compactions'];
}

/** The world of the script: everything that is not decided by it stands still. */
export function scriptWorld(files?: RolloutFiles): RolloutWorld {
  return {
    clock: { now: () => Date.parse(AT) },
    ids: { uuid: () => WINDOW },
    ...(files === undefined ? {} : { files }),
  };
}

function threadWorld(world: RolloutWorld, threadId: string): RolloutWorld {
  let isNamed = false;
  return {
    ...world,
    ids: {
      uuid: () => {
        if (isNamed) return world.ids.uuid();
        isNamed = true;
        return threadId;
      },
    },
  };
}

/**
 * Plays what is left of the script.
 * @param acknowledged told the number of records of the whole script that are acknowledged so far
 */
export async function playScript(
  home: string,
  world: RolloutWorld,
  acknowledged: (records: number) => void,
): Promise<ScriptEnd> {
  const parent = await openOr(home, PARENT, world, () =>
    createRollout(home, { cwd: '/home/dev/parts', instructions: 'Be exact.' }, threadWorld(world, PARENT)),
  );
  await play(parent, PARENT_STEPS, acknowledged);
  await parent.rollout.close();
  const fork = await openOr(home, FORK, world, async () => {
    const { rollout } = await forkRollout(home, PARENT, {}, threadWorld(world, FORK));
    return rollout;
  });
  const before = countRecords(PARENT_STEPS);
  await play(fork, FORK_STEPS, (records) => acknowledged(before + records));
  await fork.rollout.close();
  return { parent: endOf(parent.rollout), fork: endOf(fork.rollout) };
}

function endOf({ path, history, compactions }: Rollout): ThreadEnd {
  return { path, history, compactions };
}

interface OpenThread {
  readonly rollout: Rollout;
  /** Records of the script that the thread's own file holds. */
  readonly done: readonly LogRecord[];
}

async function openOr(
  home: string,
  threadId: string,
  world: RolloutWorld,
  create: () => Promise<Rollout>,
): Promise<OpenThread> {
  const path = join(home, 'sessions', '2026', '01', '02', `rollout-2026-01-02T03-04-05-${threadId}.jsonl`);
  if (!existsSync(path)) return { rollout: await create(), done: [] };
  try {
    const records: LogRecord[] = [];
    const { rollout } = await openRollout(home, threadId, world, (record) => records.push(record));
    const own = records.filter(({ type }) => type !== 'opaque' && type !== 'session_meta');
    return { rollout, done: threadId === PARENT ? own : own.slice(countRecords(PARENT_STEPS)) };
  } catch (error) {
    // It died before its first line was whole: nothing was ever recorded.
    const { code } = error as { code?: string };
    if (code !== 'format_unknown' && code !== 'file_empty') throw error;
    await (world.files ?? (await import('node:fs/promises'))).unlink(path);
    return { rollout: await create(), done: [] };
  }
}

async function play(
  { rollout, done }: OpenThread,
  steps: readonly Step[],
  acknowledged: (records: number) => void,
): Promise<void> {
  let next = 0;
  for (const step of steps) {
    const count = step === 'undo' ? 1 : step.length;
    const left = Math.min(count, Math.max(0, next + count - done.length));
    next += count;
    if (left === 0) continue;
    if (step === 'undo') await rollout.undo();
    else await rollout.append(step.slice(count - left).map((record): LogRecord => ({ ...record, at: AT })));
    acknowledged(next);
  }
}
