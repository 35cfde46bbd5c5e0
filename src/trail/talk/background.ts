// Reports of background agents and commands that have ended: they come from the harness, not as the result of a call.

import { oneLine } from '../../text/sentences.ts';

/** The final report of a background task. */
export interface BackgroundReport {
  /** What ended and how, in the harness's words: `Agent "Review the roof" completed`. */
  readonly summary: string;
  /** Its findings, which may be long; empty if it reported nothing. */
  readonly result: string;
}

const OPENING = '<task-notification>';

/** The report in a text of the harness; undefined for any other text. @source Claude Code session files */
export function backgroundReportOf(text: string): BackgroundReport | undefined {
  if (!text.startsWith(OPENING)) return undefined;
  const summary = oneLine(plainText(partOf(text, 'summary')));
  return summary === '' ? undefined : { summary, result: plainText(partOf(text, 'result')).trim() };
}

/** The content of an element; a long one may have lost its end. */
function partOf(text: string, name: string): string {
  const from = text.indexOf(`<${name}>`);
  if (from < 0) return '';
  const begun = text.slice(from + name.length + 2);
  const end = begun.indexOf(`</${name}>`);
  return end < 0 ? begun : begun.slice(0, end);
}

function plainText(text: string): string {
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&');
}
