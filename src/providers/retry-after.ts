// Parses how long a provider asks clients to wait.

/** The part of `Headers` that is used here, for code without platform types. */
export interface HeaderReader {
  get(name: string): string | null;
}

/** @source OpenAI: "Please try again in 1.2s.", "in 350ms", "in 6m0s" */
const WORDING = /try again in (?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?/i;

/**
 * Milliseconds to wait, never negative; undefined without usable information. `retry-after-ms` takes precedence over
 * `Retry-After` (seconds or a date), and that over the text of the message.
 * @param now milliseconds since the epoch, for dates
 */
export function retryAfterMs(
  headers: HeaderReader | undefined,
  message: string,
  now: number,
): number | undefined {
  return (
    millisecondsOf(headers?.get('retry-after-ms')) ??
    secondsOrDate(headers?.get('retry-after'), now) ??
    inWords(message)
  );
}

function millisecondsOf(text: string | null | undefined): number | undefined {
  return text !== null && text !== undefined && /^\d+(?:\.\d+)?$/.test(text.trim())
    ? Math.ceil(Number(text))
    : undefined;
}

function secondsOrDate(text: string | null | undefined, now: number): number | undefined {
  if (text === null || text === undefined) return undefined;
  const seconds =
    millisecondsOf(text === '' ? undefined : text.trim()) === undefined ? undefined : Number(text);
  if (seconds !== undefined) return Math.ceil(seconds * 1000);
  // The date parser accepts many other texts; HTTP dates name their month.
  const date = /[a-z]{3}/i.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

function inWords(message: string): number | undefined {
  const match = WORDING.exec(message);
  if (match === null) return undefined;
  const [, hours, minutes, seconds, milliseconds] = match;
  if (hours === undefined && minutes === undefined && seconds === undefined && milliseconds === undefined) {
    return undefined;
  }
  const total =
    Number(hours ?? 0) * 3_600_000 +
    Number(minutes ?? 0) * 60_000 +
    Number(seconds ?? 0) * 1000 +
    Number(milliseconds ?? 0);
  return Math.ceil(total);
}
