// Look-alikes of the files of other agents, one for each version of a producer: the shapes are theirs, every text is ours.

import type { Format } from '../../src/vocabulary.ts';
import { ClaudeLines } from './claude-lines.ts';
import * as codex from './codex-lines.ts';

/** What a look-alike must read as, counted by hand. */
export interface Expected {
  /** Messages in the user role, whoever wrote them. */
  readonly user: number;
  /** Messages of the agent; answers that only call a tool have none. */
  readonly assistant: number;
  readonly calls: number;
  readonly results: number;
  readonly compactions?: number;
  /** Items beside the context; they are in the counts above. */
  readonly side?: number;
}

/** A file as a producer of some version would write it. */
export interface LookAlikeFile {
  readonly name: string;
  readonly format: Format;
  readonly text: string;
  readonly expected: Expected;
}

type Value = Readonly<Record<string, unknown>>;

function lines(values: readonly Value[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join('');
}

function pretty(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

let seconds = 0;

function now(): string {
  seconds += 1;
  return new Date(Date.UTC(2026, 0, 5, 8, 0, seconds)).toISOString();
}

// Message arrays

const chatMessages: readonly Value[] = [
  { role: 'system', content: 'You keep a library of seeds.' },
  { role: 'user', content: [{ type: 'text', text: 'Which beans do we have?' }] },
  {
    role: 'assistant',
    content: 'I look into the ledger.',
    tool_calls: [
      { id: 'call_1', type: 'function', function: { name: 'read', arguments: '{"path":"beans.txt"}' } },
      { id: 'call_2', type: 'function', function: { name: 'read', arguments: '{"path":"peas.txt"}' } },
    ],
  },
  { role: 'tool', tool_call_id: 'call_1', content: 'borlotti 12' },
  { role: 'tool', tool_call_id: 'call_2', content: 'none' },
  { role: 'assistant', content: 'Twelve bags of borlotti.' },
];
const chatExpected: Expected = { user: 1, assistant: 2, calls: 2, results: 2 };

const plainMessages: readonly Value[] = [
  { role: 'user', content: 'Name a bean.' },
  { role: 'assistant', content: 'Borlotti.' },
];

const anthropicMessages: readonly Value[] = [
  { role: 'user', content: 'Water the seedlings.' },
  {
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: 'Which ones?', signature: 'c2lnbmVk' },
      { type: 'text', text: 'I open the valve.' },
      { type: 'tool_use', id: 'toolu_1', name: 'valve', input: { open: true } },
    ],
  },
  {
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'stuck', is_error: true }],
  },
  { role: 'assistant', content: [{ type: 'text', text: 'The valve is stuck.' }] },
];
const anthropicExpected: Expected = { user: 1, assistant: 2, calls: 1, results: 1 };

