// Runs a real tool as a child process that cannot outlive its test.

import { spawn } from 'node:child_process';

/** How a process ended. */
export interface Exit {
  /** Null when a signal ended it. */
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** The deadline passed, and the process was killed with everything that it had started. */
  readonly timedOut: boolean;
}

/** What to run. `env` is the whole environment: nothing is inherited, so no key of the machine reaches the tool. */
export interface Command {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly deadlineMs: number;
}

/** Runs a command to its end or to its deadline. Rejects only when it cannot be started. */
export function runProcess(command: Command): Promise<Exit> {
  return new Promise((resolve, reject) => {
    // Its own process group, so that the kill also reaches what the tool has started.
    const child = spawn(command.file, command.args, {
      cwd: command.cwd,
      env: command.env,
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
    child.once('close', (exitCode) => {
      clearTimeout(deadline);
      killGroup(child.pid);
      resolve({ exitCode, stdout, stderr, timedOut });
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
