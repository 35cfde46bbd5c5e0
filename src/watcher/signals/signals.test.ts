import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { Item, MessageItem, ToolOutputItem } from '../../protocol/item.ts';
import type { LogRecord, TurnRecord } from '../../protocol/record.ts';
import type { Step } from '../../vocabulary.ts';
import { agentSays, harnessSays, recordsOf, toolCall, userSays } from '../../../test/support/records.ts';
import { anyLog } from '../../../test/support/thread.ts';
import { SignalDetector } from './signals.ts';
import type { Signal } from '../../protocol/signal.ts';

type Entry = Item | readonly Item[] | TurnRecord | (LogRecord & { type: 'compacted' | 'side_item' });

function isItem(entry: Item | TurnRecord | LogRecord): entry is Item {
  return !/^(?:turn_\w+|compacted|side_item)$/.test(entry.type);
}

function logOf(...entries: readonly Entry[]): LogRecord[] {
  return entries
    .flat()
    .map((entry: Item | LogRecord, index) =>
      isItem(entry as Item) ? { type: 'item', item: entry as Item, line: index + 1 } : (entry as LogRecord),
    );
}

function signalsOf(log: readonly LogRecord[], detector = new SignalDetector()): Signal[] {
  return [...log.flatMap((record) => detector.add(record)), ...detector.end()];
}

/** The boundaries of a log in order, turns left out. */
function told(...entries: readonly Entry[]): string {
  return signalsOf(logOf(...entries))
    .map(({ boundary }) => boundary)
    .filter((boundary) => boundary !== 'turn_complete')
    .join(' ');
}

/** Numbers for the ids of calls. */
const ids = (function* (): Generator<number, never> {
  for (let id = 1; ; id++) yield id;
})();

function call(
  name: string,
  input: object,
  result: Partial<Pick<ToolOutputItem, 'output' | 'success' | 'exit_code'>> = {},
  callId = `c${ids.next().value}`,
): readonly Item[] {
  return [
    ...toolCall(callId, name, input),
    { type: 'function_call_output', call_id: callId, output: '', ...result },
  ];
}

const shell = (cmd: string, callId?: string): readonly Item[] =>
  call('exec_command', { cmd }, { exit_code: 0 }, callId);

const commit = (): readonly Item[] => shell('git commit -m x');

/** `1x 2> 3`: step 1 completed, 2 in progress, 3 pending. */
function plan(notation: string): readonly Item[] {
  const status = { x: 'completed', '>': 'in_progress' } as const;
  const steps = notation.split(' ').map((word) => {
    const mark = word.at(-1) ?? '';
    return mark === 'x' || mark === '>'
      ? { step: word.slice(0, -1), status: status[mark] }
      : { step: word, status: 'pending' };
  });
  return call('update_plan', { plan: steps }, { output: 'Plan updated' });
}

function injected(step: Step, text = 'Please.'): MessageItem {
  return { ...(userSays(text) as MessageItem), origin: { author: 'synthetic', step, sequenceId: 's1' } };
}

const started: TurnRecord = { type: 'turn_started' };
const complete: TurnRecord = { type: 'turn_complete' };

test('a commit is told with command, status and hash, at the line of its result', () => {
  const output = 'Process exited with code 0\nOutput:\n[main abc1234] Add it\n';
  const log = logOf(
    userSays('Go'),
    call('exec_command', { cmd: 'git add . && git commit -m "Add it"' }, { output }),
  );
  assert.deepEqual(signalsOf(log), [
    {
      id: 'commit@2',
      boundary: 'commit',
      evidence: {
        type: 'command',
        command: 'git commit -m Add it',
        exitStatus: 0,
        toldBy: 'status',
        hash: 'abc1234',
      },
      turn: 1,
      position: 2,
      line: 3,
    },
  ]);
});

