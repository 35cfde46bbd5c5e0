// Files that the agent had read lately, given back after a compaction.

import { oneLineWithoutTags, withoutTags } from '../../protocol/enclosed.ts';
import type { AttachmentItem } from '../../protocol/item.ts';
import { STEPS_LEGEND } from '../../history/filter.ts';
import type { RestoredFile } from '../../protocol/receipt.ts';
import type { FileTrail, Plan, StepStatus, Trail } from '../../trail/trail.ts';
import type { FileRead, Hash } from '../../ports.ts';
import type { CountText } from '../../tokens/estimate.ts';
import { MESSAGE_OVERHEAD } from '../budget.ts';
import { cutMiddle } from '../../tokens/cut.ts';

/** Keys of `[compact]` that restoring reads. @source seed 001 §8. */
export interface RestoreSettings {
  readonly maxFiles: number;
  readonly tokensPerFile: number;
  readonly totalFileBudget: number;
}

/** A file ready to be given back. */
export interface RestorableFile {
  readonly path: string;
  readonly text: string;
  readonly tokens: number;
  readonly sha256: string;
  readonly note?: string;
}

const AGENT_DIRECTORIES = /(?:^|\/)\.(?:baton|claude|codex)\/(?:plans|agents)\//;
const AGENT_FILES = /\.agent\.(?:json|toml)$/;
const INSTRUCTION_FILES = /(?:^|\/)(?:AGENTS|CLAUDE)\.md$/;

/**
 * The files to read back, newest first: no agent files, no instruction files (the agent re-reads those itself).
 * @returns more than `maxFiles`, since some may turn out to be gone
 * @source seed 001 §8, spec 2-engine §4.5
 */
export function restoreCandidates(
  files: readonly Pick<FileTrail, 'path' | 'lastPosition'>[],
): readonly Pick<FileTrail, 'path' | 'lastPosition'>[] {
  return files
    .filter(
      ({ path }) => !AGENT_DIRECTORIES.test(path) && !AGENT_FILES.test(path) && !INSTRUCTION_FILES.test(path),
    )
    .toSorted((a, b) => b.lastPosition - a.lastPosition);
}

/** Prepares one file within the limit for a single one; undefined for what cannot or may not be given back. */
export function prepareFile(
  path: string,
  read: FileRead,
  settings: RestoreSettings & { readonly count: CountText; readonly hash: Hash },
): RestorableFile | undefined {
  if (read.kind === 'refused') return undefined;
  if (read.kind === 'gone')
    return describe(path, 'The file no longer exists in the workspace.', 'gone', settings);
  if (read.kind === 'binary') {
    return describe(path, `Binary file, ${read.bytes} bytes.`, 'binary', settings);
  }
  if (read.kind === 'large') {
    return describe(path, `Text of ${read.bytes} bytes, too long to restore.`, 'large', settings);
  }
  const heading = settings.count(attachmentText(path, ''));
  // It stands in a message of the harness: nothing in it may pass for the harness's own words.
  const whole = withoutTags(read.text);
  const text = cutMiddle(whole, settings.tokensPerFile - heading, settings.count);
  return text === undefined
    ? undefined
    : {
        path,
        text,
        tokens: settings.count(attachmentText(path, text)),
        sha256: settings.hash(read.text),
        ...(text === whole ? {} : { note: 'cut in the middle' }),
      };
}

function describe(
  path: string,
  text: string,
  note: string,
  settings: { readonly count: CountText; readonly hash: Hash },
): RestorableFile {
  return {
    path,
    text,
    note,
    tokens: settings.count(attachmentText(path, text)),
    sha256: settings.hash(text),
  };
}

/** Keeps what fits all limits; a file over the rest of the budget is skipped, smaller ones after it still get in. */
export function limitFiles(
  files: readonly RestorableFile[],
  settings: RestoreSettings,
): readonly RestorableFile[] {
  return takeFitting(files, settings.totalFileBudget).slice(0, settings.maxFiles);
}

/** The attachments for the files that fit a budget, and what the receipt says of them. */
export function chooseRestored(
  files: readonly RestorableFile[],
  budget: number,
): { readonly items: readonly AttachmentItem[]; readonly restored: readonly RestoredFile[] } {
  const chosen = takeFitting(files, budget);
  return {
    items: chosen.map(({ path, text }) => ({
      type: 'attachment',
      kind: 'file',
      path,
      text: attachmentText(path, text),
      origin: { author: 'harness' },
    })),
    restored: chosen.map(({ path, tokens, sha256, note }) => ({
      path,
      tokens,
      sha256,
      ...(note === undefined ? {} : { note }),
    })),
  };
}

function takeFitting(files: readonly RestorableFile[], budget: number): readonly RestorableFile[] {
  let left = budget;
  return files.filter(({ tokens }) => {
    const needed = tokens + MESSAGE_OVERHEAD;
    if (needed > left) return false;
    left -= needed;
    return true;
  });
}

function attachmentText(path: string, text: string): string {
  return `Contents of ${oneLineWithoutTags(path)}, read again after the compaction:\n${text}`;
}

/** Keys of `[compact]` that restoring plan and todos reads. */
export interface RestoreStateSettings {
  readonly restoreTodos: boolean;
  readonly restorePlan: boolean;
}

const STEP_MARKS: Readonly<Record<StepStatus, string>> = {
  pending: '[ ]',
  in_progress: '[>]',
  completed: '[x]',
  cancelled: '[-]',
};

/**
 * Todo list and plan as the agent's own tools last had them, where a step is still open, and a plan in prose that it wrote with
 * a tool. Restored from the calls of those tools, never from what was said.
 * @source seed 001 §8, spec 2-engine §4.5
 */
export function restoreState(
  { plans, presentedPlan }: Pick<Trail, 'plans' | 'presentedPlan'>,
  settings: RestoreStateSettings,
): readonly AttachmentItem[] {
  const lists = plans.flatMap((plan) => {
    const isWanted = plan.kind === 'plan' ? settings.restorePlan : settings.restoreTodos;
    const isOpen = plan.steps.some(({ status }) => status === 'pending' || status === 'in_progress');
    return isWanted && isOpen ? [stateItem(plan.kind, listText(plan))] : [];
  });
  if (presentedPlan === undefined || !settings.restorePlan) return lists;
  const { text, path } = presentedPlan;
  const from = path === undefined ? 'you presented it to the user' : `recorded in your file ${path}`;
  return [...lists, stateItem('plan', `The plan as ${from}:\n${text}`)];
}

function listText({ kind, steps }: Plan): string {
  const name = kind === 'plan' ? 'The plan' : 'The todo list';
  const lines = steps.map(({ text, status }) => `${STEP_MARKS[status]} ${text}`);
  return `${name}${STEPS_LEGEND}\n${lines.join('\n')}`;
}

function stateItem(kind: Plan['kind'], text: string): AttachmentItem {
  return { type: 'attachment', kind, text, origin: { author: 'harness' } };
}
