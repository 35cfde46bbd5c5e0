// Compacts an array of messages as an API takes them: npx tsx examples/compact-messages.ts

import { createHash, randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import {
  approximateTokens,
  compactHistory,
  DEFAULT_CONFIG,
  HistoryFold,
  loadSession,
  openSource,
  SUMMARY_PREFIX,
  TrailCollector,
  WHOLE_ITEMS,
  writeMessages,
} from 'baton-agent';

/** A long conversation in the shape of the chat completions API. */
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

/** The same conversation in at most `targetTokens`: rules and requests verbatim, the work as a summary. No model is asked. */
async function compactMessages(history: readonly object[], targetTokens: number): Promise<readonly object[]> {
  const fold = new HistoryFold(WHOLE_ITEMS);
  const trail = new TrailCollector();
  const source = await openSource('-', Readable.from([Buffer.from(JSON.stringify(history))]));
  const { format } = await loadSession(source, (record) => {
    fold.add(record);
    trail.add(record);
  }).finally(() => source.close());
  const compaction = await compactHistory(
    {
      entries: fold.entries,
      window: 128_000,
      leavesInitialContext: false,
      summaryPrefix: SUMMARY_PREFIX,
      session: { sessionId: 'example', transcriptPath: undefined, cwd: undefined, model: undefined },
      trail: trail.trail(),
    },
    {
      trigger: 'manual',
      reason: 'user_requested',
      phase: 'standalone_turn',
      strategy: 'full',
      why: 'An example.',
      targetTokens,
    },
    DEFAULT_CONFIG,
    {
      clock: Date,
      ids: { uuid: randomUUID },
      hash: (text) => createHash('sha256').update(text).digest('hex'),
      count: approximateTokens,
      counter: 'approximate',
      signal: new AbortController().signal,
      emit: () => undefined,
    },
  );
  return writeMessages('chat', compaction.items, format);
}

const compacted = await compactMessages(messages, 1_500);
const tokens = (value: unknown): number => approximateTokens(JSON.stringify(value));
console.log(`${messages.length} messages, about ${tokens(messages)} tokens`);
console.log(`${compacted.length} messages, about ${tokens(compacted)} tokens:`);
console.log(JSON.stringify(compacted, null, 2));