const responsesItems: readonly Value[] = [
  { role: 'user', content: 'Count the pots.' },
  { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Counting' }] },
  { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'count', arguments: '{}' },
  { type: 'function_call_output', call_id: 'call_1', output: '31' },
  { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Thirty-one pots.' }] },
];
const responsesExpected: Expected = { user: 1, assistant: 1, calls: 1, results: 1 };

const MESSAGE_ARRAYS: readonly LookAlikeFile[] = [
  { name: 'chat array', format: 'chat', text: pretty(chatMessages), expected: chatExpected },
  { name: 'chat on one line', format: 'chat', text: JSON.stringify(chatMessages), expected: chatExpected },
  { name: 'chat lines', format: 'chat', text: lines(chatMessages), expected: chatExpected },
  {
    name: 'chat request',
    format: 'chat',
    text: pretty({ model: 'gpt-4.1', messages: chatMessages, tools: [] }),
    expected: chatExpected,
  },
  {
    name: 'chat log of OpenHands',
    format: 'chat',
    text: JSON.stringify({
      messages: plainMessages,
      raw_messages: chatMessages,
      context_window: 65_536,
      response: {
        id: 'r',
        model: 'bean-1',
        choices: [],
        usage: { prompt_tokens: 900, completion_tokens: 20 },
      },
    }),
    expected: chatExpected,
  },
  {
    name: 'runs of a benchmark in chat',
    format: 'chat',
    text: pretty([
      { task_id: 0, traj: plainMessages, reward: 1 },
      { task_id: 1, traj: chatMessages, reward: 0 },
    ]),
    expected: { user: 2, assistant: 3, calls: 2, results: 2, side: 2 },
  },
  {
    name: 'messages that all formats have',
    format: 'chat',
    text: lines(plainMessages),
    expected: { user: 1, assistant: 1, calls: 0, results: 0 },
  },
  {
    name: 'anthropic array',
    format: 'anthropic',
    text: pretty(anthropicMessages),
    expected: anthropicExpected,
  },
  {
    name: 'anthropic lines',
    format: 'anthropic',
    text: lines(anthropicMessages),
    expected: anthropicExpected,
  },
  {
    name: 'anthropic request',
    format: 'anthropic',
    text: JSON.stringify({ model: 'claude-sonnet-4-5', system: 'Be brief.', messages: plainMessages }),
    expected: { user: 1, assistant: 1, calls: 0, results: 0 },
  },
  { name: 'responses array', format: 'responses', text: pretty(responsesItems), expected: responsesExpected },
  { name: 'responses lines', format: 'responses', text: lines(responsesItems), expected: responsesExpected },
  {
    name: 'responses request',
    format: 'responses',
    text: pretty({ model: 'gpt-5', instructions: 'Be brief.', input: responsesItems }),
    expected: responsesExpected,
  },
];

// pi

function piMessage(message: Value, links: Value = {}): Value {
  return { type: 'message', ...links, timestamp: now(), message: { timestamp: 1, ...message } };
}

const piUsage = { input: 100, output: 20, cacheRead: 4000, cacheWrite: 300, cost: { total: 0 } };

function piAnswer(content: readonly Value[], links: Value = {}): Value {
  const answer = {
    role: 'assistant',
    content,
    provider: 'anthropic',
    model: 'claude-sonnet-4-5',
    usage: piUsage,
  };
  return piMessage({ ...answer, stopReason: 'stop' }, links);
}

function piUser(text: string, links: Value = {}): Value {
  return piMessage({ role: 'user', content: [{ type: 'text', text }] }, links);
}

function piResult(callId: string, text: string, links: Value = {}): Value {
  const content = [{ type: 'text', text }];
  return piMessage(
    { role: 'toolResult', toolCallId: callId, toolName: 'bash', content, isError: false },
    links,
  );
}

function piCall(id: string): Value {
  return { type: 'toolCall', id, name: 'bash', arguments: { command: 'ls' } };
}

const piLinear: readonly Value[] = [
  {
    type: 'session',
    id: 's1',
    timestamp: now(),
    cwd: '/home/dev/seeds',
    provider: 'anthropic',
    modelId: 'claude-sonnet-4-5',
  },
  piUser('List the drawers.'),
  piAnswer([{ type: 'text', text: 'I list them.' }, piCall('c1')]),
  piResult('c1', 'a b c'),
  { type: 'thinking_level_change', timestamp: now(), thinkingLevel: 'low' },
  piUser('Now the labels.'),
  {
    type: 'compaction',
    timestamp: now(),
    summary: 'Three drawers: a, b, c.',
    firstKeptEntryIndex: 5,
    tokensBefore: 4420,
  },
  piAnswer([{ type: 'text', text: 'The labels are faded.' }]),
];

const piTree: readonly Value[] = [
  { type: 'session', version: 3, id: 's3', timestamp: now(), cwd: '/home/dev/seeds' },
  {
    type: 'model_change',
    id: 'e1',
    parentId: null,
    timestamp: now(),
    provider: 'anthropic',
    modelId: 'claude-sonnet-4-5',
  },
  piUser('List the drawers.', { id: 'e2', parentId: 'e1' }),
  piAnswer([{ type: 'thinking', thinking: 'Hm.', thinkingSignature: 's' }, piCall('c1')], {
    id: 'e3',
    parentId: 'e2',
  }),
  piResult('c1', 'a b c', { id: 'e4', parentId: 'e3' }),
  piUser('A turn that was taken back.', { id: 'e5', parentId: 'e4' }),
  piAnswer([{ type: 'text', text: 'An answer to it.' }], { id: 'e6', parentId: 'e5' }),
  {
    type: 'branch_summary',
    id: 'e7',
    parentId: 'e4',
    timestamp: now(),
    fromId: 'e6',
    summary: 'A try that led nowhere.',
  },
  piUser('Now the labels.', { id: 'e8', parentId: 'e7' }),
  {
    type: 'compaction',
    id: 'e9',
    parentId: 'e8',
    timestamp: now(),
    summary: 'Three drawers.',
    firstKeptEntryId: 'e8',
    tokensBefore: 4420,
  },
  piMessage(
    { role: 'bashExecution', command: 'date', output: 'today', exitCode: 0 },
    { id: 'e10', parentId: 'e9' },
  ),
  {
    type: 'custom_message',
    id: 'e11',
    parentId: 'e10',
    timestamp: now(),
    customType: 'note',
    content: 'Mind the cat.',
    display: true,
  },
  piAnswer([{ type: 'text', text: 'The labels are faded.' }], { id: 'e12', parentId: 'e11' }),
];

// Gemini CLI

function geminiAnswer(id: string, extra: Value): Value {
  const tokens = { input: 9000, output: 40, cached: 0, thoughts: 5, tool: 0, total: 9045 };
  return {
    id,
    timestamp: now(),
    type: 'gemini',
    content: 'I look.',
    thoughts: [],
    tokens,
    model: 'gemini-3-flash',
    ...extra,
  };
}

const geminiCalls = [
  {
    id: 'read-1',
    name: 'read_file',
    args: { path: 'beans.txt' },
    result: [{ functionResponse: { id: 'read-1', name: 'read_file', response: { output: 'borlotti' } } }],
    status: 'success',
  },
];

const geminiHead = { sessionId: 'g1', projectHash: 'ab', startTime: now(), lastUpdated: now(), kind: 'main' };

const geminiDocument: Value = {
  ...geminiHead,
  messages: [
    { id: 'm1', timestamp: now(), type: 'user', content: [{ text: 'Read the beans.' }] },
    { id: 'm2', timestamp: now(), type: 'info', content: 'Update available.' },
    geminiAnswer('m3', { toolCalls: geminiCalls }),
  ],
};

const geminiLog: readonly Value[] = [
  geminiHead,
  { id: 'm1', timestamp: now(), type: 'user', content: 'Read the beans.' },
  geminiAnswer('m2', { toolCalls: [{ ...geminiCalls[0], result: undefined, status: 'executing' }] }),
  geminiAnswer('m2', { toolCalls: geminiCalls }),
  { $set: { lastUpdated: now() } },
  { id: 'm3', timestamp: now(), type: 'user', content: 'A prompt that was taken back.' },
  { $rewindTo: 'm3' },
  { $set: { messages: [{ id: 'm4', timestamp: now(), type: 'user', content: 'All beans were read.' }] } },
  { id: 'm5', timestamp: now(), type: 'user', content: 'Go on.' },
];

const geminiCheckpoint: readonly Value[] = [
  { role: 'user', parts: [{ text: 'Read the beans.' }] },
  { role: 'model', parts: [{ text: 'I look.' }, { functionCall: { name: 'read_file', args: {} } }] },
  { role: 'user', parts: [{ functionResponse: { name: 'read_file', response: { output: 'borlotti' } } }] },
];

// Copilot CLI

let events = 0;

function event(type: string, data: Value): Value {
  events += 1;
  return {
    type,
    data,
    id: `event-${events}`,
    timestamp: now(),
    parentId: events === 1 ? null : `event-${events - 1}`,
  };
}

const copilotLog: readonly Value[] = [
  event('session.start', {
    sessionId: 'p1',
    copilotVersion: '1.0.64',
    context: { cwd: '/home/dev/seeds', branch: 'main' },
  }),
  event('session.model_change', { newModel: 'claude-sonnet-4.6' }),
  event('system.message', { role: 'system', content: 'You are a gardener.' }),
  event('user.message', { content: 'Sow the beans.', transformedContent: '<now>today</now> Sow the beans.' }),
  event('assistant.turn_start', { turnId: '0' }),
  event('assistant.message', {
    model: 'claude-sonnet-4.6',
    content: '',
    reasoningText: 'Where?',
    toolRequests: [{ toolCallId: 't1', name: 'bash', arguments: { command: 'sow' } }],
  }),
  event('tool.execution_start', { toolCallId: 't1', toolName: 'bash', arguments: { command: 'sow' } }),
  event('assistant.message', { parentToolCallId: 't1', content: 'A helper speaks.', toolRequests: [] }),
  event('tool.execution_complete', { toolCallId: 't1', success: true, result: { content: 'sown' } }),
  event('hook.start', { hookType: 'postToolUse' }),
  event('session.compaction_complete', {
    success: true,
    preCompactionTokens: 9000,
    postCompactionTokens: 900,
    summaryContent: 'Beans were sown.',
  }),
  event('user.message', { content: 'And the peas?' }),
  event('assistant.message', { content: 'Next week.', toolRequests: [] }),
];

// SWE-agent and mini-swe-agent

const sweHead = { environment: 'garden', info: { exit_status: 'submitted', submission: '' } };

const sweText: Value = {
  ...sweHead,
  trajectory: [
    {
      action: 'ls\n',
      observation: 'beans',
      response: 'I look.\n```\nls\n```',
      state: '{"working_dir": "/garden"}',
      thought: 'I look.',
    },
  ],
  history: [
    { role: 'system', content: 'You are a gardener.', agent: 'primary' },
    { role: 'user', content: 'An example of how to work.', agent: 'primary', is_demo: true },
    { role: 'user', content: 'The gate is broken.', agent: 'primary' },
    {
      role: 'assistant',
      content: 'I look.\n```\nls\n```',
      thought: 'I look.',
      action: 'ls\n',
      agent: 'primary',
    },
    { role: 'user', content: 'beans', agent: 'primary' },
  ],
};

const sweTools: Value = {
  ...sweHead,
  replay_config: JSON.stringify({ agent: { model: { name: 'claude-sonnet-4' } } }),
  trajectory: [
    {
      action: 'ls',
      observation: 'beans',
      response: 'I look.',
      thought: 'I look.',
      state: { working_dir: '/garden' },
      query: [],
    },
  ],
  history: [
    { role: 'system', content: 'You are a gardener.', agent: 'main', message_type: 'system_prompt' },
    {
      role: 'user',
      content: [{ type: 'text', text: 'The gate is broken.' }],
      agent: 'main',
      message_type: 'observation',
    },
    {
      role: 'assistant',
      content: 'I look.',
      thought: 'I look.',
      action: 'ls',
      agent: 'main',
      message_type: 'action',
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'bash', arguments: '{"command":"ls"}' } }],
    },
    {
      role: 'tool',
      content: [{ type: 'text', text: 'beans' }],
      agent: 'main',
      message_type: 'observation',
      tool_call_ids: ['c1'],
    },
  ],
};

