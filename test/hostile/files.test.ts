// Session files of every format, damaged at random: an answer or an explanation, JSON that fits its schema, sums that add up,
// and bounds on what is printed and how long it takes.

import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import * as fc from 'fast-check';
import * as z from 'zod';
import { CompactDocument, UndoDocument } from '../../src/cli/documents/compaction.ts';
import { ReplayDocument } from '../../src/cli/documents/replay.ts';
import { InspectDocument, SessionsDocument } from '../../src/cli/documents/session.ts';
import { ERROR_CODES } from '../../src/errors.ts';
import { AGENT_FORMATS } from '../../src/vocabulary.ts';
import { AGENT_FILES, LOOK_ALIKE_FILES } from '../support/format-lines.ts';
import { fuzz, wildText, wildValue, wildWord } from '../support/fuzz.ts';
import { baton, temporaryDirectory } from '../support/program.ts';
import type { Ran } from '../support/program.ts';
import { asFile, workLines } from '../support/work-sessions.ts';

const home = temporaryDirectory();
const session = join(home, '.codex/sessions/2026/01/02/rollout-fuzz.jsonl');
mkdirSync(join(session, '..'), { recursive: true });

/** Sessions long enough to be compacted. */
const WORK = AGENT_FORMATS.map((format) => asFile(workLines(format)).toString('utf8'));
/** What is damaged: those, and the look-alike of each version of each producer. */
const FILES: readonly string[] = [...WORK, ...[...LOOK_ALIKE_FILES, ...AGENT_FILES].map(({ text }) => text)];

type Change =
  | { readonly type: 'bytes'; readonly at: number; readonly cut: number; readonly put: Uint8Array }
  | { readonly type: 'bits'; readonly at: number; readonly mask: number }
  | { readonly type: 'tail'; readonly at: number }
  | { readonly type: 'swap'; readonly at: number; readonly with: number }
  | { readonly type: 'repeat'; readonly at: number; readonly times: number }
  | { readonly type: 'foreign'; readonly at: number; readonly file: number; readonly line: number }
  | { readonly type: 'value'; readonly at: number; readonly place: number; readonly value: unknown }
  | { readonly type: 'word'; readonly at: number; readonly place: number; readonly word: string }
  | { readonly type: 'key'; readonly at: number; readonly place: number; readonly key: string };

const place = fc.nat(1e6);
const change: fc.Arbitrary<Change> = fc.oneof(
  fc.record({
    type: fc.constant('bytes' as const),
    at: place,
    cut: fc.nat(60),
    put: fc.uint8Array({ maxLength: 12 }),
  }),
  fc.record({ type: fc.constant('bits' as const), at: place, mask: fc.integer({ min: 1, max: 255 }) }),
  fc.record({ type: fc.constant('tail' as const), at: place }),
  fc.record({ type: fc.constant('swap' as const), at: place, with: place }),
  fc.record({
    type: fc.constant('repeat' as const),
    at: place,
    times: fc.constantFrom(1, 2, 40, 1_000),
  }),
  fc.record({ type: fc.constant('foreign' as const), at: place, file: place, line: place }),
  ...Array.from({ length: 4 }, () =>
    fc.record({ type: fc.constant('value' as const), at: place, place, value: wildValue }),
  ),
  ...Array.from({ length: 4 }, () =>
    fc.record({ type: fc.constant('word' as const), at: place, place, word: wildWord }),
  ),
  fc.record({ type: fc.constant('key' as const), at: place, place, key: wildText }),
);

function apply(file: Buffer, one: Change): Buffer {
  const at = one.at % Math.max(1, file.length);
  switch (one.type) {
    case 'bytes':
      return Buffer.concat([file.subarray(0, at), one.put, file.subarray(at + one.cut)]);
    case 'bits': {
      const changed = Buffer.from(file);
      changed[at] = (changed[at] ?? 0) ^ one.mask;
      return changed;
    }
    case 'tail':
      return file.subarray(0, at);
    default: {
      const lines = file.toString('utf8').split('\n');
      return Buffer.from(applyToLines(lines, one, one.at % lines.length).join('\n'));
    }
  }
}

function applyToLines(
  lines: readonly string[],
  one: Exclude<Change, { type: 'bytes' | 'bits' | 'tail' }>,
  at: number,
): readonly string[] {
  const line = lines[at] ?? '';
  switch (one.type) {
    case 'swap': {
      const other = one.with % lines.length;
      return lines.with(at, lines[other] ?? '').with(other, line);
    }
    case 'repeat':
      return lines.toSpliced(at, 0, ...Array<string>(one.times).fill(line));
    case 'foreign': {
      const others = (FILES[one.file % FILES.length] ?? '').split('\n');
      return lines.toSpliced(at, 0, others[one.line % others.length] ?? '');
    }
    case 'word': {
      const words = [...line.matchAll(/[\w-]+/g)];
      const word = words[one.place % Math.max(1, words.length)];
      if (word === undefined) return lines;
      const put = JSON.stringify(one.word).slice(1, -1);
      return lines.with(at, line.slice(0, word.index) + put + line.slice(word.index + word[0].length));
    }
    case 'value':
    case 'key':
      return lines.with(at, replaced(line, one));
  }
}

interface Container {
  [key: string]: unknown;
}