const results: readonly (readonly [what: string, items: readonly Item[], told: string])[] = [
  ['exit code 1', call('shell', { command: ['git', 'commit'] }, { exit_code: 1 }), ''],
  ['argv', call('shell', { command: ['git', 'commit', '-m', 'a && b'] }, { exit_code: 0 }), 'commit'],
  ['argv of echo', call('shell', { command: ['echo', 'git commit'] }, { exit_code: 0 }), ''],
  [
    'local shell',
    call('local_shell', { type: 'exec', command: ['bash', '-lc', 'git commit'] }, { exit_code: 0 }),
    'commit',
  ],
  ['a success without a status', call('Bash', { command: 'git commit -m x' }, { success: true }), 'commit'],
  ['a failure without a status', call('Bash', { command: 'git commit -m x' }, { success: false }), ''],
  [
    'neither, with a report',
    call('bash', { command: 'git commit' }, { output: '[main abc1234] x' }),
    'commit',
  ],
  [
    'an alias',
    call('exec_command', { cmd: 'git save "x"' }, { output: '\u001b[32m[main abc1234] x\u001b[0m' }),
    'commit',
  ],
  [
    'a verb that is no alias',
    call('exec_command', { cmd: 'git status' }, { output: '[main abc1234] x' }),
    '',
  ],
  ['neither', call('bash', { command: 'git commit' }, { output: 'ok' }), ''],
  ['no shell', call('write_file', { path: 'a.sh', content: 'git commit' }, { success: true }), ''],
  [
    'sent to the background',
    call(
      'Bash',
      { command: 'git commit' },
      { success: true, output: 'Command running in background with ID: b1' },
    ),
    '',
  ],
  [
    'a script of several lines',
    call('Bash', { command: 'cd x\ngit\tcommit -m x' }, { success: true }),
    'commit',
  ],
  ['a server of tools', call('mcp__box__bash', { command: 'git commit -m x' }, { success: true }), 'commit'],
  ['no result', toolCall('open', 'bash', { command: 'git commit' }), ''],
  [
    'a result of nobody',
    [{ type: 'function_call_output', call_id: 'nobody', output: '[main abc1234] x', exit_code: 0 }],
    '',
  ],
];

for (const [what, items, expected] of results) {
  test(`a commit by ${what}`, () => assert.equal(told(userSays('Go'), items), expected));
}

test('a command that runs on is told when it ends, once', () => {
  const running = { output: 'Process running with session ID 77\nOutput:\n[main abc1234] Add it\n' };
  const log = [
    call('exec_command', { cmd: 'git commit -m x && make' }, running),
    call(
      'write_stdin',
      { session_id: 77, chars: '' },
      { output: 'Process running with session ID 77\nOutput:\n.' },
    ),
    call(
      'write_stdin',
      { session_id: 77, chars: '' },
      { output: 'Process exited with code 0\nOutput:\nok', exit_code: 0 },
    ),
  ];
  assert.equal(told(...log.slice(0, 2)), '');
  assert.equal(told(...log), 'commit');
  const late = call('write_stdin', { session_id: 77, chars: '' }, { exit_code: 0 });
  assert.equal(told(...log, late), 'commit');
});

test('a call, result or turn that is recorded again is no second event', () => {
  const once = shell('git commit -m x', 'same');
  assert.equal(told(once, once), 'commit');
  assert.equal(told([...once, ...once.slice(1)]), 'commit');
  assert.equal(
    told([...once.slice(0, 1), ...once.slice(0, 1), ...once.slice(1), ...once.slice(1)]),
    'commit',
  );
  assert.equal(told(once, shell('git commit -m y', 'same')), 'commit commit', 'an id may be used again');
  const end: TurnRecord = { type: 'turn_complete', turnId: 't1' };
  const turn = [{ ...started, turnId: 't1' }, userSays('Go'), ...commit(), agentSays('Done.'), end];
  const ends = (log: readonly LogRecord[]): number =>
    signalsOf(log).filter(({ boundary }) => boundary === 'turn_complete').length;
  assert.equal(ends(logOf(...turn, end, end)), 1);
  assert.equal(ends(logOf(...turn, ...turn)), 1);
  assert.equal(told(...turn, ...turn.slice(1)), 'commit agent_done');
});

