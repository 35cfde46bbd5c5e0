// Sessions that are made to be slow: each repeats, links or nests something as often as asked for.

import type { JsonObject } from '../../src/protocol/item.ts';
import { ClaudeLines } from './claude-lines.ts';
import { call, head, message, output, taskStarted } from './codex-lines.ts';

/** A kind of session; its text grows linearly with `n`. */
export interface SlowShape {
  readonly name: string;
  readonly text: (n: number) => string;
  /** Read by agents that Baton also writes for: it can be compacted into the same file. */
  readonly isAgents: boolean;
}

const AT = Date.UTC(2026, 0, 5, 8);

function at(count: number): string {
  return new Date(AT + count * 1000).toISOString();
}

function lines(values: readonly unknown[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join('');
}

function times<Value>(n: number, make: (count: number) => Value): readonly Value[] {
  return Array.from({ length: n }, (_, count) => make(count));
}

function claude(name: string, build: (session: ClaudeLines, n: number) => void): SlowShape {
  return {
    name: `claude-code: ${name}`,
    isAgents: true,
    text: (n) => {
      const session = new ClaudeLines();
      build(session, n);
      return lines(session.lines);
    },
  };
}

/** Messages of the user whose parents are as `parentOf` says, by their numbers. */
function linked(name: string, parentOf: (count: number, n: number) => number | null): SlowShape {
  return claude(name, (session, n) => {
    for (let count = 0; count < n; count++) {
      const parent = parentOf(count, n);
      session.user(`Do step ${count} of ${'the work '.repeat(8)}`, {
        uuid: `line-${count}`,
        parentUuid: parent === null ? null : `line-${parent}`,
      });
    }
  });
}

function codex(name: string, itemsOf: (count: number, n: number) => readonly JsonObject[]): SlowShape {
  return {
    name: `codex: ${name}`,
    isAgents: true,
    text: (n) => {
      const builder = head('0.140');
      builder.item(message('user', 'Repair the ledger; never round before the sum.'));
      for (let count = 0; count < n; count++) for (const item of itemsOf(count, n)) builder.item(item);
      builder.item(message('assistant', 'Done.'));
      return lines(builder.lines);
    },
  };
}

function shell(id: string, cmd: string, text: string): readonly JsonObject[] {
  return [call(id, cmd), output(id, text)];
}

function tool(id: string, name: string, input: JsonObject, text: string): readonly JsonObject[] {
  return [
    { type: 'function_call', name, arguments: JSON.stringify(input), call_id: id },
    { type: 'function_call_output', call_id: id, output: text },
  ];
}

function plan(id: string, count: number): readonly JsonObject[] {
  const steps = times(5, (step) => ({
    step: `Step ${step} of plan ${count}`,
    status: step < count % 5 ? 'completed' : 'pending',
  }));
  return tool(id, 'update_plan', { plan: steps }, 'Plan updated');
}

function document(name: string, valueOf: (n: number) => unknown): SlowShape {
  return { name, isAgents: false, text: (n) => JSON.stringify(valueOf(n)) };
}

function pi(n: number, entryOf: (count: number) => JsonObject): string {
  const session = { type: 'session', version: 3, id: 's', timestamp: at(0), cwd: '/work' };
  return lines([session, ...times(n, (count) => ({ timestamp: at(count), ...entryOf(count) }))]);
}

function piMessage(count: number, extra: JsonObject = {}): JsonObject {
  const parentId = count === 0 ? null : `e${count - 1}`;
  return {
    type: 'message',
    id: `e${count}`,
    parentId,
    message: { role: 'user', content: `Say ${count}.` },
    ...extra,
  };
}

function opencode(messages: readonly unknown[]): unknown {
  return { info: { id: 'ses_1', directory: '/work', version: '1.0.0', time: { created: AT } }, messages };
}

function opencodeUser(
  count: number,
  parts: readonly unknown[] = [{ type: 'text', text: `Say ${count}.` }],
): unknown {
  return { info: { id: `msg_${count}`, role: 'user', time: { created: AT + count } }, parts };
}

const IMAGE = `data:image/png;base64,${'iVBORw0KGgo'.repeat(20)}`;

/** Characters on which a reader may look at the same text again and again: marks that open, runs, lines. */
const UNITS: Readonly<Record<string, string>> = {
  'one long line': 'aB-1 ',
  'empty lines': '\n',
  'equal lines': 'the same line\n',
  'opening brackets': '([{<',
  'opening substitutions': '$((',
  backticks: '`',
  fences: '```\n',
  'empty boxes': '- [ ] ',
  quotes: `"'`,
  'zero bytes': '\0',
  digits: '1234567890',
  'a path': '/a/b/c',
  places: 'a.ts:1 ',
  dashes: '-',
  points: '.',
  backslashes: '\\',
  'carriage returns': '&\r',
  'escape sequences': '\u001b[31m',
  emphasis: '**a __',
  assignments: 'A=1 ',
  'here documents': '<<E\n',
  ideographs: '漢字',
  emoji: '👩‍👩‍👧',
  'combining marks': 'e\u0301\u0300',
};

/** One text at each place where foreign text stands. */
function everywhere(name: string, unit: string): SlowShape {
  return codex(`${name} everywhere`, (count, n) => {
    if (count > 0) return [];
    const text = unit.repeat(Math.ceil((10 * n) / unit.length));
    return [
      message('user', text),
      message('assistant', text),
      ...shell('call-1', text, text),
      ...shell('call-2', `git commit -m '${text.replaceAll("'", '')}'`, '[main abcdef1] x\n 1 file changed'),
      ...tool('call-3', 'edit', { path: `src/${text}.ts`, old_string: text, new_string: `${text}x` }, 'ok'),
      ...tool('call-4', 'update_plan', { plan: [{ step: text, status: 'in_progress' }] }, 'Plan updated'),
    ];
  });
}

/** All shapes. */
export const SLOW_SHAPES: readonly SlowShape[] = [
  linked('a chain of parents', (count) => (count === 0 ? null : count - 1)),
  linked('a cycle of parents', (count, n) => (count + 1) % n),
  linked('a chain that stands upside down', (count, n) => (count === n - 1 ? null : count + 1)),
  linked('each line its own parent', (count) => count),
  linked('parents that are not there', (count, n) => n + count),
  linked('all lines below the first', (count) => (count === 0 ? null : 0)),
  linked('parents crosswise', (count, n) => n - 1 - count),
  claude('side chains and a lost link for each', (session, n) => {
    for (let count = 0; count < n; count++) {
      session.user(`Side ${count}`, { isSidechain: true });
      session.user(`Main ${count}`, { parentUuid: `lost-${count}` });
    }
  }),
  claude('compactions that each keep everything', (session, n) => {
    session.user('Begin.', { uuid: 'first' });
    for (let count = 0; count < n; count++) {
      session.boundary({
        preservedSegment: { headUuid: 'first', tailUuid: session.last, anchorUuid: session.last },
      });
      session.summary(`Summary ${count}.`, { parentUuid: session.last }).user(`Go on ${count}.`);
    }
  }),
  claude('one answer of many calls, each answered twice', (session, n) => {
    for (let count = 0; count < n; count++) session.calls('msg', `call-${count}`);
    for (let count = 0; count < n; count++) session.result(`call-${count}`, 'a').result(`call-${count}`, 'b');
  }),
  claude('one call answered again and again', (session, n) => {
    session.calls('msg', 'call');
    for (let count = 0; count < n; count++) session.result('call', `Result ${count}`);
  }),
  claude('results without a call', (session, n) => {
    for (let count = 0; count < n; count++) session.result('nobody', `Result ${count}`);
  }),
  codex('a file that is read again and again', (count) =>
    shell(`call-${count}`, 'cat src/ledger/post.ts', 'export const a = 1;'),
  ),
  codex('files, each read and edited', (count) => [
    ...shell(`call-${count}`, `cat src/part-${count}/file-${count}.ts`, 'export const a = 1;'),
    ...tool(
      `edit-${count}`,
      'edit',
      { path: `src/part-${count}/file-${count}.ts`, old_string: '1', new_string: '2' },
      'ok',
    ),
  ]),
  codex('plans', (count) => plan(`call-${count}`, count)),
  codex('messages of the user', (count) => [
    message('user', `Please do not touch src/part-${count}.ts, and use tabs in ${count}.`),
    message('assistant', `I leave src/part-${count}.ts alone.`),
  ]),
  codex('failing commands', (count) =>
    shell(
      `call-${count}`,
      `npm test -- part-${count}`,
      `Error: part ${count} failed\n    at src/a.ts:${count}\nExit code: 1`,
    ),
  ),
  codex('commits', (count) =>
    shell(
      `call-${count}`,
      `git commit -am "Part ${count}"`,
      `[main ${(count + 0x1000000).toString(16)}] Part ${count}\n 1 file changed`,
    ),
  ),
  codex('calls of one id', () => shell('call', 'ls', 'a b c')),
  codex('calls that nothing answers', (count) => [call(`call-${count}`, 'ls')]),
  codex('images', () => [
    { type: 'message', role: 'user', content: [{ type: 'input_image', image_url: IMAGE }] },
    message('assistant', 'I see.'),
  ]),
  {
    name: 'codex: compactions',
    isAgents: true,
    text: (n) => {
      const builder = head('0.140');
      for (let count = 0; count < n; count++) {
        const kept = message('user', `Request ${count}`);
        builder.item(kept).item(message('assistant', `Answer ${count}`));
        builder.line('compacted', {
          message: 'Summary.',
          replacement_history: [kept, message('user', 'Summary.')],
        });
      }
      return lines(builder.item(message('user', 'Go on.')).lines);
    },
  },
  {
    name: 'codex: turns, each taken back',
    isAgents: true,
    text: (n) => {
      const builder = head('0.140');
      const turns = times(n, (count) => `turn-${count}`);
      for (const turnId of turns)
        taskStarted(builder, '0.140', turnId).item(message('user', `Request of ${turnId}`));
      for (const turnId of turns.slice(1).toReversed()) {
        const baton = { record: { type: 'undo_turn', turnId } };
        builder.line('compacted', { message: '', replacement_history: [], baton });
      }
      return lines(builder.item(message('user', 'Go on.')).lines);
    },
  },
  codex('one message of many lines', (count, n) =>
    count > 0
      ? []
      : [message('user', times(n, (line) => `- never change part ${line} of the ledger`).join('\n'))],
  ),
  codex('one result of many lines', (count, n) =>
    count > 0
      ? []
      : shell('call', 'npm test', times(n, (line) => `✖ fails at src/a-${line}.ts:${line}`).join('\n')),
  ),
  codex('one result of one long line', (count, n) =>
    count > 0 ? [] : shell('call', 'cat bundle.js', 'aA1-/.'.repeat(10 * n)),
  ),
  {
    name: 'pi: compactions that each keep everything',
    isAgents: false,
    text: (n) =>
      pi(n, (count) =>
        count % 2 === 0
          ? piMessage(count)
          : {
              ...piMessage(count),
              type: 'compaction',
              summary: `Summary ${count}.`,
              firstKeptEntryId: 'e0',
              tokensBefore: 5,
            },
      ),
  },
  {
    name: 'pi: a chain and a parent that is not there for each',
    isAgents: false,
    text: (n) => pi(n, (count) => piMessage(count, count % 2 === 0 ? {} : { parentId: 'nobody' })),
  },
  document('openhands: condensations that each forget nothing', (n) =>
    times(n, (count) => {
      const event = { id: count, timestamp: at(count) };
      return count % 2 === 0
        ? { ...event, source: 'user', action: 'message', args: { content: `Say ${count}.` } }
        : {
            ...event,
            action: 'condensation',
            args: { forgotten_event_ids: [], summary: `Summary ${count}.` },
          };
    }),
  ),
  document('openhands: condensations of its SDK that each forget nothing', (n) =>
    times(n, (count) => {
      const event = { id: `e${count}`, timestamp: at(count) };
      return count % 2 === 0
        ? { ...event, kind: 'MessageEvent', llm_message: { role: 'user', content: `Say ${count}.` } }
        : { ...event, kind: 'Condensation', forgotten_event_ids: [], summary: `Summary ${count}.` };
    }),
  ),
  document('opencode: parts with one id', (n) =>
    opencode([
      opencodeUser(0),
      {
        info: { id: 'msg_1', role: 'assistant', time: { created: AT } },
        parts: times(n, (count) => ({
          type: 'tool',
          callID: 'call',
          tool: 'bash',
          state: {
            status: 'completed',
            input: { command: 'ls' },
            output: `${count}`,
            time: { compacted: AT + count },
          },
        })),
      },
      ...times(n, (count) => opencodeUser(count + 2)),
    ]),
  ),
  document('opencode: compactions that each keep everything', (n) =>
    opencode(
      times(n, (count) => {
        if (count % 3 === 0) return opencodeUser(count);
        if (count % 3 === 1)
          return opencodeUser(count, [{ type: 'compaction', auto: true, tail_start_id: 'msg_0' }]);
        return {
          info: { id: `msg_${count}`, role: 'assistant', summary: true, time: { created: AT + count } },
          parts: [{ type: 'text', text: `Summary ${count}.` }],
        };
      }),
    ),
  ),
  {
    name: 'gemini: rewinds and contexts said anew',
    isAgents: false,
    text: (n) =>
      lines([
        { sessionId: 's', projectHash: 'p', startTime: at(0) },
        ...times(n, (count) => ({
          id: `g${count}`,
          timestamp: at(count),
          type: 'user',
          content: `Say ${count}.`,
        })),
        ...times(n, (count) => ({ $rewindTo: `g${n - 1 - (count >> 1)}` })),
        { id: 'last', timestamp: at(n), type: 'user', content: 'Go on.' },
      ]),
  },
  {
    name: 'copilot: events of one id',
    isAgents: false,
    text: (n) =>
      lines([
        {
          type: 'session.start',
          id: 'e',
          timestamp: at(0),
          parentId: null,
          data: { sessionId: 's', copilotVersion: '1', context: { cwd: '/work' } },
        },
        ...times(n, (count) => ({
          type: 'user.message',
          id: 'e',
          timestamp: at(count),
          parentId: 'e',
          data: { content: `Say ${count}.` },
        })),
      ]),
  },
  document('chat: messages of the user', (n) =>
    times(n, (count) => ({ role: 'user', content: [{ type: 'text', text: `Never do ${count}.` }] })),
  ),
  document('chat: one message of many parts', (n) => [
    { role: 'user', content: times(n, (count) => ({ type: 'text', text: `Part ${count}` })) },
    {
      role: 'assistant',
      content: 'Done.',
      tool_calls: times(n, (count) => ({
        id: `c${count}`,
        type: 'function',
        function: { name: 'ls', arguments: '{}' },
      })),
    },
  ]),
  ...Object.entries(UNITS).map(([name, unit]) => everywhere(name, unit)),
];
