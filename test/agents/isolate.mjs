// Keeps a network namespace in which nothing exists but ports of the loopback interface, for as long as its input is open:
//   unshare … sh -c 'ip link set lo up && exec "$0" "$@"' node isolate.mjs
// Each line of input, `PORT SOCKET`, makes a port lead to a Unix socket of the test process, which a namespace does not
// hide; it is answered with `PORT`.

import { connect, createServer } from 'node:net';
import { createInterface } from 'node:readline';

/** Where the ports lead: the system gives a port that is free again to another provider. */
const sockets = new Map();

function serve(port) {
  const server = createServer((inside) => {
    const outside = connect(sockets.get(port));
    inside.pipe(outside).pipe(inside);
    // Either end may go away first; the other must then go too, and neither may end the run.
    inside.on('error', () => outside.destroy()).on('close', () => outside.destroy());
    outside.on('error', () => inside.destroy()).on('close', () => inside.destroy());
  });
  server.listen(Number(port), '127.0.0.1', () => console.log(port));
}

const lines = createInterface({ input: process.stdin });
lines.on('line', (line) => {
  const [port, ...path] = line.split(' ');
  const isServed = sockets.has(port);
  sockets.set(port, path.join(' '));
  if (isServed) console.log(port);
  else serve(port);
});
lines.on('close', () => process.exit());
