// The tool `write`: a whole file.

import * as z from 'zod';
import type { ToolResult } from '../../protocol/tool.ts';
import { commitChanges, hashOf, LARGEST_EDITED_FILE, openForEdit, shownPath } from '../files/driver.ts';
import { countChangedLines } from '../files/changes.ts';
import { hasHalfCharacter, likeOriginal } from '../line-endings.ts';
import { defineTool, done, failed } from '../tool.ts';
import type { Tool, ToolContext } from '../tool.ts';
import type { ToolWorld } from '../world.ts';

interface WriteInput {
  readonly path: string;
  readonly content: string;
}

/** Writes new files, and over files of which the agent knows the content. */
export function createWriteTool(world: ToolWorld): Tool<WriteInput> {
  return defineTool({
    name: 'write',
    kind: 'edit',
    description:
      'Writes a whole file, with the directories it needs. A file that exists must have been read before; for small changes use edit or apply_patch. Line endings and permissions of a file stay as they are.',
    arguments: {
      path: z.string().min(1).describe('Relative to the workspace, or absolute and inside of it.'),
      content: z.string().describe('The whole text of the file.'),
    },
    actionOf: ({ path }) => ({ kind: 'edit', paths: [path] }),
    run: (input, context) => write(input, context, world),
  });
}

async function write(
  { path, content }: WriteInput,
  context: ToolContext,
  world: ToolWorld,
): Promise<ToolResult> {
  const size = Buffer.byteLength(content);
  if (size > LARGEST_EDITED_FILE)
    return failed(`The content has ${size} bytes; that is too large. Nothing was written.`);
  if (hasHalfCharacter(content)) return failed('The content holds half of a character. Nothing was written.');
  const target = await openForEdit(path, world);
  if (target.type === 'complaint') return failed(target.text);
  const original = target.type === 'file' ? target.original : undefined;
  if (original !== undefined && world.tracker.stateOf(target.path, hashOf(original.bytes)) !== 'current') {
    return failed(
      `${path} exists, and you have not read all of it. Read it first, so that nothing in it is lost unseen, or use edit. Nothing was written.`,
    );
  }
  const text = original === undefined ? content : likeOriginal(content, original.text);
  const action = original === undefined ? 'create' : 'edit';
  const change = {
    action,
    path: shownPath(target.path, world),
    ...countChangedLines(original?.text ?? '', text),
  } as const;
  context.emit({ type: 'patch_apply_begin', call_id: context.callId, changes: [change] });
  const failure = await commitChanges([{ path: target.path, original, text }], world);
  const changes = failure === undefined ? [change] : [];
  context.emit({ type: 'patch_apply_end', call_id: context.callId, success: failure === undefined, changes });
  if (failure !== undefined) return failed(failure);
  return done(
    `${original === undefined ? 'Wrote the new file' : 'Wrote'} ${change.path}, ${Buffer.byteLength(text)} bytes.`,
  );
}
