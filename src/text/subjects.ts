// The subject of a text, by its words.

/** Words of at least four letters, except those too common to indicate a subject. */
const WORD = /\p{L}[\p{L}\p{N}_]{3,}/gu;
const SIGN = /\p{Lo}/gu;
const COMMON = new Set(
  'that this with from have been were will would should could there their they them then than what when where which while only also just into over more most some such does done dont doesnt didnt isnt cant wont about after before again because each every other these those your youre yours right correct good catch think actually really make sure like want need very here still same both even well thats'.split(
    ' ',
  ),
);

/** Characters after which the forms of a word may differ. */
const STEM_LENGTH = 6;

/** The words that indicate a text's subject, each cut to its stem; for writing systems without spaces, its characters. */
export function wordsOf(text: string): ReadonlySet<string> {
  const plain = text.toLowerCase().replaceAll(/['’]/g, '');
  const words = (plain.match(WORD) ?? []).filter((word) => !COMMON.has(word));
  const signs = plain.match(/\p{Lo}{2,}/gu) === null ? [] : (plain.match(SIGN) ?? []);
  return new Set([...words.map((word) => word.replace(/s$/, '').slice(0, STEM_LENGTH)), ...signs]);
}
