// Which names a text of code defines, by the keywords of the common languages.

/** How a line of the common languages introduces a name. */
export const DEFINITION =
  /^(?: {0,8}\d{1,6}(?:→|\t))?[ \t+]{0,24}(?:(?:export|default|pub(?:\(\w{1,12}\))?|public|private|protected|static|async|abstract|declare|final) ){0,4}(function\*?|func|fn|def|class|interface|type|struct|enum|trait|impl|const|let|var|module|namespace) (?:\([^)\n]{0,60}\) ?)?([A-Za-z_]\w{2,80})/gm;

/** Keywords for names that other code may use: a variable often shares its name with many others. */
export const LASTING_KIND = /^(?:function\*?|func|fn|def|class|interface|type|struct|enum|trait)$/;

/** The names that texts define, in order. */
export function definedIn(texts: readonly string[]): string[] {
  return texts.flatMap((text) => [...text.matchAll(DEFINITION)].flatMap(([, , name]) => name ?? []));
}

/** Where a text first defines each of its names. */
export function definitionsIn(text: string): ReadonlyMap<string, number> {
  const places = new Map<string, number>();
  for (const { 0: match, 2: name = '', index } of text.matchAll(DEFINITION)) {
    if (!places.has(name)) places.set(name, index + match.length - name.length);
  }
  return places;
}
