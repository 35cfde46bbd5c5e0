// Inserts values into prompts.

import type { PromptName } from './shipped.ts';

/** The placeholder in auto-compact.md for the recent activity. @source rawr-behaviour §5 */
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
 * Replaces the placeholders of a prompt in one pass: inserted texts are never expanded again. `{scratch_file}` takes the value of
 * `scratchFile`. A placeholder without a value stays.
 * @param values by name, without braces and in camelCase; `RAWR_VERBATIM_CONTINUATION_SNIPPET` keeps its spelling
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
