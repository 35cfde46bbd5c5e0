// A temporary git repository in which the commands of a screenplay are really run. Whatever differs from run to run or
// from machine to machine is taken out of their output here.

import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { applyHunks, parsePatch } from './patch.ts';

/** Where the repository seems to be. */
export const SHOWN_DIRECTORY = '/home/dev/tally';
const SHOWN_HOME = dirname(SHOWN_DIRECTORY);

/** What a command did. `output` is standard output and error as they came. */
export interface CommandResult {
  readonly exitCode: number;
  readonly output: string;
}

/** A command that hangs would hang the recording. */
const DEADLINE_MS = 30_000;

/** A repository of its own in a folder for temporary files. */
export class Workspace {
  readonly #home = realpathSync(mkdtempSync(join(tmpdir(), 'record-')));
  readonly #root = join(this.#home, 'tally');

  constructor() {
    mkdirSync(this.#root);
  }

  /**
   * Runs a bash command and waits for its end.
   * @param epochSeconds the time that commits made by it will bear
   */
  run(command: string, epochSeconds: number): Promise<CommandResult> {
    return new Promise((resolve, reject) => {
      // One stream for both, so that errors stand where they occurred.
      const child = spawn('bash', ['-c', `exec 2>&1; ${command}`], {
        cwd: this.#root,
        env: this.#environment(epochSeconds),
        stdio: ['ignore', 'pipe', 'inherit'],
        timeout: DEADLINE_MS,
      });
      const chunks: Buffer[] = [];
      child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
      child.on('error', reject);
      child.on('close', (code) =>
        resolve({ exitCode: code ?? -1, output: this.#normalize(Buffer.concat(chunks).toString('utf8')) }),
      );
    });
  }

  /**
   * Applies a patch to the files.
   * @returns what the tool answers
   */
  patch(patch: string): string {
    const changes = parsePatch(patch);
    for (const change of changes) {
      const path = join(this.#root, change.path);
      if (change.kind === 'D') rmSync(path);
      else if (change.kind === 'A') this.write(change.path, change.text);
      else writeFileSync(path, applyHunks(readFileSync(path, 'utf8'), change.hunks));
    }
    const summary = changes.map(({ kind, path }) => `${kind} ${path}\n`).join('');
    return `Success. Updated the following files:\n${summary}`;
  }

  /** Writes one file, with the folders above it. */
  write(path: string, text: string): void {
    mkdirSync(dirname(join(this.#root, path)), { recursive: true });
    writeFileSync(join(this.#root, path), text);
  }

  /** Deletes everything. */
  remove(): void {
    rmSync(this.#home, { recursive: true, force: true });
  }

  /** Nothing of the machine's own settings, so that git and Node do the same everywhere. */
  #environment(epochSeconds: number): NodeJS.ProcessEnv {
    const identity = { NAME: 'Dev', EMAIL: 'dev@tally.example', DATE: `${epochSeconds} +0000` };
    const git = Object.entries(identity).flatMap(([key, value]) => [
      [`GIT_AUTHOR_${key}`, value],
      [`GIT_COMMITTER_${key}`, value],
    ]);
    return {
      PATH: `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
      HOME: this.#home,
      LC_ALL: 'C.UTF-8',
      TZ: 'UTC',
      NO_COLOR: '1',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_PAGER: 'cat',
      ...Object.fromEntries(git),
    };
  }

  #normalize(output: string): string {
    return (
      output
        .replaceAll(this.#home, SHOWN_HOME)
        // Frames inside of Node differ between its versions; the last one may open the list of the error's fields.
        .replaceAll(/(?:\n +at [^\n]*node:[^\n{]*)+(\{)?/g, (_, brace?: string) =>
          brace === undefined ? '' : ' {',
        )
        .replaceAll(/^(node:[\w/]+):\d+$/gm, '$1')
        .replaceAll(/\(\d+(?:\.\d+)?ms\)/g, '(1ms)')
        .replaceAll(/duration_ms \d+(?:\.\d+)?/g, 'duration_ms 100')
        .replaceAll(/^Node\.js v(\d+)\.\d+\.\d+$/gm, 'Node.js v$1')
    );
  }
}
