// Processes that write rollouts, and die: run by the tests of crashes.
//
//   play HOME [CALL [BYTES]]   plays the script; kills itself before that call to the file system, counted from 0, or where
//                              it is a write and BYTES are given, when that many of its bytes are written (negative: all but)
//   hold HOME ID               opens a thread, says `open`, and waits for ever
//   race HOME ID               waits for a line, then tries to open a thread: says `won` and waits, or the code of the failure
//   fill HOME                  appends until that fails; says how many appends were acknowledged and the failure

import { writeSync } from 'node:fs';
import { createRollout, openRollout } from '../../src/rollout/driver.ts';
import type { RolloutFiles } from '../../src/rollout/files.ts';
import { userSays } from '../support/records.ts';
import { interceptedFiles } from '../support/rollouts.ts';
import type { Call } from '../support/rollouts.ts';
import { playScript, scriptWorld } from './script.ts';

/** Calls after which a process that dies leaves what it left before them. */
const WITHOUT_TRACE: ReadonlySet<Call['name']> = new Set([
  'stat',
  'readFile',
  'readdir',
  'datasync',
  'sync',
  'close',
]);

const [, , command, home = '', first, second] = process.argv;

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

async function main(): Promise<void> {
  const world = scriptWorld(command === 'play' ? dyingFiles() : undefined);
  switch (command) {
    case 'play':
      await playScript(home, world, (records) => say(`acknowledged ${records}`));
      return;
    case 'hold':
      await openRollout(home, first ?? '', world);
      say('open');
      setInterval(() => undefined, 1000);
      return;
    case 'race':
      await new Promise((resolve) => process.stdin.once('data', resolve));
      try {
        await openRollout(home, first ?? '', world);
        say('won');
        setInterval(() => undefined, 1000);
      } catch (error) {
        say(String((error as { code?: unknown }).code));
        process.exit();
      }
      return;
    case 'fill': {
      const rollout = await createRollout(home, {}, world);
      for (let count = 0; ; count++) {
        try {
          await rollout.append([{ type: 'item', item: userSays(`word ${count} ${'x'.repeat(300)}`) }]);
        } catch (error) {
          await rollout.close();
          say(`${count} ${(error as Error).message}`);
          return;
        }
      }
    }
    default:
      throw new TypeError(`no command ${command}`);
  }
}

await main();
