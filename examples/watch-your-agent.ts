// Compacts inside your own agent loop, at the right moment: npx tsx examples/watch-your-agent.ts
// It uses top-level await: a copy elsewhere needs "type": "module" in package.json, or a name that ends in .mts.
//
// A script replaces the model, so that the example runs anywhere.

import { watch } from 'baton-agent';

interface Message {
  readonly role: string;
  readonly content: string | null;
  readonly tool_calls?: readonly object[];
  readonly tool_call_id?: string;
}

/** A model and its tools: each turn reads a long file, commits, and says so. */
function answer(messages: readonly Message[]): readonly Message[] {
  const step = messages.length - messages.findLastIndex(({ role }) => role === 'user');
  const call = (command: string, output: string): readonly Message[] => {
    const id = `call_${messages.length}`;
    const shell = {
      id,
      type: 'function',
      function: { name: 'shell', arguments: JSON.stringify({ command }) },
    };
    return [
      { role: 'assistant', content: null, tool_calls: [shell] },
      { role: 'tool', tool_call_id: id, content: output },
    ];
  };
  if (step === 1) return call('cat tides.txt', 'high water 06:12, low water 12:31\n'.repeat(350));
  if (step === 3) return call("git commit -am 'Add a chapter'", '[main 1a2b3c4] Add a chapter');
  return [{ role: 'assistant', content: 'The chapter is written and committed.' }];
}

const context = watch({ contextWindow: 40_000, onLine: console.log });
let messages: Message[] = [{ role: 'system', content: 'You write an almanac.' }];
for (const chapter of ['the tides', 'the lights', 'the fog signals', 'the moorings', 'the wrecks']) {
  messages.push({ role: 'user', content: `Write the chapter on ${chapter}.` });
  do {
    messages = await context.next(messages);
    console.log(`request: ${messages.length} messages, ${JSON.stringify(messages).length} characters`);
    messages.push(...answer(messages));
  } while (messages.at(-1)?.role === 'tool');
}
