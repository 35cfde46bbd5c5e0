// Which commands test, build or lint, and which run only once: what a later run says about a failure depends on it.

/** Programs that name the task in their first word, in their second word, and those that run another program. */
const RUNNERS =
  /^(?:pytest|tox|jest|vitest|mocha|ava|tsc|eslint|oxlint|ruff|mypy|pyright|flake8|pylint|black|prettier|rubocop|rspec|phpunit|ctest|golangci-lint|shellcheck|rustc|gcc|clang)$/;
const VERB_RUNNERS =
  /^(?:go (?:test|build|vet)|cargo (?:test|build|check|clippy|nextest|fmt)|(?:npm|pnpm|yarn|bun) (?:test|t|build|lint|check|typecheck|tsc)|node --test|dotnet (?:test|build)|swift (?:test|build)|mix (?:test|compile)|deno (?:test|check|lint)|python3? (?:-m )?(?:pytest|unittest|mypy|ruff)|(?:mvn|gradle|\.\/gradlew|\.\/mvnw|make|just|mise run|task|bazel|ninja) (?:test|build|check|lint|verify|compile)\S*)$/;
const LAUNCHERS =
  /^(?:(?:npm|pnpm|yarn|bun|deno) (?:run|exec|dlx|x)|npx|pnpx|bunx|uvx|(?:uv|poetry|pdm|pipenv|hatch|rye) run|bundle exec|mise (?:run|exec)|dotnet run|python3? -m) /;
/** Options between a program and the name of what it runs. */
const OPTIONS_BEFORE =
  /^((?:npm|pnpm|yarn|bun|make|cargo|go|mvn|\.\/gradlew|just)) (?:-\S[^\s=]*=\S+ |-{1,2}(?:prefix|filter|workspace|cwd|C|F|w|dir|f) \S+ |-(?!-?(?:prefix|filter|workspace|cwd|w|dir|f) \S+ )[a-z-]+ )+/;
/** Directories of system programs. */
const BIN = /^\/(?:usr\/)?(?:local\/)?bin\//;
const ASSIGNMENTS = /^(?:\w+=(?:"[^"]*"|'[^']*'|[^\s"']|"(?![^"]*")|'(?![^']*'))* )+/;

/** Names of tasks and programs that check something. */
const CHECKS =
  /(?:^|[\s:_./-])(?:tests?|specs?|build|lint\w*|checks?|verify|validate|types?|typecheck|tsc|compile|vet|ci|e2e)(?:[:_./-]|$)/;
/** Commands that only reformat files. */
const FORMATS = /\b(?:fmt|format|prettier|black)\b(?!.*check)/;

/** A command without the variables set for it. */
export function withoutAssignments(command: string): string {
  return command.replace(ASSIGNMENTS, '');
}

function isRunner(command: string): boolean {
  const [program = '', verb = ''] = command.split(' ', 2);
  return RUNNERS.test(program) || VERB_RUNNERS.test(`${program} ${verb}`);
}

/** The commands of a script, as it was run, that test, build or lint. */
export function checksIn(script: string): string[] {
  return splitCommands(script).filter(isCheck);
}

/** Splits a script into commands at its separators, ignoring quoting. */
export function splitCommands(script: string): string[] {
  return script.split(/(?:(?<!\s)\s+)?(?:&&|\|\||[;|\n])\s*/);
}

/** Launchers that only start a program of the project. */
const STARTERS = /^(?:npx|pnpx|bunx|pnpm exec|yarn exec|npm exec --) /;

/** A command without its launcher. */
export function withoutLauncher(command: string): string {
  return command.replace(STARTERS, '');
}

/** Whether a command only reformats files. */
export function isFormatting(command: string): boolean {
  return FORMATS.test(command);
}

/** Commands that install dependencies. */
const INSTALLS =
  /^(?:(?:npm|pnpm|yarn|bun|pip3?|uv|poetry|bundle|cargo|composer|apt|apt-get|brew|go mod|go)(?: pip)? (?:i|ci|install|add|sync|update|tidy|get|download)\b|yarn$|python3? -m pip install\b)/;
/** Commands that rewrite files to satisfy a linter. */
const REWRITES = /^(?:\S+ ){0,3}(?:--(?:fix|write)\b|fmt\b)/;

/** How a command may make another one pass: it installs or builds what that needs, or rewrites files. */
export function mendsBy(command: string): 'installing' | 'making' | undefined {
  const bare = withoutAssignments(command);
  if (INSTALLS.test(bare)) return 'installing';
  return REWRITES.test(bare) || (isCheck(bare) && reachOf(bare) === 'fit') ? 'making' : undefined;
}

