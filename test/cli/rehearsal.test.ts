// `baton exec --model rehearsal/FILE` as a process: a recording through the real thread, without a provider.

import assert from 'node:assert/strict';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { columns } from '../../src/cli/style.ts';
import { findBrokenPairs, pairView } from '../../src/history/pairs.ts';
import { HistoryFold } from '../../src/history/project.ts';
import { WHOLE_ITEMS } from '../../src/history/clear.ts';
import { authorOf } from '../../src/protocol/item.ts';
import type { LogRecord } from '../../src/protocol/record.ts';
import { NOT_BUILT, runBuilt } from '../support/built.ts';
import type { Ended, World } from '../support/built.ts';
import { ExecFixture, eventsOf } from '../support/exec.ts';
import { assertFailed, assertNoNoise } from '../support/explained.ts';
import { temporaryDirectory } from '../support/program.ts';
import { readSessionFile } from '../support/read-format.ts';
import { conversationOf } from '../support/rehearsed.ts';
import { NO_TERMINAL, showIn } from '../support/terminal.ts';

const root = temporaryDirectory();
const BUNDLED = join(import.meta.dirname, '../../examples/sessions/tally.jsonl');

/** So small that the bundled session is handed over at a boundary of its work, and compacted by the limit besides. */
const SMALL_WINDOW = 40_000;

before(() => assert.equal(NOT_BUILT, false, String(NOT_BUILT)));

/**
 * A user without any provider: nothing answers on port 9, where a local Ollama is looked for. Summaries are to be written by
 * others, who must not be asked for those of a rehearsal.
 */
class Stranger extends ExecFixture {
  constructor() {
    super(root, 'http://127.0.0.1:9');
    writeFileSync(
      join(this.home, '.baton/config.toml'),
      [
        '[model_providers.ollama]\nbase_url = "http://127.0.0.1:9/v1"\nwire_api = "chat"\n',
        '[compact]\nsummarization_model = "openai/gpt-5.1"\n',
        '[rawr_auto_compaction]\ncompaction_model = "openai/gpt-5.1"\n',
      ].join(''),
    );
  }

  play(args: readonly string[], world: Partial<World> & { readonly window?: number } = {}): Promise<Ended> {
    const { window, ...rest } = world;
    const limited = window === undefined ? [] : ['-c', `model_context_window=${window}`];
    return runBuilt([...limited, 'exec', '-C', this.work, ...args], { home: this.home, ...rest });
  }

  async records(): Promise<readonly LogRecord[]> {
    assert.equal(this.rollouts().length, 1, 'one session');
    return (await readSessionFile(this.rollouts()[0] ?? '')).records;
  }
}

async function assertWholeConversation(at: Stranger): Promise<readonly LogRecord[]> {
  const [recorded, records] = [(await readSessionFile(BUNDLED)).records, await at.records()];
  const [wanted, played] = [conversationOf(recorded), conversationOf(records)];
  assert.deepEqual(played.user, wanted.user);
  assert.deepEqual(played.agent, wanted.agent);
  const history = new HistoryFold(WHOLE_ITEMS);
  for (const record of records) history.add(record);
  const items = history.entries.map(({ value }) => value);
  assert.deepEqual(Object.values(findBrokenPairs(items.map(pairView))).flat(), []);
  return records;
}

/** How many compactions and handoffs there are in a log, and that each of the latter follows one of the former. */
function handovers(records: readonly LogRecord[]): {
  readonly compactions: number;
  readonly handoffs: number;
} {
  const compactions = records.filter(({ type }) => type === 'compacted').length;
  const handoffs = records.filter(
    (record) => record.type === 'item' && record.item.origin?.step === 'handoff',
  ).length;
  return { compactions, handoffs };
}

