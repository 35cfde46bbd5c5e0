// Edits by a program that a shell script passes to an interpreter: `python - <<EOF … write_text(…)`.

/** A file that a program writes, with the program's rows that determine its content. */
export interface ScriptEdit {
  readonly path: string;
  readonly how: string;
}

/** A file in a program: a string, or a variable. */
const NAMED = String.raw`(?:(['"\x60])([^'"\x60\n]{1,200})\1|([A-Za-z_]\w{0,60}))`;

/** How programs write: `open(f, 'w')`, `Path(f).write_text(…)`, `fs.writeFileSync(f, …)`, `File.write(f, …)`. */
const WRITES = [
  String.raw`\bopen\(\s*${NAMED}\s*,\s*(?:mode\s*=\s*)?['"][wa+r]*[wa+]`,
  String.raw`(?:\bPath\(\s*)?${NAMED}\s*\)*\.write_(?:text|bytes)\(`,
  String.raw`\bwriteFile(?:Sync)?\(\s*${NAMED}`,
  String.raw`\bFile\.write\(\s*${NAMED}`,
].map((source) => new RegExp(source, 'g'));

/** Most places of one kind that are examined in a program: each may require a variable lookup. */
const MAX_WRITES = 20;

const MAY_WRITE = /write|open\(/;

/** Rows of a program that only open, read, write and report. */
const PLUMBING =
  /^\s*(?!\s)(?:$|#|\/\/|import\b|from \S+ import|(?:const|let|var) .*require\(|with open\(|print\(|console\.|assert\b|\w+ ?= ?(?:\w+\.)?(?:read|readFile\w*|read_text|open)\(|(?:const |let )?\w+ ?= ?.{0,60}\.?(?:read_text|read|readFileSync)\(.*\)\s*;?$|.*write(?:_text|File\w*)?\(\w+(?:, ?\w+)?(?:, ?(?:encoding ?= ?)?['"][\w-]+['"])?\)\s*;?$|(?:const |let )?\w+ ?= ?(?:(?:\w+\.)?Path\()?['"][^'"]*['"]\)?;?\s*$)/;

/** A string in a row of a program. */
const HOLDS_TEXT = /"""|'''|(['"\x60])[^'"\x60\w]*\w[^'"\x60]*\1/;
/** Begins or ends a string of several rows. */
const TEXT_MARK = /'''|"""|\x60/g;

/**
 * The rows of a program that determine a file's content: those with strings if there are any, without the code that writes
 * them.
 */
function contentRows(rows: readonly string[]): readonly string[] {
  const content = rows.filter((row) => !PLUMBING.test(row));
  let isInText = false;
  const texts = rows.filter((row) => {
    const wasInText = isInText;
    if ((row.match(TEXT_MARK) ?? []).length % 2 === 1) isInText = !isInText;
    return wasInText || (HOLDS_TEXT.test(row) && !PLUMBING.test(row));
  });
  return texts.length > 0 ? texts : content;
}

/** The files that a program writes under a known name. */
export function scriptEdits(program: string): ScriptEdit[] {
  if (!MAY_WRITE.test(program)) return [];
  const paths = new Set<string>();
  for (const write of WRITES) {
    for (const [, , literal, variable] of [...program.matchAll(write)].slice(0, MAX_WRITES)) {
      const path = literal ?? (variable === undefined ? undefined : valueOf(variable, program));
      if (path !== undefined) paths.add(path);
    }
  }
  const rows = program.split('\n');
  const telling = contentRows(rows);
  const how = (telling.length > 0 ? telling : rows).join('\n');
  return [...paths].map((path) => ({ path, how }));
}

/** The path assigned to a variable in a program. */
function valueOf(variable: string, program: string): string | undefined {
  for (const [, name, , path] of program.matchAll(GIVEN)) if (name === variable) return path;
  return undefined;
}

/** A variable that is assigned a path. */
const GIVEN = /\b([A-Za-z_]\w{0,60})\s*=\s*(?:[\w.]*Path\(\s*)?(['"\x60])([^'"\x60\n]{1,200})\2/g;
