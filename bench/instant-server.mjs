// A provider in a process of its own that answers every chat request at once with the same summary: what is measured against
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

const server = createServer((request, response) => {
  request.resume().once('end', () => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(ANSWER);
  });
});
server.listen(0, '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`));
process.stdin.resume().once('end', () => process.exit(0));