describe('a recording that is named', () => {
  test('is played whole, with its own compactions and handovers, and touches no work tree', async () => {
    const at = new Stranger();
    const ended = await at.play(['--model', `rehearsal/${BUNDLED}`], { window: SMALL_WINDOW });
    assert.equal(ended.status, 0, ended.stderr);
    assertNoNoise(ended);
    assert.match(ended.stderr, /This is a rehearsal: tally\.jsonl \(codex, 8 turns\) is played at once/);
    assert.doesNotMatch(ended.stderr, /left out/, 'no other model is opened');
    const { compactions, handoffs } = handovers(await assertWholeConversation(at));
    assert.ok(handoffs > 0, 'handed over');
    assert.ok(compactions > handoffs, `${compactions} compactions`);
    assert.deepEqual(readdirSync(at.work), ['.git']);
    assert.deepEqual(at.locks(), []);
  });

  test('emits its events with --json, and says in both places that it is a rehearsal', async () => {
    const at = new Stranger();
    const ended = await at.play(['--json', '--model', 'rehearsal'], { window: SMALL_WINDOW });
    assert.equal(ended.status, 0, ended.stderr);
    const events = eventsOf(ended);
    const [first, second] = events;
    assert.ok(first?.type === 'session_configured' && first.provider === 'rehearsal', 'configured first');
    assert.equal(first.model_context_window, SMALL_WINDOW);
    assert.ok(
      second?.type === 'warning' && second.message.startsWith('This is a rehearsal'),
      'then the banner',
    );
    assert.match(ended.stderr, /This is a rehearsal/);
    const steps = events.flatMap((event) =>
      event.type === 'user_message' ? [event.steps.at(-1) ?? null] : [],
    );
    assert.ok(steps.includes('packet_request') && steps.includes('handoff'), steps.join());
    assert.equal(events.at(-1)?.type, 'shutdown_complete');
    assert.equal(events.filter(({ type }) => type === 'exec_command_begin').length, 0, 'nothing is executed');
  });

  test('loses and repeats nothing when it is stopped and resumed in several processes', async () => {
    const at = new Stranger();
    const model = ['--model', `rehearsal/${BUNDLED}`];
    let stops = 0;
    for (const moment of ['\n> ', 'packet request: ', '\ncompacted:', '\nhandoff:', '\n> ']) {
      const resumed = at.rollouts().length === 0 ? [] : ['--resume', 'last'];
      let told = '';
      const ended = await at.play([...model, '--speed', '2000', ...resumed], {
        window: SMALL_WINDOW,
        started: (child) =>
          child.stderr?.on('data', (text: string) => {
            told += text;
            if (!child.killed && told.includes(moment)) child.kill('SIGINT');
          }),
      });
      if (ended.status === 0) break;
      assertFailed(ended, 'interrupted');
      assert.match(ended.stderr, /--resume [0-9a-f-]{36} --model rehearsal\//);
      stops++;
    }
    assert.ok(stops > 1, `it was stopped ${stops} times`);
    const finished = await at.play([...model, '--resume', 'last'], { window: SMALL_WINDOW });
    assert.equal(finished.status, 0, finished.stderr);
    const { compactions, handoffs } = handovers(await assertWholeConversation(at));
    assert.ok(handoffs <= compactions, `${handoffs} handoffs, ${compactions} compactions`);
  });

  test('does not answer a message of another kind, and continues after it', async () => {
    const at = new Stranger();
    const asked = await at.play(['--model', 'rehearsal', 'Light the lamp.']);
    assert.equal(asked.status, 0, asked.stderr);
    assert.match(asked.stdout, /cannot answer this: "Light the lamp\."/);
    const played = await at.play(['--model', 'rehearsal', '--resume', 'last']);
    assert.equal(played.status, 0, played.stderr);
    const said = (await at.records()).filter(
      (record) => record.type === 'item' && authorOf(record.item) === 'user',
    );
    assert.equal(said.length, 9);
  });

  test('is not played into another session, at no speed, or in a form', async () => {
    const at = new Stranger();
    await at.play(['--model', 'rehearsal', 'Light the lamp.']);
    const other = join(at.home, 'other.jsonl');
    writeFileSync(
      other,
      '{"role":"user","content":"Sound the harbour."}\n{"role":"assistant","content":"Three fathoms."}\n',
    );
    await at.play(['--model', `rehearsal/${other}`, '--resume', 'last']).then((ended) => {
      assert.equal(ended.status, 0, 'where nothing was played yet, anything may be');
    });
    assertFailed(await at.play(['--model', 'rehearsal', '--resume', 'last']), 'usage');
    assertFailed(await at.play(['--model', 'rehearsal/-']), 'usage');
    assertFailed(await at.play(['--model', 'rehearsal/absent.jsonl']), 'file_not_found');
    assertFailed(await at.play(['--model', 'rehearsal', '--speed', '-1']), 'usage');
    writeFileSync(join(at.home, 'form.json'), '{"type":"object"}');
    assertFailed(await at.play(['--model', 'rehearsal', '--output-schema', 'form.json']), 'usage');
  });
});

describe('without an available model', () => {
  test('the session that comes with Baton is played', async () => {
    const at = new Stranger();
    const ended = await at.play([]);
    assert.equal(ended.status, 0, ended.stderr);
    assert.match(ended.stderr, /This is a rehearsal: tally\.jsonl/);
    await assertWholeConversation(at);
  });

  for (const [how, args, input] of [
    ['as an argument', ['Light the lamp.'], ''],
    ['through a pipe', [], 'Light the lamp.'],
  ] as const) {
    test(`a message ${how} is not answered, and the run fails with the cure`, async () => {
      const at = new Stranger();
      const ended = await at.play(args, { input });
      assertFailed(ended, 'model_missing');
      assert.match(ended.stdout, /cannot answer this: "Light the lamp\."/);
      assert.match(ended.stderr, /OPENAI_API_KEY/);
    });
  }

  test('a resumed session or a configured model rehearses nothing', async () => {
    const at = new Stranger();
    await at.play(['--model', 'rehearsal', 'Light the lamp.']);
    assertFailed(await at.play(['--resume', 'last', 'Go on.']), 'model_missing');
    const meant = await runBuilt(['-c', 'model=gpt-5.1', 'exec', 'Light the lamp.'], { home: at.home });
    assertFailed(meant, 'model_missing');
    assert.equal(at.rollouts().length, 1);
  });
});

test('progress is broken between words at the edge of a terminal', { skip: NO_TERMINAL }, async () => {
  const home = temporaryDirectory();
  const { lines } = await showIn(
    { home, columns: 44, rows: 24 },
    'baton exec --model rehearsal Light. >/dev/null',
  );
  for (const row of lines) assert.ok(columns(row) <= 44 || !row.trim().includes(' '), row);
  assert.ok(lines.length > 3, lines.join('\n'));
});
