// The tool `edit`: exact replacement in one file.

import * as z from 'zod';
import type { ToolResult } from '../../protocol/tool.ts';
import { commitChanges, openForEdit, shownPath } from '../files/driver.ts';
import { countChangedLines } from '../files/changes.ts';
import { hasHalfCharacter, plainText } from '../line-endings.ts';
import { findReplacement } from '../replacement.ts';
import { defineTool, done, failed } from '../tool.ts';
import type { Tool, ToolContext } from '../tool.ts';
import type { ToolWorld } from '../world.ts';

interface EditInput {
  readonly path: string;
  readonly old_string: string;
  readonly new_string: string;
  readonly replace_all: boolean;
}

/** Replaces a text that stands in a file exactly, and once unless all places are meant. */
export function createEditTool(world: ToolWorld): Tool<EditInput> {
  return defineTool({
    name: 'edit',
    kind: 'edit',
    description:
      'Replaces old_string by new_string in a file. old_string must be in the file exactly as given, blanks included, and once, unless replace_all is set. Copy it without the line numbers of read.',
    arguments: {
      path: z.string().min(1).describe('Relative to the workspace, or absolute and inside of it.'),
      old_string: z.string().min(1),
      new_string: z.string().describe('Empty: old_string goes.'),
      replace_all: z.boolean().default(false),
    },
    actionOf: ({ path }) => ({ kind: 'edit', paths: [path] }),
    run: (input, context) => edit(input, context, world),
  });
}

async function edit(input: EditInput, context: ToolContext, world: ToolWorld): Promise<ToolResult> {
  const { path } = input;
  if (hasHalfCharacter(input.new_string))
    return failed('new_string holds half of a character. Nothing was changed.');
  const target = await openForEdit(path, world);
  if (target.type === 'complaint') return failed(target.text);
  if (target.type === 'free') return failed(`There is no file ${path}.`);
  const plain = plainText(target.original.text);
  const found = findReplacement(plain.text, {
    oldText: input.old_string,
    newText: input.new_string,
    replacesAll: input.replace_all,
  });
  if (found.type === 'complaint') return failed(`${path}: ${found.text} Nothing was changed.`);
  const text = plain.restore(found.edits);
  const change = {
    action: 'edit',
    path: shownPath(target.path, world),
    ...countChangedLines(target.original.text, text),
  } as const;
  context.emit({ type: 'patch_apply_begin', call_id: context.callId, changes: [change] });
  const failure = await commitChanges([{ path: target.path, original: target.original, text }], world);
  const changes = failure === undefined ? [change] : [];
  context.emit({ type: 'patch_apply_end', call_id: context.callId, success: failure === undefined, changes });
  if (failure !== undefined) return failed(failure);
  const times = found.edits.length === 1 ? '' : ` at ${found.edits.length} places`;
  return done(`Changed ${change.path}${times}.`);
}