/** A line of JSON with another value, or another key, somewhere in it; what is not JSON stays. */
function replaced(line: string, one: Extract<Change, { type: 'value' | 'key' }>): string {
  let root: unknown;
  try {
    root = JSON.parse(line);
  } catch {
    return line;
  }
  const places: (readonly [Container, string])[] = [];
  const collect = (value: unknown): void => {
    if (typeof value !== 'object' || value === null || places.length > 500) return;
    for (const key of Object.keys(value)) {
      places.push([value as Container, key]);
      collect((value as Container)[key]);
    }
  };
  collect(root);
  const [container, key] = places[one.place % Math.max(1, places.length)] ?? [];
  if (container === undefined || key === undefined) return line;
  if (one.type === 'value') container[key] = one.value;
  else
    Object.defineProperty(container, one.key, {
      value: container[key],
      enumerable: true,
      configurable: true,
    });
  return JSON.stringify(root);
}

/** Bytes that a command may print about a small file, and for each byte of the file. */
const PRINTED = { least: 100_000, perByte: 20 };
/** The slowest takes 2 s on two busy cores. */
const SLOWEST_MS = 30_000;

async function run(bytes: number, ...args: readonly string[]): Promise<Ran> {
  const begun = performance.now();
  const ran = await baton(home, args);
  const ms = performance.now() - begun;
  assert.ok(ms < SLOWEST_MS, `${args[0]} takes ${ms} ms`);
  const printed = ran.stdout.length + ran.stderr.length + ran.explanation.length;
  assert.ok(printed < PRINTED.least + PRINTED.perByte * bytes, `${args[0]} prints ${printed} characters`);
  if (ran.status !== 0) {
    const code = String(ran.error?.['code']);
    assert.ok(
      code in ERROR_CODES && code !== 'internal',
      `${args[0]}: ${code} ${String(ran.error?.['message'])}`,
    );
    assert.notEqual(ran.error?.['cure'], '', `${code} has a cure`);
  }
  return ran;
}

function parsed<Value>(schema: z.ZodType<Value>, { stdout }: Ran): Value {
  const read = schema.safeParse(JSON.parse(stdout));
  assert.ok(read.success, read.success ? '' : z.prettifyError(read.error));
  return read.data;
}

function sum(figures: Readonly<Record<string, number | undefined>>): number {
  return Object.values(figures).reduce<number>((total, figure) => total + (figure ?? 0), 0);
}

/** Lines that cannot have been read, where every line is a value of its own. */
function brokenLines(file: Buffer): number {
  return file
    .toString('utf8')
    .split('\n')
    .filter((line) => {
      try {
        return line.trim() !== '' && typeof JSON.parse(line) !== 'object';
      } catch {
        return true;
      }
    }).length;
}

const OF_LINES = new Set(['codex', 'claude-code', 'baton', 'pi']);

async function survive(file: Buffer): Promise<string> {
  writeFileSync(session, file);
  const inspected = await run(file.length, 'inspect', '--json', session);
  if (inspected.status === 0) {
    const { categories, beside_items, gauge, file: read, format } = parsed(InspectDocument, inspected);
    assert.equal(sum(categories) + sum(beside_items), gauge.used, 'the sum of the categories');
    assert.equal(read.bytes, file.length);
    if (OF_LINES.has(format) && brokenLines(file) > 0) assert.notEqual(read.damage.length, 0, 'damage');
  }
  const replayed = await run(file.length, 'replay', '--json', session);
  if (replayed.status === 0) parsed(ReplayDocument, replayed);
  parsed(SessionsDocument, await run(file.length, 'sessions', '--json'));
  await run(file.length, 'inspect', session);
  const out = join(home, 'out.jsonl');
  const compacted = await run(file.length, 'compact', session, '--out', out, '--json');
  if (compacted.status === 0) {
    const receipt = parsed(CompactDocument, compacted);
    const preview = await run(file.length, 'compact', session, '--preview', '--json');
    assert.deepEqual(parsed(CompactDocument, preview).after, receipt.after);
    const again = parsed(InspectDocument, await run(file.length, 'inspect', '--json', out));
    if (AGENT_FORMATS.some((format) => format === again.format)) assert.notEqual(again.compactions.length, 0);
    const undone = await run(file.length, 'undo', out, '--out', join(home, 'undone.jsonl'), '--json');
    if (undone.status === 0) parsed(UndoDocument, undone);
  }
  for (const name of ['out.jsonl', 'undone.jsonl']) rmSync(join(home, name), { force: true });
  assert.ok(readFileSync(session).equals(file), 'the input is as it was');
  assert.deepEqual(readdirSync(home), ['.codex'], 'nothing else is left');
  return `${inspected.status}${replayed.status}${compacted.status}`;
}

test('session files of every format, damaged', async (t) => {
  const seen = new Map<string, number>();
  const whole = fc.oneof(fc.constantFrom(...WORK), fc.constantFrom(...FILES));
  const damaged = fc.tuple(whole, fc.array(change, { minLength: 1, maxLength: 5 }));
  await fuzz(damaged, { seed: 61, usual: 60 }, async ([text, changes]) => {
    const file = changes.reduce(apply, Buffer.from(text));
    const outcome = await survive(file);
    seen.set(outcome, (seen.get(outcome) ?? 0) + 1);
  });
  t.diagnostic(`status of inspect, replay and compact: ${JSON.stringify(Object.fromEntries(seen))}`);
  assert.ok((seen.get('000') ?? 0) > 10, 'some can still be compacted');
});
