// Seeded chance: the same seed gives the same cuts, draws and intervals on every machine.

/** Numbers in [0, 1), one per call. */
export type Chance = () => number;

/**
 * A generator with 32 bits of state (mulberry32): enough for draws, not for secrets.
 * @param parts the seed, and whatever distinguishes this use of it from others
 */
export function chanceFrom(...parts: readonly (string | number)[]): Chance {
  let state = fnv(parts.join('\u0000'));
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function fnv(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return hash;
}

/** Yields 0 to `length` − 1 in random order, each once; stopping early costs only what was drawn. */
export function* shuffled(length: number, chance: Chance): Generator<number> {
  const moved = new Map<number, number>();
  for (let left = length; left > 0; left--) {
    const at = Math.floor(chance() * left);
    const last = left - 1;
    yield moved.get(at) ?? at;
    moved.set(at, moved.get(last) ?? last);
    moved.delete(last);
  }
}
