// Which sentences ask something.

/** Whether a sentence asks: it ends with a question mark that stands in no quotation and in no code. */
export function isQuestion(sentence: string): boolean {
  if (!/[?？]["”)*]*$/.test(sentence)) return false;
  const open = sentence
    .replaceAll(/`[^`]*`/g, '')
    .replaceAll(/"[^"]*"|“[^”]*”|「[^」]*」/g, '')
    .trimEnd();
  return /[?？][)*]*$/.test(open) && !/(?:^|[\s(])["“]\S[^"”]*$|`/.test(open);
}
