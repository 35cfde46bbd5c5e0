// What a thread learns before the user's first message: where it works, and the project's instructions. Sent in the
// harness's name, so that compaction treats it as initial context.

import { MESSAGE_CONTEXT_OPENING } from '../history/filter.ts';
import { oneLineWithoutTags, withoutTags } from '../protocol/enclosed.ts';
import type { Item } from '../protocol/item.ts';
import { textOfParts } from '../protocol/item.ts';
import type { LogRecord, SettingsRecord } from '../protocol/record.ts';
import type { ApprovalPolicy, SandboxMode } from '../vocabulary.ts';

/** The place and the rules of a thread. */
export interface ThreadEnvironment {
  /** Absolute, with links resolved. */
  readonly cwd: string;
  /** `YYYY-MM-DD`, local time. */
  readonly date: string;
  readonly shell: string;
  readonly platform: string;
  readonly policy: ApprovalPolicy;
  readonly sandbox: SandboxMode;
  /** Whether commands can be confined here. */
  readonly canConfine: boolean;
  /** Changes are forbidden. */
  readonly isPlanning: boolean;
}

/** An instruction file as the model receives it. */
export interface InstructionFile {
  /** Relative to the root of the project. */
  readonly path: string;
  readonly text: string;
}

/** How items of each kind start, to find the newest one of a thread. @source Codex, whose readers know both */
const OPENINGS = {
  instructions: '# AGENTS.md instructions',
  environment: '<environment_context>',
  hooks: '<hook_context>',
} as const;

/** The project's instruction files as one item; undefined if there are none. The root's file comes first. */
export function instructionsItem(root: string, files: readonly InstructionFile[]): Item | undefined {
  if (files.length === 0) return undefined;
  const parts = files.map(
    ({ path, text }) => `<file path="${oneLineWithoutTags(path)}">\n${withoutTags(text.trim())}\n</file>`,
  );
  return harnessSays(
    `${OPENINGS.instructions} for ${oneLineWithoutTags(root)}\n\n<INSTRUCTIONS>\n${parts.join('\n\n')}\n</INSTRUCTIONS>`,
  );
}

/** The item that describes where the thread works. */
export function environmentItem(surroundings: ThreadEnvironment): Item {
  const { cwd, date, shell, platform, policy, sandbox, canConfine, isPlanning } = surroundings;
  const facts = [
    `<cwd>${oneLineWithoutTags(cwd)}</cwd>`,
    `<current_date>${date}</current_date>`,
    `<platform>${platform}</platform>`,
    `<shell>${oneLineWithoutTags(shell)}</shell>`,
    `<sandbox_mode>${sandbox}</sandbox_mode>`,
    `<approval_policy>${policy}</approval_policy>`,
    ...(isPlanning
      ? ['<plan_mode>on: change nothing and run no command; work out the plan and present it</plan_mode>']
      : []),
    ...(canConfine || sandbox === 'danger_full_access'
      ? []
      : ['<note>Commands cannot be confined on this machine, so each of them needs approval.</note>']),
  ];
  return harnessSays(
    [OPENINGS.environment, ...facts.map((fact) => `  ${fact}`), '</environment_context>'].join('\n'),
  );
}

/** A text of the user's hooks about their next message. */
export function messageContextItem(text: string): Item {
  return harnessSays(`${MESSAGE_CONTEXT_OPENING}\n${withoutTags(text)}\n</user-prompt-submit-hook>`);
}

/** A text of the user's hooks for the start of a session. */
export function hookItem(text: string): Item {
  return harnessSays(`${OPENINGS.hooks}\n${withoutTags(text)}\n</hook_context>`);
}

function harnessSays(text: string): Item {
  return {
    type: 'message',
    role: 'user',
    content: [{ type: 'input_text', text }],
    origin: { author: 'harness' },
  };
}

/**
 * The wanted items that a history does not hold yet. Of each kind the newest counts, except for hooks, whose later
 * texts do not replace earlier ones. Unchanged items are not repeated, so that the prefix of a thread stays the same.
 */
export function missingContext(history: readonly Item[], wanted: readonly Item[]): readonly Item[] {
  return wanted.filter((item) => {
    const text = textOf(item);
    const opening = Object.values(OPENINGS).find((each) => text.startsWith(each)) ?? text;
    const sent = history.filter((each) => isHarness(each) && textOf(each).startsWith(opening)).map(textOf);
    return opening === OPENINGS.hooks ? !sent.includes(text) : sent.at(-1) !== text;
  });
}

/** Whether an item describes where the thread works. */
export function isSurroundings(item: Item): boolean {
  return isHarness(item) && textOf(item).startsWith(OPENINGS.environment);
}

function isHarness(item: Item): boolean {
  return item.origin?.author === 'harness';
}

function textOf(item: Item): string {
  return item.type === 'message' ? textOfParts(item.content) : '';
}

/** A user message. It names its author, so that none of the user's text passes for the harness's. */
export function userSays(text: string): Item {
  return {
    type: 'message',
    role: 'user',
    content: [{ type: 'input_text', text }],
    origin: { author: 'user' },
  };
}

/** The system prompt with which a thread started. */
export function recordedInstructions(past: readonly LogRecord[]): string | undefined {
  const meta = past.findLast((record) => record.type === 'session_meta' && record.instructions !== undefined);
  return meta?.type === 'session_meta' ? meta.instructions : undefined;
}

/** The model that the user chose in a thread, as for `--model`; undefined if none was chosen, or another was named since. */
export function chosenModel(past: readonly LogRecord[]): string | undefined {
  const newest = past.findLast((record) => record.type === 'settings');
  if (newest?.type !== 'settings' || newest.modelProvider === undefined) return undefined;
  return newest.model === undefined ? undefined : `${newest.modelProvider}/${newest.model}`;
}

/** The last recorded working directory of a thread. */
export function recordedDirectory(past: readonly LogRecord[]): string | undefined {
  const record = past.findLast((each) => isPlace(each) && each.cwd !== undefined);
  return record !== undefined && isPlace(record) ? record.cwd : undefined;
}

function isPlace(record: LogRecord): record is Extract<LogRecord, { type: 'session_meta' | 'settings' }> {
  return record.type === 'session_meta' || record.type === 'settings';
}

/** The settings as a record, unless the log already contains them. */
export function changedSettings(
  past: readonly LogRecord[],
  settings: Omit<SettingsRecord, 'type'>,
): SettingsRecord | undefined {
  const { model, modelProvider, cwd, usableWindow } = settings;
  const newest = past.findLast((record) => record.type === 'settings');
  const isSame =
    newest?.type === 'settings' &&
    newest.model === model &&
    newest.modelProvider === modelProvider &&
    newest.cwd === cwd &&
    newest.usableWindow === usableWindow;
  return isSame ? undefined : { type: 'settings', ...settings };
}
