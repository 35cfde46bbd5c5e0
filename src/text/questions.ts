// Which sentences ask something.

/** Whether a sentence asks: it ends with a question mark that stands in no quotation and in no code. */
export function isQuestion(sentence: string): boolean {
  if (!/[?？]["”)*]*$/.test(sentence)) return false;
  const open = withoutQuotations(sentence.replaceAll(/`[^`]*`/g, '')).trimEnd();
  return /[?？][)*]*$/.test(open) && !open.includes('`') && !ENDS_IN_QUOTATION.test(open);
}

/** Whether a quotation is open at the end. Read backwards from there, so that no sign is read twice. */
const ENDS_IN_QUOTATION = /$(?<=(?:^|[\s(])["“]\S[^"”]*)/;

const QUOTATION_ENDS: ReadonlyMap<string, string> = new Map(
  Object.entries({ '"': '"', '“': '”', '「': '」' }),
);

/** A text without its quotations. A mark that nothing closes stays, and so do all like it behind it. */
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
