// The commands behind a package's tasks, as the tasks print them: running a task runs its commands.

import { detached } from '../../text/sentences.ts';
import { splitCommands } from '../../shell/runners.ts';

const MAX_TASKS = 60;

/** A task of a package with the commands that it runs. */
export interface PackageTask {
  /** The package without its scope. */
  readonly owner: string;
  readonly name: string;
  readonly commands: readonly string[];
}

/** A run by its commands and, if known, where it ran. */
interface TaskRun {
  readonly parts: readonly string[];
  readonly directory: string | undefined;
}

/** How a task prints what it runs: the package and the task, then the script. @source npm 6 to 11, pnpm */
const PRINTED =
  /^> (?:@[^\s/]{1,100}\/)?([^\s@/]{1,100})@\S{1,100} (\S{1,100})(?: \S{1,300})?\n> (.{1,600})$/gm;
const CALL = /^(?:npm|pnpm|yarn|bun) (?:run )?([\w:.-]{1,100})$/;

/** Remembers the commands seen to run in tasks. */
export class TaskLedger {
  readonly #tasks = new Map<string, PackageTask>();

  /** The commands that a run executed, according to its own output and to earlier output of its tasks. */
  ranBy({ parts, directory }: TaskRun, output: string): readonly PackageTask[] {
    const printed = output.startsWith('> ') || output.includes('\n> ') ? tasksIn(output) : [];
    for (const task of printed) this.#tasks.set(`${task.owner} ${task.name}`, task);
    for (const oldest of this.#tasks.keys()) {
      if (this.#tasks.size <= MAX_TASKS) break;
      this.#tasks.delete(oldest);
    }
    if (this.#tasks.size === 0) return printed;
    const names = new Set(parts.map((part) => CALL.exec(part)?.[1]));
    const known = [...this.#tasks.values()].filter(
      ({ owner, name }) => directory !== undefined && names.has(name) && isOwn(owner, directory),
    );
    return [...printed, ...known];
  }
}

function tasksIn(output: string): PackageTask[] {
  return [...output.matchAll(PRINTED)].map(([, owner = '', name = '', script = '']) => {
    return { owner: detached(owner), name: detached(name), commands: splitCommands(detached(script)) };
  });
}

/** Whether a package may be in a directory, judging by their names. */
export function isOwn(owner: string, directory: string): boolean {
  return owner.endsWith(directory.slice(directory.lastIndexOf('/') + 1));
}
