// `baton serve`: threads for any client. Ops arrive as lines of JSON on standard input, events leave as lines of JSON on standard
// output.

import { BatonError } from '../../../errors.ts';
import type { SessionEvent } from '../../../protocol/wire/event.ts';
import type { Op } from '../../../protocol/wire/op.ts';
import { parseOp } from '../../../protocol/wire/parse.ts';
import { exitStatus, explain } from '../../explain.ts';
import type { CommandIo, ExitStatus } from '../../io.ts';
import { readLines } from './input-lines.ts';
import { errorEvent, ThreadHost, threadOpener } from './thread-host.ts';
import type { Peer, ServeFlags, ServeSurroundings } from './thread-host.ts';

/**
 * Serves threads until the last one is shut down, the client disconnects, or the user stops the command. When the client
 * disconnects, Baton finishes the ops under way and rejects requests for approval.
 */
export async function serve(
  io: CommandIo,
  { version, configFile, configurationOf }: ServeSurroundings,
  flags: ServeFlags,
): Promise<ExitStatus> {
  const peer = stdioPeer(io);
  const open = threadOpener(io, { version, configFile, configurationOf }, flags, peer.emit);
  try {
    const first = await open(flags.resume === undefined ? {} : { resume: flags.resume });
    return await new ThreadHost(io, first, { peer, open }).run();
  } catch (error) {
    if (!(error instanceof BatonError)) throw error;
    peer.emit(errorEvent(error));
    io.stderr(explain(error));
    return exitStatus(error);
  }
}

/**
 * How much output may wait for the client before Baton stops accepting ops and drops display events, in characters. @source
 * docs/decisions/ops.md, "A client that does not read"
 */
const MOST_WAITING = 8 * 1024 * 1024;

/** Events that a client can do without. */
const FOR_DISPLAY: ReadonlySet<SessionEvent['type']> = new Set([
  'agent_message_delta',
  'agent_reasoning_delta',
  'exec_command_output_delta',
]);

/** The client at the standard streams. */
function stdioPeer(io: CommandIo): Peer {
  const isBehind = (): boolean => io.stdoutWaiting() > MOST_WAITING;
  return {
    ops: readOps(io.stdin),
    emit: (event) => {
      if (isBehind() && FOR_DISPLAY.has(event.type)) return;
      io.stdout(`${JSON.stringify(event)}\n`);
    },
    isBehind,
    drained: () => io.stdoutBytes(new Uint8Array()),
    // A pending read would keep the process alive.
    close: () => {
      if ('destroy' in io.stdin) (io.stdin as NodeJS.ReadStream).destroy();
    },
  };
}

async function* readOps(input: AsyncIterable<Buffer>): AsyncGenerator<Op | BatonError> {
  for await (const line of readLines(input)) {
    if ('problem' in line) {
      yield line.problem;
      continue;
    }
    try {
      yield parseOp(line.text);
    } catch (error) {
      if (!(error instanceof BatonError)) throw error;
      yield error;
    }
  }
}
