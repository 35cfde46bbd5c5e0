// Numbers in readable form.

/** `12,345`, for whole numbers. `Intl` returns the same but takes longer to load than a small session takes to read. */
export function formatNumber(value: number): string {
  return String(value).replaceAll(/\B(?=(?:\d{3}){1,7}$)/g, ',');
}

/** `1 call`, `1,200 calls`. */
export function plural(count: number, noun: string): string {
  return `${formatNumber(count)} ${noun}${count === 1 ? '' : 's'}`;
}
