// The charts of the replay report, as inline SVG without scripts, fonts or network access; the page supplies the colours.

import type { GaugeMark, GaugeSeries, PolicyLine } from '../../../lab/replay/report.ts';
import { usableWindow } from '../../../tokens/pressure.ts';
import type { ContextPart } from '../../../calls/context-parts.ts';
import type { SessionReplay } from '../../../lab/replay/outcome.ts';
import { formatNumber } from '../../style.ts';

/** Escapes text for elements and attributes. */
export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

/** Height of a gauge panel in pixels, and the part that stays free for marks at the top. */
const PANEL = 56;
const ABOVE = 10;
/** Points of one gauge: on the widest screen more would not be distinguishable. */
const MOST_POINTS = 240;
/** Width of the inner coordinates that are stretched over a chart, in arbitrary units. */
const SPAN = 1000;
/** Smallest share of a bar that has room for its number on the narrowest screen, in percent. */
const LEAST_LABELLED = 8;

/**
 * The gauges of a session in a column, over its requests, with compactions and boundaries. Curves are stretched to the width of
 * the page; text and marks keep their size on every screen.
 */
export function gaugeChart(series: readonly GaugeSeries[], replay: SessionReplay): string {
  const requests = Math.max(1, replay.requests);
  const along = (request: number) => (Math.max(1, request) - 0.5) / requests;
  // Includes what exceeds a window: nothing leaves the panel.
  const most = Math.max(
    1,
    ...series.flatMap(({ samples }) => samples.map(({ used, window }) => used / window)),
  );
  const panels = series.map((one) => gaugePanel(one, { requests, along, most }));
  const ticks = replay.boundaries
    .filter(({ signal }) => signal.boundary !== 'plan_update')
    .map(({ request }) => percentOf(along(request)));
  return chart(
    `Context size over ${requests} requests for ${series.map(({ name }) => name).join(', ')}; the table below lists every compaction`,
    [
      `<p class="axis">Up: share of the window in use. Right: requests of the session.</p>`,
      ...panels,
      `<div class="gauge"><span class="name faint">boundaries</span><span></span><svg class="wide ticks" height="10">${[...new Set(ticks)].map((at) => `<line x1="${at}" x2="${at}" y1="1" y2="9"/>`).join('')}</svg></div>`,
      `<div class="gauge"><span class="name"></span><span></span>${ends('request 1', `request ${formatNumber(requests)}`)}</div>`,
    ],
  );
}

interface Scale {
  readonly requests: number;
  /** The position of a request, 0 to 1. */
  readonly along: (request: number) => number;
  /** The largest share of a window in the chart. */
  readonly most: number;
}

function gaugePanel({ name, samples, marks }: GaugeSeries, { requests, along, most }: Scale): string {
  const y = (share: number) => round(ABOVE + (PANEL - ABOVE - 2) * (1 - share / most));
  const thinned = thin(samples, requests);
  const x = (request: number) => round(SPAN * along(request));
  const line = thinned
    .map(({ request, share }, at) => `${at === 0 ? 'M' : 'L'}${x(request)} ${y(share)}`)
    .join('');
  const [first] = thinned;
  const last = thinned.at(-1);
  const area =
    first === undefined || last === undefined
      ? ''
      : `<path class="area" d="${line}L${x(last.request)} ${y(0)}L${x(first.request)} ${y(0)}Z"/>`;
  return [
    `<div class="gauge"><span class="name">${escapeHtml(name)}</span>`,
    `<svg class="scale" width="44" height="${PANEL}"><text class="faint end" x="40" y="${y(1) + 4}">100 %</text><text class="faint end" x="40" y="${PANEL - 2}">0</text></svg>`,
    `<svg class="wide" height="${PANEL}"><svg x="0" y="0" width="100%" height="${PANEL}" viewBox="0 0 ${SPAN} ${PANEL}" preserveAspectRatio="none">${area}<path class="line" d="${line}"/></svg>`,
    `<line class="window" x1="0" x2="100%" y1="${y(1)}" y2="${y(1)}"/><line class="base" x1="0" x2="100%" y1="${y(0)}" y2="${y(0)}"/>`,
    ...marks.map(
      (mark) =>
        `<svg class="spot" x="${percentOf(along(mark.request))}" y="${y(1)}" width="1" height="1">${markAt(0, 0, mark)}</svg>`,
    ),
    '</svg></div>',
  ].join('');
}

function chart(label: string, rows: readonly string[]): string {
  return `<div class="chart" role="img" aria-label="${escapeHtml(label)}">\n${rows.join('\n')}\n</div>`;
}

