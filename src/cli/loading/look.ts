// How the surroundings want text to look. Pure.

/** The environment of the process. */
type Environment = Readonly<Record<string, string | undefined>>;

/** `--color always|never|auto`, then NO_COLOR, then whether standard output is a terminal. @source no-color.org */
export function wantsColor(args: readonly string[], env: Environment, isTerminal: boolean): boolean {
  const flag = args.findLastIndex((arg) => arg === '--color' || arg.startsWith('--color='));
  const value = flag === -1 ? 'auto' : (args[flag]?.split('=')[1] ?? args[flag + 1]);
  if (value === 'always') return true;
  if (value === 'never' || (env['NO_COLOR'] ?? '') !== '') return false;
  return isTerminal && env['TERM'] !== 'dumb';
}

/** Decided by the locale, in the POSIX order of its variables; an unset locale counts as UTF-8. */
export function wantsUnicode(env: Environment): boolean {
  const { LC_ALL, LC_CTYPE, LANG, TERM } = env;
  const locale = [LC_ALL, LC_CTYPE, LANG].find((value) => value !== undefined && value !== '');
  if (TERM === 'dumb' || locale === 'C' || locale === 'POSIX') return false;
  return locale === undefined || /utf-?8/i.test(locale);
}
