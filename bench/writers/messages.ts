// Messages as the APIs take them, one a line. None of them knows a compaction: all of such a file is the context.

import type { Step } from '../histories.ts';
import { INSTRUCTIONS } from './writer.ts';
import type { SessionWriter } from './writer.ts';

/** Lines of OpenAI chat messages. */
export class ChatWriter implements SessionWriter {
  head(): readonly object[] {
    return [{ role: 'system', content: INSTRUCTIONS }];
  }

  step(step: Step): readonly object[] {
    switch (step.type) {
      case 'request':
        return [{ role: 'user', content: step.text }];
      case 'answer':
        return [chatAnswer(step)];
      case 'result':
        return [{ role: 'tool', tool_call_id: step.callId, content: step.text }];
    }
  }

  compaction(): readonly object[] {
    return [];
  }
}

function chatAnswer({ text, call }: Step & { readonly type: 'answer' }): object {
  const said = { role: 'assistant', content: text };
  if (call === undefined) return said;
  const body = { name: call.tool, arguments: JSON.stringify(call.input) };
  return { ...said, tool_calls: [{ id: call.id, type: 'function', function: body }] };
}

/** Lines of Anthropic messages. */
export class AnthropicWriter implements SessionWriter {
  head(): readonly object[] {
    return [];
  }

  step(step: Step): readonly object[] {
    switch (step.type) {
      case 'request':
        return [{ role: 'user', content: [{ type: 'text', text: step.text }] }];
      case 'answer':
        return [{ role: 'assistant', content: anthropicBlocks(step) }];
      case 'result': {
        const block = { type: 'tool_result', tool_use_id: step.callId, content: step.text, is_error: false };
        return [{ role: 'user', content: [block] }];
      }
    }
  }

  compaction(): readonly object[] {
    return [];
  }
}

function anthropicBlocks({ text, call }: Step & { readonly type: 'answer' }): readonly object[] {
  return [
    ...(text === '' ? [] : [{ type: 'text', text }]),
    ...(call === undefined ? [] : [{ type: 'tool_use', id: call.id, name: call.tool, input: call.input }]),
  ];
}

/** Lines of OpenAI Responses items. */
export class ResponsesWriter implements SessionWriter {
  #items = 0;

  head(): readonly object[] {
    return [];
  }

  step(step: Step): readonly object[] {
    switch (step.type) {
      case 'request':
        return [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: step.text }] }];
      case 'answer':
        return this.#answer(step);
      case 'result':
        return [{ type: 'function_call_output', call_id: step.callId, output: step.text }];
    }
  }

  compaction(): readonly object[] {
    return [];
  }

  #answer({ text, call }: Step & { readonly type: 'answer' }): readonly object[] {
    const said = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] };
    if (call === undefined) return [said];
    const made = {
      type: 'function_call',
      id: `fc_${++this.#items}`,
      call_id: call.id,
      name: call.tool,
      arguments: JSON.stringify(call.input),
    };
    return text === '' ? [made] : [said, made];
  }
}
