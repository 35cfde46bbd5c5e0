// Numbers and times as the screen says them. Pure.

/** Tokens in short: `812`, `9.4k`, `152k`, `1.2M`. A minus stays. */
export function shortTokens(tokens: number): string {
  const size = Math.abs(tokens);
  const sign = tokens < 0 ? '-' : '';
  if (size < 1_000) return `${sign}${size}`;
  if (size < 9_950) return `${sign}${(size / 1_000).toFixed(1).replace(/\.0$/, '')}k`;
  if (size < 999_500) return `${sign}${Math.round(size / 1_000)}k`;
  return `${sign}${(size / 1_000_000).toFixed(1).replace(/\.0$/, '')}M`;
}

/** `0.4s`, `12s`, `3m 20s`, `1h 5m`. */
export function shortDuration(ms: number): string {
  const seconds = ms / 1000;
  if (seconds < 9.95) return `${seconds.toFixed(1)}s`;
  return wholeSeconds(ms);
}

/** `4s`, `3m 20s`, `1h 5m`: for a clock that runs. */
export function wholeSeconds(ms: number): string {
  const whole = Math.round(ms / 1000);
  if (whole < 60) return `${whole}s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes}m ${whole % 60}s`;
  return `${Math.floor(minutes / 60)}h ${minutes % 60}m`;
}

/** `$0.42`, `<$0.01`. */
export function shortDollars(dollars: number): string {
  return dollars > 0 && dollars < 0.01 ? '<$0.01' : `$${dollars.toFixed(2)}`;
}

/** A path from the user's home on. */
export function fromHome(path: string, homeDirectory: string): string {
  if (path === homeDirectory) return '~';
  return path.startsWith(`${homeDirectory}/`) ? `~${path.slice(homeDirectory.length)}` : path;
}
