// Numbers and times as the screen says them. Pure.

/** `950`, `9.4k`, `152k`, `1.2M`: three digits at most. */
export function shortCount(count: number): string {
  if (count < 1000) return String(count);
  if (count < 9_950) return `${(count / 1000).toFixed(1)}k`;
  if (count < 999_500) return `${Math.round(count / 1000)}k`;
  return `${(count / 1e6).toFixed(1)}M`;
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
