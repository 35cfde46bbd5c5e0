// The row below the composer: where and with what on the left, the gauge on the right, at every width. Pure.

import type { Canvas, Hue, Line, Span } from '../lines/line.ts';
import { cut, lineWidth } from '../lines/wrap.ts';
import type { Chat } from './chat.ts';
import { turnsLeft } from './moment.ts';
import { signsOf } from './signs.ts';
import { fromHome, shortCount, shortDollars } from './words.ts';

/** Hues of the watcher's tiers; the tier's word stands beside it. */
const TIER_HUES: Readonly<Record<string, Hue>> = {
  early: 'good',
  ready: 'warning',
  asap: 'warning',
  emergency: 'bad',
};

/** Parts in the order in which they go when the row is too narrow: the last goes first. */
interface Parts {
  readonly left: readonly Line[];
  readonly right: readonly Line[];
}

/** One row of at most the canvas's width. */
export function statusLine(chat: Chat, canvas: Canvas, homeDirectory: string): Line {
  const { dot } = signsOf(canvas);
  const between: Span = { text: ` ${dot} `, hue: 'quiet' };
  const parts = partsOf(chat, canvas, homeDirectory);
  const join = (lines: readonly Line[]): Line =>
    lines.flatMap((each, at) => (at === 0 ? each : [between, ...each]));
  let { left, right } = parts;
  const width = (): number => lineWidth(join(left)) + lineWidth(join(right)) + 2;
  while (width() > canvas.width && left.length + right.length > 2) {
    if (left.length > 1 && left.length >= right.length) left = left.slice(0, -1);
    else right = right.slice(0, -1);
  }
  const end = join(right);
  const start = cut(join(left), Math.max(0, canvas.width - lineWidth(end) - 2), signsOf(canvas).more);
  const gap = Math.max(1, canvas.width - lineWidth(start) - lineWidth(end));
  return cut([...start, { text: ' '.repeat(gap) }, ...end], canvas.width, '');
}

function quiet(text: string): Line {
  return [{ text, hue: 'quiet' }];
}

function partsOf(chat: Chat, canvas: Canvas, homeDirectory: string): Parts {
  const { settings, gauge, spending } = chat;
  if (settings === undefined) return { left: [[{ text: 'starting', hue: 'quiet' }]], right: [] };
  const modes = [
    ...(settings.plan_mode ? ['plan mode'] : []),
    ...(settings.mode === 'auto' ? [] : [`autocompact ${settings.mode}`]),
    ...(settings.review_mode ? ['review'] : []),
  ];
  const left = [
    quiet(fromHome(settings.cwd, homeDirectory)),
    quiet(settings.model),
    ...modes.map((text): Line => [{ text, hue: 'warning' }]),
  ];
  if (gauge === undefined) return { left, right: [] };
  const turns = turnsLeft(chat);
  const right = [
    gaugeOf(gauge, canvas),
    ...(turns === undefined
      ? []
      : [quiet(turns === 0 ? 'full next turn' : `about ${turns} turn${turns === 1 ? '' : 's'} left`)]),
    ...(spending === undefined || spending.requests === 0 || spending.unpriced_requests === spending.requests
      ? []
      : [quiet(shortDollars(spending.dollars))]),
  ];
  return { left, right };
}

/** Columns of the bar. */
const BAR = 8;

/** `▓▓▓░░░░░ 38% 76k/200k ready`: what is used, of what, and how urgent a compaction is. */
function gaugeOf(gauge: NonNullable<Chat['gauge']>, canvas: Canvas): Line {
  const { used, percent_remaining: left, tier } = gauge;
  if (left === null) return [{ text: `${shortCount(used)} used`, hue: 'quiet' }];
  const percent = Math.min(100, Math.max(0, 100 - left));
  const hue: Hue = tier === null ? 'quiet' : (TIER_HUES[tier] ?? 'quiet');
  const full = Math.round((percent / 100) * BAR);
  const [on, off] = canvas.hasUnicode ? ['█', '░'] : ['#', '.'];
  const bar = `${on.repeat(full)}${off.repeat(BAR - full)}`;
  const word = tier === null ? '' : ` ${tier}`;
  return [
    { text: bar, hue },
    { text: ` ${Math.round(percent)}% full` },
    { text: ` (${shortCount(used)})`, hue: 'quiet' },
    ...(word === '' ? [] : [{ text: word, hue, isBold: true }]),
  ];
}
