// A process that plays the script of a thread, and dies: run by the tests of crashes.
//
//   process.ts HOME WORK BASE_URL [CALL [BYTES]]
//
// Kills itself before that call to the file system, counted from 0, or where it is a write and BYTES are given, when that
// many of its bytes are written. Without a CALL it tells each of them.

import { writeSync } from 'node:fs';
import type { RolloutFiles } from '../../src/rollout/files.ts';
import { openThreadIn } from '../support/opened-thread.ts';
import { client, MODEL } from '../support/provider-server/client.ts';
import { interceptedFiles } from '../support/rollouts.ts';
import type { Call } from '../support/rollouts.ts';
import { Script } from './script.ts';

/** Calls after which a process that dies leaves what it left before them. */
const WITHOUT_TRACE: ReadonlySet<Call['name']> = new Set([
  'stat',
  'readFile',
  'readdir',
  'datasync',
  'sync',
  'close',
]);

const [, , home = '', work = '', baseUrl = '', first, second] = process.argv;

function say(text: string): void {
  writeSync(1, `${text}\n`);
}

function die(): never {
  process.kill(process.pid, 'SIGKILL');
  // The signal comes at once; nothing may happen before it.
  for (;;);
}

function dyingFiles(): RolloutFiles {
  const dyingAt = first === undefined ? Infinity : Number(first);
  const bytes = second === undefined ? undefined : Number(second);
  let calls = 0;
  return interceptedFiles(async (call, perform) => {
    if (WITHOUT_TRACE.has(call.name)) return perform();
    const number = calls++;
    if (first === undefined) say(`call ${call.name} ${call.bytes?.length ?? ''}`);
    if (number !== dyingAt) return perform();
    if (call.name === 'write' && bytes !== undefined) await perform(call.bytes?.subarray(0, bytes));
    return die();
  });
}

const script = new Script({ acknowledged: (text) => say(`acknowledged ${text}`) });
const thread = await openThreadIn({
  home,
  work,
  model: client('responses', baseUrl),
  modelName: MODEL.responses,
  files: dyingFiles(),
  emit: script.hear,
});
await script.play(thread);
await thread.close();
