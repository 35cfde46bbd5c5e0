// The tool `write`: writes a complete file.

import * as z from 'zod';
import { changeViews } from './changes.ts';
import {
  complaint,
  hashOf,
  LARGEST_EDITED_FILE,
  makeChanges,
  openForEdit,
  previewOf,
  shownPath,
} from './files.io.ts';
import type { Planned } from './files.io.ts';
import { hasHalfCharacter, likeOriginal } from './line-endings.ts';
import { defineTool } from '../tool.ts';
import type { Tool } from '../tool.ts';
import type { ToolWorld } from '../world.ts';

interface WriteInput {
  readonly path: string;
  readonly content: string;
}

/** Writes new files, and overwrites files whose content the agent knows. */
export function createWriteTool(world: ToolWorld): Tool<WriteInput> {
  return defineTool({
    name: 'write',
    kind: 'edit',
    description:
      'Writes a whole file, and creates missing directories. You must have read an existing file before; for small changes use edit or apply_patch. An existing file keeps its line endings and permissions.',
    arguments: {
      path: z.string().min(1).describe('Relative to the workspace, or absolute and inside it.'),
      content: z.string().describe('The whole text of the file.'),
    },
    actionOf: ({ path }) => ({ kind: 'edit', paths: [path] }),
    preview: async (input) => previewOf(await plan(input, world)),
    run: async (input) => makeChanges(await plan(input, world), world),
  });
}

async function plan({ path, content }: WriteInput, world: ToolWorld): Promise<Planned> {
  const size = Buffer.byteLength(content);
  if (size > LARGEST_EDITED_FILE)
    return complaint(`The content has ${size} bytes, which is too large. Nothing was written.`);
  if (hasHalfCharacter(content))
    return complaint('The content contains half a character. Nothing was written.');
  const target = await openForEdit(path, world);
  if (target.type === 'complaint') return target;
  const original = target.type === 'file' ? target.original : undefined;
  if (original !== undefined && world.tracker.stateOf(target.path, hashOf(original.bytes)) !== 'current') {
    return complaint(
      `${path} exists, and you have not read all of it. Read it first, so that you do not lose unseen content, or use edit. Nothing was written.`,
    );
  }
  const text = original === undefined ? content : likeOriginal(content, original.text);
  const shown = shownPath(target.path, world);
  const what = original === undefined ? 'Wrote the new file' : 'Wrote';
  return {
    type: 'changes',
    changes: [{ path: target.path, original, text }],
    views: changeViews([{ path: shown, before: original?.text, after: text }]),
    done: `${what} ${shown}, ${Buffer.byteLength(text)} bytes.`,
  };
}
