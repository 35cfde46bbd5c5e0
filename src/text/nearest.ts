/** The longest name to compare; a longer one is unlikely to be a misspelling. */
const MAX_LENGTH = 100;

/**
 * The known name that a misspelt one most likely means, or undefined when none is close: at most a third of its last part (two
 * letters in short ones) may differ. Both are dotted paths; the right name in the wrong table is close too. The first of equally
 * close names wins.
 */
export function nearestName(misspelt: string, known: readonly string[]): string | undefined {
  if (misspelt.length > MAX_LENGTH) return undefined;
  const wanted = splitName(misspelt);
  let best: string | undefined;
  let bestDistance = Math.max(2, Math.floor(wanted.leaf.length / 3)) + 1;
  for (const name of known) {
    const { table, leaf } = splitName(name);
    const distance = Math.min(
      editDistance(misspelt, name),
      editDistance(wanted.leaf, leaf) + (wanted.table === table ? 0 : 1),
    );
    if (distance >= bestDistance) continue;
    best = name;
    bestDistance = distance;
  }
  return best;
}

function splitName(name: string): { readonly table: string; readonly leaf: string } {
  const dot = name.lastIndexOf('.');
  return { table: name.slice(0, Math.max(0, dot)), leaf: name.slice(dot + 1) };
}

/** Insertions, deletions and replacements of UTF-16 units that turn one text into the other (Levenshtein). */
export function editDistance(from: string, to: string): number {
  let previous = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const replaced = (previous[column - 1] ?? 0) + (from[row - 1] === to[column - 1] ? 0 : 1);
      const deleted = (previous[column] ?? 0) + 1;
      const inserted = (current[column - 1] ?? 0) + 1;
      current.push(Math.min(replaced, deleted, inserted));
    }
    previous = current;
  }
  return previous[to.length] ?? 0;
}
