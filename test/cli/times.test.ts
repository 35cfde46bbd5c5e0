// Times that no clock tells: every format with each of them is read, compacted, replayed and measured all the same.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { AGENT_FILES, LOOK_ALIKE_FILES } from '../support/format-lines.ts';
import { GROWTH_SCALE } from '../support/growth.ts';
import { baton, temporaryDirectory } from '../support/program.ts';
import { asFile, workLines } from '../support/work-sessions.ts';

const home = temporaryDirectory();
const path = join(home, 'session.jsonl');

/** What stands where a time should stand, as JSON, by how many times come before it. */
const TIMES: Readonly<Record<string, (count: number) => string>> = {
  'the last moment of a date': () => '8640000000000000',
  'the first moment of a date': () => '-8640000000000000',
  'after the last moment': () => '8640000000000001',
  'the last moment as a text': () => '"+275760-09-13T00:00:00.000Z"',
  'after the last moment as a text': () => '"+275760-09-13T00:00:00.001Z"',
  'before Christ': () => '"-271821-04-20T00:00:00.000Z"',
  'the year 9999 and then 1970': (count) =>
    count % 2 === 0 ? '"9999-12-31T23:59:59.999Z"' : '"1970-01-01T00:00:00.000Z"',
  'more than a number holds': () => '1e999',
  nanoseconds: (count) => `${1_767_600_000 + count}123456789`,
  'seconds with fractions': (count) => `${1_767_600_000 + count}.123456789`,
  'thirty digits': () => '123456789012345678901234567890',
  'minus nothing': () => '-0',
  nothing: () => 'null',
  'no time': () => '"NaN"',
  'an empty text': () => '""',
  'a long text': () => JSON.stringify('2026-01-05T08:00:00.'.padEnd(100_000, '0')),
  'an offset that is none': () => '"2026-01-05T08:00:00+99:99"',
  'a day that is none': () => '"2026-02-31T25:61:61Z"',
  'a list': () => '[2026,1,5]',
  'an object': () => '{"seconds":1767600000}',
  true: () => 'true',
  'the same for all': () => '"2026-01-05T08:00:00.000Z"',
  backwards: (count) => JSON.stringify(new Date(Date.UTC(2026, 0, 5) - count * 86_400_000).toISOString()),
  'centuries apart': (count) => JSON.stringify(new Date(Date.UTC(1970 + 97 * (count % 80), 0)).toISOString()),
};

const TIME_KEY = /time|date|created|updated|completed|compacted|start|end$|_at$|At$|^ts$/i;

/** A session with other times in it. */
function withTimes(text: string, timeOf: (count: number) => string): string {
  let count = 0;
  const times: string[] = [];
  const change = (key: string, value: unknown): unknown => {
    const isTime = TIME_KEY.test(key) && (typeof value === 'string' || typeof value === 'number');
    if (!isTime) return value;
    times.push(timeOf(count++));
    return `@time-${times.length - 1}@`;
  };
  const changed = (json: string): string =>
    JSON.stringify(JSON.parse(json), change).replace(/"@time-(\d+)@"/g, (_, at) => times[Number(at)] ?? '');
  try {
    return changed(text);
  } catch {
    return text
      .trim()
      .split('\n')
      .map((line) => `${changed(line)}\n`)
      .join('');
  }
}

const FILES: readonly { readonly name: string; readonly text: string }[] = [
  { name: 'codex work', text: asFile(workLines('codex')).toString() },
  { name: 'claude-code work', text: asFile(workLines('claude-code')).toString() },
  ...LOOK_ALIKE_FILES,
  ...AGENT_FILES,
];

/** A longer hunt takes all files for each time; every day, each time meets a third of them. */
const SHARE = GROWTH_SCALE > 1 ? 1 : 3;

const COMMANDS: readonly (readonly string[])[] = [
  ['inspect', '--json'],
  ['compact', '--preview', '--json'],
  ['replay', '--json', '--html', join(home, 'report.html'), '--force'],
];

/** A file without any time that Baton knows may be no session; a short one is not compacted. */
const REFUSALS: ReadonlySet<unknown> = new Set(['format_unknown', 'nothing_to_compact']);

async function assertRuns([command = '', ...options]: readonly string[], name: string): Promise<void> {
  const { status, stdout, error } = await baton(home, [command, path, ...options]);
  const what = `${command}, ${name}: ${JSON.stringify(error)}`;
  assert.ok(status === 0 || REFUSALS.has(error?.['code']), what);
  if (status === 0) assert.ok(JSON.parse(stdout), what);
}

describe('times that no clock tells', () => {
  for (const [number, [name, timeOf]] of Object.entries(TIMES).entries()) {
    test(name, async () => {
      for (const [index, file] of FILES.entries()) {
        if ((number + index) % SHARE !== 0) continue;
        writeFileSync(path, withTimes(file.text, timeOf));
        for (const command of COMMANDS) await assertRuns(command, file.name);
      }
    });
  }

  test('do not stop an evaluation', async () => {
    for (const name of ['the last moment of a date', 'backwards']) {
      writeFileSync(path, withTimes(asFile(workLines('codex')).toString(), TIMES[name] ?? String));
      await assertRuns(['eval', '--json'], name);
    }
  });
});