const miniInfo = {
  mini_version: '1.15.0',
  config: { model: { model_name: 'google/gemini-3-pro' }, environment: { cwd: '/garden' } },
};
const miniUsage = { prompt_tokens: 2000, completion_tokens: 60, total_tokens: 2060 };

const miniText: Value = {
  info: miniInfo,
  messages: [
    { role: 'system', content: 'You are a gardener.' },
    { role: 'user', content: 'The gate is broken.' },
    {
      role: 'assistant',
      content: 'I look.\n```bash\nls\n```',
      extra: { response: { created: 1_767_600_000, usage: miniUsage } },
    },
    { role: 'user', content: '<returncode>0</returncode>beans' },
  ],
  trajectory_format: 'mini-swe-agent-1',
  instance_id: 'garden-1',
};

const miniTools: Value = {
  info: { ...miniInfo, mini_version: '2.3.0' },
  messages: [
    { role: 'system', content: 'You are a gardener.' },
    { role: 'user', content: 'The gate is broken.' },
    {
      role: 'assistant',
      content: 'I look.',
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'bash', arguments: '{"command":"ls"}' } }],
      extra: { actions: [{ command: 'ls', tool_call_id: 'c1' }], response: { usage: miniUsage } },
    },
    { role: 'tool', tool_call_id: 'c1', content: 'beans', extra: { returncode: 0 } },
    { role: 'exit', content: 'done', extra: { exit_status: 'Submitted' } },
  ],
  trajectory_format: 'mini-swe-agent-1.1',
};

