// Damaged sessions. Whatever the damage: an answer or an explanation, an unchanged input, nothing left behind, and a
// compaction that an agent can resume.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { ERROR_CODES } from '../../src/errors.ts';
import { AGENT_FORMATS } from '../../src/vocabulary.ts';
import type { AgentFormat } from '../../src/vocabulary.ts';
import { cases } from '../support/fuzz.ts';
import { baton, temporaryDirectory } from '../support/program.ts';
import type { Ran } from '../support/program.ts';
import { REAL_SESSIONS_SKIP, realSessions } from '../support/real-sessions.ts';
import { sabotagesFor } from '../support/sabotage.ts';
import { asFile, workLines } from '../support/work-sessions.ts';
import { assertWhole } from '../support/written.ts';

const home = temporaryDirectory();
const input = join(home, 'session.jsonl');
const output = join(home, 'compacted.jsonl');

/** Cases of each random test; `BATON_FUZZ` asks for more. */
const RUNS = cases(40);

/** What reading may end with where the damage leaves no conversation. */
const NO_SESSION = new Set(['file_empty', 'format_unknown', 'session_empty']);

interface Outcome {
  readonly inspected: Ran;
  /** Whether both compactions were written. */
  readonly isCompacted: boolean;
}

/** Inspects and compacts bytes and asserts all that holds whatever they are. */
async function survive(file: Buffer): Promise<Outcome> {
  writeFileSync(input, file);
  const inspected = await baton(home, ['inspect', '--json', input]);
  assertExplained(inspected);
  const format =
    inspected.status === 0 ? (JSON.parse(inspected.stdout) as { format: AgentFormat }).format : undefined;
  if (format === undefined) assert.ok(NO_SESSION.has(String(inspected.error?.['code'])), inspected.stderr);
  else assert.ok(AGENT_FORMATS.includes(format), `${format} is another's format`);
  let isCompacted = true;
  for (const way of [[], ['--prune']]) {
    const ran = await baton(home, ['compact', input, '--out', output, ...way]);
    assertExplained(ran);
    if (ran.status === 0) {
      assert.ok(format !== undefined, 'what cannot be inspected cannot be compacted');
      assertWritten(format, file, way.length > 0);
    } else {
      isCompacted = false;
      const expected = format === undefined ? inspected.error?.['code'] : 'nothing_to_compact';
      assert.equal(ran.error?.['code'], expected);
    }
    rmSync(output, { force: true });
    assert.deepEqual(readdirSync(home), [basename(input)], 'nothing else is left');
  }
  assert.ok(readFileSync(input).equals(file), 'the input is as it was');
  return { inspected, isCompacted };
}

function assertWritten(format: AgentFormat, file: Buffer, isPruned: boolean): void {
  const written = readFileSync(output);
  if (!isPruned) assert.ok(written.subarray(0, file.length).equals(file), 'the original bytes come first');
  assertWhole(format, written.subarray(isPruned ? 0 : file.length).toString('utf8'));
}

function assertExplained({ status, error }: Ran): void {
  if (status === 0) return;
  const code = String(error?.['code']);
  assert.ok(code in ERROR_CODES, code);
  assert.notEqual(error?.['cure'], '', `${code} has a cure`);
}

for (const format of AGENT_FORMATS) {
  const whole = asFile(workLines(format));

  test(`${format}: the session itself is compacted`, async () => {
    const { inspected, isCompacted } = await survive(whole);
    assert.ok(isCompacted);
    assert.deepEqual((JSON.parse(inspected.stdout) as { file: { damage: unknown } }).file.damage, []);
  });

  test(`${format}: cut at every 1,000th byte`, async () => {
    let compacted = 0;
    for (let bytes = 1000; bytes < whole.length; bytes += 1000) {
      const { isCompacted, inspected } = await survive(whole.subarray(0, bytes));
      if (isCompacted) compacted++;
      if (inspected.status === 0) assert.match(inspected.stdout, /"kind": "torn_last_line"/, `at ${bytes}`);
    }
    assert.ok(compacted > 5, `${compacted} cuts leave something to compact`);
  });

  for (const { name, apply } of sabotagesFor(format)) {
    test(`${format}: ${name}`, async (t) => {
      const { inspected, isCompacted } = await survive(apply(whole));
      t.diagnostic(
        isCompacted ? 'compacted' : String(inspected.error?.['code'] ?? 'read, and nothing to compact'),
      );
    });
  }

  test(`${format}: random bytes changed, removed and inserted`, async () => {
    const change = fc.record({
      at: fc.nat(whole.length),
      cut: fc.nat(40),
      bytes: fc.uint8Array({ maxLength: 12 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 8 }), async (changes) => {
        let file = whole;
        for (const { at, cut, bytes } of changes) {
          file = Buffer.concat([file.subarray(0, at), bytes, file.subarray(at + cut)]);
        }
        await survive(file);
      }),
      { seed: 4, numRuns: RUNS },
    );
  });

  test(`${format}: random values of lines replaced by values of other types`, async () => {
    const lines = workLines(format);
    const change = fc.record({
      line: fc.nat(lines.length - 1),
      place: fc.nat(),
      value: fc.jsonValue({ maxDepth: 2 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 10 }), async (changes) => {
        const copies = structuredClone(lines) as Container[];
        for (const { line, place, value } of changes) replaceValue(copies[line] ?? {}, place, value);
        await survive(asFile(copies as never));
      }),
      { seed: 5, numRuns: RUNS },
    );
  });
}

interface Container {
  [key: string]: unknown;
}

/** Replaces one of all the values below a container, whichever `place` leads to. */
function replaceValue(root: Container, place: number, value: unknown): void {
  const places: [Container, string][] = [];
  const collect = (container: Container): void => {
    for (const key of Object.keys(container)) {
      places.push([container, key]);
      const child = container[key];
      if (typeof child === 'object' && child !== null) collect(child as Container);
    }
  };
  collect(root);
  const [container, key] = places[place % Math.max(1, places.length)] ?? [];
  if (container !== undefined && key !== undefined) container[key] = value;
}

for (const path of realSessions('codex', 'claude-code').filter((name) => /836-b1da|acc53d32/.test(name))) {
  test(`${basename(path)} cut at twelve places, each at a multiple of 1,000 bytes`, async () => {
    const whole = readFileSync(path);
    const stride = 1000 * Math.ceil(whole.length / 12_000);
    for (let bytes = stride; bytes < whole.length; bytes += stride) await survive(whole.subarray(0, bytes));
  });
}

test('real sessions are there', { skip: REAL_SESSIONS_SKIP }, () => {});
