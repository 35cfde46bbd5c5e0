// Finding one sequence of numbers in another in linear time, whatever they repeat: lines as ids, texts as code units.

/**
 * Tells, for each position of a text where a start of a pattern ends, where it began and how long it is: the longest such start.
 * The whole pattern is found where `length` is its own. @source Knuth, Morris, Pratt 1977
 */
export function followStarts(
  text: ArrayLike<number>,
  pattern: ArrayLike<number>,
  tell: (place: number, length: number) => void,
  from = 0,
): void {
  const fallback = fallbackOf(pattern);
  let length = 0;
  for (let at = from; at < text.length; at++) {
    while (length > 0 && (length === pattern.length || pattern[length] !== text[at]))
      length = fallback[length] ?? 0;
    if (pattern[length] === text[at]) length++;
    if (length > 0) tell(at - length + 1, length);
  }
}

/** For each length of a start of a pattern the length of the longest shorter start that it ends with. */
function fallbackOf(pattern: ArrayLike<number>): Int32Array {
  const fallback = new Int32Array(pattern.length + 1);
  let length = 0;
  for (let at = 1; at < pattern.length; at++) {
    while (length > 0 && pattern[length] !== pattern[at]) length = fallback[length] ?? 0;
    if (pattern[length] === pattern[at]) length++;
    fallback[at + 1] = length;
  }
  return fallback;
}

/**
 * Up to this length a text is looked for by `indexOf`, which takes time by the product of both where they repeat themselves.
 * @source measured with Node 20: 10 MB of one letter take 0.1 s for a text of this length, and 90 s for one of 100,000
 */
const LONGEST_BY_INDEX = 64;

/** The places of a text in another one that do not overlap, from the start. */
export function placesOf(text: string, wanted: string): readonly number[] {
  const places: number[] = [];
  if (wanted.length <= LONGEST_BY_INDEX) {
    for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length))
      places.push(at);
    return places;
  }
  let end = 0;
  followStarts(unitsOf(text), unitsOf(wanted), (place, length) => {
    if (length < wanted.length || place < end) return;
    places.push(place);
    end = place + length;
  });
  return places;
}

function unitsOf(text: string): Uint16Array {
  return Uint16Array.from({ length: text.length }, (_, at) => text.charCodeAt(at));
}
