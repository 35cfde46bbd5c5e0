// Lines of failed runs that contain failure words but do not name the cause.

/**
 * What launchers, test runners and linters print around an error: that a task failed, what they ran, which test they start;
 * advice and usage; code excerpts; successes.
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

/** An indented data row such as `Branch: not found`, but not one that names a problem. */
const DATA_ROW = /^\s+(?!error\b|cause|reason|message|expected|actual|got|want)[A-Z][\w -]{0,30}: +\S/i;

/** Whether a row of an output does not name a cause, whatever its words. */
export function isNoise(row: string, at: number, rows: readonly string[]): boolean {
  if (NOISE.some((pattern) => pattern.test(row))) return true;
  return DATA_ROW.test(row) && [rows[at - 1], rows[at + 1]].some((other) => DATA_ROW.test(other ?? ''));
}
