// A network in which nothing exists but the loopback interface, and on it the providers of the tests. One for each process
// that runs tests: making one for each tool took a third of the processor time of a tool.

import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcessByStdio } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Interface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { Loopback } from './loopback.ts';

const IS_ROOT = process.getuid?.() === 0;
const NAMESPACE = ['unshare', IS_ROOT ? '-n' : '-rn', '--'];
const LOOPBACK_UP = ['sh', '-c', 'ip link set lo up && exec "$0" "$@"'];
const ENTRANCE = IS_ROOT ? ['-n'] : ['-U', '-n', '--preserve-credentials'];

/** A network namespace that a process keeps for as long as this one lives. */
export class EmptyNetwork {
  readonly #keeper: ChildProcessByStdio<Writable, Readable, null>;
  readonly #answers: Interface;

  private constructor() {
    const script = fileURLToPath(new URL('isolate.mjs', import.meta.url));
    const [file = '', ...args] = [...NAMESPACE, ...LOOPBACK_UP, process.execPath, script];
    // It ends when its input does, which is when this process has ended, whatever ended it.
    this.#keeper = spawn(file, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#answers = createInterface({ input: this.#keeper.stdout });
    this.#keeper.unref();
    for (const stream of [this.#keeper.stdin, this.#keeper.stdout]) {
      if ('unref' in stream && typeof stream.unref === 'function') stream.unref();
    }
  }

  /** Makes a network, or nothing where the system allows none. */
  static make(): EmptyNetwork | undefined {
    const test = [...ENTRANCE, '-t', String(process.pid), '--', 'true'];
    const isAllowed =
      spawnSync('unshare', [...NAMESPACE.slice(1), ...LOOPBACK_UP, 'true']).status === 0 &&
      (!IS_ROOT || spawnSync('nsenter', test).status === 0);
    return isAllowed ? new EmptyNetwork() : undefined;
  }

  /**
   * Lets a provider be reached from the network, at its own address.
   *
   * @returns what to put before a command that is to run in the network
   */
  async admit({ port, socketPath }: Loopback): Promise<readonly string[]> {
    const admitted = new Promise<void>((resolve, reject) => {
      const answered = (line: string): void => {
        if (line !== String(port)) return;
        this.#answers.off('line', answered);
        this.#keeper.off('exit', ended);
        resolve();
      };
      const ended = (): void => reject(new Error('the keeper of the network has ended'));
      this.#answers.on('line', answered);
      this.#keeper.once('exit', ended);
    });
    this.#keeper.stdin.write(`${port} ${socketPath}\n`);
    await admitted;
    return ['nsenter', ...ENTRANCE, '-t', String(this.#keeper.pid), '--'];
  }
}
