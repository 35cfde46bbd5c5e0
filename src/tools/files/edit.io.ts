// The tool `edit`: exact replacement in one file.

import * as z from 'zod';
import { changeViews } from './changes.ts';
import { complaint, makeChanges, openForEdit, previewOf, shownPath } from './files.io.ts';
import type { Planned } from './files.io.ts';
import { hasHalfCharacter, plainText } from './line-endings.ts';
import { findReplacement } from './replacement.ts';
import { defineTool } from '../tool.ts';
import type { Tool } from '../tool.ts';
import type { ToolWorld } from '../world.ts';

interface EditInput {
  readonly path: string;
  readonly old_string: string;
  readonly new_string: string;
  readonly replace_all: boolean;
}

/** Replaces an exact text in a file; it must occur once unless all occurrences are requested. */
export function createEditTool(world: ToolWorld): Tool<EditInput> {
  return defineTool({
    name: 'edit',
    kind: 'edit',
    description:
      'Replaces old_string with new_string in a file. old_string must occur in the file exactly as given, including whitespace, and only once unless replace_all is set. Copy it without the line numbers of read.',
    arguments: {
      path: z.string().min(1).describe('Relative to the workspace, or absolute and inside it.'),
      old_string: z.string().min(1),
      new_string: z.string().describe('Empty: old_string goes.'),
      replace_all: z.boolean().default(false),
    },
    actionOf: ({ path }) => ({ kind: 'edit', paths: [path] }),
    preview: async (input) => previewOf(await plan(input, world)),
    run: async (input) => makeChanges(await plan(input, world), world),
  });
}

async function plan(input: EditInput, world: ToolWorld): Promise<Planned> {
  const { path } = input;
  if (hasHalfCharacter(input.new_string))
    return complaint('new_string contains half a character. Nothing was changed.');
  const target = await openForEdit(path, world);
  if (target.type === 'complaint') return target;
  if (target.type === 'free') return complaint(`The file ${path} does not exist.`);
  const { original } = target;
  const plain = plainText(original.text);
  const found = findReplacement(plain.text, {
    oldText: input.old_string,
    newText: input.new_string,
    replacesAll: input.replace_all,
  });
  if (found.type === 'complaint') return complaint(`${path}: ${found.text} Nothing was changed.`);
  const text = plain.restore(found.edits);
  const shown = shownPath(target.path, world);
  const times = found.edits.length === 1 ? '' : ` at ${found.edits.length} places`;
  return {
    type: 'changes',
    changes: [{ path: target.path, original, text }],
    views: changeViews([{ path: shown, before: original.text, after: text }]),
    done: `Changed ${shown}${times}.`,
  };
}
