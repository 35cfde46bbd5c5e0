// Processes that write rollouts, and die: run by the tests of crashes.
//
//   play HOME [CALL [BYTES]]   plays the script; kills itself before that call to the file system, counted from 0, or where
//                              it is a write and BYTES are given, when that many of its bytes are written (negative: all but)
//   hold HOME ID               opens a thread, says `open`, and waits for ever
//   race HOME ID               waits for a line, then tries to open a thread: says `won` and waits, or the code of the failure
//   fill HOME                  appends until that fails; says how many appends were acknowledged and the failure

import { createRollout, openRollout } from '../../src/rollout/rollout.io.ts';
import { userSays } from '../support/records.ts';
import { dyingFiles, say } from '../support/dying-process.ts';
import { playScript, scriptWorld } from './script.ts';

const [, , command, home = '', first, second] = process.argv;

async function main(): Promise<void> {
  const world = scriptWorld(command === 'play' ? dyingFiles(first, second) : undefined);
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
