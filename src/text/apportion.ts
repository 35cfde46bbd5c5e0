// Dividing a whole number among parts, so that the shares add up. Pure.

/**
 * Expresses parts of `whole` as whole numbers of `of`: percentages, columns of a bar. Each is rounded down, and what is then
 * missing to `sum` goes to the largest fractions.
 * @param sum what all shares add up to, a whole number: `of`, unless the parts are less than the whole
 * @returns zeros if there is no whole
 */
export function apportion(
  parts: readonly number[],
  { whole, of, sum = of }: { readonly whole: number; readonly of: number; readonly sum?: number },
): readonly number[] {
  if (whole <= 0) return parts.map(() => 0);
  const exact = parts.map((part) => (of * part) / whole);
  const shares = exact.map(Math.floor);
  const missing = sum - shares.reduce((total, each) => total + each, 0);
  const byRemainder = exact
    .map((each, index) => ({ index, remainder: each - Math.floor(each) }))
    .toSorted((a, b) => b.remainder - a.remainder || a.index - b.index);
  for (const { index } of byRemainder.slice(0, Math.max(0, missing)))
    shares[index] = (shares[index] ?? 0) + 1;
  return shares;
}
