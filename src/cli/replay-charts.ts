// The charts of the replay's report, as inline SVG. No scripts, no fonts, no network; colours come from the page.

import type { GaugeMark, GaugeSeries, PolicyLine } from '../replay/report.ts';
import type { SessionReplay } from '../replay/outcome.ts';
import { CATEGORIES } from '../vocabulary.ts';
import type { Category } from '../vocabulary.ts';
import { formatNumber } from './style.ts';

/** Makes text safe inside of elements and attributes. */
export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

const WIDTH = 720;
const PANEL = 60;
const LABEL = 118;
/** Points of one gauge: more could not be told apart on the widest screen. */
const MOST_POINTS = 240;

/** The gauges of a session under each other, over its requests, with compactions and boundaries. */
export function gaugeChart(series: readonly GaugeSeries[], replay: SessionReplay): string {
  const requests = Math.max(1, replay.requests);
  const height = series.length * PANEL + 30;
  const x = (request: number) => LABEL + ((WIDTH - LABEL - 8) * (Math.max(1, request) - 0.5)) / requests;
  const panels = series.map((one, index) => gaugePanel(one, index * PANEL, requests, x));
  const ticks = replay.boundaries
    .filter(({ signal }) => signal.boundary !== 'plan_update')
    .map(({ request }) => round(x(request)));
  const bottom = series.length * PANEL;
  return [
    `<svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escapeHtml(`Context size over ${requests} requests for ${series.map(({ name }) => name).join(', ')}; the table below lists every compaction`)}">`,
    ...panels,
    `<g class="ticks">${[...new Set(ticks)].map((at) => `<path d="M${at} ${bottom + 2}v6"/>`).join('')}</g>`,
    `<text class="faint" x="0" y="${bottom + 9}">boundaries</text>`,
    `<text class="faint" x="${LABEL}" y="${bottom + 26}">request 1</text>`,
    `<text class="faint end" x="${WIDTH - 8}" y="${bottom + 26}">${formatNumber(requests)}</text>`,
    '</svg>',
  ].join('\n');
}

