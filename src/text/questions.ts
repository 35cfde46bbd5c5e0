// Which sentences are questions.

/** Whether a sentence is a question: it ends with a question mark outside quotations and code. */
export function isQuestion(sentence: string): boolean {
  if (!/[?？]["”)*]*$/.test(sentence)) return false;
  const open = withoutQuotations(sentence.replaceAll(/`[^`]*`/g, '')).trimEnd();
  return /[?？][)*]*$/.test(open) && !open.includes('`') && !ENDS_IN_QUOTATION.test(open);
}

/** Whether a quotation is open at the end. Matches backwards from there, so that no character is read twice. */
const ENDS_IN_QUOTATION = /$(?<=(?:^|[\s(])["“]\S[^"”]*)/;

const QUOTATION_ENDS: ReadonlyMap<string, string> = new Map(
  Object.entries({ '"': '"', '“': '”', '「': '」' }),
);

/** A text without its quotations. An unmatched opening mark stays, and so do all later ones of its kind. */
function withoutQuotations(text: string): string {
  const unclosed = new Set<string>();
  let rest = '';
  let from = 0;
  for (const { 0: mark, index } of text.matchAll(/["“「]/g)) {
    if (index < from || unclosed.has(mark)) continue;
    const end = text.indexOf(QUOTATION_ENDS.get(mark) ?? mark, index + 1);
    if (end < 0) {
      unclosed.add(mark);
      continue;
    }
    rest += text.slice(from, index);
    from = end + 1;
  }
  return rest + text.slice(from);
}