test('plans: every update, and a checkpoint only for a step that was not completed before', () => {
  const table: readonly (readonly [plans: readonly string[], told: string])[] = [
    [['1> 2'], '-'],
    [['1> 2', '1x 2>'], '- 1'],
    [['1> 2', '1x 2>', '1x 2>', '1x 2>'], '- 1 - -'],
    [['1> 2', '1x 2x'], '- 1+2'],
    [['1x 2>'], '1'],
    [['1x 2>', '1> 2>', '1x 2>'], '1 - 1'],
    [['1x 2> 3', '2> 3', '2x 3>'], '1 - 2'],
    [['1x 2>', 'onex 2>'], '1 -'],
    [['1x 2>', 'onex 2x'], '1 2'],
    [['1x 2x', 'a> b'], '1+2 -'],
    [['a> a>', 'ax a>', 'ax ax'], '- a a'],
  ];
  for (const [plans, expected] of table) {
    const signals = signalsOf(logOf(userSays('Go'), ...plans.map(plan)));
    assert.equal(signals.filter(({ boundary }) => boundary === 'plan_update').length, plans.length);
    const steps = signals.flatMap(({ boundary, evidence }) =>
      boundary === 'plan_update' && evidence.type === 'plan' ? [evidence.completed.join('+') || '-'] : [],
    );
    assert.equal(steps.join(' '), expected, plans.join(' | '));
    const checkpoints = signals.filter(({ boundary }) => boundary === 'plan_checkpoint').length;
    assert.equal(checkpoints, steps.filter((step) => step !== '-').length, plans.join(' | '));
  }
});

test('task tools are plans: the id is the one that the tool gave', () => {
  const log = [
    call('TaskCreate', { subject: 'Write it' }, { output: 'Task #7 created successfully', success: true }),
    call('TaskUpdate', { taskId: '7', status: 'in_progress' }, { success: true }),
    call('TaskUpdate', { taskId: '7', status: 'completed' }, { success: true }),
    call('TaskUpdate', { taskId: '7', status: 'completed' }, { success: true }),
  ];
  assert.equal(told(...log), 'plan_update plan_update plan_checkpoint plan_update plan_update');
  const todos = call('TodoWrite', { todos: [{ content: 'a', status: 'completed' }] }, { success: true });
  assert.equal(told(todos), 'plan_checkpoint plan_update');
  assert.equal(told(call('TodoWrite', { todos: [] }, { success: false })), '', 'a refused update');
});

test('a phase checkpoint is told with what it says', () => {
  const [signal] = signalsOf(logOf(call('phase_checkpoint', { summary: 'The parser stands' })));
  assert.deepEqual(signal?.evidence, { type: 'phase', summary: 'The parser stands' });
  assert.equal(told(call('phase_checkpoint', { summary: 'x' }, { success: false })), '');
});

test('the words of a turn count at its end, and only its final message', () => {
  const work = shell('make');
  assert.equal(told(started, userSays('Go'), work, agentSays('Done.'), complete), 'agent_done');
  assert.equal(told(started, userSays('Go'), agentSays('Done.'), complete), '', 'no work, nothing done');
  assert.equal(told(started, userSays('Go'), agentSays('Done.'), work, agentSays('It works.'), complete), '');
  assert.equal(told(started, userSays('Go'), agentSays('Done.'), work, complete), '');
  assert.equal(told(started, userSays('Go'), work, agentSays('Done.'), { type: 'turn_aborted' }), '');
  assert.equal(told(started, userSays('Done.'), work, agentSays('It works.'), complete), '');
  assert.equal(told(started, userSays('Go'), work, harnessSays('Done.'), agentSays('Yes.'), complete), '');
  const refused = call('bash', { command: 'make' }, { success: false });
  assert.equal(told(started, userSays('Go'), refused, agentSays('Done.'), complete), '');
  const placeholder: Item = { ...(agentSays('Done.') as MessageItem), isApiErrorMessage: true };
  assert.equal(told(started, userSays('Go'), work, placeholder, complete), '');
  assert.equal(
    told(started, userSays('Go'), work, agentSays('Done. In summary, good. Next, the docs.'), complete),
    'agent_done topic_shift concluding_thought',
  );
});

