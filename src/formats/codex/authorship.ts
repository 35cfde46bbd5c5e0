// Who wrote a message in the user role. Codex uses that role for instructions, environment and notices, too.

import type { JsonObject, Part } from '../../protocol/item.ts';
import { CODEX_SUMMARY_PREFIX } from '../../history/filter.ts';
import { isJsonObject } from '../fields.ts';
import { listAt } from './shapes.ts';

/** The author of a message in the user role. */
export type UserRoleKind = 'user' | 'harness' | 'summary';

/**
 * How Codex's texts in the user's name begin.
 * @source Codex's contextual user fragments and model warnings; seen in rollouts of 0.34 to 0.169.
 */
const HARNESS_OPENINGS = [
  '<environment_context>',
  '<environments>',
  '<user_instructions>',
  '<skills_instructions>',
  '<permissions instructions>',
  '<collaboration_mode>',
  '<apps_instructions>',
  '<plugins_instructions>',
  '<personality_spec>',
  '<model_switch>',
  '<context_window',
  '<turn_aborted>',
  '<subagent_notification>',
  '<skill>',
  '<hook_context>',
  '<user-prompt-submit-hook>',
  '# AGENTS.md instructions',
  'Warning: apply_patch was requested via ',
  'Warning: The maximum number of unified exec processes ',
] as const;

/**
 * Decides by `content_item_kinds` if Codex wrote them (since about 0.160), otherwise by how the texts begin. The kinds win,
 * because a person may quote the prefix of a summary. A message is the harness's only if all of its parts are.
 */
export function userRoleKind(content: readonly Part[], payload: JsonObject): UserRoleKind {
  return kindFromMetadata(payload) ?? kindFromText(content);
}

function kindFromMetadata(payload: JsonObject): UserRoleKind | undefined {
  const metadata = payload['internal_chat_message_metadata_passthrough'];
  const kinds = isJsonObject(metadata) ? listAt(metadata, 'content_item_kinds') : undefined;
  if (kinds === undefined) return undefined;
  let known: UserRoleKind | undefined;
  for (const kind of kinds) {
    // Text that a client injected over the protocol has the kind "unknown": its text must decide.
    if (typeof kind !== 'string' || kind === 'unknown') continue;
    if (kind.startsWith('user.')) return 'user';
    known = kind === 'compaction.summary' ? 'summary' : (known ?? 'harness');
  }
  return known;
}

function kindFromText(content: readonly Part[]): UserRoleKind {
  const [first] = content;
  if (first === undefined) return 'user';
  if (first.type === 'input_text' && isSummaryText(first.text)) return 'summary';
  return content.every(isHarnessPart) ? 'harness' : 'user';
}

/** Whether a text is one of Codex's summaries, by its prefix alone. */
export function isSummaryText(text: string): boolean {
  return text.startsWith(CODEX_SUMMARY_PREFIX) && text.charCodeAt(CODEX_SUMMARY_PREFIX.length) === 10;
}

function isHarnessPart(part: Part): boolean {
  if (part.type !== 'input_text') return false;
  const { text } = part;
  const code = text.charCodeAt(0);
  // Only these characters can begin one; this decides most texts of people.
  if (code !== 60 /* < */ && code !== 35 /* # */ && code !== 87 /* W */) return false;
  return HARNESS_OPENINGS.some((opening) => text.startsWith(opening));
}
