// The provider as a process: `node --import tsx test/support/provider-server/main.ts --script FILE [--port N]`. Prints
// its base address on the first line and runs until it is ended.

import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { parseScript } from './script.ts';
import { startProviderServer } from './server.ts';

const { values } = parseArgs({
  options: { script: { type: 'string' }, port: { type: 'string', default: '0' } },
});
if (values.script === undefined) {
  process.stderr.write('usage: main.ts --script FILE [--port N]\n');
  process.exitCode = 2;
} else {
  const server = await startProviderServer(
    parseScript(readFileSync(values.script, 'utf8')),
    Number(values.port),
  );
  process.stdout.write(`${server.baseUrl}\n`);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void server.close());
}