test('without records of turns, the next message of the user ends one, and the end of the log the last', () => {
  const log = logOf(
    userSays('Go'),
    commit(),
    agentSays('Done.'),
    userSays('More'),
    commit(),
    agentSays('Done.'),
  );
  assert.deepEqual(
    signalsOf(log).map(({ boundary, turn, line }) => `${boundary} ${turn}:${line}`),
    [
      'commit 1:3',
      'agent_done 1:4',
      'turn_complete 1:4',
      'commit 2:7',
      'agent_done 2:8',
      'turn_complete 2:8',
    ],
  );
  assert.equal(told(userSays('Go'), commit()), 'commit', 'an unfinished turn has no end');
});

test('a session that is cut off in the middle of a turn has no end of it', () => {
  const boundaries = signalsOf(logOf(started, userSays('Go'), commit(), complete, started, userSays('More')));
  assert.equal(boundaries.filter(({ boundary }) => boundary === 'turn_complete').length, 1);
});

test('what Baton asks for gives no signals, the work after a handoff does', () => {
  const finish = [...plan('1x'), ...commit(), agentSays('Done. Next steps: none.')];
  for (const step of ['heads_up', 'scratch', 'packet_request'] as const) {
    assert.equal(signalsOf(logOf(started, injected(step), ...finish, complete)).length, 0, step);
    assert.equal(signalsOf(logOf(userSays('Go'), injected(step), ...finish)).length, 0, step);
  }
  const after = [started, injected('handoff', 'Done. git commit'), ...finish, complete];
  assert.equal(
    told(started, injected('packet_request'), agentSays('Done.'), complete, ...after),
    'plan_checkpoint plan_update commit agent_done concluding_thought',
  );
  assert.equal(signalsOf(logOf(...after)).at(-1)?.boundary, 'turn_complete');
  assert.equal(told(injected('packet_request'), agentSays('Done.'), userSays('Go'), commit()), 'commit');
});

test('a packet that the watcher assembled is nobody’s word', () => {
  const packet = {
    ...(agentSays('Done. Next steps: x') as MessageItem),
    origin: { author: 'synthetic', step: 'packet' },
  } as Item;
  assert.equal(told(started, userSays('Go'), commit(), packet, complete), 'commit');
});

test('a packet in the log, by whoever, asks for nothing and mutes nothing', () => {
  const assembled: MessageItem = {
    ...(agentSays('Next: x') as MessageItem),
    origin: { author: 'synthetic', step: 'packet' },
  };
  for (const packet of [assembled, injected('packet')]) {
    assert.equal(
      told(started, userSays('Go'), packet, commit(), agentSays('Done.'), complete),
      'commit agent_done',
    );
  }
});

test('a message of the user in the middle of a turn ends none where the log tells of ends', () => {
  const log = [
    started,
    userSays('Go'),
    commit(),
    agentSays('Done.'),
    userSays('Wait'),
    commit(),
    agentSays('Good.'),
  ];
  const boundaries = signalsOf(logOf(...log, complete)).map(({ boundary }) => boundary);
  assert.deepEqual(boundaries, ['commit', 'commit', 'turn_complete']);
});

test('a packet-like text that quotes commands reaches nothing', () => {
  const text = '## Just completed\n`git commit -m x` and git push\n\n[main abc1234] x\n';
  const log = logOf(started, userSays('Go'), agentSays(text), complete);
  assert.deepEqual(
    signalsOf(log).map(({ boundary }) => boundary),
    ['turn_complete'],
  );
});

