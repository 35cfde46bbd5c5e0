// Changes files: reads the current contents, and writes all changes to disk or none.

import { createHash, randomBytes } from 'node:crypto';
import { mkdir, open, rename, rm, rmdir, stat, unlink } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { isBelow, openToRead, readWhole, refusalOf } from '../../system/planted.io.ts';
import type { FileChangeView, ToolResult } from '../../protocol/tool.ts';
import { locate } from '../../system/workspace.io.ts';
import type { ToolWorld } from '../world.ts';

/** Largest file to edit or write, in bytes; larger files are not source text. @source docs/decisions/tools.md */
export const LARGEST_EDITED_FILE = 10 * 1024 * 1024;

/** The state of a file on which a change is based. */
export interface Original {
  readonly bytes: Buffer;
  readonly text: string;
  readonly owner: Owner;
  readonly mtimeMs: number;
}

/** Owner and permissions of a file. */
export interface Owner {
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
}

/** A path that may be changed, with its present content. */
export type Editable =
  | { readonly type: 'file'; readonly path: string; readonly original: Original }
  | { readonly type: 'free'; readonly path: string }
  /** One sentence for the model. */
  | { readonly type: 'complaint'; readonly text: string };

/** Opens a path for a change. If the agent has seen the file, its content must still be what the agent saw. */
export async function openForEdit(path: string, world: ToolWorld): Promise<Editable> {
  const place = await locate(path, world.root);
  if (place.kind === 'refused') return complaint(`${path} is ${place.why}.`);
  if (place.kind === 'directory') return complaint(`${path} is a directory.`);
  if (world.kept.paths.some((own) => place.path === own || isBelow(place.path, own))) {
    return complaint(`${path} belongs to Baton: only the user may change its configuration and sessions.`);
  }
  if (isGitsOwn(place.path, world.root)) return complaint(`${path} belongs to git; use git for it.`);
  if (place.kind === 'free') return { type: 'free', path: place.path };
  const handle = await openToRead(place.path, 'refuse');
  try {
    const stats = await handle.stat();
    const { size, mode, uid, gid, mtimeMs } = stats;
    const refused = refusalOf(stats);
    if (refused !== undefined) return complaint(`${path} ${refused}.`);
    const bytes = size > LARGEST_EDITED_FILE ? undefined : await readWhole(handle, LARGEST_EDITED_FILE);
    if (bytes === undefined) return complaint(`${path} has ${size} bytes, which is too large to edit.`);
    const text = bytes.toString('utf8');
    if (bytes.includes(0) || !Buffer.from(text, 'utf8').equals(bytes)) {
      return complaint(`${path} is binary or not valid UTF-8; it cannot be edited as text.`);
    }
    if (world.tracker.stateOf(place.path, hashOf(bytes)) === 'stale') {
      return complaint(`${path} has changed since you read it. Read it again first. Nothing was changed.`);
    }
    return { type: 'file', path: place.path, original: { bytes, text, owner: { mode, uid, gid }, mtimeMs } };
  } finally {
    await handle.close();
  }
}

/** Builds the reason why files cannot be changed. */
export function complaint(text: string): { readonly type: 'complaint'; readonly text: string } {
  return { type: 'complaint', text };
}

/** The content of a repository's own folder decides what git runs. */
function isGitsOwn(path: string, root: string): boolean {
  return relative(root, path)
    .split('/')
    .some((name) => name.toLowerCase() === '.git');
}

/** SHA-256 of a file's bytes, in hex. */
export function hashOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** A change of one file. */
export interface DiskChange {
  /** Absolute, with links resolved. */
  readonly path: string;
  /** The content that must still be there; undefined: no file. */
  readonly original: Original | undefined;
  /** Undefined: delete the file. */
  readonly text: string | undefined;
  /** For a new file that replaces a moved one. */
  readonly owner?: Owner;
}

/** A prepared but unapplied change of files. */
export type Planned =
  /** Why it cannot be applied, for the model. */
  | { readonly type: 'complaint'; readonly text: string }
  | {
      readonly type: 'changes';
      readonly changes: readonly DiskChange[];
      readonly views: readonly FileChangeView[];
      /** The result text once the change is applied. */
      readonly done: string;
    };

