import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { call, head, message, output } from '../../../../test/support/codex-lines.ts';
import { baton, temporaryDirectory } from '../../../../test/support/program.ts';
import { EvalDocument } from '../../documents/eval.ts';

const home = temporaryDirectory();
const long = join(home, 'long.jsonl');
const other = join(home, 'other.jsonl');
const short = join(home, 'short.jsonl');

function writeSession(path: string, calls: number, word: string): void {
  const builder = head('0.140');
  builder.item(message('user', `Never touch ${word}_frame. Build the ${word}.`));
  for (let at = 0; at < calls; at++) {
    const listing = Array.from(
      { length: 14 },
      (_, line) => `${word}_${at % 17}_${line} = turn(${word}_${at % 13}_${line})`,
    );
    builder.item(call(`c${at}`, `cat src/${word}-${at % 11}.ts`));
    builder.item(output(`c${at}`, listing.join('\n')));
    builder.item(message('assistant', `Now ${word}_${at % 17}_3 follows ${word}_${at % 13}_7.`));
  }
  writeFileSync(path, builder.lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
}

const OPTIONS = ['--sizes', '1k,2k', '--cuts', '3'];
/** Where the figures do not matter. */
const BRIEF = ['--sizes', '1k', '--cuts', '1', '--no-canaries'];

describe('baton eval', () => {
  before(() => {
    writeSession(long, 60, 'gear');
    writeSession(other, 60, 'lathe');
    writeSession(short, 2, 'bed');
  });

  it('prints a document of its schema, the same bytes whenever and in whatever order', async () => {
    const first = await baton(home, ['eval', long, other, ...OPTIONS, '--json']);
    const second = await baton(home, ['eval', other, long, ...OPTIONS, '--json'], {
      clock: { now: () => Math.PI },
    });
    assert.equal(first.status, 0, first.stderr);
    const document = EvalDocument.parse(JSON.parse(first.stdout));
    assert.ok(document.files.length === 2 && document.candidates.length > 10);
    assert.deepEqual(document.sizes, [1000, 2000]);
    assert.equal(first.stdout, second.stdout);
    assert.doesNotMatch(first.stdout, /milliseconds/);
  });

  it('measures the sessions of a directory and passes over the rest', async () => {
    const folder = join(home, 'sessions');
    mkdirSync(join(folder, 'deep'), { recursive: true });
    copyFileSync(long, join(folder, 'deep', 'a.jsonl'));
    writeFileSync(join(folder, 'settings.json'), '{"colour": "green"}');
    writeFileSync(join(folder, 'notes.md'), 'no session by its name');
    const ran = await baton(home, ['eval', folder, other, ...BRIEF, '--json']);
    assert.equal(ran.status, 0, ran.stderr);
    const { files, skipped_files: skipped } = EvalDocument.parse(JSON.parse(ran.stdout));
    assert.deepEqual(
      files.map(({ path }) => path).toSorted(),
      [other, join(folder, 'deep', 'a.jsonl')].toSorted(),
    );
    assert.equal(skipped, 1);
    const shown = await baton(home, ['eval', folder, ...BRIEF]);
    assert.match(shown.stdout, /^1 file of the directory is not a session\.$/m);
  });

  it('says that a directory holds no session', async () => {
    const empty = join(home, 'empty');
    mkdirSync(empty);
    const ran = await baton(home, ['eval', empty, ...BRIEF]);
    assert.equal(ran.status, 1);
    assert.equal(ran.error?.['code'], 'session_empty');
  });

  it('says why a column has no figure for the whole context', async () => {
    const { stdout } = await baton(home, ['eval', long, ...BRIEF, '--sizes', '1,2k']);
    assert.match(stdout, /^Too small for the whole context, so not in its means: 1 token at 1 of 1 cut$/m);
    const fitting = await baton(home, ['eval', long, ...BRIEF, '--sizes', '2k']);
    assert.doesNotMatch(fitting.stdout, /Too small for the whole/);
  });

  it('counts short sessions where naming them would fill the screen', async () => {
    const folder = join(home, 'short');
    mkdirSync(folder);
    for (let at = 0; at < 13; at++) copyFileSync(short, join(folder, `${at}.jsonl`));
    const ran = await baton(home, ['eval', folder, long, ...BRIEF], { showsProgress: true });
    assert.match(ran.stdout, /^Too short to measure: 13 sessions$/m);
    assert.doesNotMatch(ran.stdout, /\/short\/0/);
    assert.match(ran.stderr, /\(1 of 14\)/);
  });

  it('tells milliseconds where they are asked for', async () => {
    let now = 0;
    const clock = { now: () => (now += 3) };
    const ran = await baton(home, ['eval', long, ...BRIEF, '--json', '--timings'], { clock });
    const { candidates, canaries } = EvalDocument.parse(JSON.parse(ran.stdout));
    assert.equal(canaries, null);
    assert.ok(candidates.every(({ milliseconds }) => milliseconds === 3));
  });

  it('shows a table for each question', async () => {
    const { stdout } = await baton(home, ['eval', long, other, short, ...OPTIONS]);
    assert.match(stdout, /^2 sessions, 6 cuts, 0 of them where a compaction really happened$/m);
    assert.match(stdout, /^Too short to measure: ~\/short.jsonl$/m);
    assert.match(stdout, /^ {2}random lines +\d\.\d\d +\d\.\d\d$/m);
    assert.match(stdout, /^ {2}Baton, whole context +[+-]\d\.\d\d \[[+-]\d\.\d\d [+-]\d\.\d\d\]/m);
    assert.match(stdout, /^ {2}user messages +8 of 8 +8 of 8 +0 of 8/m);
  });

  it('says how many cuts each column rests on, and which sizes are nowhere a saving', async () => {
    const { stdout } = await baton(home, ['eval', long, '--sizes', '1k,8k,900k', '--no-canaries']);
    assert.match(stdout, /^Never a saving, so not measured: 900,000 tokens$/m);
    const [, few = '', many = ''] = /^ {2}cuts +(\d+) +(\d+)$/m.exec(stdout) ?? [];
    assert.ok(Number(many) > 0 && Number(few) > Number(many), 'few tokens at more cuts');
    const none = await baton(home, ['eval', long, '--sizes', '900k', '--no-canaries']);
    assert.match(none.stdout, /^ {2}old results cleared +\d\.\d\d at [\d,]+ tokens$/m);
    assert.doesNotMatch(none.stdout, /Paired|cuts +0/, 'a table without a figure');
  });

  it('folds tables that are wider than the terminal', async () => {
    for (const width of [40, 80, 200]) {
      const look = { hasColor: false, seal: '', hasUnicode: true, width };
      const sizes = ['--sizes', '500,600,700,800,900,1000'];
      const { stdout } = await baton(home, ['eval', long, other, ...sizes, '--cuts', '3'], { look });
      const rows = stdout.split('\n').filter((line) => /^ {2}(?!.*tokens$)/.test(line));
      assert.ok(rows.length > 40, stdout);
      for (const row of rows) assert.ok(row.length <= Math.max(width, 45), row);
      const heads = rows.join('\n').match(/^ {6,}(?:500|600|700|800|900|1,000)\b.*$/gm) ?? [];
      assert.ok(width === 200 ? heads.length === 5 : heads.length > 5, `${heads.length} blocks at ${width}`);
    }
  });

  it('says what is missing where every session is too short', async () => {
    const { stdout, status } = await baton(home, ['eval', short, ...BRIEF]);
    assert.match(stdout, /No session is long enough/);
    assert.equal(status, 0);
  });

  it('measures compactions alone where no regular cuts are wanted', async () => {
    const compacted = join(home, 'compacted.jsonl');
    writeSession(compacted, 200, 'wheel');
    const lines = readFileSync(compacted, 'utf8').trimEnd().split('\n');
    const middle = lines.findIndex((line) => line.includes('"c150"'));
    const history = [message('user', 'Build the wheel.'), message('user', 'So far: the frame stands.')];
    const compaction = { timestamp: '2025-09-01T01:00:00.000Z', type: 'compacted' };
    const payload = { message: '', replacement_history: history };
    writeFileSync(
      compacted,
      [...lines.toSpliced(middle, 0, JSON.stringify({ ...compaction, payload })), ''].join('\n'),
    );
    const args = ['eval', compacted, long, '--sizes', '1k', '--cuts', '0', '--seed', '0', '--no-canaries'];
    const { files } = EvalDocument.parse(JSON.parse((await baton(home, [...args, '--json'])).stdout));
    const kinds = files.map((file) => ('cuts' in file ? file.cuts.map(({ kind }) => kind) : undefined));
    assert.deepEqual(kinds, [['compaction'], []]);
    const told = await baton(home, args);
    assert.match(told.stdout, /1 cut, 1 of them where a compaction really happened/);
    assert.match(told.stdout, /Not compacted where it could be measured: .*long\.jsonl/);
    const none = await baton(home, ['eval', long, '--cuts', '0', '--no-canaries']);
    assert.match(none.stdout, /^No session was compacted where it could be measured/);
    for (const wrong of ['', '-1', '0.5', '00']) {
      assert.equal((await baton(home, ['eval', long, '--cuts', wrong])).status, 2, wrong);
    }
  });

  it('goes on after a file that it cannot read, and returns 1', async () => {
    const ran = await baton(home, ['eval', join(home, 'absent.jsonl'), long, ...BRIEF, '--json']);
    assert.equal(ran.status, 1);
    const { files } = EvalDocument.parse(JSON.parse(ran.stdout));
    assert.ok(files.some((file) => 'error' in file && file.error['code'] === 'file_not_found'));
    assert.ok(files.some((file) => 'cuts' in file && file.cuts.length > 0));
  });

  it('stops between two cuts when the user does', async () => {
    const abort = new AbortController();
    const io = { signal: abort.signal, showsProgress: true, stderr: () => abort.abort() };
    const ran = await baton(home, ['eval', long, other, ...OPTIONS], io);
    assert.equal(ran.status, 130);
    assert.equal(ran.stdout, '');
  });

  it('stops between two canaries when the user does', async () => {
    const abort = new AbortController();
    const io = {
      signal: abort.signal,
      showsProgress: true,
      stderr: (text: string) => {
        if (text.includes('canaries')) abort.abort();
      },
    };
    const ran = await baton(home, ['eval', long, '--sizes', '1k', '--cuts', '1'], io);
    assert.equal(ran.status, 130);
    assert.equal(ran.stdout, '');
  });

  it('draws progress on one line of the terminal, whatever the name of the file', async () => {
    const odd = join(home, `${'long-'.repeat(20)}\u001B[31m.jsonl`);
    writeSession(odd, 60, 'gear');
    const drawn: string[] = [];
    const io = { showsProgress: true, stderr: (text: string) => void drawn.push(text) };
    await baton(home, ['eval', odd, ...BRIEF], io);
    const lines = drawn.map((text) => text.replace('\u001B[1G\u001B[K', ''));
    assert.ok(
      lines.some((text) => text.endsWith(', cut 1')),
      'no progress was drawn',
    );
    for (const line of lines) {
      assert.ok(line.length < 80, line);
      assert.ok(!line.includes('\u001B'), 'the name of a file reaches the terminal');
    }
  });

  it('says what a damaged session is short of', async () => {
    const damaged = join(home, 'damaged.jsonl');
    writeSession(damaged, 60, 'gear');
    const lines = readFileSync(damaged, 'utf8').split('\n');
    writeFileSync(damaged, lines.toSpliced(40, 0, 'no JSON').join('\n'));
    const { stderr, status } = await baton(home, ['eval', damaged, ...BRIEF]);
    assert.match(
      stderr,
      /damaged\.jsonl: 1 damaged line skipped, the first is line 41; `baton inspect` says/,
    );
    assert.equal(status, 0);
  });

  it('plants no canaries where it has nothing to show beside them', async () => {
    const drawn: string[] = [];
    const io = { showsProgress: true, stderr: (text: string) => void drawn.push(text) };
    await baton(home, ['eval', short], io);
    assert.doesNotMatch(drawn.join(''), /canaries/);
  });

  it('refuses sizes that are none', async () => {
    const ran = await baton(home, ['eval', long, '--sizes', '2k,much']);
    assert.equal(ran.status, 2);
    assert.match(String(ran.error?.['message']), /number of tokens such as 8000 or 8k/);
  });
});
