// Texts of others between tags that only Baton may write, so that a reader can tell where such a text ends.

/**
 * The tags that carry authority: what stands in them counts as said by the harness, or ends what does not. With spaces and
 * slashes as a lenient reader would take them.
 */
const FORGED =
  /<(?=[\s/]{0,8}(?:INSTRUCTIONS|file|environment_context|environments|user_instructions|hook_context|user-prompt-submit-hook|user_shell_command|permissions|system-reminder|turn_aborted|cwd|current_date|platform|shell|sandbox_mode|approval_policy|plan_mode|note)(?![\w-]))/gi;

/** A text in which no tag of authority opens or closes: its `<` is written `&lt;`. Other tags stay. The same again, given the same. */
export function withoutTags(text: string): string {
  return text.replace(FORGED, '&lt;');
}

/** A text on one line between tags, or in an attribute: no tags, quotes and line breaks. */
export function oneLineWithoutTags(text: string): string {
  return withoutTags(text.replace(/[\p{Cc}\u2028\u2029]/gu, ' ').replaceAll('"', '&quot;'));
}