const miniResponses: Value = {
  info: { ...miniInfo, mini_version: '2.3.0' },
  messages: [
    { role: 'system', content: 'You are a gardener.' },
    { role: 'user', content: 'The gate is broken.' },
    {
      object: 'response',
      output: [
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'I look.' }] },
        { type: 'function_call', call_id: 'c1', name: 'bash', arguments: '{"command":"ls"}' },
      ],
      usage: { input_tokens: 2000, output_tokens: 60 },
    },
    { type: 'function_call_output', call_id: 'c1', output: 'beans' },
  ],
  trajectory_format: 'mini-swe-agent-1.1',
};

// OpenHands

const handsInline: readonly Value[] = [
  { action: 'message', content: 'Mend the fence.', wait_for_response: false },
  { action: 'run', command: 'ls', thought: 'I look first.', is_confirmed: 'confirmed' },
  { observation: 'run', command: 'ls', content: 'fence', command_id: -1, exit_code: 0 },
  { action: 'finish', outputs: {}, thought: '' },
];

const handsPairs = [
  [handsInline[0], { observation: 'null', content: '' }],
  [handsInline[1], handsInline[2]],
  [handsInline[3], { observation: 'null', content: '' }],
];

const handsMetadata = {
  function_name: 'execute_bash',
  tool_call_id: 'c1',
  total_calls_in_response: 1,
  model_response: {
    id: 'r1',
    model: 'claude-sonnet-4',
    usage: { prompt_tokens: 5000, completion_tokens: 50 },
    choices: [
      {
        message: {
          tool_calls: [{ id: 'c1', function: { name: 'execute_bash', arguments: '{"command":"ls"}' } }],
        },
      },
    ],
  },
};

