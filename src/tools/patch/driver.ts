// The tool `apply_patch`: changes of many files at once, all or none.

import { setImmediate } from 'node:timers/promises';
import * as z from 'zod';
import type { CancelSignal } from '../../ports.ts';
import type { FileChangeView, ToolResult } from '../../protocol/tool.ts';
import { commitChanges, openForEdit, shownPath } from '../files/driver.ts';
import type { DiskChange, Editable, Owner } from '../files/driver.ts';
import { hasHalfCharacter } from '../line-endings.ts';
import { defineTool, done, failed } from '../tool.ts';
import type { Tool, ToolContext } from '../tool.ts';
import type { ToolWorld } from '../world.ts';
import { applyPatch } from './apply.ts';
import type { AppliedPatch } from './apply.ts';
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

/** Applies patches in Codex' format, sent as JSON or as they are. */
export function createPatchTool(world: ToolWorld): Tool<PatchInput> {
  const tool = defineTool({
    name: 'apply_patch',
    kind: 'edit',
    description: DESCRIPTION,
    arguments: { input: z.string().min(1).describe('The patch, from *** Begin Patch to *** End Patch.') },
    actionOf: ({ input }) => ({ kind: 'edit', paths: pathsOf(input) }),
    run: (input, context, signal) => patch(input, context, { world, signal }),
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

interface Surroundings {
  readonly world: ToolWorld;
  readonly signal: CancelSignal;
}

async function patch(
  { input }: PatchInput,
  context: ToolContext,
  { world, signal }: Surroundings,
): Promise<ToolResult> {
  const parsed = parsePatch(input);
  if (parsed.type === 'complaint') return failed(`${parsed.text} Nothing was changed.`);
  if (hasHalfCharacter(input)) return failed('The patch holds half of a character. Nothing was changed.');
  const targets = new Map<string, Exclude<Editable, { type: 'complaint' }>>();
  const realPaths = new Map<string, string>();
  for (const path of parsed.actions.flatMap(namedPaths)) {
    if (targets.has(path)) continue;
    const target = await openForEdit(path, world);
    if (target.type === 'complaint') return failed(`${target.text} Nothing was changed.`);
    const other = realPaths.get(target.path);
    if (other !== undefined)
      return failed(`${path} and ${other} are the same file; name it one way. Nothing was changed.`);
    realPaths.set(target.path, path);
    targets.set(path, target);
  }
  const work = applyPatch(parsed.actions, (path) => {
    const target = targets.get(path);
    return target?.type === 'file' ? target.original.text : undefined;
  });
  const applied = await finish(work, signal);
  if (applied === undefined) return failed('The patch was interrupted. Nothing was changed.');
  if (applied.type === 'complaint') return failed(`${applied.text} Nothing was changed.`);
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
  const views = parsed.actions.map((action) =>
    viewOf(action, (path) => shownPath(targets.get(path)?.path ?? path, world)),
  );
  context.emit({ type: 'patch_apply_begin', call_id: context.callId, changes: views });
  const failure = await commitChanges(inSafeOrder(changes), world);
  context.emit({
    type: 'patch_apply_end',
    call_id: context.callId,
    success: failure === undefined,
    changes: failure === undefined ? views : [],
  });
  if (failure !== undefined) return failed(failure);
  return done(`Done:\n${views.map(describeView).join('\n')}`);
}

/** Longest time without a turn for other work, in milliseconds. @source the target of `formats/load` */
const LONGEST_TURN_MS = 50;

/** Carries work out piece by piece, so that others are heard meanwhile. @returns undefined where it was interrupted */
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

/** New contents first: whatever breaks in between, no text is only in memory. */
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

function viewOf(action: PatchAction, shown: (path: string) => string): FileChangeView {
  const path = shown(action.path);
  if (action.action === 'create')
    return { action: 'create', path, added_lines: action.lines.length, removed_lines: 0 };
  if (action.action === 'delete') return { action: 'delete', path, added_lines: 0, removed_lines: 0 };
  const signs = action.hunks.flatMap(({ lines }) => lines.map(({ sign }) => sign));
  const counts = {
    added_lines: signs.filter((sign) => sign === '+').length,
    removed_lines: signs.filter((sign) => sign === '-').length,
  };
  return action.to === undefined
    ? { action: 'edit', path, ...counts }
    : { action: 'move', path, to: shown(action.to), ...counts };
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
