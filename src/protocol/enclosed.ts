// Foreign text between tags that only Baton may write, so that a reader can tell where the text ends.

/**
 * The tags that carry authority: they mark text as coming from the harness, or end text that does not. Includes spaces
 * and slashes as a lenient reader would accept them.
 */
const FORGED =
  /<(?=[\s/]{0,8}(?:INSTRUCTIONS|file|environment_context|environments|user_instructions|hook_context|user-prompt-submit-hook|user_shell_command|permissions|system-reminder|turn_aborted|cwd|current_date|platform|shell|sandbox_mode|approval_policy|plan_mode|note)(?![\w-]))/gi;

/** A text in which no authority tag opens or closes: its `<` becomes `&lt;`. Other tags stay. Idempotent. */
export function withoutTags(text: string): string {
  return text.replace(FORGED, '&lt;');
}

/** A text for one line between tags, or for an attribute: without tags, quotes and line breaks. */
export function oneLineWithoutTags(text: string): string {
  return withoutTags(text.replace(/[\p{Cc}\u2028\u2029]/gu, ' ').replaceAll('"', '&quot;'));
}