test('the answer to a compaction prompt is none of the turn’s words, and a compaction no turn', () => {
  const compacted: LogRecord & { type: 'compacted' } = {
    type: 'compacted',
    id: 'k',
    replacement: [agentSays('Done.')],
    summary: 'All is done. Next steps: none.',
  };
  const summary = agentSays('All is done. Next steps: none.\n');
  assert.deepEqual(signalsOf(logOf(started, summary, compacted, complete)), []);
  assert.equal(
    told(started, userSays('Go'), commit(), agentSays('Good.'), summary, compacted, complete),
    'commit',
  );
  assert.equal(
    told(started, userSays('Go'), commit(), agentSays('Done.'), summary, compacted, complete),
    'commit agent_done',
  );
});

test('what stands outside of the conversation gives no signals', () => {
  const side = commit().map((item): LogRecord & { type: 'side_item' } => ({
    type: 'side_item',
    item,
    why: 'subagent',
  }));
  assert.equal(told(userSays('Go'), ...side), '');
});

test('secrets do not get into evidence', () => {
  const token = `ghp_${'a1B2'.repeat(9)}`;
  const [signal] = signalsOf(logOf(shell(`git push https://me:${token}@example.com/x.git`)));
  assert.equal(signal?.boundary, 'pr_checkpoint');
  assert.ok(!JSON.stringify(signal).includes(token));
});

test('ids tell events apart and stay the same when the log grows', () => {
  const log = recordsOf(
    userSays('Go'),
    shell('git commit -m a && git commit -m b && git push'),
    commit(),
    plan('1x'),
    agentSays('Done. Next, more.'),
  );
  const signals = signalsOf(log);
  assert.equal(new Set(signals.map(({ id }) => id)).size, signals.length);
  const shorter = signalsOf(log.slice(0, 5)).map(({ id }) => id);
  assert.deepEqual(
    signals.slice(0, shorter.length).map(({ id }) => id),
    shorter,
  );
});

test('any log never throws; positions and turns never go back', () => {
  fc.assert(
    fc.property(anyLog, (log) => {
      let last = { position: -1, turn: 0 };
      for (const signal of signalsOf(log)) {
        assert.ok(signal.turn >= last.turn);
        assert.ok(
          signal.boundary === 'turn_complete' ||
            signal.evidence.type === 'phrase' ||
            signal.position >= last.position,
        );
        last = signal;
      }
    }),
    { seed: 11, numRuns: 500 },
  );
});

test('any command and result text never throw', () => {
  const text = fc.string({ unit: 'binary' });
  fc.assert(
    fc.property(text, text, text, (cmd, output, name) => {
      const argument = JSON.stringify({ cmd: `git commit ${cmd}`, plan: cmd, subject: cmd, taskId: output });
      for (const tool of [
        'bash',
        'update_plan',
        'TaskUpdate',
        'TaskCreate',
        'phase_checkpoint',
        'write_stdin',
        name,
      ]) {
        for (const input of [argument, cmd]) {
          signalsOf(
            logOf(
              { type: 'function_call', name: tool, arguments: input, call_id: 'x' },
              { type: 'function_call_output', call_id: 'x', output },
              agentSays(output),
            ),
          );
        }
      }
    }),
    { seed: 11, numRuns: 300 },
  );
});

test('the user may say that a phase is over', () => {
  const said: LogRecord = { type: 'note', kind: 'phase_completed', value: { summary: 'The lamp\nis lit' } };
  const [signal, ...others] = signalsOf([...recordsOf(userSays('Light it.'), agentSays('Lit.')), said]);
  assert.equal(signal?.boundary, 'phase_completed');
  assert.deepEqual(signal.evidence, { type: 'phase', summary: 'The lamp is lit' });
  assert.ok(
    others.every(({ boundary }) => boundary === 'turn_complete'),
    'once',
  );
  assert.deepEqual(signalsOf([{ type: 'note', kind: 'decision', value: {} }]), [], 'no other note is one');
});