/** Both ends of an axis. */
function ends(from: string, to: string): string {
  return `<span class="ends"><span>${escapeHtml(from)}</span><span>${escapeHtml(to)}</span></span>`;
}

/** A share from 0 to 1 as an SVG length. */
function percentOf(share: number): string {
  return `${Math.round(share * 10_000) / 100}%`;
}

/** A shape for each place, hollow where results were only cleared: colour is never the only sign. */
function markAt(x: number, y: number, { place, kind }: GaugeMark): string {
  const style = `class="mark ${place}${kind === 'micro' ? ' hollow' : ''}"`;
  switch (place) {
    case 'boundary':
      return `<circle ${style} cx="${x}" cy="${y}" r="4"/>`;
    case 'emergency':
      return `<path ${style} d="M${x} ${y - 5}l5 9h-10z"/>`;
    case 'mid_work':
      return `<path ${style} d="M${x - 4} ${y - 4}h8v8h-8z"/>`;
    case 'own':
      return `<path ${style} d="M${x} ${y - 5}l5 5l-5 5l-5 -5z"/>`;
  }
}

/** A shape within a line of text. */
export function markSample(mark: GaugeMark): string {
  return `<svg class="sample" viewBox="0 0 12 12" aria-hidden="true">${markAt(6, 6, mark)}</svg>`;
}

/** A sample of the lines in a gauge, for its legend. */
export function lineSample(kind: 'window' | 'tick'): string {
  const line =
    kind === 'window'
      ? '<line class="window" x1="0" x2="24" y1="6" y2="6"/>'
      : '<line class="tick" x1="12" x2="12" y1="2" y2="10"/>';
  return `<svg class="sample long" viewBox="0 0 24 12" aria-hidden="true">${line}</svg>`;
}

/** Keeps the largest of each run, and the points around compactions, so that drops stay where they were. */
function thin(
  samples: GaugeSeries['samples'],
  requests: number,
): readonly { readonly request: number; readonly share: number }[] {
  const step = Math.max(1, Math.ceil(requests / MOST_POINTS));
  const points: { request: number; share: number }[] = [];
  let run: { request: number; share: number } | undefined;
  let index = -1;
  let before = 0;
  for (const { request, used, window } of samples) {
    const share = used / usableWindow(window);
    const isDrop = share < before - 0.05;
    const place = Math.floor(request / step);
    if (run === undefined || place !== index || isDrop) {
      if (run !== undefined) points.push(run);
      run = { request, share };
      index = place;
    } else if (share >= run.share) run = { request, share };
    before = share;
  }
  if (run !== undefined) points.push(run);
  return points;
}

/** A row of a bar chart: its name, its parts as shares of the whole width, and its number. */
interface BarRow {
  readonly name: string;
  readonly parts: readonly { readonly style: string; readonly share: number; readonly text: string }[];
  readonly value: string;
}

function barRow({ name, parts, value }: BarRow): string {
  return `<div class="bars"><span class="name">${escapeHtml(name)}</span>${bar(parts, 18)}<span class="value">${escapeHtml(value)}</span></div>`;
}

function bar(parts: BarRow['parts'], height: number): string {
  let at = 0;
  const drawn = parts.map(({ style, share, text }) => {
    const rect = `<rect class="${style}" x="${percentOf(at)}" y="0" width="${percentOf(share)}" height="${height}"/>`;
    const label =
      100 * share < LEAST_LABELLED || text === ''
        ? ''
        : `<text class="inside" x="${percentOf(at + share / 2)}" y="${height / 2 + 4}">${escapeHtml(text)}</text>`;
    at += share;
    return rect + label;
  });
  return `<svg class="wide" height="${height}" aria-hidden="true">${drawn.join('')}</svg>`;
}

function compactionsOf({ places }: PolicyLine): number {
  return places.boundary + places.mid_work + places.emergency;
}

/** How often each policy compacts, by place. */
export function placesChart(lines: readonly PolicyLine[]): string {
  const most = Math.max(1, ...lines.map(compactionsOf));
  return chart(
    'Compactions by policy and place; the table below has the numbers',
    lines.map((line) =>
      barRow({
        name: line.policy,
        parts: (['boundary', 'mid_work', 'emergency'] as const).map((place) => ({
          style: place,
          share: line.places[place] / most,
          text: String(line.places[place]),
        })),
        value: formatNumber(compactionsOf(line)),
      }),
    ),
  );
}

