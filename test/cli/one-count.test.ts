// One count: every session through every view, as text and as JSON. Two views show the same number for the same thing, and
// every table adds up to its total. The sums are taken from what is printed, by nothing of Baton's own.

import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { BUNDLED_SESSION } from '../../src/cli/bundled.ts';
import { AGENT_FORMATS } from '../../src/vocabulary.ts';
import { LOOK_ALIKE_FILES } from '../support/format-lines.ts';
import { baton, temporaryDirectory } from '../support/program.ts';
import type { Ran } from '../support/program.ts';
import { allRealSessions, REAL_SESSIONS_SKIP } from '../support/real-sessions.ts';
import { asFile, workLines } from '../support/work-sessions.ts';

/** Larger real sessions are walked with BATON_WALK_ALL=1 only: together they take minutes. */
const LARGEST = process.env['BATON_WALK_ALL'] === '1' ? Infinity : 700_000;
const TARGET = 4000;
const home = temporaryDirectory();
const WIDE = { look: { hasColor: false, seal: '', hasUnicode: true, width: 300 } };

type Counts = Readonly<Record<string, number>>;

interface Mark {
  readonly kind: string;
  readonly pre_tokens: number;
  readonly post_tokens: number;
}

interface Inspected {
  readonly format: string;
  readonly gauge: { readonly used: number; readonly percent_remaining: number };
  readonly window: { readonly usable: number };
  readonly categories: Counts;
  readonly beside_items: Counts;
  readonly tools: readonly { readonly tokens: number }[];
  readonly points: readonly { readonly used: number }[];
  readonly compactions: readonly Mark[];
}

interface Played {
  readonly gauge: { readonly used: number; readonly usable: number; readonly percent_remaining: number };
  readonly categories: Counts;
  readonly beside_items: Counts;
  readonly own_compactions: readonly Mark[];
}

interface Received {
  readonly preTokens: number;
  readonly postTokens: number;
  readonly kept?: { readonly tokens: number; readonly byCategory: Counts };
  readonly cut: { readonly tokens: number };
  readonly summarised: { readonly tokens: number };
  readonly dropped: { readonly tokens: number };
  readonly after: Counts;
  readonly beside: { readonly before: number; readonly after: number; readonly fixed: number };
}

async function ran(...args: readonly string[]): Promise<Ran> {
  return baton(home, args, WIDE);
}

async function shown(...args: readonly string[]): Promise<string> {
  const { status, stdout, explanation } = await ran(...args);
  assert.equal(status, 0, explanation);
  return stdout;
}

async function document<Shape>(...args: readonly string[]): Promise<Shape> {
  return JSON.parse(await shown(...args, '--json')) as Shape;
}

const numberIn = (digits = ''): number => Number(digits.replaceAll(',', ''));
const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
const total = (counts: Counts): number => sum(Object.values(counts));

/** The rows of "What fills it". A part that rounds to nothing says `<1 %`. */
function rowsOf(view: string) {
  const table = view.slice(view.indexOf('What fills it'));
  const row = /^(?<indent> +)(?<label>\S.*?) +(?<tokens>-?[\d,]+) +(?<percent><1|-?\d+) % /gm;
  return [...table.slice(0, table.indexOf('\n\n')).matchAll(row)].map(({ groups = {} }) => ({
    label: groups['label'] ?? '',
    tokens: numberIn(groups['tokens']),
    percent: groups['percent'] === '<1' ? 0 : numberIn(groups['percent']),
    isInner: groups['indent'] !== '  ',
  }));
}