/** Applies a change. */
export async function makeChanges(planned: Planned, world: ToolWorld): Promise<ToolResult> {
  if (planned.type === 'complaint') return { text: planned.text, success: false };
  const failure = await commitChanges(planned.changes, world);
  if (failure !== undefined) return { text: failure, success: false };
  return { text: planned.done, success: true, changes: planned.views };
}

/** What a change would do, for the user. */
export function previewOf(planned: Planned): readonly FileChangeView[] {
  return planned.type === 'complaint' ? [] : planned.views;
}

/**
 * Writes changes to disk. It first writes new contents beside their files, then renames each over its file. A failure rolls back
 * all earlier steps.
 * @returns a sentence for the model if nothing was changed, undefined if everything was
 */
export async function commitChanges(
  changes: readonly DiskChange[],
  world: ToolWorld,
): Promise<string | undefined> {
  const undo: (() => Promise<unknown>)[] = [];
  try {
    const staged: { readonly change: DiskChange; readonly temporary: string | undefined }[] = [];
    for (const change of changes) {
      if (change.text === undefined) staged.push({ change, temporary: undefined });
      else {
        undo.push(await makeParents(dirname(change.path)));
        const temporary = join(
          dirname(change.path),
          `.${basename(change.path).slice(0, 100)}.${randomName()}.tmp`,
        );
        undo.push(() => rm(temporary, { force: true }));
        await writeNew(temporary, change.text, change.original?.owner ?? change.owner);
        staged.push({ change, temporary });
      }
    }
    for (const { change } of staged) await checkUnchanged(change);
    for (const { change, temporary } of staged) {
      undo.push(() => putBack(change));
      if (temporary === undefined) await unlink(change.path);
      else await rename(temporary, change.path);
    }
  } catch (error) {
    for (const step of undo.toReversed()) await step().catch(() => undefined);
    return describeFailure(error);
  }
  for (const { path, text } of changes) {
    if (text === undefined) world.tracker.forget(path);
    else world.tracker.noteWhole(path, hashOf(Buffer.from(text)));
  }
  return undefined;
}

function randomName(): string {
  return randomBytes(6).toString('hex');
}

/** Creates missing parent directories. @returns a function that removes those that are still empty */
async function makeParents(directory: string): Promise<() => Promise<void>> {
  const first = await mkdir(directory, { recursive: true });
  return async () => {
    if (first === undefined) return;
    for (let path = directory; path.length >= first.length; path = dirname(path)) await rmdir(path);
  };
}

async function writeNew(path: string, text: string, owner: Owner | undefined): Promise<void> {
  const handle = await open(path, 'wx');
  try {
    await handle.writeFile(text);
    if (owner !== undefined) {
      // Only root may give files away; for others the file already has the right owner.
      await handle.chown(owner.uid, owner.gid).catch(() => undefined);
      await handle.chmod(owner.mode & 0o7777);
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
}

class Overtaken extends Error {}

/** Another program may have changed it first. */
async function checkUnchanged({ path, original }: DiskChange): Promise<void> {
  const now = await stat(path).catch(() => undefined);
  if (
    original === undefined
      ? now !== undefined
      : now?.mtimeMs !== original.mtimeMs || now.size !== original.bytes.length
  ) {
    throw new Overtaken(path);
  }
}

async function putBack({ path, original }: DiskChange): Promise<void> {
  if (original === undefined) {
    await rm(path, { force: true });
    return;
  }
  const temporary = join(dirname(path), `.${randomName()}.tmp`);
  await writeNew(temporary, original.text, original.owner);
  await rename(temporary, path);
}

function describeFailure(error: unknown): string {
  if (error instanceof Overtaken)
    return 'Another program changed a file in the meantime. Nothing was changed; read it again.';
  const { code, message } = error as NodeJS.ErrnoException;
  return `Nothing was changed: ${code === 'ENOSPC' ? 'the disk is full' : (code ?? message)}.`;
}

/** A path for output: relative to the workspace. */
export function shownPath(path: string, world: ToolWorld): string {
  return relative(world.root, path) || '.';
}
