// Handles of a session file: `last`, the beginning of an id, a file of that name.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { homeOfAllAgents, place, PLACED } from '../support/agent-homes.ts';
import { runBuilt } from '../support/built.ts';
import { baton, temporaryDirectory } from '../support/program.ts';
import { asFile, workLines } from '../support/work-sessions.ts';

async function pathOf(home: string, handle: string): Promise<string> {
  const ran = await baton(home, ['inspect', handle, '--json']);
  assert.equal(ran.status, 0, ran.explanation);
  return (JSON.parse(ran.stdout) as { path: string }).path;
}

test('last is the newest session, of all agents or of one', async () => {
  const home = homeOfAllAgents();
  assert.equal(await pathOf(home, 'last'), join(home, PLACED.copilot.path));
  for (const agent of ['baton', 'codex', 'claude', 'pi', 'gemini', 'copilot'] as const) {
    assert.equal(await pathOf(home, `last:${agent}`), join(home, PLACED[agent].path));
  }
  // A session that never began is not one.
  place(home, '.codex/sessions/2026/01/02/rollout-2026-01-02T09-00-00-ffff.jsonl', '', 99);
  assert.equal(await pathOf(home, 'last:codex'), join(home, PLACED.codex.path));
});

test('the variable of each agent locates its sessions', async () => {
  const home = temporaryDirectory();
  const variables = {
    CODEX_HOME: '.codex',
    CLAUDE_CONFIG_DIR: '.claude',
    PI_CODING_AGENT_DIR: '.pi/agent',
    COPILOT_HOME: '.copilot',
    GEMINI_CLI_HOME: '',
  };
  const made = homeOfAllAgents();
  const env = Object.fromEntries(
    Object.entries(variables).map(([name, folder]) => [name, join(made, folder)]),
  );
  const ran = await baton(home, ['sessions', '--json'], { env });
  const { sessions } = JSON.parse(ran.stdout) as { sessions: { agent: string }[] };
  assert.deepEqual(sessions.map(({ agent }) => agent).toSorted(), [
    'claude',
    'codex',
    'copilot',
    'gemini',
    'pi',
  ]);
});

test('a whole id and the beginning of an id name a session', async () => {
  const home = homeOfAllAgents();
  for (const agent of ['baton', 'codex', 'claude', 'pi', 'gemini', 'copilot'] as const) {
    const { id, path } = PLACED[agent];
    assert.equal(await pathOf(home, id), join(home, path));
    assert.equal(await pathOf(home, id.slice(0, 6).toUpperCase()), join(home, path));
  }
  assert.equal(await pathOf(home, '9e31a1ab-0000-4000-8000-000000000009'), join(home, PLACED.gemini.path));
});

test('every command that takes a file takes a handle', async () => {
  const home = homeOfAllAgents();
  const out = join(home, 'out.jsonl');
  for (const args of [
    ['inspect', 'last:codex', '0c0'],
    ['compact', '0c0', '--out', out],
    ['replay', 'last:codex', '--no-recall'],
    ['eval', 'last:codex', '--cuts', '1', '--sizes', '2k', '--no-canaries'],
    ['exec', '--model', 'rehearsal/last:codex'],
  ]) {
    const ran = await baton(home, args);
    assert.equal(ran.status, 0, `${args.join(' ')}: ${ran.stderr}${ran.explanation}`);
  }
  place(home, '.codex/sessions/2026/01/03/rollout-2026-01-03T09-00-00-cafe.jsonl', readFileSync(out), 50);
  const undone = await baton(home, ['undo', 'cafe', '--out', join(home, 'undone.jsonl')]);
  assert.equal(undone.status, 0, undone.explanation);
  assert.match(undone.stderr, /^cafe is ~\/\.codex\/.*-cafe\.jsonl \(Codex\)\.$/m);
});

test('a file of that name wins, and a path is never a handle', async () => {
  const home = homeOfAllAgents();
  for (const name of ['last', '0c00']) {
    writeFileSync(join(home, name), asFile(workLines('claude-code')));
    const ran = await runBuilt(['inspect', name, '--json'], { home });
    assert.equal((JSON.parse(ran.stdout) as { format: string }).format, 'claude-code');
    assert.equal(ran.stderr, '');
  }
  for (const name of ['./0b00', 'sub/last', '0b00.jsonl']) {
    const ran = await baton(home, ['inspect', name]);
    assert.equal(ran.error?.['code'], 'file_not_found');
    assert.match(ran.explanation, /does not exist/);
  }
});

