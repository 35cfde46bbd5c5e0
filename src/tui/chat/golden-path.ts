// The golden path as one block: pause, notes, packet, compaction, handoff. Drawn from the newest `watcher_state` alone. Pure.

import type { Canvas, Line, Span } from '../lines/line.ts';
import { line } from '../lines/line.ts';
import { cut, lineWidth, wrap } from '../lines/wrap.ts';
import type { Chat } from './chat.ts';
import type { EventNamed } from '../channel.ts';
import { decidedMoment } from './moment.ts';
import { signsOf } from '../lines/signs.ts';
import type { Signs } from '../lines/signs.ts';
import { wholeSeconds } from '../lines/words.ts';

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
  agent: '',
  packet: 'Baton writes the packet',
  compaction: 'compacting',
  handoff: 'handing over',
};

/** The rows of the block; none while no compaction is under way. @param now milliseconds since 1970 */
export function goldenPathLines(chat: Chat, canvas: Canvas, now: number): readonly Line[] {
  const { watcher } = chat;
  if (watcher === undefined || watcher.steps.length === 0) return soloLines(chat, canvas, now);
  const signs = signsOf(canvas);
  const title = titleLines(chat, canvas);
  const steps = stepLines(watcher, canvas);
  const foot = [awaitedWords(watcher), deadlineWords(watcher, chat.watcherSince, now), CANCEL]
    .filter((each) => each !== '')
    .join(` ${signs.dot} `);
  return [
    ...title,
    ...steps,
    ...wrap(line(`  ${foot}`, { hue: 'quiet' }), { width: canvas.width, hanging: [{ text: '  ' }] }),
  ];
}

/** Columns between two steps: less where they would not fit. */
const GAPS = [3, 2, 1] as const;

/** The five steps, in one row where they fit; a step is never cut in two. */
function stepLines(watcher: WatcherState, canvas: Canvas): readonly Line[] {
  const signs = signsOf(canvas);
  const statuses = stepStatuses(watcher);
  const steps = STEP_WORDS.map((word, at): Span => {
    const status = statuses[at] ?? 'pending';
    return {
      text: `${signOf(status, signs)} ${word}${ADDED[status] ?? ''}`,
      ...(status === 'running' ? { isBold: true, hue: 'accent' as const } : {}),
      ...(status === 'pending' || status === 'skipped' ? { hue: 'quiet' as const } : {}),
    };
  });
  const widthWith = (gap: number): number => 2 + lineWidth(steps) + gap * (steps.length - 1);
  const gap = GAPS.find((each) => widthWith(each) <= canvas.width) ?? GAPS[0];
  const rows: Span[][] = [];
  for (const step of steps) {
    const row = rows.at(-1);
    if (row !== undefined && lineWidth(row) + gap + lineWidth([step]) <= canvas.width) {
      row.push({ text: ' '.repeat(gap) }, step);
    } else rows.push([{ text: '  ' }, step]);
  }
  return rows.map((row) => cut(row, canvas.width));
}

/** What is under way, at which moment, and how full the window is: `/why` has the whole sentence. */
function titleLines({ decision }: Chat, canvas: Canvas): readonly Line[] {
  const { running, dot } = signsOf(canvas);
  const isDecided = decision?.should_compact === true;
  const left = isDecided ? decision.percent_remaining : null;
  const about = [
    isDecided ? decidedMoment(decision) : '',
    left === null ? '' : `${Math.round(left)}% of the window left`,
    isDecided ? '/why' : '',
  ].filter((each) => each !== '');
  return wrap(
    [
      { text: `${running} `, hue: 'accent' },
      { text: 'Compacting with a handover', isBold: true, hue: 'accent' },
      { text: about.length === 0 ? '' : `  ${about.join(` ${dot} `)}`, hue: 'quiet' },
    ],
    { width: canvas.width, hanging: [{ text: '  ' }] },
  );
}

/** What the watcher waits for; of the agent, what it was asked for. */
function awaitedWords({ awaits, awaited_steps: steps }: WatcherState): string {
  if (awaits !== 'agent') return AWAITED[awaits];
  const asked = steps.map((step) => ASKED[step] ?? '').filter((each) => each !== '');
  return `waiting for the agent's ${asked.length === 0 ? 'answer' : asked.join(' and ')}`;
}

const ASKED: Readonly<Partial<Record<WatcherState['steps'][number]['step'], string>>> = {
  scratch: 'notes',
  packet_request: 'packet',
};

const CANCEL = 'esc cancels';

/** A compaction without a handover, as `/compact` makes it, and the judge, who is asked before any step. */
function soloLines(chat: Chat, canvas: Canvas, now: number): readonly Line[] {
  const { compactingSince, watcher, watcherSince } = chat;
  const { running, dot } = signsOf(canvas);
  const row = (title: string, about: readonly string[]): readonly Line[] =>
    wrap(
      [
        { text: `${running} `, hue: 'accent' },
        { text: title, isBold: true, hue: 'accent' },
        { text: `  ${[...about, CANCEL].join(` ${dot} `)}`, hue: 'quiet' },
      ],
      { width: canvas.width, hanging: [{ text: '  ' }] },
    );
  if (compactingSince !== undefined) return row('Compacting', [wholeSeconds(now - compactingSince)]);
  if (watcher?.awaits !== 'judgment') return [];
  return row('Asking the judge whether to compact', [deadlineWords(watcher, watcherSince, now)]);
}

function deadlineWords({ deadline }: WatcherState, since: number, now: number): string {
  if (deadline === null) return '';
  const left = Math.max(0, since + deadline.at_most_ms - now);
  return `at most ${wholeSeconds(left)} more`;
}
