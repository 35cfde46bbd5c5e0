// Answers of a summarizer, good and bad, for every test in which a model is asked for one.

import { SUMMARY_SECTIONS } from '../../src/vocabulary.ts';

const SENTENCE = 'The lamp was lit at dusk as the keeper asked, and the horn was sounded twice in the fog.';

/** A summary with all nine sections and an analysis before it, by default of about 250 tokens. */
export function goodSummary(sentence = SENTENCE): string {
  const sections = SUMMARY_SECTIONS.map((section, index) => `${index + 1}. ${section}:\n   ${sentence}`);
  return `<analysis>\nI looked at the log of the lighthouse.\n</analysis>\n\n<summary>\n${sections.join('\n\n')}\n</summary>`;
}

/** By which a good summary is found again. */
export const SUMMARY_MARK = 'the horn was sounded twice in the fog';
