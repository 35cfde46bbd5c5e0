// The file that a converter, a renderer or a downloader creates: it is not an edit and has no known author.

/** The output options of programs, each from the program's own manual. */
const BY_OPTION: ReadonlyMap<string, RegExp> = new Map([
  ['sips', /^(?:-o|--out)$/],
  ['pandoc', /^(?:-o|--output)$/],
  ['rsvg-convert', /^(?:-o|--output)$/],
  ['inkscape', /^(?:-o|--export-filename)$/],
  ['dot', /^-o$/],
  ['mmdc', /^(?:-o|--output)$/],
  ['cwebp', /^-o$/],
  ['svgo', /^(?:-o|--output)$/],
  ['xmllint', /^(?:-o|--output)$/],
  ['curl', /^(?:-o|--output)$/],
  ['wget', /^(?:-O|--output-document)$/],
]);

/** Programs that write to their last operand. */
const BY_PLACE = new Set(['convert', 'magick', 'ffmpeg', 'wkhtmltopdf', 'd2', 'dwebp', 'gif2webp']);

/** The path of the file that a command creates, as written; undefined if it creates none, or its words do not show it. */
export function madeFile([program = '', ...rest]: readonly string[]): string | undefined {
  const option = BY_OPTION.get(program);
  const path =
    option === undefined
      ? BY_PLACE.has(program) && rest.length > 1
        ? rest.at(-1)
        : undefined
      : valueOf(option, rest);
  return path !== undefined && FILE.test(path) && !path.includes('://') ? path : undefined;
}

/** A name with an extension: `-` and `png:-` are not files, and the names inside an output directory are unknown. */
const FILE = /^[^-].*\.[A-Za-z]\w{0,8}$/;

/** The value of an option, in the next word or in its own. */
function valueOf(option: RegExp, words: readonly string[]): string | undefined {
  for (const [at, word] of words.entries()) {
    if (option.test(word)) return words[at + 1];
    const equals = word.indexOf('=');
    if (equals > 0 && option.test(word.slice(0, equals))) return word.slice(equals + 1);
  }
  return undefined;
}
