// The user's hooks around one compaction: asked before it, told after it, heard for what the session needs to go on.

import { BatonError } from '../errors.ts';
import type { CancelSignal, Hooks } from '../ports.ts';
import type { CompactionEvent } from '../protocol/wire/event.ts';
import type { HookNotes, HookRun, HookSession, PreCompactInput } from '../protocol/hook.ts';
import type { Item } from '../protocol/item.ts';
import type { Receipt } from '../protocol/receipt.ts';
import { cutMiddle } from '../tokens/cut.ts';
import type { CountText } from '../tokens/estimate.ts';

/** What hooks are run with. */
export interface HookSurroundings {
  /** Absent: nobody configured any. */
  readonly hooks?: Hooks;
  readonly signal: CancelSignal;
  readonly emit: (event: CompactionEvent) => void;
}

/**
 * The most that hooks may add to a history: what ten thousand characters take, their longest answer.
 * @source docs/decisions/hooks.md; Codex spills what is longer than 2,500 tokens (codex-behaviour §4.9)
 */
const MOST_CONTEXT_TOKENS = 2_500;
/** Of a target that is asked for, so that a small one is not filled by hooks. @source docs/decisions/hooks.md */
const CONTEXT_SHARE = 0.2;

/** Room that is kept back for what hooks may add, in tokens; 0 where none of them can. */
export function hookRoom({ hooks }: HookSurroundings, targetTokens: number | undefined): number {
  if (hooks?.startsWith('compact') !== true) return 0;
  return Math.min(MOST_CONTEXT_TOKENS, Math.floor((targetTokens ?? Infinity) * CONTEXT_SHARE));
}

/**
 * Asks the hooks before a compaction.
 * @returns what they ask of the summary, and which of them ran
 * @throws BatonError `compaction_vetoed`; `interrupted`
 */
export async function askHooks(
  surroundings: HookSurroundings,
  inputOf: () => PreCompactInput,
): Promise<{ readonly instructions: string | undefined; readonly runs: readonly HookRun[] }> {
  const { hooks, signal, emit } = surroundings;
  if (hooks === undefined) return { instructions: undefined, runs: [] };
  const { veto, instructions, ...notes } = await hooks.preCompact(inputOf(), signal);
  warn(notes, emit);
  if (veto !== undefined) {
    throw new BatonError('compaction_vetoed', `A pre_compact hook vetoed (${veto.command}): ${veto.reason}`, {
      cure: 'Do what the hook asks, or remove it from [hooks].',
    });
  }
  return { instructions, runs: notes.runs };
}

/**
 * Runs the hooks and returns what they add to the session's context.
 * @param room tokens that this may take by `count`
 * @throws BatonError `interrupted`
 */
export async function hearHooks(
  { hooks, signal, emit }: HookSurroundings,
  session: HookSession,
  { room, count }: { readonly room: number; readonly count: CountText },
): Promise<{ readonly context: Item | undefined; readonly runs: readonly HookRun[] }> {
  if (hooks === undefined) return { context: undefined, runs: [] };
  const { context, ...notes } = await hooks.sessionStart({ session, source: 'compact' }, signal);
  warn(notes, emit);
  const text = context === undefined ? undefined : cutMiddle(`${HEADING}\n${context}`, room, count);
  return { context: text === undefined ? undefined : contextItem(text), runs: notes.runs };
}

const HEADING = "From the user's hooks, after the compaction:";

function contextItem(text: string): Item {
  return { type: 'attachment', kind: 'other', text, origin: { author: 'harness' } };
}

/** Tells the hooks of a compaction that is committed. Never fails. */
export async function notifyHooks(
  { hooks, signal, emit }: HookSurroundings,
  session: HookSession,
  receipt: Receipt,
  summary: string | undefined,
): Promise<void> {
  if (hooks === undefined) return;
  const { trigger, reason, phase, implementation, preTokens, postTokens } = receipt;
  const input = { session, trigger, reason, phase, implementation, preTokens, postTokens, summary };
  warn(await hooks.postCompact(input, signal), emit);
}

function warn({ warnings }: HookNotes, emit: HookSurroundings['emit']): void {
  for (const message of warnings) emit({ type: 'warning', message });
}
