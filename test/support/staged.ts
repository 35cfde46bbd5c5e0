// The terminal UI on a stage: a repository, a scripted provider, a real terminal, and what a person could check afterwards.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { ExecFixture, EXEC_KEY } from './exec.ts';
import { LiveTerminal } from './live-terminal.ts';
import type { TerminalSetting } from './live-terminal.ts';
import type { Reply } from './provider-server/script.ts';
import { startProviderServer } from './provider-server/server.ts';
import type { ProviderServer } from './provider-server/server.ts';

/** Longest that anything may take, in milliseconds: the machine that runs the tests may be busy. */
const PATIENCE_MS = 60_000;

/** What differs from test to test. */
type StageSetting = Partial<Omit<TerminalSetting, 'home' | 'cwd'>> & {
  /** Files of the repository. */
  readonly files?: Readonly<Record<string, string>>;
};

/**
 * Plays a test on a stage of its own, and clears it away.
 * @param root where its home is made
 */
export async function onStage(
  root: string,
  setting: StageSetting,
  act: (stage: Stage) => Promise<void>,
): Promise<void> {
  const server = await startProviderServer({ replies: [{}] });
  const stage = Stage.set(root, server, setting);
  try {
    await act(stage);
  } finally {
    stage.close();
    await server.close();
    await until(
      () => processesIn(stage.desk.home).length === 0,
      () => 'processes stayed in the terminal',
    );
  }
}

/** A user with a terminal, whose provider says what a test wants. */
export class Stage {
  readonly desk: ExecFixture;
  readonly terminal: LiveTerminal;
  readonly server: ProviderServer;

  private constructor(root: string, server: ProviderServer, { files = {}, ...setting }: StageSetting) {
    this.server = server;
    this.desk = new ExecFixture(root, server.baseUrl, files);
    // A test decides when a stream ends, not the clock.
    this.desk.configure('', { idleTimeoutMs: 120_000 });
    const { env = {}, ...size } = setting;
    this.terminal = new LiveTerminal({
      ...size,
      home: this.desk.home,
      cwd: this.desk.work,
      env: { LAB_KEY: EXEC_KEY, ...env },
    });
  }

  static set(root: string, server: ProviderServer, setting: StageSetting): Stage {
    return new Stage(root, server, setting);
  }

  /** What the provider says next. */
  play(...replies: readonly Reply[]): void {
    this.server.play({ key: EXEC_KEY, replies });
  }

  /** Starts Baton and waits for its composer. */
  async start(args = '', patience?: number): Promise<void> {
    this.terminal.run(`baton --model lab-responses/gpt-5.1 --sandbox danger_full_access ${args}`);
    await this.terminal.waitFor(/shows\s+the\s+keys/, patience);
  }

  /** Types a message and sends it. */
  say(text: string): void {
    this.terminal.type(text);
    this.terminal.press('Enter');
  }

  /** Process ids of Baton: those that work in the repository, except the terminal's shells. */
  processes(): readonly number[] {
    const shell = this.terminal.pids()[0];
    return processesIn(this.desk.home).filter((pid) => pid !== shell);
  }

  /** The main process of Baton. */
  main(): number {
    const found = this.processes().find((pid) => commandOf(pid).includes('main.js'));
    if (found === undefined) throw new Error(`Baton is not running:\n${this.terminal.all()}`);
    return found;
  }

  /** Waits until no process of Baton is left. */
  async gone(): Promise<void> {
    await until(
      () => processesIn(this.desk.home).every((pid) => pid === this.shell),
      () =>
        `these stayed: ${processesIn(this.desk.home)
          .map((pid) => `${pid} ${commandOf(pid)}`)
          .join('; ')}`,
    );
  }

  /** The shell, while there is one. */
  get shell(): number | undefined {
    const [shell = 0] = this.terminal.pids();
    return shell === 0 ? undefined : shell;
  }

  /** Fails unless the terminal is as a shell expects it. */
  async assertSane(): Promise<void> {
    const { terminal } = this;
    const { written } = terminal;
    for (const [mode, rest] of [
      ['2004', 'l'],
      ['1004', 'l'],
      ['1049', 'l'],
      ['2026', 'l'],
      ['25', 'h'],
      ['7', 'h'],
    ] as const) {
      const last = written.lastIndexOf(`\u001B[?${mode}`);
      if (last !== -1) assert.equal(written.slice(last + mode.length + 3)[0], rest, `mode ${mode}`);
    }
    assert.ok(written.lastIndexOf('\u001B[<u') > written.lastIndexOf('\u001B[>1u'), 'keys are as they were');
    assert.equal(terminal.ask('#{alternate_on} #{cursor_flag}'), '0 1');
    terminal.run(
      'stty -a | tr -s " ;" "\\n\\n" | grep -xE -- "-?(echo|icanon|isig|opost|icrnl)" | sort | tr "\\n" " "; echo . do""ne',
    );
    const screen = await terminal.waitFor(/\. done$/m);
    assert.match(screen, /^echo icanon icrnl isig opost \. done$/m);
  }

  close(): void {
    for (const pid of this.processes()) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has ended.
      }
    }
    this.terminal.close();
  }
}

/** Waits until something holds. @param complaint what to say if it never does */
export async function until(holds: () => boolean, complaint: () => string): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  while (!holds()) {
    if (performance.now() > end) assert.fail(complaint());
    await sleep(50);
  }
}

/** Processes whose working directory is in a folder. */
function processesIn(folder: string): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readlinkSync(`/proc/${pid}/cwd`).startsWith(folder) && commandOf(Number(pid)) !== '';
      } catch {
        return false;
      }
    })
    .map(Number);
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch {
    return '';
  }
}
