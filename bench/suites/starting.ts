// The cold start of the command line against the bare runtime, as a user feels it: whole processes.

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { passingTime, race } from '../measure.ts';
import { atMost, digits, duration } from '../report.ts';
import type { Row } from '../report.ts';
import { ROOT, withFolder, writeSession } from '../session-files.ts';
import type { Effort } from './suite.ts';

/** The built command line. */
export const PROGRAM = join(ROOT, 'dist', 'cli', 'main.js');

/** The cold start rows. */
export async function* starting({ rounds }: Effort): AsyncGenerator<Row> {
  yield* await withFolder(async (folder) => {
    const session = await writeSession(folder, 'codex', 100_000);
    const times = await race(
      {
        node: { run: () => runNode(['-e', '0']) },
        version: { run: () => runNode([PROGRAM, '--version']) },
        inspect: { run: () => runNode([PROGRAM, 'inspect', session]) },
      },
      rounds * 3,
      passingTime,
    );
    const against = `\`node -e 0\` ${duration(times.node)}`;
    const row = (what: string, milliseconds: number, most: number): Row => ({
      topic: 'Cold start of the command line',
      what,
      baton: duration(milliseconds),
      against,
      figure: `${digits(milliseconds / times.node)}× its time`,
      target: atMost(milliseconds / times.node, most, '×'),
    });
    return [
      row('`baton --version`', times.version, 1.3),
      row('`baton inspect`, a 100 KB file', times.inspect, 3),
    ];
  });
}

function runNode(args: readonly string[]): void {
  const { status, stderr } = spawnSync(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  if (status !== 0) throw new Error(`${args.join(' ')} failed: ${stderr.toString()}`);
}
