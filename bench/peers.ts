// The peers, fed with the same histories in their own shapes.

import type { ModelMessage } from 'ai';
import { AIMessage, HumanMessage, ToolMessage } from '@langchain/core/messages';
import type { BaseMessage } from '@langchain/core/messages';
import { ClearToolUsesEdit, countTokensApproximately, FakeToolCallingModel, trimMessages } from 'langchain';
import type { Step } from './histories.ts';
import { processorTime } from './measure.ts';

/** The history as LangChain holds it. */
export function toLangChain(steps: readonly Step[]): BaseMessage[] {
  return steps.map((step) => {
    switch (step.type) {
      case 'request':
        return new HumanMessage(step.text);
      case 'answer':
        return new AIMessage({
          content: step.text,
          tool_calls:
            step.call === undefined
              ? []
              : [{ type: 'tool_call', id: step.call.id, name: step.call.tool, args: { ...step.call.input } }],
        });
      case 'result':
        return new ToolMessage({ tool_call_id: step.callId, name: step.tool, content: step.text });
    }
  });
}

/** The history as the AI SDK holds it. */
export function toAiSdk(steps: readonly Step[]): ModelMessage[] {
  return steps.map((step): ModelMessage => {
    switch (step.type) {
      case 'request':
        return { role: 'user', content: step.text };
      case 'answer':
        return {
          role: 'assistant',
          content: [
            ...(step.text === '' ? [] : [{ type: 'text' as const, text: step.text }]),
            ...(step.call === undefined
              ? []
              : [
                  {
                    type: 'tool-call' as const,
                    toolCallId: step.call.id,
                    toolName: step.call.tool,
                    input: step.call.input,
                  },
                ]),
          ],
        };
      case 'result':
        return {
          role: 'tool',
          content: [
            {
              type: 'tool-result',
              toolCallId: step.callId,
              toolName: step.tool,
              output: { type: 'text', value: step.text },
            },
          ],
        };
    }
  });
}

/** Thrown out of a peer that takes too long. */
class TimeIsUp extends Error {}

/** A peer's token counter is called all along, so it is the place to stop a peer from. */
function counterUntil(deadlineMs: number): (messages: BaseMessage[]) => number {
  return (messages) => {
    if (processorTime() > deadlineMs) throw new TimeIsUp();
    return countTokensApproximately(messages);
  };
}

/** Runs a peer; undefined when it was stopped at the cap. */
async function untilCap(run: () => Promise<unknown>): Promise<boolean> {
  try {
    await run();
    return true;
  } catch (error) {
    if (error instanceof TimeIsUp) return false;
    throw error;
  }
}

/** LangChain's clearing of tool results with its defaults; false when it did not finish within `capMs` of processor time. */
export async function clearToolUses(messages: readonly BaseMessage[], capMs: number): Promise<boolean> {
  const countTokens = counterUntil(processorTime() + capMs);
  const edit = new ClearToolUsesEdit();
  const model = new FakeToolCallingModel();
  // The edit writes into the list that it is given.
  return untilCap(() => edit.apply({ messages: [...messages], model, countTokens }));
}

/** LangChain's cut to the newest 100,000 tokens that leaves a valid history; false when it did not finish. */
export async function trimToNewest(messages: readonly BaseMessage[], capMs: number): Promise<boolean> {
  const tokenCounter = counterUntil(processorTime() + capMs);
  const options = { maxTokens: 100_000, strategy: 'last', startOn: 'human', tokenCounter } as const;
  return untilCap(() => trimMessages([...messages], options));
}
