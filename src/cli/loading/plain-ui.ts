// Which command lines certainly open the terminal UI, so that it may appear before they are read. Pure.

/** Options with a value, and what it looks like. */
const VALUES: ReadonlyMap<string, RegExp> = new Map([
  ['--resume', /^[^-]/],
  ['--model', /^[^-]/],
  ['--speed', /^\d+(?:\.\d+)?$/],
]);

/** Whether a command line opens the terminal UI in this directory, without a first message and without another option. */
export function isPlainUi(args: readonly string[]): boolean {
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? '';
    if (arg === '--last') continue;
    if (VALUES.get(arg)?.test(args[++at] ?? '') !== true) return false;
  }
  return true;
}
