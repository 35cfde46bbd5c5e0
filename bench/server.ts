// A provider that answers at once, for what is measured against one.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { ROOT } from './session-files.ts';

/** The server does not share the processor time, the heap and the thread of what is measured. */
export async function startServer(): Promise<{ readonly port: number; readonly stop: () => void }> {
  const file = join(ROOT, 'bench', 'instant-server.mjs');
  const child = spawn(process.execPath, [file], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [line] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string];
  return { port: Number(line), stop: () => void child.stdin.end() };
}
