// Runs a command in a network namespace in which nothing exists but one port of the loopback interface:
//   unshare … sh -c 'ip link set lo up && exec "$0" "$@"' node isolate.mjs PORT SOCKET FILE ARGS…
// The port leads to a Unix socket of the test process, which a namespace does not hide.

import { spawn } from 'node:child_process';
import { connect, createServer } from 'node:net';

const [port, socketPath, file, ...args] = process.argv.slice(2);
if (port === undefined || socketPath === undefined || file === undefined)
  throw new TypeError('usage: see above');

const server = createServer((inside) => {
  const outside = connect(socketPath);
  inside.pipe(outside).pipe(inside);
  // Either end may go away first; the other must then go too, and neither may end the run.
  inside.on('error', () => outside.destroy()).on('close', () => outside.destroy());
  outside.on('error', () => inside.destroy()).on('close', () => inside.destroy());
});

server.listen(Number(port), '127.0.0.1', () => {
  const child = spawn(file, args, { stdio: ['ignore', 'inherit', 'inherit'] });
  child.once('error', (error) => {
    throw error;
  });
  child.once('exit', (code) => process.exit(code ?? 1));
});
