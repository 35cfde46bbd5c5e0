// Drives a pi over its protocol for programs: `node drive-pi.mjs PI COMMANDS ARGUMENTS…`, PI being its launcher and COMMANDS a file
// with a JSON list of commands. Each is sent when the one before it has ended. Prints what pi says.

import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [launcher, commands, ...args] = process.argv.slice(2);
const pi = spawn(process.execPath, [launcher, '--mode', 'rpc', ...args], {
  stdio: ['pipe', 'pipe', 'inherit'],
});
const waiting = [];
createInterface({ input: pi.stdout }).on('line', (line) => {
  console.log(line);
  const said = JSON.parse(line);
  for (const each of waiting.filter(({ isEnd }) => isEnd(said))) each.done();
});
/** A prompt is accepted at once, and ends when pi has nothing more to do; a command of an extension asks no model. */
function ends({ type, message }) {
  return type === 'prompt' && !message.startsWith('/')
    ? (said) =>
        said.type === 'agent_settled' ||
        (said.type === 'response' && said.command === type && said.success === false)
    : (said) => said.type === 'response' && said.command === type;
}
for (const command of JSON.parse(readFileSync(commands, 'utf8'))) {
  const ended = new Promise((done) => waiting.push({ isEnd: ends(command), done }));
  pi.stdin.write(`${JSON.stringify(command)}\n`);
  await ended;
  waiting.length = 0;
}
// At the end of its input pi would linger for seconds.
pi.kill('SIGTERM');
