// Runs a real tool as a child process that cannot outlive its test and, where the system allows, cannot reach a network.

import { spawn } from 'node:child_process';
import type { Loopback, RecordedRequest } from './loopback.ts';
import { EmptyNetwork } from './network.ts';

/** What a run of a real tool did. */
export interface AgentRun {
  /** Null when a signal ended it. */
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** The deadline passed, and the process was killed with everything that it had started. */
  readonly timedOut: boolean;
  /** Every request that it made, in order. */
  readonly requests: readonly RecordedRequest[];
}

/** What to run. */
export interface Command {
  /** A program and its arguments. */
  readonly line: readonly string[];
  readonly cwd: string;
  /** The whole environment: nothing is inherited but `PATH`, so no key of the machine reaches the tool. */
  readonly env: Readonly<Record<string, string>>;
  readonly deadlineMs: number;
}

/** Runs a command against a provider, to its end or to its deadline. Rejects only when it cannot be started. */
export async function runAgainst(loopback: Loopback, command: Command): Promise<AgentRun> {
  const entrance = (await theNetwork()?.admit(loopback)) ?? [];
  const [file = '', ...args] = [...entrance, ...command.line];
  return new Promise((resolve, reject) => {
    // Its own process group, so that the kill also reaches what the tool has started.
    const child = spawn(file, args, {
      cwd: command.cwd,
      env: { PATH: process.env['PATH'] ?? '', ...command.env },
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let stdout = '';
    let stderr = '';
    let timedOut = false;
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    const deadline = setTimeout(() => {
      timedOut = true;
      killGroup(child.pid);
    }, command.deadlineMs);
    child.once('error', (error) => {
      clearTimeout(deadline);
      reject(error);
    });
    // What a tool leaves running would hold its output open and so keep `close` away.
    child.once('exit', () => killGroup(child.pid));
    child.once('close', (exitCode) => {
      clearTimeout(deadline);
      resolve({ exitCode, stdout, stderr, timedOut, requests: [...loopback.requests] });
    });
  });
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

let network: EmptyNetwork | false | undefined;

function theNetwork(): EmptyNetwork | undefined {
  network ??= EmptyNetwork.make() ?? false;
  return network === false ? undefined : network;
}

/** Whether tools run in a network namespace of their own here. Elsewhere only their own switches keep them offline. */
export function isIsolated(): boolean {
  return theNetwork() !== undefined;
}