const handsEvents: readonly Value[] = [
  {
    id: 0,
    timestamp: now(),
    source: 'agent',
    message: '',
    action: 'system',
    args: { content: 'You mend things.', tools: [] },
  },
  {
    id: 1,
    timestamp: now(),
    source: 'user',
    message: 'x',
    action: 'message',
    args: { content: 'Mend the fence.' },
  },
  { id: 2, timestamp: now(), source: 'user', message: '', action: 'recall', args: { query: 'Mend' } },
  {
    id: 3,
    timestamp: now(),
    source: 'agent',
    action: 'run',
    args: { command: 'ls', thought: 'I look.' },
    tool_call_metadata: handsMetadata,
  },
  {
    id: 4,
    timestamp: now(),
    source: 'agent',
    observation: 'run',
    content: 'fence',
    cause: 3,
    extras: { metadata: { exit_code: 0 } },
    tool_call_metadata: handsMetadata,
  },
  {
    id: 5,
    timestamp: now(),
    source: 'agent',
    action: 'condensation',
    args: { forgotten_events_start_id: 3, forgotten_events_end_id: 4, summary: 'There is a fence.' },
  },
  {
    id: 6,
    timestamp: now(),
    source: 'agent',
    action: 'message',
    args: { content: 'It is mended.', wait_for_response: true },
  },
];

