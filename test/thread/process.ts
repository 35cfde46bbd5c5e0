// A process that plays the script of a thread, and dies: run by the tests of crashes.
//
//   process.ts HOME WORK BASE_URL [CALL [BYTES]]
//
// Kills itself before that call to the file system, counted from 0, or where it is a write and BYTES are given, when that
// many of its bytes are written. Without a CALL it tells each of them.

import { openThreadIn } from '../support/opened-thread.ts';
import { client, MODEL } from '../support/provider-server/client.ts';
import { dyingFiles, say } from '../support/dying-process.ts';
import { Script } from './script.ts';

const [, , home = '', work = '', baseUrl = '', first, second] = process.argv;

const script = new Script({ acknowledged: (text) => say(`acknowledged ${text}`) });
const thread = await openThreadIn({
  home,
  work,
  model: client('responses', baseUrl),
  modelName: MODEL.responses,
  files: dyingFiles(first, second),
  emit: script.hear,
});
await script.play(thread);
await thread.close();
