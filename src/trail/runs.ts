// Commands that were run, how they went, and which failures are still open.

import { clip, detached, oneLine } from './sentences.ts';
import type { Moment } from './files.ts';
import type { SimpleCommand } from './shell.ts';
import type { CommandRun, Failure } from './trail.ts';

const MAX_RUNS = 240;
const MAX_FAILURES = 160;
const MAX_EDITED_BETWEEN = 6;
/** A command is shown in one line of this many characters. */
const COMMAND_LENGTH = 200;

/** Programs that look, print or filter: their failures tell nothing and they name no kind of work. */
const LOOKING = new Set([
  'cd',
  'echo',
  'printf',
  'cat',
  'head',
  'tail',
  'ls',
  'pwd',
  'grep',
  'rg',
  'sed',
  'awk',
  'sort',
  'uniq',
  'wc',
  'find',
  'true',
  'false',
  'test',
  '[',
  'sleep',
  'read',
  'tee',
  'nl',
  'which',
  'command',
  'export',
  'set',
  ':',
  'xargs',
  'cut',
  'tr',
  'diff',
  'jq',
  'tree',
  'stat',
  'file',
  'less',
  'source',
  '.',
]);

/** Verbs of git that look. */
const LOOKING_GIT = new Set([
  'status',
  'diff',
  'log',
  'show',
  'blame',
  'grep',
  'ls-files',
  'ls-tree',
  'rev-parse',
  'rev-list',
  'remote',
  'describe',
  'merge-base',
  'cat-file',
  'reflog',
]);

function isLooking({ words }: SimpleCommand): boolean {
  const [program = ''] = words;
  if (program !== 'git') return LOOKING.has(program);
  const verb = words
    .slice(1)
    .find((word, at) => !word.startsWith('-') && words[at] !== '-C' && words[at] !== '-c');
  return LOOKING_GIT.has(verb ?? 'status');
}

/** Whether a command does something, rather than look at files or filter text. */
export function isWork(simple: readonly SimpleCommand[]): boolean {
  return !simple.every(isLooking);
}

/** What stays the same when a command is run again with other options or another filter behind it. */
export function signatureOf(command: string, simple: readonly SimpleCommand[]): string {
  const work = simple.filter((one) => !isLooking(one));
  if (work.length === 0) return clip(oneLine(command), 120);
  return work
    .slice(0, 2)
    .map(({ words }) =>
      words
        .filter((word) => !word.startsWith('-'))
        .slice(0, 4)
        .join(' '),
    )
    .join(' && ')
    .slice(0, 160);
}

/** Program and verb of a signature: what two runs have in common that differ in their operands. */
function programOf(signature: string): string {
  return signature.split(' ', 2).join(' ');
}

/** Programs whose first word names the task, that name it with their second, and that run another program. */
const RUNNERS =
  /^(?:pytest|tox|jest|vitest|mocha|ava|tsc|eslint|oxlint|ruff|mypy|pyright|flake8|pylint|black|prettier|rubocop|rspec|phpunit|ctest|golangci-lint|shellcheck|rustc|gcc|clang)$/;
const VERB_RUNNERS =
  /^(?:go (?:test|build|vet)|cargo (?:test|build|check|clippy|nextest|fmt)|(?:npm|pnpm|yarn|bun) (?:test|t|build|lint|check|typecheck|tsc)|node --test|dotnet (?:test|build)|swift (?:test|build)|mix (?:test|compile)|deno (?:test|check|lint)|python3? (?:-m )?(?:pytest|unittest|mypy|ruff)|(?:mvn|gradle|\.\/gradlew|\.\/mvnw|make|just|mise run|task|bazel|ninja) (?:test|build|check|lint|verify|compile)\S*)$/;
/** What runs a program or a task that follows. */
export const LAUNCHERS =
  /^(?:(?:npm|pnpm|yarn|bun|deno) (?:run|exec|dlx|x)|npx|pnpx|bunx|uvx|(?:uv|poetry|pdm|pipenv|hatch|rye) run|bundle exec|mise (?:run|exec)|dotnet run|python3? -m) /;

/** Whether a command begins with a program that tests, builds or lints. */
export function isRunner(command: string): boolean {
  const [program = '', verb = ''] = command.split(' ', 2);
  return RUNNERS.test(program) || VERB_RUNNERS.test(`${program} ${verb}`);
}

/**
 * The kind of test, build or lint run that a command is, or undefined where it is none: another run of the same kind with
 * other operands is evidence that what kept it from running is mended. A `mkdir` or `git add` that went well elsewhere is none.
 */