const handsSdk: readonly Value[] = [
  {
    kind: 'SystemPromptEvent',
    id: 'a',
    timestamp: now(),
    source: 'agent',
    system_prompt: { type: 'text', text: 'You mend things.' },
    tools: [],
  },
  {
    kind: 'MessageEvent',
    id: 'b',
    timestamp: now(),
    source: 'user',
    llm_message: { role: 'user', content: [{ type: 'text', text: 'Mend the fence.' }] },
  },
  {
    kind: 'ActionEvent',
    id: 'c',
    timestamp: now(),
    source: 'agent',
    thought: [{ type: 'text', text: 'I look.' }],
    tool_name: 'terminal',
    tool_call_id: 'c1',
    tool_call: { id: 'c1', name: 'terminal', arguments: '{"command":"ls"}' },
    action: { kind: 'TerminalAction', command: 'ls' },
  },
  {
    kind: 'ObservationEvent',
    id: 'd',
    timestamp: now(),
    source: 'environment',
    tool_name: 'terminal',
    tool_call_id: 'c1',
    observation: { content: [{ type: 'text', text: 'fence' }], exit_code: 0 },
  },
  {
    kind: 'Condensation',
    id: 'e',
    timestamp: now(),
    forgotten_event_ids: ['c', 'd'],
    summary: 'There is a fence.',
  },
  { kind: 'ConversationStateUpdateEvent', id: 'f', timestamp: now(), key: 'x', value: 1 },
];

// opencode

function openMessage(id: string, info: Value, parts: readonly Value[]): Value {
  return { info: { id, sessionID: 'ses_1', ...info }, parts };
}

function openAnswer(id: string, parts: readonly Value[], info: Value = {}): Value {
  const tokens = { input: 8000, output: 40, reasoning: 0, cache: { read: 100, write: 0 } };
  return openMessage(
    id,
    {
      role: 'assistant',
      mode: 'build',
      modelID: 'gpt-5',
      providerID: 'openai',
      tokens,
      time: { created: 3000 },
      ...info,
    },
    [{ type: 'step-start' }, ...parts, { type: 'step-finish', reason: 'stop', tokens }],
  );
}

function openTool(callID: string, time: Value = {}): Value {
  const state = {
    status: 'completed',
    input: { command: 'ls' },
    output: 'gate',
    metadata: { exit: 0 },
    time,
  };
  return { type: 'tool', tool: 'bash', callID, state };
}

const openUser = { role: 'user', model: { modelID: 'gpt-5', providerID: 'openai' }, time: { created: 1000 } };

const openSession: Value = {
  info: {
    id: 'ses_1',
    directory: '/home/dev/garden',
    version: '1.14.30',
    time: { created: 1000, updated: 9000 },
  },
  messages: [
    openMessage('m1', openUser, [
      { type: 'text', text: 'Paint the gate.' },
      { type: 'text', text: 'Called by a command.', synthetic: true },
    ]),
    // Redaction has made the ids of calls collide.
    openAnswer('m2', [
      { type: 'reasoning', text: 'Colour?' },
      openTool('REDACTED', { compacted: 2500 }),
      openTool('REDACTED'),
    ]),
    openMessage('m3', openUser, [{ type: 'text', text: 'Green, please.' }]),
    openMessage('m4', { ...openUser }, [
      { type: 'compaction', auto: true, overflow: false, tail_start_id: 'm3' },
    ]),
    openAnswer('m5', [{ type: 'text', text: 'The gate is to be painted.' }], {
      summary: true,
      mode: 'compaction',
      agent: 'compaction',
    }),
    openAnswer('m6', [{ type: 'text', text: 'Green it is.' }]),
  ],
};

