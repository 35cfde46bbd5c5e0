// The row below the composer: where and with what on the left, the gauge on the right, at every width. Pure.

import type { Canvas, Hue, Line, Span } from '../lines/line.ts';
import { cut, lineWidth } from '../lines/wrap.ts';
import type { Chat } from './chat.ts';
import { turnsLeft } from './moment.ts';
import { signsOf } from '../lines/signs.ts';
import { fromHome, shortTokens, shortDollars } from '../lines/words.ts';

/** Hues of the watcher's tiers; the tier's word stands beside it. */
const TIER_HUES: Readonly<Record<string, Hue>> = {
  early: 'good',
  ready: 'warning',
  asap: 'warning',
  emergency: 'bad',
};

/** A part of the row. The higher its rank, the earlier it goes when the row is too narrow; rank 0 stays. */
interface StatusPart {
  readonly rank: number;
  readonly line: Line;
  /** What replaces it before anything goes; undefined: nothing. */
  readonly short?: StatusPart;
}

/** One row of at most the canvas's width. */
export function statusLine(chat: Chat, canvas: Canvas, homeDirectory: string): Line {
  const { dot, ellipsis } = signsOf(canvas);
  const between: Span = { text: ` ${dot} `, hue: 'quiet' };
  const join = (parts: readonly StatusPart[]): Line =>
    parts.flatMap(({ line }, at) => (at === 0 ? line : [between, ...line]));
  let { left, right } = partsOf(chat, canvas, homeDirectory);
  const isTooWide = (): boolean =>
    lineWidth(join(left)) + (right.length === 0 ? 0 : lineWidth(join(right)) + 2) > canvas.width;
  for (let rank = MOST_RANK; rank > 0 && isTooWide(); rank--) {
    const shortened = (part: StatusPart): StatusPart => (part.rank === rank ? (part.short ?? part) : part);
    left = left.map(shortened);
    right = right.map(shortened);
    if (!isTooWide()) break;
    left = left.filter((part) => part.rank !== rank);
    right = right.filter((part) => part.rank !== rank);
  }
  const end = join(right);
  const start = cut(join(left), Math.max(0, canvas.width - lineWidth(end) - 2), ellipsis);
  const gap = Math.max(1, canvas.width - lineWidth(start) - lineWidth(end));
  return cut([...start, { text: ' '.repeat(gap) }, ...end], canvas.width, '');
}

function quiet(text: string): Line {
  return [{ text, hue: 'quiet' }];
}

/** Which parts go first: what people miss least. */
const RANKS = { cost: 7, cwd: 6, turns: 5, bar: 4, directory: 3, model: 2, tokens: 1, mode: 0 } as const;
const MOST_RANK = RANKS.cost;

function partsOf(
  chat: Chat,
  canvas: Canvas,
  homeDirectory: string,
): { readonly left: readonly StatusPart[]; readonly right: readonly StatusPart[] } {
  const { settings, gauge, spending } = chat;
  if (settings === undefined) return { left: [{ rank: RANKS.mode, line: quiet('starting') }], right: [] };
  const modes = [
    ...(settings.plan_mode ? ['plan mode'] : []),
    ...(settings.review_mode ? ['review'] : []),
    ...(settings.approval_policy === 'untrusted' ? ['asks first'] : []),
    ...(settings.mode === 'auto' ? [] : [`autocompact ${settings.mode}`]),
  ];
  const cwd = fromHome(settings.cwd, homeDirectory);
  const left = [
    ...modes.map((text): StatusPart => ({ rank: RANKS.mode, line: [{ text, hue: 'warning' }] })),
    {
      rank: RANKS.cwd,
      line: quiet(cwd),
      short: { rank: RANKS.directory, line: quiet(cwd.slice(cwd.lastIndexOf('/') + 1)) },
    },
    { rank: RANKS.model, line: quiet(settings.model) },
  ];
  const turns = turnsLeft(chat);
  const right = [
    ...(gauge === undefined ? [] : gaugeParts(gauge, canvas)),
    ...(turns === undefined
      ? []
      : [
          {
            rank: RANKS.turns,
            line: quiet(turns === 0 ? 'full next turn' : `about ${turns} turn${turns === 1 ? '' : 's'} left`),
          },
        ]),
    ...(spending === undefined || spending.requests === 0 || spending.unpriced_requests === spending.requests
      ? []
      : [{ rank: RANKS.cost, line: quiet(shortDollars(spending.dollars)) }]),
  ];
  return { left, right };
}

/** Columns of the bar. */
const BAR = 8;

/** `███░░░░░ 38% full (76k) ready`: what is used, of what, and how urgent a compaction is. */
function gaugeParts(gauge: NonNullable<Chat['gauge']>, canvas: Canvas): readonly StatusPart[] {
  const { used, percent_remaining: left, tier } = gauge;
  if (left === null) return [{ rank: RANKS.mode, line: quiet(`${shortTokens(used)} used`) }];
  const percent = Math.min(100, Math.max(0, 100 - left));
  const hue: Hue = tier === null ? 'quiet' : (TIER_HUES[tier] ?? 'quiet');
  const full = Math.round((percent / 100) * BAR);
  const [on, off] = canvas.hasUnicode ? ['█', '░'] : ['#', '.'];
  const word: Line = tier === null ? [] : [{ text: ` ${tier}`, hue, isBold: true }];
  const bar: Span = { text: `${on.repeat(full)}${off.repeat(BAR - full)} `, hue };
  const share: Span = { text: `${Math.round(percent)}% full` };
  const count: Span = { text: ` (${shortTokens(used)})`, hue: 'quiet' };
  const least: StatusPart = { rank: RANKS.mode, line: [share, ...word] };
  const barless: StatusPart = { rank: RANKS.tokens, line: [share, count, ...word], short: least };
  return [{ rank: RANKS.bar, line: [bar, share, count, ...word], short: barless }];
}