function gaugePanel(
  { name, samples, marks }: GaugeSeries,
  top: number,
  requests: number,
  x: (request: number) => number,
): string {
  const base = top + PANEL - 6;
  const full = PANEL - 16;
  const y = (share: number) => round(base - full * Math.min(1.1, share));
  const thinned = thin(samples, requests);
  const line = thinned.map(
    ({ request, share }, at) => `${at === 0 ? 'M' : 'L'}${round(x(request))} ${y(share)}`,
  );
  const [first] = thinned;
  const last = thinned.at(-1);
  const area =
    first === undefined || last === undefined
      ? ''
      : `<path class="area" d="${line.join('')}L${round(x(last.request))} ${base}L${round(x(first.request))} ${base}Z"/>`;
  return [
    `<text x="0" y="${base - full / 2 + 4}">${escapeHtml(clipped(name, 14))}</text>`,
    `<path class="window" d="M${LABEL} ${y(1)}H${WIDTH - 8}"/><path class="base" d="M${LABEL} ${base}H${WIDTH - 8}"/>`,
    area,
    `<path class="line" d="${line.join('')}"/>`,
    ...marks.map((mark) => markAt(round(x(mark.request)), y(1) - 1, mark)),
  ].join('');
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

/** A shape in a line of text. */
export function markSample(mark: GaugeMark): string {
  return `<svg class="sample" viewBox="0 0 12 12" aria-hidden="true">${markAt(6, 6, mark)}</svg>`;
}

/** The largest of each run, and what stands around a compaction, so that drops stay where they were. */
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
    const share = used / window;
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

const ROW = 26;
const BAR_LABEL = 122;

/** How often each policy compacts, by place. */
export function placesChart(lines: readonly PolicyLine[]): string {
  const most = Math.max(
    1,
    ...lines.map(({ places }) => places.boundary + places.mid_work + places.emergency),
  );
  const scale = (WIDTH - BAR_LABEL - 60) / most;
  const rows = lines.map(({ policy, places }, index) => {
    let x = BAR_LABEL;
    const bars = (['boundary', 'mid_work', 'emergency'] as const).map((place) => {
      const width = places[place] * scale;
      const bar = `<rect class="${place}" x="${round(x)}" y="${index * ROW + 4}" width="${round(width)}" height="${ROW - 10}"/>`;
      const text =
        width < 16
          ? ''
          : `<text class="inside" x="${round(x + width / 2)}" y="${index * ROW + 17}">${places[place]}</text>`;
      x += width;
      return bar + text;
    });
    const total = places.boundary + places.mid_work + places.emergency;
    return `<text x="0" y="${index * ROW + 17}">${escapeHtml(clipped(policy, 16))}</text>${bars.join('')}<text class="faint" x="${round(x + 6)}" y="${index * ROW + 17}">${total}</text>`;
  });
  return svg(
    lines.length * ROW + 4,
    'Compactions by policy and place; the table below has the numbers',
    rows,
  );
}

/** What each policy sends, cached and new. */
export function tokensChart(lines: readonly PolicyLine[]): string {
  const most = Math.max(1, ...lines.map(({ bill }) => bill.input));
  const scale = (WIDTH - BAR_LABEL - 190) / most;
  const rows = lines.map(({ policy, bill }, index) => {
    const cached = bill.cached * scale;
    const rest = (bill.input - bill.cached) * scale;
    const label = `${(bill.input / 1e6).toFixed(1)}M${bill.usd === undefined ? '' : `, $${bill.usd.toFixed(2)}`}`;
    return [
      `<text x="0" y="${index * ROW + 17}">${escapeHtml(clipped(policy, 16))}</text>`,
      `<rect class="cached" x="${BAR_LABEL}" y="${index * ROW + 4}" width="${round(cached)}" height="${ROW - 10}"/>`,
      `<rect class="fresh" x="${round(BAR_LABEL + cached)}" y="${index * ROW + 4}" width="${round(rest)}" height="${ROW - 10}"/>`,
      `<text class="faint" x="${round(BAR_LABEL + cached + rest + 6)}" y="${index * ROW + 17}">${label}</text>`,
    ].join('');
  });
  return svg(
    lines.length * ROW + 4,
    'Input tokens by policy, cached and new; the table below has the numbers',
    rows,
  );
}

/** Recall at compactions over what they leave; undefined where nothing was measured. */
export function recallChart(lines: readonly PolicyLine[]): string | undefined {
  const points = lines.flatMap(({ policy, recall, postTokens }) =>
    recall === undefined || postTokens === undefined ? [] : [{ policy, recall: recall.mean, postTokens }],
  );
  if (points.length === 0) return undefined;
  const height = 260;
  const left = 44;
  const most = Math.max(...points.map(({ postTokens }) => postTokens)) * 1.15;
  const x = (tokens: number) => round(left + ((WIDTH - left - 130) * tokens) / most);
  const y = (recall: number) => round(height - 34 - (height - 50) * recall);
  const grid = [0, 0.25, 0.5, 0.75, 1].map(
    (at) =>
      `<path class="window" d="M${left} ${y(at)}H${WIDTH - 130}"/><text class="faint end" x="${left - 6}" y="${y(at) + 4}">${at.toFixed(2)}</text>`,
  );
  const labels = spread(points.map((point) => ({ ...point, at: y(point.recall) + 4 })));
  const names = labels.map(
    ({ policy, recall, postTokens, at }) =>
      `<path class="window" d="M${x(postTokens) + 6} ${y(recall)}L${x(postTokens) + 14} ${at - 4}"/>` +
      `<text x="${x(postTokens) + 17}" y="${at}">${escapeHtml(clipped(policy, 16))}</text>`,
  );
  // Above the names: a dot is never hidden.
  const dots = labels.map(
    ({ recall, postTokens }) => `<circle class="dot" cx="${x(postTokens)}" cy="${y(recall)}" r="5"/>`,
  );
  return svg(height, 'Recall over the tokens that a compaction leaves; the table below has the numbers', [
    ...grid,
    ...names,
    ...dots,
    `<text class="faint" x="${left}" y="${height - 14}">0</text>`,
    `<text class="faint end" x="${WIDTH - 130}" y="${height - 14}">${formatNumber(Math.round(most))} tokens left after a compaction (mean)</text>`,
  ]);
}

/** Moves labels apart that would cover each other. */
function spread<Point extends { readonly at: number }>(points: readonly Point[]): readonly Point[] {
  let last = -Infinity;
  return points
    .toSorted((a, b) => a.at - b.at)
    .map((point) => {
      last = Math.max(point.at, last + 14);
      return { ...point, at: last };
    });
}

/** What a session put into its context, as one bar. */
export function fillChart({ written, overhead }: SessionReplay): string {
  const parts = fillParts(written, overhead);
  const whole = Math.max(
    1,
    parts.reduce((sum, { tokens }) => sum + tokens, 0),
  );
  let x = 0;
  const bars = parts.map(({ tokens }, index) => {
    const width = (WIDTH * tokens) / whole;
    const bar = `<rect class="fill${index % 6}" x="${round(x)}" y="2" width="${round(Math.max(0, width - 1))}" height="26"/>`;
    const text =
      width < 26
        ? ''
        : `<text class="inside" x="${round(x + width / 2)}" y="20">${Math.round((100 * tokens) / whole)} %</text>`;
    x += width;
    return bar + text;
  });
  return svg(30, 'What fills the context, by kind; the table below has the numbers', bars);
}

/** The parts of that bar, largest first. */
export function fillParts(
  written: SessionReplay['written'],
  overhead: number,
): readonly { readonly name: string; readonly tokens: number }[] {
  const named = CATEGORIES.map((category) => ({
    name: CATEGORY_WORDS[category],
    tokens: written[category] ?? 0,
  }));
  return [...named, { name: 'in every request', tokens: overhead }]
    .filter(({ tokens }) => tokens > 0)
    .toSorted((a, b) => b.tokens - a.tokens);
}

const CATEGORY_WORDS: Readonly<Record<Category, string>> = {
  system: 'harness messages',
  summary: 'summaries',
  user: 'user',
  assistant: 'assistant',
  reasoning: 'reasoning',
  tool_calls: 'tool calls',
  tool_results: 'tool results',
  attachments: 'attachments',
  images: 'images',
  other: 'other',
};

function svg(height: number, label: string, parts: readonly string[]): string {
  return `<svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escapeHtml(label)}">\n${parts.join('\n')}\n</svg>`;
}

function clipped(text: string, length: number): string {
  const characters = [...text];
  return characters.length <= length ? text : `${characters.slice(0, length - 1).join('')}…`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