const AGENTS: readonly LookAlikeFile[] = [
  {
    name: 'pi before ids (2025)',
    format: 'pi',
    text: lines(piLinear),
    expected: { user: 2, assistant: 2, calls: 1, results: 1, compactions: 1 },
  },
  {
    name: 'pi with a tree (version 3)',
    format: 'pi',
    text: lines(piTree),
    expected: { user: 6, assistant: 2, calls: 1, results: 1, compactions: 1, side: 2 },
  },
  {
    name: 'Gemini CLI document (2025)',
    format: 'gemini',
    text: pretty(geminiDocument),
    expected: { user: 1, assistant: 1, calls: 1, results: 1 },
  },
  {
    name: 'Gemini CLI log (2026)',
    format: 'gemini',
    text: lines(geminiLog),
    expected: { user: 3, assistant: 1, calls: 1, results: 1, compactions: 1, side: 1 },
  },
  {
    name: 'Gemini CLI checkpoint',
    format: 'gemini',
    text: pretty(geminiCheckpoint),
    expected: { user: 1, assistant: 1, calls: 1, results: 1 },
  },
  {
    name: 'Copilot CLI 1.0',
    format: 'copilot',
    text: lines(copilotLog),
    expected: { user: 2, assistant: 2, calls: 1, results: 1, compactions: 1, side: 1 },
  },
  {
    name: 'SWE-agent with actions in text (2024)',
    format: 'swe-agent',
    text: pretty(sweText),
    expected: { user: 3, assistant: 1, calls: 0, results: 0 },
  },
  {
    name: 'SWE-agent with tools (1.x)',
    format: 'swe-agent',
    text: pretty(sweTools),
    expected: { user: 1, assistant: 1, calls: 1, results: 1 },
  },
  {
    name: 'mini-swe-agent with commands in text (1.x)',
    format: 'mini-swe-agent',
    text: pretty(miniText),
    expected: { user: 2, assistant: 1, calls: 0, results: 0 },
  },
  {
    name: 'mini-swe-agent with tools (2.x)',
    format: 'mini-swe-agent',
    text: pretty(miniTools),
    expected: { user: 1, assistant: 1, calls: 1, results: 1 },
  },
  {
    name: 'mini-swe-agent over Responses (2.x)',
    format: 'mini-swe-agent',
    text: JSON.stringify(miniResponses),
    expected: { user: 1, assistant: 1, calls: 1, results: 1 },
  },
  {
    name: 'OpenHands runs of pairs (2024)',
    format: 'openhands',
    text: lines([{ instance_id: 'a', history: handsPairs }]),
    expected: { user: 1, assistant: 1, calls: 2, results: 1 },
  },
  {
    name: 'OpenHands runs of events (0.9)',
    format: 'openhands',
    text: lines([
      { instance_id: 'a', history: handsInline },
      { instance_id: 'b', history: handsInline },
    ]),
    expected: { user: 2, assistant: 2, calls: 4, results: 2, side: 5 },
  },
  {
    name: 'OpenHands events (0.x)',
    format: 'openhands',
    text: pretty(handsEvents),
    expected: { user: 1, assistant: 2, calls: 1, results: 1, compactions: 1 },
  },
  {
    name: 'OpenHands SDK events (1.x)',
    format: 'openhands',
    text: lines(handsSdk),
    expected: { user: 1, assistant: 1, calls: 1, results: 1, compactions: 1 },
  },
  {
    name: 'opencode export (1.14)',
    format: 'opencode',
    text: pretty(openSession),
    expected: { user: 3, assistant: 1, calls: 2, results: 2, compactions: 1 },
  },
];

/** Every file of the other formats. */
export const LOOK_ALIKE_FILES: readonly LookAlikeFile[] = [...MESSAGE_ARRAYS, ...AGENTS];

/** Files of the two agents that Baton goes on with, for tables over all formats. */
export const AGENT_FILES: readonly Pick<LookAlikeFile, 'name' | 'format' | 'text'>[] = [
  {
    name: 'Claude Code',
    format: 'claude-code',
    text: lines(new ClaudeLines().user('a').says('m1', 'b').boundary().lines),
  },
  ...codex.GENERATIONS.map((generation) => ({
    name: `Codex ${generation}`,
    format: 'codex' as const,
    text: lines(codex.session(generation)),
  })),
];
