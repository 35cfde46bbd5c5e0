// The examples do what they say, and the library costs little to import.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { NOT_BUILT } from '../support/built.ts';

const ROOT = join(import.meta.dirname, '../..');
const run = promisify(execFile);

/** What an example prints. */
async function printed(name: string, ...rest: readonly string[]): Promise<string> {
  const args = ['--import', 'tsx', join(ROOT, 'examples', name), ...rest];
  const { stdout, stderr } = await run(process.execPath, args, { cwd: ROOT });
  assert.equal(stderr, '');
  return stdout;
}

test('an array of messages is compacted: requests verbatim, no call without its result', async () => {
  const text = await printed('compact-messages.ts');
  const { role } = JSON.parse(text.slice(text.indexOf('\n[') + 1)).at(-1) as { readonly role: string };
  assert.equal(role, 'user');
  const [, tokens = ''] = /^28 messages, 7\d{3} tokens\n\d+ messages, (\d+) tokens:\n/.exec(text) ?? [];
  assert.ok(Number(tokens) > 0 && Number(tokens) <= 1500, text);
  assert.match(text, /hour 9: flame steady \(120×\)/);
  assert.equal(text.match(/hour 9: flame steady/g)?.length, 1);
  assert.match(text, /"Never touch the glass\. Find out why the lamp flickers\."/);
  assert.match(text, /"Then trim a new one\."/);
  const calls = text.match(/"id": "call_\d+"/g)?.length ?? 0;
  assert.equal(text.match(/"tool_call_id": "call_\d+"/g)?.length ?? 0, calls);
});

test('a session file is inspected: its parts add up to what is used', async () => {
  const text = await printed('inspect-session.ts');
  const [, used = ''] = /^(\d+) of \d+ tokens, \d+ % left\n/.exec(text) ?? [];
  const [parts = '', results = ''] = text.split('Largest results:\n');
  const sum = [...parts.matchAll(/^ {2}\w+: (-?\d+)$/gm)].reduce(
    (total, [, tokens]) => total + Number(tokens),
    0,
  );
  assert.equal(sum, Number(used));
  assert.match(results, /^(?: {2}\d+: \w+ .+\n){3}$/);
});

test('a session file is compacted into another one', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'baton-example-'));
  try {
    const out = join(folder, 'compacted.jsonl');
    const session = join(ROOT, 'examples/sessions/tally.jsonl');
    const text = await printed('compact-session.ts', session, out);
    const [, before = '', after = ''] =
      /^(\d+) -> (\d+) tokens, \d+ of them instructions and tools\n/.exec(text) ?? [];
    assert.ok(Number(after) > 0 && Number(after) < Number(before) / 10, text.slice(0, 100));
    assert.match(text, /\n\d+ items kept, \d+ removed\n/);
    const written = readFileSync(out, 'utf8');
    assert.ok(written.startsWith(readFileSync(session, 'utf8')) && written.includes('"compacted"'));
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('an agent loop of one’s own compacts at the end of a piece of work', async () => {
  const lines = (await printed('watch-your-agent.ts')).trimEnd().split('\n');
  const characters = lines
    .flatMap((line) => /^request: .* (\d+) characters$/.exec(line)?.[1] ?? [])
    .map(Number);
  assert.ok(characters.length >= 15, 'three requests a turn');
  assert.ok(
    characters.every((each) => each < 80_000),
    'about half of the window',
  );
  const done = lines.findIndex((line) => /^Context compacted: [\d,]+ → [\d,]+ tokens\.$/.test(line));
  assert.match(lines[done - 1] ?? '', /triggering compaction/, 'a decision, not the limit');
  assert.match(lines[done + 1] ?? '', /injecting post-compact handoff/);
});

test('an agent of one’s own is watched: asked, compacted, handed over', async () => {
  const lines = (await printed('drive-the-watcher.ts')).trimEnd().split('\n');
  const steps = lines.flatMap(
    (line) => /^(?:turn-\d+: (\w+)|(compacted):)/.exec(line)?.slice(1).filter(Boolean) ?? [],
  );
  assert.deepEqual(steps, ['the', 'the', 'the', 'packet_request', 'compacted', 'handoff']);
  assert.doesNotMatch(lines.join('\n'), /no usable/);
});

test('policies are compared on a recorded session', async () => {
  const text = await printed('back-test.ts');
  const [shipped = '', patient = ''] = text.split(/^(?=commits only)/m);
  assert.match(shipped, /^as shipped: [1-9]\d* compactions/);
  assert.match(patient, /^commits only: [1-9]\d* compactions/);
  assert.notEqual(shipped.replace('as shipped', ''), patient.replace('commits only', ''));
});

test('importing the library loads neither tools nor providers', { skip: NOT_BUILT }, async () => {
  const loaded = async (entry: string): Promise<string> => {
    // Every module that is loaded goes through the hook.
    const hook = `export async function load(url, context, next) { console.log(url); return next(url, context); }`;
    const register = `import { register } from 'node:module'; register('data:text/javascript,${encodeURIComponent(hook)}');`;
    const args = [
      '--import',
      `data:text/javascript,${encodeURIComponent(register)}`,
      '-e',
      `import(${JSON.stringify(entry)})`,
    ];
    return (await run(process.execPath, args, { cwd: ROOT })).stdout;
  };
  for (const entry of ['baton-agent', 'baton-agent/engine', 'baton-agent/watcher']) {
    const modules = await loaded(entry);
    assert.match(modules, /dist\/lib\/compaction\/compact\.io\.js/, 'the modules are seen');
    assert.doesNotMatch(modules, /dist\/lib\/(?:tools|providers|thread)\//, entry);
  }
});