/** The input tokens of each policy, cached and new. */
export function tokensChart(lines: readonly PolicyLine[]): string {
  const most = Math.max(1, ...lines.map(({ bill }) => bill.input));
  return chart(
    'Input tokens by policy, cached and new; the table below has the numbers',
    lines.map(({ policy, bill }) =>
      barRow({
        name: policy,
        parts: [
          { style: 'cached', share: bill.cached / most, text: '' },
          { style: 'fresh', share: (bill.input - bill.cached) / most, text: '' },
        ],
        value: `${(bill.input / 1e6).toFixed(1)}M${bill.usd === undefined ? '' : `, $${bill.usd.toFixed(2)}`}`,
      }),
    ),
  );
}

/** Height of the recall plot in pixels, and the least distance between two names in it. */
const PLOT = 260;
const NAME_HEIGHT = 16;

/** Recall at compactions over the tokens they leave; undefined where nothing was measured. */
export function recallChart(lines: readonly PolicyLine[]): string | undefined {
  const points = lines.flatMap(({ policy, recall, postTokens }) =>
    recall === undefined || postTokens === undefined ? [] : [{ policy, recall: recall.mean, postTokens }],
  );
  if (points.length === 0) return undefined;
  const most = Math.max(...points.map(({ postTokens }) => postTokens)) * 1.05;
  const y = (recall: number) => round(PLOT - 8 - (PLOT - 20) * recall);
  const marks = [0, 0.25, 0.5, 0.75, 1];
  const placed = spread(points.map((point) => ({ ...point, at: y(point.recall) + 4 })));
  const names = placed.map(({ policy, recall, postTokens, at }) => {
    const x = percentOf(postTokens / most);
    // Right of the middle there is more room to the left.
    const side = postTokens > 0.6 * most ? 'class="end" dx="-10"' : 'dx="10"';
    return (
      `<line class="leader" x1="${x}" x2="${x}" y1="${y(recall)}" y2="${at - 4}"/>` +
      `<text ${side} x="${x}" y="${at}">${escapeHtml(clipped(policy, 24))}</text>`
    );
  });
  // On top of the names, so that a dot is never hidden.
  const dots = placed.map(
    ({ recall, postTokens }) =>
      `<circle class="dot" cx="${percentOf(postTokens / most)}" cy="${y(recall)}" r="5"/>`,
  );
  return chart('Recall over the tokens that a compaction leaves; the table below has the numbers', [
    '<p class="axis">Up: recall, the share of what was used later that the context still held. Right: tokens that a compaction leaves (mean).</p>',
    `<div class="plot"><svg class="scale" width="44" height="${PLOT}">${marks.map((at) => `<text class="faint end" x="38" y="${y(at) + 4}">${at.toFixed(2)}</text>`).join('')}</svg>`,
    `<svg class="wide" height="${PLOT}">${marks.map((at) => `<line class="window" x1="0" x2="100%" y1="${y(at)}" y2="${y(at)}"/>`).join('')}${names.join('')}${dots.join('')}</svg></div>`,
    `<div class="plot"><span></span>${ends('0', `${formatNumber(Math.round(most))} tokens`)}</div>`,
  ]);
}

/** Puts each name as close to its dot as possible without overlapping another name or appearing to belong to another dot. */
function spread<Point extends { readonly at: number }>(points: readonly Point[]): readonly Point[] {
  const placed: Point[] = [];
  for (const point of points.toSorted((a, b) => a.at - b.at)) {
    const others = points.filter((each) => each !== point);
    const isFree = (at: number): boolean =>
      at >= NAME_HEIGHT &&
      at <= PLOT - 4 &&
      placed.every((name) => Math.abs(name.at - at) >= NAME_HEIGHT) &&
      others.every((dot) => Math.abs(dot.at - at) >= NAME_HEIGHT - 4);
    const tried = Array.from({ length: PLOT / 2 }, (_, step) => [
      point.at + 2 * step,
      point.at - 2 * step,
    ]).flat();
    placed.push({ ...point, at: tried.find(isFree) ?? point.at });
  }
  return placed;
}

/** What fills a context, as one bar. @param percents of the parts, as the table beside it has them */
export function fillChart(parts: readonly ContextPart[], percents: readonly number[]): string {
  const sizes = parts.map(({ tokens }) => Math.max(0, tokens));
  const whole = Math.max(
    1,
    sizes.reduce((sum, tokens) => sum + tokens, 0),
  );
  return chart('What fills the context, by kind; the table below has the numbers', [
    bar(
      parts.map(({ kind }, index) => ({
        style: `fill ${kind}`,
        share: (sizes[index] ?? 0) / whole,
        text: `${percents[index] ?? 0} %`,
      })),
      28,
    ),
  ]);
}

function clipped(text: string, length: number): string {
  const characters = [...text];
  return characters.length <= length ? text : `${characters.slice(0, length - 1).join('')}…`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