test('an unknown handle among several does not hide the others', async () => {
  const home = homeOfAllAgents();
  const ran = await baton(home, ['inspect', 'zzz', 'last:codex']);
  assert.equal(ran.status, 1);
  assert.match(ran.stderr, /zzz does not exist\. Check the path; `baton sessions` lists/);
  assert.match(ran.stdout, /^Codex rollout/m);
});

test('an ambiguous beginning lists its candidates, with titles', async () => {
  const home = homeOfAllAgents();
  const ran = await baton(home, ['inspect', '0']);
  assert.equal(ran.status, 1);
  assert.equal(ran.error?.['code'], 'handle_ambiguous');
  const lines = ran.explanation.split('\n');
  assert.equal(lines[0], 'baton: 0 means 2 sessions:');
  assert.deepEqual(lines.slice(1, 3), [
    `  ${PLACED.codex.id}  Codex  Please post batch 1 to src/ledger/post-1.ts; ne…`,
    `  ${PLACED.baton.id}  Baton  Please post batch 1 to src/ledger/post-1.ts; ne…`,
  ]);
  assert.match(lines[3] ?? '', /^Type more of the id\./);
  const { candidates } = (ran.error ?? {})['data'] as { candidates: { id: string }[] };
  assert.deepEqual(
    candidates.map(({ id }) => id),
    [PLACED.codex.id, PLACED.baton.id],
  );
  // The same session in two places has one id.
  place(home, PLACED.codex.path.replace('sessions', 'archived_sessions'), asFile(workLines('codex')), 1);
  const twice = await baton(home, ['inspect', PLACED.codex.id]);
  assert.match(
    twice.explanation,
    /means 2 sessions:\n {2}~\/\.codex\/.*\n {2}~\/\.codex\/.*\nName one of these files\./,
  );
});

test('an unknown handle is reported with a cure', async () => {
  const home = homeOfAllAgents();
  const nothing = await baton(home, ['inspect', 'zzz']);
  assert.match(
    nothing.explanation,
    /^baton: zzz is neither a file nor the beginning of the id of a session\. `baton sessions` lists/,
  );
  assert.match(
    (await baton(home, ['inspect', 'last:nobody'])).explanation,
    /agent 'nobody'\. Write last:AGENT with one of baton, codex/,
  );
  assert.match(
    (await baton(temporaryDirectory(), ['compact', 'last'])).explanation,
    /This machine has no session\./,
  );
  assert.match(
    (await baton(home, ['inspect', 'ses_open'])).explanation,
    /`opencode export ses_openharbour > session\.json`/,
  );
  for (const command of ['inspect', 'compact', 'undo', 'replay', 'eval']) {
    const missing = await baton(home, [command]);
    assert.equal(missing.status, 2);
    assert.match(
      missing.explanation,
      /missing required argument 'session'\. Name one: `last` is the newest, and `baton sessions`/i,
    );
  }
});

test('sessions of Baton’s own are resumed by the beginning of their ids', async () => {
  const home = temporaryDirectory();
  const rehearse = ['exec', '--model', 'rehearsal'];
  // Each process makes ids of its own.
  const ids = { uuid: () => randomUUID() };
  const begun = await baton(home, [...rehearse, 'Light the lamp.'], { ids });
  const [, id = ''] = /session (\S+),/.exec(begun.stderr) ?? [];
  assert.match(id, /^[0-9a-f-]{36}$/, begun.stderr);
  for (const handle of [id.slice(0, 10), 'last', 'last:baton', id]) {
    const ran = await baton(home, [...rehearse, '--resume', handle, 'And the fence?'], { ids });
    assert.equal(ran.status, 0, `${handle}: ${ran.explanation}${ran.stderr}`);
    assert.match(ran.stderr, new RegExp(`session ${id},`));
  }
  const preview = await baton(home, ['undo', '--turn', '--preview', id.slice(0, 10)]);
  assert.match(preview.stderr, /The newest turn/);
  const other = await baton(home, [...rehearse, '--resume', 'last:codex', 'Go.']);
  assert.match(other.stderr, /Baton resumes only its own sessions/);
  const unknown = await baton(home, [...rehearse, '--resume', 'zzz', 'Go.']);
  assert.match(unknown.stderr, /zzz is neither a file nor the beginning of the id of a session of Baton\./);
});
