// A provider of the Responses wire whose answer streams: 1,500 deltas, 11 KB, 60 list items, about 9.5 s. Prints its port. A program
// of its own, so that what is measured does not share its processor time.
// @source the stream that the terminal UIs of three agents were measured with

import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

const ITEMS = 60;
const DELTAS = 1500;
const STREAM_MS = 9500;

/** The words after which the answer has ended. */
const LAST_WORDS = 'That is the whole list.';

function answer() {
  const items = Array.from(
    { length: ITEMS },
    (_, at) =>
      `${at + 1}. **Lamp ${at + 1}** stands in \`tower/room-${at + 1}.ts\`; its wick was trimmed, its glass was cleaned, and the log of that watch says who did it, at which hour, and with how much oil left.\n`,
  );
  return `# The lamps\n\n${items.join('')}\n${LAST_WORDS}\n`;
}

const text = answer();
const cuts = Array.from({ length: DELTAS + 1 }, (_, at) => Math.round((text.length * at) / DELTAS));
const MESSAGE = { type: 'message', id: 'msg_1', role: 'assistant', content: [{ type: 'output_text', text }] };
const PLACE = { item_id: 'msg_1', output_index: 0, content_index: 0 };
const USAGE = {
  input_tokens: 4000,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 2500,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 6500,
};

const server = createServer((request, response) => {
  const send = (event) => response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  const stream = async () => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    send({ type: 'response.created', response: { id: 'resp_1' } });
    send({ type: 'response.output_item.added', output_index: 0, item: { ...MESSAGE, content: [] } });
    const began = performance.now();
    for (let at = 0; at < DELTAS; at++) {
      const wait = began + (STREAM_MS * at) / DELTAS - performance.now();
      if (wait > 0) await sleep(wait);
      send({ type: 'response.output_text.delta', ...PLACE, delta: text.slice(cuts[at], cuts[at + 1]) });
    }
    send({ type: 'response.output_item.done', output_index: 0, item: MESSAGE });
    send({
      type: 'response.completed',
      response: { id: 'resp_1', status: 'completed', output: [MESSAGE], usage: USAGE },
    });
    response.end();
  };
  request.resume().once('end', () => void stream());
});
server.listen(0, '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`));
process.stdin.resume().once('end', () => process.exit(0));
