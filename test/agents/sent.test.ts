import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assistantMessage, userMessage } from './codex-rollouts.ts';
import { sentByClaude, sentByCodex } from './sent.ts';
import type { JsonObject } from '../../src/protocol/item.ts';

function developerMessage(text: string): JsonObject {
  return { type: 'message', role: 'developer', content: [{ type: 'input_text', text }] };
}

const ENVIRONMENT = userMessage(
  '<environment_context>\n  <cwd>/home/dev/tides</cwd>\n</environment_context>',
);

describe('sentByCodex', () => {
  it('removes what Codex adds first and right before the prompt', () => {
    const input = [
      developerMessage('base'),
      userMessage('first'),
      assistantMessage('answer'),
      developerMessage('skills'),
      ENVIRONMENT,
      userMessage('prompt'),
    ];
    assert.deepEqual(sentByCodex({ input }), {
      items: [
        { role: 'user', text: 'first' },
        { role: 'assistant', text: 'answer' },
      ],
      context: 'base\n<environment_context>\n  <cwd>/home/dev/tides</cwd>\n</environment_context>\nskills',
      prompt: 'prompt',
    });
  });

  it('keeps the same kinds of message in the history', () => {
    const input = [
      developerMessage('base'),
      developerMessage('old skills'),
      ENVIRONMENT,
      userMessage('first'),
      userMessage('prompt'),
    ];
    assert.deepEqual(
      sentByCodex({ input }).items.map(({ role }) => role),
      ['developer', 'user', 'user'],
    );
  });

  it('shows calls, results, reasoning and unknown kinds', () => {
    const input = [
      developerMessage('base'),
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'thought' }] },
      { type: 'custom_tool_call', name: 'apply_patch', input: '*** Begin', call_id: 'c1' },
      { type: 'custom_tool_call_output', call_id: 'c1', output: [{ type: 'input_text', text: 'patched' }] },
      { type: 'function_call_output', call_id: 'c2', output: [{ type: 'input_image', image_url: 'data:' }] },
      { type: 'other' },
      userMessage('prompt'),
    ];
    assert.deepEqual(sentByCodex({ input }).items, [
      { role: 'reasoning', text: 'thought' },
      { role: 'tool_call', text: 'apply_patch *** Begin' },
      { role: 'tool_result', text: 'patched' },
      { role: 'tool_result', text: 'input_image' },
      { role: 'other', text: 'other' },
    ]);
  });

  it('refuses a request of another shape', () => {
    assert.throws(() => sentByCodex({ input: [userMessage('prompt')] }), TypeError);
    assert.throws(() => sentByCodex({}), TypeError);
  });
});

describe('sentByClaude', () => {
  it('tells history from reminders, system messages and the filler before the prompt', () => {
    const messages = [
      {
        role: 'user',
        content: [
          { type: 'text', text: '<system-reminder>\nattribution\n</system-reminder>' },
          { type: 'text', text: 'summary\n' },
          { type: 'text', text: 'kept' },
        ],
      },
      { role: 'system', content: [{ type: 'text', text: 'the file' }] },
      { role: 'assistant', content: [{ type: 'text', text: 'No response requested.' }] },
      { role: 'user', content: 'prompt' },
      { role: 'system', content: 'environment' },
    ];
    const sent = sentByClaude({ system: [{ type: 'text', text: 'instructions' }], messages });
    assert.deepEqual(sent.items, [
      { role: 'user', text: 'summary' },
      { role: 'user', text: 'kept' },
    ]);
    assert.equal(sent.prompt, 'prompt');
    for (const text of ['instructions', 'attribution', 'the file', 'environment']) {
      assert.ok(sent.context.includes(text), text);
    }
  });

  it('keeps the words of the filler in the history', () => {
    const messages = [
      { role: 'user', content: 'first' },
      { role: 'assistant', content: 'No response requested.' },
      { role: 'user', content: 'second' },
      { role: 'assistant', content: 'answer' },
      { role: 'user', content: 'prompt' },
    ];
    assert.equal(sentByClaude({ messages }).items.length, 4);
  });

  it('shows calls, results, thinking and other blocks', () => {
    const messages = [
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'thought', signature: 's' },
          { type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'ls' } },
        ],
      },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 't1', content: [{ type: 'text', text: 'a\nb\n' }] }],
      },
      { role: 'user', content: [{ type: 'image', source: {} }] },
      { role: 'user', content: 'prompt' },
    ];
    assert.deepEqual(sentByClaude({ messages }).items, [
      { role: 'reasoning', text: 'thought' },
      { role: 'tool_call', text: 'Bash {"command":"ls"}' },
      { role: 'tool_result', text: 'a\nb' },
      { role: 'other', text: 'image' },
    ]);
  });

  it('refuses a request without a prompt', () => {
    assert.throws(() => sentByClaude({ messages: [] }), TypeError);
  });
});
