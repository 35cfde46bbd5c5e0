// The golden path as one block: pause, notes, packet, compaction, handoff. Drawn from the newest `watcher_state` alone. Pure.

import type { Canvas, Line } from '../lines/line.ts';
import { line } from '../lines/line.ts';
import { wrap } from '../lines/wrap.ts';
import type { Chat } from './chat.ts';
import type { EventNamed } from '../channel.ts';
import { signsOf } from './signs.ts';
import type { Signs } from './signs.ts';
import { wholeSeconds } from './words.ts';

type WatcherState = EventNamed<'watcher_state'>;
type PathStatus = WatcherState['steps'][number]['status'];

/** The steps as a person counts them. The packet is requested and written in one; the compaction lies between packet and handoff. */
const STEP_WORDS = ['pause', 'notes', 'packet', 'compaction', 'handoff'] as const;

function statusOf(state: WatcherState, step: WatcherState['steps'][number]['step']): PathStatus {
  return state.steps.find((each) => each.step === step)?.status ?? 'pending';
}

function compactionStatus(state: WatcherState): PathStatus {
  if (state.stage === 'compacting') return 'running';
  return state.stage === 'post_compact_handoff_pending' || statusOf(state, 'handoff') === 'done'
    ? 'done'
    : 'pending';
}

/** The status of each of the five steps. */
function stepStatuses(state: WatcherState): readonly PathStatus[] {
  const request = statusOf(state, 'packet_request');
  const packet = statusOf(state, 'packet');
  return [
    statusOf(state, 'heads_up'),
    statusOf(state, 'scratch'),
    packet === 'pending' && request !== 'pending' ? 'running' : packet,
    compactionStatus(state),
    statusOf(state, 'handoff'),
  ];
}

function signOf(status: PathStatus, signs: Signs): string {
  switch (status) {
    case 'pending':
      return signs.pending;
    case 'running':
      return signs.running;
    case 'done':
      return signs.done;
    case 'replaced':
    case 'skipped':
      return signs.skipped;
  }
}

/** Words for a status that the sign alone would leave open. */
const ADDED: Readonly<Partial<Record<PathStatus, string>>> = {
  replaced: ' (by Baton)',
  skipped: ' (skipped)',
};

const AWAITED: Readonly<Record<WatcherState['awaits'], string>> = {
  nothing: '',
  plan: 'looking whether a compaction is worth it',
  judgment: 'asking the judge',
  agent: "waiting for the agent's notes",
  packet: "waiting for the agent's packet",
  compaction: 'compacting',
  handoff: 'handing over',
};

/** The rows of the block; none while no compaction is under way. @param now milliseconds since 1970 */
export function goldenPathLines(chat: Chat, canvas: Canvas, now: number): readonly Line[] {
  const { watcher, decision } = chat;
  if (watcher === undefined || watcher.steps.length === 0) return soloLines(chat, canvas, now);
  const signs = signsOf(canvas);
  const why = decision?.should_compact === true ? `  ${decision.why}` : '';
  const title = wrap(
    [
      { text: `${signs.running} `, hue: 'accent' },
      { text: 'Handing over', isBold: true, hue: 'accent' },
      { text: why, hue: 'quiet' },
    ],
    { width: canvas.width, hanging: [{ text: '  ' }] },
  );
  const statuses = stepStatuses(watcher);
  const steps = wrap(
    STEP_WORDS.flatMap((word, at) => {
      const status = statuses[at] ?? 'pending';
      return [
        { text: at === 0 ? '  ' : '   ' },
        {
          text: `${signOf(status, signs)} ${word}${ADDED[status] ?? ''}`,
          ...(status === 'running' ? { isBold: true, hue: 'accent' as const } : {}),
          ...(status === 'pending' || status === 'skipped' ? { hue: 'quiet' as const } : {}),
        },
      ];
    }),
    { width: canvas.width, hanging: [{ text: '  ' }] },
  );
  const awaited = AWAITED[watcher.awaits];
  const until = deadlineWords(watcher, chat.watcherSince, now);
  const foot = [awaited, until, 'esc cancels'].filter((each) => each !== '').join(` ${signs.dot} `);
  return [
    ...title,
    ...steps,
    ...wrap(line(`  ${foot}`, { hue: 'quiet' }), { width: canvas.width, hanging: [{ text: '  ' }] }),
  ];
}

/** A compaction without a handover, as `/compact` makes it. */
function soloLines({ compactingSince }: Chat, canvas: Canvas, now: number): readonly Line[] {
  if (compactingSince === undefined) return [];
  const { running, dot } = signsOf(canvas);
  const took = wholeSeconds(now - compactingSince);
  return [
    [
      { text: `${running} `, hue: 'accent' },
      { text: 'Compacting', isBold: true, hue: 'accent' },
      { text: `  ${took} ${dot} esc cancels`, hue: 'quiet' },
    ],
  ];
}

function deadlineWords({ deadline }: WatcherState, since: number, now: number): string {
  if (deadline === null) return '';
  const left = Math.max(0, since + deadline.at_most_ms - now);
  return `at most ${wholeSeconds(left)} more`;
}
