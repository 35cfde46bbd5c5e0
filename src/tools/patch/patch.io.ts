// The tool `apply_patch`: changes many files at once, all or none.

import { setImmediate } from 'node:timers/promises';
import * as z from 'zod';
import type { CancelSignal } from '../../ports.ts';
import type { FileChangeView } from '../../protocol/tool.ts';
import { changeViews } from '../files/changes.ts';
import type { ShownChange } from '../files/changes.ts';
import { complaint, makeChanges, openForEdit, previewOf, shownPath } from '../files/files.io.ts';
import type { DiskChange, Editable, Owner, Planned } from '../files/files.io.ts';
import { hasHalfCharacter } from '../files/line-endings.ts';
import { defineTool } from '../tool.ts';
import type { Tool } from '../tool.ts';
import type { ToolWorld } from '../world.ts';
import { applyPatch } from './apply.ts';
import type { AppliedPatch, FileChange } from './apply.ts';
import { isPatch, parsePatch } from './parse.ts';
import type { PatchAction } from './parse.ts';

interface PatchInput {
  readonly input: string;
}

const DESCRIPTION = `Changes files by a patch, all of it or nothing:
*** Begin Patch
*** Update File: PATH
*** Move to: NEW PATH (only to rename)
@@ a line that comes before the place, such as that of its function or class (optional)
 a line that stays
-a line that goes
+a line that comes
*** Add File: PATH
+every line of the new file
*** Delete File: PATH
*** End Patch
Give three lines around each change, as they are in the file, so that the place is the only one; the parts of a file in its order, each further one after a line with @@.`;

/** Applies patches in Codex' format, sent as JSON or verbatim. */
export function createPatchTool(world: ToolWorld): Tool<PatchInput> {
  const tool = defineTool({
    name: 'apply_patch',
    kind: 'edit',
    description: DESCRIPTION,
    arguments: { input: z.string().min(1).describe('The patch, from *** Begin Patch to *** End Patch.') },
    actionOf: ({ input }) => ({ kind: 'edit', paths: pathsOf(input) }),
    preview: async (input, signal) => previewOf(await plan(input, { world, signal })),
    run: async (input, _, signal) => makeChanges(await plan(input, { world, signal }), world),
  });
  return {
    ...tool,
    parse: (text) => (isPatch(text) ? { type: 'input', input: { input: text } } : tool.parse(text)),
  };
}

function pathsOf(input: string): readonly string[] {
  const parsed = parsePatch(input);
  return parsed.type === 'complaint' ? [] : parsed.actions.flatMap(namedPaths);
}

function namedPaths(action: PatchAction): readonly string[] {
  return action.action === 'edit' && action.to !== undefined ? [action.path, action.to] : [action.path];
}

interface PatchScope {
  readonly world: ToolWorld;
  readonly signal: CancelSignal;
}

async function plan({ input }: PatchInput, { world, signal }: PatchScope): Promise<Planned> {
  const parsed = parsePatch(input);
  if (parsed.type === 'complaint') return complaint(`${parsed.text} Nothing was changed.`);
  if (hasHalfCharacter(input)) return complaint('The patch contains half a character. Nothing was changed.');
  const targets = new Map<string, Exclude<Editable, { type: 'complaint' }>>();
  const realPaths = new Map<string, string>();
  for (const path of parsed.actions.flatMap(namedPaths)) {
    if (targets.has(path)) continue;
    if (signal.aborted) return complaint('The patch was interrupted. Nothing was changed.');
    const target = await openForEdit(path, world);
    if (target.type === 'complaint') return complaint(`${target.text} Nothing was changed.`);
    const other = realPaths.get(target.path);
    if (other !== undefined)
      return complaint(`${path} and ${other} are the same file; use one name for it. Nothing was changed.`);
    realPaths.set(target.path, path);
    targets.set(path, target);
  }
  const work = applyPatch(parsed.actions, (path) => {
    const target = targets.get(path);
    return target?.type === 'file' ? target.original.text : undefined;
  });
  const applied = await finish(work, signal);
  if (applied === undefined) return complaint('The patch was interrupted. Nothing was changed.');
  if (applied.type === 'complaint') return complaint(`${applied.text} Nothing was changed.`);
  const owners = movedOwners(parsed.actions, targets);
  const changes = applied.changes.flatMap(({ path, after }): DiskChange[] => {
    const target = targets.get(path);
    if (target === undefined) return [];
    const owner = owners.get(path);
    return [
      {
        path: target.path,
        original: target.type === 'file' ? target.original : undefined,
        text: after,
        ...(owner === undefined ? {} : { owner }),
      },
    ];
  });
  const shown = (path: string): string => shownPath(targets.get(path)?.path ?? path, world);
  const views = changeViews(shownChanges(parsed.actions, applied.changes, shown));
  return {
    type: 'changes',
    changes: inSafeOrder(changes),
    views,
    done: `Done:\n${views.map(describeView).join('\n')}`,
  };
}

