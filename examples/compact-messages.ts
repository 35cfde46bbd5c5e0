// Compacts an array of API messages: npx tsx examples/compact-messages.ts
// It uses top-level await: a copy elsewhere needs "type": "module" in package.json, or a name that ends in .mts.

import { compactMessages } from 'baton-agent';

/** A long conversation as messages of the Chat Completions API. */
const messages = [
  { role: 'system', content: 'You tend a lighthouse.' },
  { role: 'user', content: 'Never touch the glass. Find out why the lamp flickers.' },
  ...Array.from({ length: 12 }, (_, hour) => [
    {
      role: 'assistant',
      content: null,
      tool_calls: [
        {
          id: `call_${hour}`,
          type: 'function',
          function: { name: 'read', arguments: JSON.stringify({ path: `log/${hour}.txt` }) },
        },
      ],
    },
    { role: 'tool', tool_call_id: `call_${hour}`, content: `hour ${hour}: flame steady\n`.repeat(120) },
  ]).flat(),
  { role: 'assistant', content: 'The wick is too short: it flickers in hour 9.' },
  { role: 'user', content: 'Then trim a new one.' },
];

const compacted = await compactMessages(messages, { targetTokens: 1500 });
console.log(`${messages.length} messages, ${compacted.tokensBefore} tokens`);
console.log(`${compacted.messages.length} messages, ${compacted.tokensAfter} tokens:`);
console.log(JSON.stringify(compacted.messages, null, 2));
