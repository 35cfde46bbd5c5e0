// Threads that are rehearsed from a recording: the real session over a log in memory, with ids that are counted.

import { compactionWorld } from './compactable.ts';
import type { Summarizers } from '../../src/compaction/summarise/summarizers.ts';
import { DEFAULT_CONFIG } from '../../src/config/defaults.ts';
import { SHIPPED_PROMPTS } from '../../src/prompts/shipped.ts';
import { authorOf, callOf, resultCallId, textOfParts } from '../../src/protocol/item.ts';
import type { Item, MessageItem } from '../../src/protocol/item.ts';
import type { SessionEvent } from '../../src/protocol/wire/event.ts';
import type { LogRecord } from '../../src/protocol/record.ts';
import { pauseFor, Rehearsal } from '../../src/lab/rehearsal/rehearsal.io.ts';
import type { RehearsalSettings, RehearsalWorld } from '../../src/lab/rehearsal/rehearsal.io.ts';
import { Session } from '../../src/session/session.io.ts';
import type { SessionLog } from '../../src/session/terms.ts';
import type { TurnEnding } from '../../src/session/loop.ts';

export interface RehearsedSurroundings {
  /** Raw window in tokens; the recorded one unless given. */
  readonly window?: number;
  readonly past?: readonly LogRecord[];
  readonly speed?: number;
  readonly pause?: RehearsalWorld['pause'];
  /** Whether what came while the agent was at work can be brought to it. */
  readonly steers?: boolean;
  /** Beside the log in memory. */
  readonly log?: SessionLog;
  /** Makes the rehearsal itself write the summaries. */
  readonly summarizes?: boolean;
}

/** A thread and the rehearsal behind it. */
export interface RehearsedThread {
  readonly session: Session;
  readonly rehearsal: Rehearsal;
  /** The log, with what was there before. */
  readonly records: LogRecord[];
  readonly events: SessionEvent[];
}

export const REHEARSAL_SETTINGS: RehearsalSettings = {
  estimate: DEFAULT_CONFIG.compact,
  summaryInstructions: SHIPPED_PROMPTS['compact-system.md'],
};

/** Opens a thread on a recording. */
export function rehearse(
  recording: readonly LogRecord[],
  surroundings: RehearsedSurroundings = {},
): RehearsedThread {
  const { window, past = [], speed = 0, pause = pauseFor, summarizes = false, steers = true } = surroundings;
  const { log } = surroundings;
  const records = [...past];
  const events: SessionEvent[] = [];
  const thread: { session?: Session } = {};
  const { hash } = compactionWorld();
  const rehearsal = new Rehearsal(recording, { ...REHEARSAL_SETTINGS, speed }, { hash, pause });
  rehearsal.join({ past, steer: async (item) => steers && thread.session?.steer(item) });
  const usedWindow = window ?? rehearsal.modelWindow;
  const session = new Session(
    {
      config: { ...DEFAULT_CONFIG, modelContextWindow: usedWindow },
      model: rehearsal.model,
      modelName: 'rehearsal',
      instructions: 'You are rehearsing.',
      threadId: 'thread-1',
      log: rehearsal.following({
        append: async (added) => {
          await log?.append(added);
          records.push(...added);
        },
        sync: async () => log?.sync(),
      }),
      tools: rehearsal.tools,
      compaction: compactionWorld(summarizes ? { summarizers: ownSummarizers(rehearsal, usedWindow) } : {}),
      emit: (event) => void events.push(event),
    },
    past,
  );
  thread.session = session;
  return { session, rehearsal, records, events };
}

function ownSummarizers({ model }: Rehearsal, window: number): Summarizers {
  return {
    models: [{ model, window, name: 'rehearsal', thinks: false, costOf: () => undefined }],
    prompts: {
      system: SHIPPED_PROMPTS['compact-system.md'],
      request: SHIPPED_PROMPTS['compact.md'],
      hasSections: true,
    },
    deadlineMs: 60_000,
  };
}

/** Plays the recording to its end, or until a turn comes to nothing. @returns how the turns ended */
export async function playOut({ session, rehearsal }: RehearsedThread): Promise<readonly TurnEnding[]> {
  const endings: TurnEnding[] = [];
  for (const { items } of rehearsal.turns()) endings.push(await session.turn(items));
  return endings;
}

/** The same for a user who interrupts now and then, and goes on. */
export async function playOn(thread: RehearsedThread): Promise<void> {
  while (thread.rehearsal.progress < 1) {
    const endings = await playOut(thread);
    if (endings.length === 0) throw new RangeError('The rehearsal does not move');
  }
}

/** What of a log must be the same in a rehearsal: computed without the script. */
export interface Conversation {
  readonly user: readonly string[];
  /** The agent's words and calls in order, but for what it said to nobody or in a client's name. */
  readonly agent: readonly string[];
  /** `name input → output` of every call that may have a result, in the order of the calls. */
  readonly calls: readonly string[];
}

/** The conversation in the items of a log. */
export function conversationOf(records: readonly LogRecord[]): Conversation {
  const items = itemsOf(records);
  const calls: { readonly id: string; readonly told: string; output: string }[] = [];
  for (const item of items) {
    const call = callOf(item);
    if (call?.callId !== undefined) {
      calls.push({ id: call.callId, told: `${call.name} ${call.input}`, output: 'nothing' });
    }
    const answered = calls.findLast(({ id }) => id === resultCallId(item));
    if (answered?.output === 'nothing') answered.output = outputOf(item);
  }
  return {
    user: items.filter(isUserMessage).map(({ content }) => JSON.stringify(content)),
    agent: items.filter((item) => authorOf(item) === 'agent' && isSpoken(item)).map(saidBy),
    calls: calls.map(({ told, output }) => `${told} → ${output}`),
  };
}

/** A file that starts in the middle of a session begins with what a compaction left. */
function itemsOf(records: readonly LogRecord[]): readonly Item[] {
  const first = records.find(({ type }) => type === 'item' || type === 'compacted');
  return records.flatMap((record) => {
    if (record.type === 'item') return [record.item];
    return record.type === 'compacted' && record === first ? record.replacement : [];
  });
}

function isUserMessage(item: Item): item is MessageItem {
  return item.type === 'message' && authorOf(item) === 'user' && isSpoken(item);
}

function isSpoken(item: Item): boolean {
  if (item.provider === 'rehearsal' && item.id === undefined) return false;
  return item.type !== 'message' || (item.isApiErrorMessage !== true && item.model !== '<synthetic>');
}

function saidBy(item: Item): string {
  if (item.type === 'message') return `says ${textOfParts(item.content)}`;
  const call = callOf(item);
  return call === undefined ? item.type : `${call.name} ${call.input}`;
}

function outputOf(item: Item): string {
  return 'output' in item ? JSON.stringify(item.output) : 'an output of another kind';
}