/** Longest time without yielding to other work, in milliseconds. @source the target of `formats/session-file` */
const LONGEST_TURN_MS = 50;

/** Runs work step by step and yields to other work in between. @returns undefined if interrupted */
async function finish(
  work: Generator<void, AppliedPatch>,
  signal: CancelSignal,
): Promise<AppliedPatch | undefined> {
  let turnEnds = performance.now() + LONGEST_TURN_MS;
  for (;;) {
    const { done: isDone, value } = work.next();
    if (isDone === true) return value;
    if (performance.now() < turnEnds) continue;
    await setImmediate();
    if (signal.aborted) return undefined;
    turnEnds = performance.now() + LONGEST_TURN_MS;
  }
}

/** New contents first, so that after a failure no text exists only in memory. */
function inSafeOrder(changes: readonly DiskChange[]): readonly DiskChange[] {
  return changes.toSorted((a, b) => Number(a.text === undefined) - Number(b.text === undefined));
}

function movedOwners(
  actions: readonly PatchAction[],
  targets: ReadonlyMap<string, Editable>,
): ReadonlyMap<string, Owner> {
  const owners = new Map<string, Owner>();
  for (const action of actions) {
    if (action.action !== 'edit' || action.to === undefined) continue;
    const from = targets.get(action.path);
    const owner = owners.get(action.path) ?? (from?.type === 'file' ? from.original.owner : undefined);
    if (owner !== undefined) owners.set(action.to, owner);
  }
  return owners;
}

/** Each file once, in the order of the patch, with its final state. */
function shownChanges(
  actions: readonly PatchAction[],
  changes: readonly FileChange[],
  shown: (path: string) => string,
): readonly ShownChange[] {
  const changed = new Map(changes.map((change) => [change.path, change]));
  const moves = new Map(
    actions.flatMap((action) =>
      action.action === 'edit' && action.to !== undefined && action.to !== action.path
        ? [[action.path, action.to] as const]
        : [],
    ),
  );
  const told = new Set(moves.values());
  return actions.flatMap(({ path }): ShownChange[] => {
    if (told.has(path)) return [];
    told.add(path);
    const { before, after } = changed.get(path) ?? { before: '', after: '' };
    const to = after === undefined ? moves.get(path) : undefined;
    if (to === undefined) return [{ path: shown(path), before, after }];
    return [{ path: shown(path), to: shown(to), before, after: changed.get(to)?.after }];
  });
}

function describeView({
  action,
  path,
  to,
  added_lines: added,
  removed_lines: removed,
}: FileChangeView): string {
  switch (action) {
    case 'create':
      return `A ${path} (+${added})`;
    case 'delete':
      return `D ${path}`;
    case 'edit':
      return `M ${path} (+${added} -${removed})`;
    case 'move':
      return `R ${path} -> ${to} (+${added} -${removed})`;
  }
}
