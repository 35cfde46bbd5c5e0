// Lines of failed runs in which words of failure stand, and that do not say why the run failed.

/**
 * What launchers, test runners and linters say around an error: that a task failed, what they ran, which test they begin; what
 * they advise and how to call them; code that they show; what ended well.
 * @source output of npm, bun, mise, go test, git, cargo, biome, TypeScript
 */
const NOISE = [
  /^\[[\w:.-]{1,60}\] (?:\$ |ERROR task failed)/,
  /^error: (?:script "[^"]{1,80}" (?:exited|was terminated)|task failed)/,
  /^(?:\S{1,60} [\w:.-]{1,40}: )?Exited with code \d+$/,
  /^npm (?:error|ERR!)\s*(?:$|Lifecycle script|(?:code|path|workspace|location|command|errno|syscall)\b|A complete log|in workspace)/,
  /^(?:\$|>) \S/,
  /^(?:hint|tip|help|note): /,
  /^\s*(?:Please|You (?:can|may|need)|Try|Run|Use|See) \w/,
  /^\s*=== (?:RUN|PAUSE|CONT|NAME)\b/,
  /^\?\s+\S+\s+\[no test files\]/,
  /^\s+-{1,2}[\w-]+(?:,| {2}| <| \[)/,
  /^\s*(?:> )?\d+(?:\s+\d+)?\s*[|│]/,
  /^\s*× Some errors were emitted/,
  /^E\s+and: '/,
  /\bdone\.?\s*$/,
  /^(?:# \S+(?: \[\S+\])?|To \S+)$/,
];

/** A row of data, indented, as `Branch: not found`; not one that says what was wrong. */
const DATA_ROW = /^\s+(?!error\b|cause|reason|message|expected|actual|got|want)[A-Z][\w -]{0,30}: +\S/i;

/** Whether a row of an output names no cause, whatever words stand in it. */
export function isNoise(row: string, at: number, rows: readonly string[]): boolean {
  if (NOISE.some((pattern) => pattern.test(row))) return true;
  return DATA_ROW.test(row) && [rows[at - 1], rows[at + 1]].some((other) => DATA_ROW.test(other ?? ''));
}
