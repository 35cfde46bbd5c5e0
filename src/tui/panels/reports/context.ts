// `/context`: what fills the window, as bars that add up.

import { line } from '../../lines/line.ts';
import type { Canvas, Hue, Line } from '../../lines/line.ts';
import { formatNumber, plural } from '../../../tokens/words.ts';
import { signsOf } from '../../lines/signs.ts';
import type { EventNamed } from '../../channel.ts';
import type { Panel } from '../panel.ts';
import { shortTokens } from '../../lines/words.ts';
import { paragraph, spoken } from '../wording.ts';
import { pagePanel } from './text.ts';

type Breakdown = EventNamed<'context_breakdown'>;

interface Part {
  readonly name: string;
  readonly tokens: number;
  readonly hue?: Hue;
  readonly isFree?: true;
}

/** Bars by category, the fixed part, free space, and what could be cleared. */
export function contextPanel(breakdown: Breakdown): Panel {
  return pagePanel({
    title: 'What fills the context',
    rowsOf: (canvas) => rowsOf(breakdown, canvas),
  });
}

/** Columns of a name, and of the numbers behind a bar. */
const NAME_COLUMNS = 20;
const NUMBER_COLUMNS = 15;

function rowsOf(breakdown: Breakdown, canvas: Canvas): readonly Line[] {
  const { width } = canvas;
  const { used, usable_window: usable, model_context_window: window, anchor } = breakdown;
  const whole = Math.max(usable ?? used, used, 1);
  const row = (part: Part): Line => barRow(part, whole, canvas);
  const left = usable === null ? undefined : usable - used;
  const reserve = usable === null || window === null ? 0 : window - usable;
  const counted = anchor === 'reported' ? '' : ' (estimated)';
  const total =
    usable === null
      ? `${formatNumber(used)} tokens${counted}; the window is unknown`
      : `${formatNumber(used)} of ${formatNumber(usable)} usable tokens${counted}`;
  return [
    ...paragraph(total, width, { isBold: true }),
    [],
    ...partsOf(breakdown).map(row),
    row({ name: 'Used', tokens: used, hue: 'accent' }),
    ...(left === undefined ? [] : [row({ name: 'Free', tokens: left, hue: 'quiet', isFree: true })]),
    [],
    ...(reserve > 0
      ? paragraph(`${formatNumber(reserve)} more tokens of the window are kept for the answer.`, width, {
          hue: 'quiet',
        })
      : []),
    ...paragraph(clearable(breakdown), width),
  ];
}

/** Everything that adds up to `used`, without parts of no tokens. */
function partsOf(breakdown: Breakdown): readonly Part[] {
  const { categories, fixed, counting, restored, margin, unexplained } = breakdown;
  const parts: readonly Part[] = [
    { name: 'Instructions, tools', tokens: fixed, hue: 'quiet' },
    ...categories.map(({ category, tokens }) => ({ name: capital(spoken(category)), tokens })),
    { name: 'Restored files', tokens: restored },
    { name: 'Counted differently', tokens: counting, hue: 'quiet' },
    { name: 'Margin', tokens: margin, hue: 'quiet' },
    { name: 'Unexplained', tokens: unexplained, hue: 'quiet' },
  ];
  return parts.filter(({ tokens }) => tokens !== 0);
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

function barRow({ name, tokens, hue, isFree }: Part, whole: number, canvas: Canvas): Line {
  const { filled, free } = signsOf(canvas);
  const room = Math.max(0, canvas.width - NAME_COLUMNS - NUMBER_COLUMNS);
  const share = Math.max(0, tokens) / whole;
  // A part that is there is seen, however small.
  const columns = Math.min(room, tokens > 0 ? Math.max(1, Math.round(share * room)) : 0);
  const percent = `${((tokens / whole) * 100).toFixed(1)}%`;
  return [
    { text: name.padEnd(NAME_COLUMNS) },
    ...line((isFree === true ? free : filled).repeat(columns), { hue: hue ?? 'name' }),
    { text: ' '.repeat(room - columns) },
    { text: shortTokens(tokens).padStart(7) },
    { text: percent.padStart(8), hue: 'quiet' },
  ];
}

function clearable({ clearable: { results, tokens, is_worth_it: isWorthIt } }: Breakdown): string {
  if (results === 0) return 'No old tool result can be cleared now.';
  const what = `${plural(results, 'old tool result')} with ${formatNumber(tokens)} tokens can be cleared`;
  return isWorthIt
    ? `${what}: /compact does it, and /compact --preview shows what it would do.`
    : `${what}, which is too little to be worth it now. /compact --preview shows what a summary would free.`;
}