/** Whether one command tests, builds or lints. */
export function isCheck(command: string): boolean {
  return taskOf(command) !== undefined;
}

/** What a check runs, without its launcher, and its arguments; undefined for other commands. */
function taskOf(command: string): string | undefined {
  if (FORMATS.test(command)) return undefined;
  let rest = withoutAssignments(command).replace(BIN, '').replace(OPTIONS_BEFORE, '$1 ');
  if (isRunner(rest) || isOwnCheck(rest)) return rest;
  for (let launcher = LAUNCHERS.exec(rest); launcher !== null; launcher = LAUNCHERS.exec(rest)) {
    rest = rest.slice(launcher[0].length);
    if (isRunner(rest) || CHECKS.test(rest.split(' ', 1)[0] ?? '')) return rest;
  }
  return undefined;
}

/** Whether a command runs a project script with the name of a check: `bin/test`, `./run_tests.sh`. */
function isOwnCheck(command: string): boolean {
  const [program = ''] = command.split(' ', 1);
  const at = program.lastIndexOf('/') + 1;
  return at > 0 && CHECKS.test(program.slice(at));
}

/** What a check covers: the format of files, whether they fit together, what they do, or everything. */
type Reach = 'form' | 'fit' | 'behaviour' | 'all';

/** What a successful check of each reach also covers. */
const INCLUDED: Readonly<Record<Reach, readonly Reach[]>> = {
  form: ['form'],
  fit: ['fit'],
  behaviour: ['fit', 'behaviour'],
  all: ['form', 'fit', 'all'],
};

function reachOf(task: string): Reach {
  const name = task.split(' ').slice(0, 2).join(' ');
  if (/\b(?:tests?|specs?|pytest|unittest|e2e|jest|vitest|mocha|rspec|nextest)\b/.test(name))
    return 'behaviour';
  if (/\b(?:lint\w*|eslint|oxlint|ruff|flake8|pylint|clippy|rubocop|prettier|black)\b/.test(name))
    return 'form';
  return /\b(?:checks?|verify|validate|ci|tox)\b/.test(name) ? 'all' : 'fit';
}

/** Whether a successful check covers what another one covered, judging by their words. */
export function includesCheck(well: string, failed: string): boolean {
  const [wide, narrow] = [taskOf(well), taskOf(failed)];
  if (wide === undefined || narrow === undefined) return false;
  const isOfAll = wide
    .split(' ')
    .slice(1)
    .every((word) => /^(?:-.*|\.\/\.\.\.|[a-z]+)$/.test(word));
  return isOfAll && INCLUDED[reachOf(wide)].includes(reachOf(narrow));
}

/** Programs whose runs stand for themselves: a later success says nothing about an earlier failure. */
const ONE_TIME =
  /^(?:mkdir|rmdir|rm|cp|mv|ln|chmod|chown|touch|kill|pkill|git|gh|glab|curl|wget|ssh|scp|apt|apt-get|brew|docker|kubectl|tmux|ps|cd|ls|open)(?: |$)/;

/** Whether a command performs a one-time action, so that nobody runs it again to see it pass. */
export function isOneTime(command: string): boolean {
  return ONE_TIME.test(withoutAssignments(command));
}

/** How programs report that their arguments were wrong, rather than their input. */
const USAGE =
  /\b(?:(?:unknown|unrecogni[sz]ed|unexpected|invalid|illegal|undefined) (?:option|flag|command|subcommand|argument|arguments|switch|choice)s?\b|no such (?:option|command|subcommand)|(?:flag|option) provided but not defined|(?:missing|requires?) (?:an? |the |required )*(?:argument|operand|subcommand)|command not found|unmatched ['"]|parse error near|accepts \d+ arg)|^usage: /i;

/** Whether a run failed because it was misspelled. */
export function isMisspelled(outcomeLines: readonly string[]): boolean {
  return outcomeLines.slice(0, 2).some((line) => USAGE.test(line));
}

/** Program and verb of a command without the variables set for it. */
export function programOf(command: string): string {
  return withoutAssignments(command).split(' ', 2).join(' ');
}

/** A command without its operands: program and verb, or the launcher of a task with the task's name. */
export function actOf(command: string): string {
  const bare = withoutAssignments(command);
  const launcher = LAUNCHERS.exec(bare)?.[0] ?? '';
  return launcher === ''
    ? programOf(bare)
    : `${launcher}${bare.slice(launcher.length).split(' ', 1)[0] ?? ''}`;
}