async function walkInspect(path: string, ...flags: readonly string[]): Promise<Inspected> {
  const told = await document<Inspected>('inspect', path, ...flags);
  const view = await shown('inspect', path, ...flags);
  const { used, percent_remaining: left } = told.gauge;
  assert.equal(total(told.categories) + total(told.beside_items), used);
  assert.ok(sum(told.tools.map(({ tokens }) => tokens)) <= (told.categories['tool_results'] ?? 0));
  assert.match(view, new RegExp(`${left} % left`));
  assert.equal(left, Math.floor((100 * Math.max(0, told.window.usable - used)) / told.window.usable));
  assert.equal(numberIn(/([\d,]+) of [\d,]+ usable tokens/.exec(view)?.[1]), used);
  const rows = rowsOf(view);
  const outer = rows.filter(({ isInner }) => !isInner);
  const inner = rows.filter(({ isInner }) => isInner);
  assert.equal(sum(outer.map(({ tokens }) => tokens)), used, view);
  if (used > 0) assert.equal(sum(outer.map(({ percent }) => percent)), 100, view);
  const results = outer.find(({ label }) => label === 'tool results');
  if (inner.length > 0) {
    assert.equal(sum(inner.map(({ tokens }) => tokens)), results?.tokens, view);
    assert.equal(sum(inner.map(({ percent }) => percent)), results?.percent, view);
  }
  const marks = [...view.matchAll(/^ {2}#\d+ {2}([\d,]+) → ([\d,]+) tokens/gm)];
  assert.deepEqual(
    marks.map(([, pre, post]) => [numberIn(pre), numberIn(post)]),
    told.compactions.slice(-8).map(({ pre_tokens: pre, post_tokens: post }) => [pre, post]),
  );
  return told;
}

async function walkReplay(path: string, inspected: Inspected): Promise<void> {
  const flags = ['--no-recall', '--policy', 'none'];
  const page = join(home, 'report.html');
  const { sessions } = await document<{ readonly sessions: readonly Played[] }>('replay', path, ...flags);
  const view = await shown('replay', path, ...flags, '--html', page, '--force');
  const [played] = sessions;
  const { used, percent_remaining: left } = inspected.gauge;
  assert.deepEqual(played?.gauge, { used, usable: inspected.window.usable, percent_remaining: left });
  assert.deepEqual(played.categories, inspected.categories);
  assert.deepEqual(played.beside_items, inspected.beside_items);
  const atEnd = /([\d,]+) of [\d,]+ usable tokens were used, (\d+) % left/.exec(view);
  assert.deepEqual([numberIn(atEnd?.[1]), numberIn(atEnd?.[2])], [used, left]);
  // A replay plays what stands: a compaction that was taken back, or that a file begins with, is not played.
  const known = inspected.compactions.map(({ pre_tokens: pre, post_tokens: post }) => `${pre} ${post}`);
  for (const { pre_tokens: pre, post_tokens: post } of played.own_compactions) {
    assert.ok(
      known.includes(`${pre} ${post}`),
      `${pre} to ${post} in replay, ${known.join(', ')} in inspect`,
    );
  }
  const html = readFileSync(page, 'utf8');
  const table = html.slice(html.indexOf('Table: what fills the context at the end'));
  const row = /<\/i>[^<]*<\/th><td class="number">(-?[\d,]+)<\/td><td class="number">(-?\d+|&lt;1) %<\/td>/g;
  const rows = [...table.slice(0, table.indexOf('</table>')).matchAll(row)];
  assert.equal(sum(rows.map(([, tokens]) => numberIn(tokens))), used);
  // A share too small to round up is shown as `<1 %`.
  if (used > 0)
    assert.equal(sum(rows.map(([, , percent]) => (percent === '&lt;1' ? 0 : numberIn(percent)))), 100);
}

async function walkSessions(path: string, { format, gauge }: Inspected): Promise<void> {
  const directory = { codex: '.codex/sessions', 'claude-code': '.claude/projects/p' }[format];
  if (directory === undefined) return;
  mkdirSync(join(home, directory), { recursive: true });
  const place = join(home, directory, '00000000-0000-4000-8000-000000000000.jsonl');
  copyFileSync(path, place);
  const { sessions } = await document<{
    readonly sessions: readonly { readonly used: number; readonly percent_remaining: number }[];
  }>('sessions');
  const view = await shown('sessions');
  rmSync(place);
  assert.deepEqual(
    [sessions[0]?.used, sessions[0]?.percent_remaining],
    [gauge.used, gauge.percent_remaining],
  );
  assert.match(view, new RegExp(`${gauge.percent_remaining} % left`));
}

function assertReceipt(receipt: Received, view: string): void {
  const { kept, cut, summarised, dropped, after, beside, preTokens, postTokens } = receipt;
  assert.ok(kept !== undefined);
  assert.equal(kept.tokens + cut.tokens + summarised.tokens + dropped.tokens + beside.before, preTokens);
  assert.equal(total(after) + beside.after, postTokens);
  const [, pre, post] = /^([\d,]+) → ([\d,]+) tokens/.exec(view) ?? [];
  assert.deepEqual([numberIn(pre), numberIn(post)], [preTokens, postTokens]);
  const isAdded = (line: string, whole: number): void => {
    const [, formula = '', named] =
      new RegExp(`^ {2}${line} +(.*) = ([\\d,]+) tokens$`, 'm').exec(view) ?? [];
    const parts = [...formula.matchAll(/(^|- |\+ )([\d,]+) [a-z]/g)];
    const added = parts.reduce((so, [, sign, tokens]) => so + numberIn(tokens) * (sign === '- ' ? -1 : 1), 0);
    assert.deepEqual([added, numberIn(named)], [whole, whole], view);
  };
  isAdded('before', preTokens);
  isAdded('after', postTokens);
  const rows =
    /^Goes {2}.*?, (?<gone>[\d,]+) tokens by o200k\n(?<rows>(?: {2}\S.*? {2,}-?[\d,]+(?: .*)?\n)+)/m.exec(
      view,
    )?.groups;
  assert.ok(rows !== undefined || !/^Goes {2}/m.test(view), view);
  const gone = [...(rows?.['rows'] ?? '').matchAll(/^ {2}\S.*? {2,}(-?[\d,]+)(?: |$)/gm)].map(([, tokens]) =>
    numberIn(tokens),
  );
  assert.equal(sum(gone), numberIn(rows?.['gone']), view);
}

/** Previews, receipts, closing lines, what is written, and what an undo brings back. */
async function walkCompaction(path: string, strategy: 'full' | 'micro', before: Inspected): Promise<boolean> {
  const flags = ['--strategy', strategy, '-c', 'compact.micro_compact_min_tokens_to_save=1'];
  const target = strategy === 'full' ? ['--target-tokens', String(TARGET)] : [];
  const asked = ['compact', path, ...flags, ...target];
  const tried = await ran(...asked, '--preview', '--json');
  if (tried.status !== 0) {
    assert.ok(
      ['nothing_to_compact', 'cannot_fit'].includes(String(tried.error?.['code'])),
      tried.explanation,
    );
    return false;
  }
  const preview = JSON.parse(tried.stdout) as Received;
  const { used } = before.gauge;
  assert.equal(preview.preTokens, used);
  if (preview.kept !== undefined) assert.equal(preview.beside.fixed, before.beside_items['fixed']);
  const view = await shown(...asked, '--preview');
  if (preview.kept !== undefined) assertReceipt(preview, view);
  if (!AGENT_FORMATS.some((format) => format === before.format)) return true;

  const out = join(home, 'compacted.jsonl');
  const written = await ran(...asked, '--out', out, '--force', '--json');
  if (written.error?.['code'] === 'cannot_append') return true;
  assert.equal(written.status, 0, written.explanation);
  const receipt = JSON.parse(written.stdout) as Received;
  assert.deepEqual([receipt.preTokens, receipt.postTokens], [preview.preTokens, preview.postTokens]);
  const [, pre, post] = /^([\d,]+) → ([\d,]+) tokens/m.exec(written.stderr) ?? [];
  assert.deepEqual([numberIn(pre), numberIn(post)], [used, receipt.postTokens]);
  const after = await walkInspect(out);
  assert.equal(after.gauge.used, receipt.postTokens, 'what is written is what inspect reads');
  const mark = after.compactions.at(-1);
  assert.deepEqual([mark?.pre_tokens, mark?.post_tokens], [used, receipt.postTokens]);
  await walkReplay(out, after);

  const undone = join(home, 'undone.jsonl');
  const undo = await ran('undo', out, '--out', undone, '--force', '--json');
  assert.equal(undo.status, 0, undo.explanation);
  assert.equal((JSON.parse(undo.stdout) as { readonly tokens: number }).tokens, used);
  assert.equal(numberIn(/holds ([\d,]+) tokens again/.exec(undo.stderr)?.[1]), used);
  const back = await walkInspect(undone);
  assert.equal(back.gauge.used, used, 'an undo brings the size back');
  return true;
}

/** @returns how many compactions were walked */
async function walk(path: string): Promise<number> {
  const inspected = await walkInspect(path);
  await walkInspect(path, '--precise');
  await walkSessions(path, inspected);
  await walkReplay(path, inspected);
  const full = await walkCompaction(path, 'full', inspected);
  const micro = await walkCompaction(path, 'micro', inspected);
  return Number(full) + Number(micro);
}

test('the bundled session', async () => {
  assert.ok((await walk(BUNDLED_SESSION)) > 0);
});

for (const format of AGENT_FORMATS) {
  test(`a generated session of ${format}`, async () => {
    const path = join(home, `${format}.jsonl`);
    writeFileSync(path, asFile(workLines(format)));
    assert.equal(await walk(path), 2);
  });
}

for (const [index, { name, text }] of LOOK_ALIKE_FILES.entries()) {
  test(`a look-alike: ${name}`, async () => {
    const path = join(home, `alike-${index}.json`);
    writeFileSync(path, text);
    await walk(path);
  });
}

test('real sessions are there', { skip: REAL_SESSIONS_SKIP }, (t) => {
  const left = allRealSessions().filter((path) => statSync(path).size > LARGEST).length;
  t.diagnostic(`${left} sessions above ${LARGEST} bytes are walked with BATON_WALK_ALL=1 only`);
  assert.ok(allRealSessions().length >= 30);
});

for (const path of allRealSessions()) {
  if (statSync(path).size > LARGEST) continue;
  test(`a real session: ${basename(path)}`, async (t) => {
    t.diagnostic(`${await walk(path)} compactions`);
  });
}
