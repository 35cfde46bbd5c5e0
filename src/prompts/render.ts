// Puts values into prompts.

import type { PromptName } from './shipped.ts';

/** The placeholder of auto-compact.md that the recent activity takes the place of. @source rawr-behaviour §5 */
export const SNIPPET_PLACEHOLDER = '{{RAWR_VERBATIM_CONTINUATION_SNIPPET}}';

/** The placeholders of each prompt, both spellings where the fork had both. @source rawr-behaviour §5, spec 3-watcher §3 */
export const PLACEHOLDERS: Readonly<Record<PromptName, readonly string[]>> = {
  'heads-up.md': ['{percentRemaining}', '{tier}', '{boundaries}', '{threadId}'],
  'scratch-write.md': ['{scratchFile}', '{scratch_file}', '{threadId}'],
  'auto-compact.md': ['{scratchFile}', '{scratch_file}', '{threadId}', SNIPPET_PLACEHOLDER],
  'compact-system.md': [],
  'compact.md': ['{maxWords}'],
  'handoff.md': ['{packet}', '{scratchFile}', '{scratch_file}', '{threadId}'],
  'watcher-packet.md': [
    '{triggerPercentRemaining}',
    '{trigger_percent_remaining}',
    '{boundarySignals}',
    '{boundary_signals}',
    '{lastAgentMessage}',
    '{last_agent_message}',
  ],
  'judgment.md': [],
  'system.md': [],
  'judgment-context.md': [
    '{tier}',
    '{percentRemaining}',
    '{boundariesJson}',
    '{threadId}',
    '{turnId}',
    '{totalUsageTokens}',
    '{modelContextWindow}',
    '{lastAgentMessage}',
    '{transcriptExcerpt}',
  ],
};

/**
 * A prompt with its placeholders replaced in one pass: an inserted text is never expanded again. `{scratch_file}` takes the
 * value of `scratchFile`. A placeholder without a value stays as it is.
 * @param values by name, without braces and in camelCase; `RAWR_VERBATIM_CONTINUATION_SNIPPET` as it is
 */
export function renderPrompt(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(
    /\{\{(RAWR_VERBATIM_CONTINUATION_SNIPPET)\}\}|\{([a-z]+(?:_[a-z]+)*|[a-z][A-Za-z]*)\}/g,
    (placeholder: string, double?: string, single?: string) => {
      const name = double ?? (single ?? '').replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
      return Object.hasOwn(values, name) ? (values[name] ?? placeholder) : placeholder;
    },
  );
}
