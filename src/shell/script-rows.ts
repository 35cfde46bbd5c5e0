// Shell scripts line by line, without a grammar: what is command, and what is input.

/** A script split into its commands and their input: heredocs and quoted texts of several lines. */
export interface ScriptRows {
  readonly commands: string;
  readonly texts: string;
}

const HEREDOC = /<<-?[ \t]*(?:(['"])([^'"\n]{1,60})\1|\\?([A-Za-z_]\w{0,59}))/;

const NO_ROWS: ReadonlyMap<string, number> = new Map();

/** Splits a script line by line, without parsing: linear, and adequate for nonsense, too. */
export function scriptRows(script: string): ScriptRows {
  const rows = script.split('\n');
  // Indexed first, so that marks without an end do not make it quadratic.
  const last = script.includes('<<') ? new Map(rows.map((row, at) => [row.trim(), at])) : NO_ROWS;
  const commands: string[] = [];
  const texts: string[] = [];
  let quote = '';
  for (let at = 0; at < rows.length; at++) {
    const row = rows[at] ?? '';
    const wasQuoted = quote !== '';
    const read = readQuotes(row, quote);
    quote = read.quote;
    const rest = wasQuoted ? row.slice(read.closedAt) : row;
    if (wasQuoted) texts.push(row.slice(0, read.closedAt));
    const isContinued = commands.at(-1)?.endsWith('\\') === true;
    if (/\w|\\$/.test(rest)) commands.push(isContinued ? rest.trimStart() : rest);
    const heredoc = quote === "'" ? null : HEREDOC.exec(rest);
    const mark = heredoc?.[2] ?? heredoc?.[3];
    if (mark === undefined || (last.get(mark) ?? -1) <= at) continue;
    let end = at + 1;
    while (rows[end]?.trim() !== mark) end++;
    texts.push(...rows.slice(at + 1, end));
    at = end;
  }
  return { commands: joinContinued(commands), texts: texts.join('\n') };
}

/** Joins each row that ends with a backslash to the next one. */
function joinContinued(rows: readonly string[]): string {
  return rows
    .map((row) => (row.endsWith('\\') ? `${row.slice(0, -1).trimEnd()} ` : `${row.trimEnd()}\n`))
    .join('')
    .trimEnd();
}

/** The quotation open at the end of a row, and where the one that was open at its start closed. */
function readQuotes(row: string, open: string): { readonly quote: string; readonly closedAt: number } {
  let quote = open;
  let closedAt = open === '' ? 0 : row.length;
  let isFirst = open !== '';
  for (let at = 0; at < row.length; at++) {
    const char = row.charAt(at);
    if (char === '\\' && quote !== "'") at++;
    else if (quote === '' && char === '#' && /(?:^|\s)$/.test(row.charAt(at - 1))) break;
    else if (quote === '' && (char === '"' || char === "'")) quote = char;
    else if (quote !== '' && char === quote) {
      if (isFirst) closedAt = at + 1;
      isFirst = false;
      quote = '';
    }
  }
  return { quote, closedAt };
}