export function runnerOf(command: string): string | undefined {
  const launcher = LAUNCHERS.exec(command)?.[0] ?? '';
  const [program = '', verb = ''] = command.slice(launcher.length).split(' ', 2);
  if (launcher !== '') return program === '' || program.startsWith('-') ? undefined : `${launcher}${program}`;
  if (RUNNERS.test(program)) return program;
  return VERB_RUNNERS.test(`${program} ${verb}`) ? `${program} ${verb}` : undefined;
}

/** What two runs have in common that differ in their operands: the kind of runner, otherwise program and verb. */
function kindOf(signature: string): string {
  return runnerOf(signature) ?? programOf(signature);
}

/** Programs that are told as they went: whether they ran well since says nothing of what failed. */
const DEEDS =
  /^(?:mkdir|rmdir|rm|cp|mv|ln|chmod|chown|touch|kill|pkill|git|gh|glab|curl|wget|ssh|scp|apt|apt-get|brew|docker|kubectl|tmux|ps|cd|ls|open)(?: |$)/;

/** Whether a command does one thing once, so that nobody runs it again to see it pass. */
export function isDeed(command: string): boolean {
  return DEEDS.test(command);
}

/** The parts of a command that do something, as one line: without `cd`, output filters and redirections. */
export function workOf(command: string, simple: readonly SimpleCommand[]): string {
  const work = simple.filter((one) => !isLooking(one));
  const text = work.length === 0 ? command : work.map(({ words }) => words.map(shown).join(' ')).join(' && ');
  return clip(oneLine(text), COMMAND_LENGTH);
}

function shown(word: string): string {
  const text = clip(oneLine(word), 100);
  return /[\s"'$&|;<>()]/.test(text) || text === '' ? JSON.stringify(text) : text;
}

interface OpenFailure extends Failure {
  /** Compared with that of every run that ends well. */
  readonly kind: string;
  outcome: Failure['outcome'];
  isProgramWell: boolean;
  times: number;
  telling: readonly string[];
  position: number;
  editedBetween: readonly string[];
}

/** One finished command. */
export interface FinishedRun {
  readonly signature: string;
  readonly command: string;
  readonly exitCode: number | undefined;
  readonly failed: boolean;
  readonly telling: readonly string[];
}

/** Collects runs; memory is bounded by the limits above. */
export class RunLedger {
  #runs: CommandRun[] = [];
  #failures = new Map<string, OpenFailure>();
  /** Paths edited since a failure, for the failures that are open. */
  #edited: { path: string; position: number }[] = [];

  add(run: FinishedRun, { turn, position }: Moment): void {
    const { signature, exitCode, failed } = run;
    const telling = run.telling.map(detached);
    const command = detached(run.command);
    const kept = { turn, position, command, exitCode, failed, telling };
    this.#runs.push(kept);
    if (this.#runs.length > MAX_RUNS) this.#runs.shift();
    if (failed) this.#fail(signature, kept);
    else this.#pass(signature);
  }

  noteEdit(path: string, moment: Moment): void {
    this.#edited.push({ path, position: moment.position });
    if (this.#edited.length > MAX_RUNS) this.#edited.shift();
  }

  runs(): CommandRun[] {
    return [...this.#runs];
  }

  /** Failures in the order of their last occurrence. */
  failures(): Failure[] {
    return [...this.#failures.values()].map(({ kind: _, ...failure }) => failure);
  }

  #fail(signature: string, { turn, position, command, telling }: CommandRun): void {
    const before = this.#failures.get(signature);
    this.#failures.delete(signature);
    this.#failures.set(signature, {
      kind: kindOf(signature),
      turn,
      position,
      command,
      telling: telling.length === 0 ? (before?.telling ?? []) : telling,
      times: (before?.times ?? 0) + 1,
      outcome: 'open',
      isProgramWell: false,
      editedBetween: [],
    });
    if (this.#failures.size > MAX_FAILURES) this.#forgetOne();
  }

  /** What failed under a signature, if anything did, ended well. */
  #pass(signature: string): void {
    const kind = kindOf(signature);
    for (const failure of this.#failures.values()) {
      if (failure.kind === kind) failure.isProgramWell = true;
    }
    const failure = this.#failures.get(signature);
    if (failure === undefined || failure.outcome === 'passed') return;
    failure.outcome = 'passed';
    const edited = this.#edited.filter(({ position }) => position > failure.position).map(({ path }) => path);
    failure.editedBetween = [...new Set(edited)].slice(-MAX_EDITED_BETWEEN);
  }

  /** Forgets what failed under a signature: nothing of it is left once it went through. */
  forget(signature: string): void {
    this.#failures.delete(signature);
  }

  /** The oldest failure that ended well goes first, then the oldest at all. */
  #forgetOne(): void {
    for (const [signature, { outcome }] of this.#failures) {
      if (outcome === 'passed') {
        this.#failures.delete(signature);
        return;
      }
    }
    for (const signature of this.#failures.keys()) {
      this.#failures.delete(signature);
      return;
    }
  }
}
