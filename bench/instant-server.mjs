// A provider in a process of its own that answers every request at once: a chat with the same summary, the Responses wire
// with one sentence: what is measured against
// it is Baton's own time and the way over the loopback. Prints its port.

import { createServer } from 'node:http';

const SECTIONS = [
  'Primary Request and Intent',
  'Key Technical Concepts',
  'Files and Code Sections',
  'Errors and Fixes',
  'Problem Solving',
  'All User Messages',
  'Pending Tasks',
  'Current Work',
  'Optional Next Step',
];
const SUMMARY = SECTIONS.map(
  (section, index) => `${index + 1}. ${section}:\nThe totals are sums of cents.\n`,
).join('\n');
const EVENTS = [
  { choices: [{ index: 0, delta: { role: 'assistant', content: SUMMARY } }] },
  { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
  { choices: [], usage: { prompt_tokens: 200_000, completion_tokens: 400, total_tokens: 200_400 } },
];
const ANSWER = `${EVENTS.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')}data: [DONE]\n\n`;

/** What a provider of the Responses wire says, by the same measure. */
const MESSAGE = {
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  content: [{ type: 'output_text', text: 'The totals are sums of cents.' }],
};
const USAGE = {
  input_tokens: 4000,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 8,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 4008,
};
const RESPONSES_EVENTS = [
  { type: 'response.created', response: { id: 'resp_1' } },
  { type: 'response.output_item.added', output_index: 0, item: { ...MESSAGE, content: [] } },
  {
    type: 'response.output_text.delta',
    item_id: 'msg_1',
    output_index: 0,
    content_index: 0,
    delta: MESSAGE.content[0].text,
  },
  { type: 'response.output_item.done', output_index: 0, item: MESSAGE },
  {
    type: 'response.completed',
    response: { id: 'resp_1', status: 'completed', output: [MESSAGE], usage: USAGE },
  },
];
const RESPONSES_ANSWER = RESPONSES_EVENTS.map(
  (event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`,
).join('');

const server = createServer((request, response) => {
  const isResponses = request.url?.endsWith('/responses') === true;
  // Codex asks for a WebSocket first; refused, it goes on at once.
  if (request.method !== 'POST') return response.writeHead(isResponses ? 426 : 404).end();
  request.resume().once('end', () => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(isResponses ? RESPONSES_ANSWER : ANSWER);
  });
});
server.listen(0, '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`));
process.stdin.resume().once('end', () => process.exit(0));
