// The instruction files of a project: from its root down to the working directory, in each folder `AGENTS.md`, else `CLAUDE.md`.

import { lstat } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { openWorkspace } from '../system/workspace.io.ts';
import type { InstructionFile } from './context.ts';

/** The names; the first existing file counts. @source spec 4-session §5 */
const NAMES = ['AGENTS.md', 'CLAUDE.md'] as const;

/** Maximum size of all files together, in UTF-8 bytes: every request carries them. @source Codex, `project_doc_max_bytes` */
const MAX_BYTES = 32 * 1024;

/** The instruction files of a project. */
export interface Instructions {
  /** The project's root: of the git work tree, or the working directory outside one. */
  readonly root: string;
  /** Starting with the root's. */
  readonly files: readonly InstructionFile[];
  /** One sentence each. */
  readonly warnings: readonly string[];
}

/**
 * Reads them. Does not follow links out of the project, because their targets would be sent to a provider.
 * @param cwd absolute, with links resolved
 */
export async function loadInstructions(cwd: string): Promise<Instructions> {
  const folders = await projectFolders(cwd);
  const [root = cwd] = folders;
  const workspace = await openWorkspace(root, undefined);
  const files: InstructionFile[] = [];
  const warnings: string[] = [];
  let free = MAX_BYTES;
  for (const folder of folders) {
    for (const name of NAMES) {
      // Looking up a path resolves all its links, which takes minutes in a tree built to slow it down.
      if (!(await exists(join(folder, name)))) continue;
      const path = relative(root, join(folder, name));
      const read = await workspace.read(path);
      if (read.kind === 'gone') continue;
      if (read.kind !== 'text') {
        warnings.push(`${path} is not used: it is ${refusalOf(read)}.`);
        continue;
      }
      const text = cutBytes(read.text, free);
      if (text.length < read.text.length) warnings.push(overLong(path, text));
      if (text !== '') files.push({ path, text });
      free -= Buffer.byteLength(text);
      break;
    }
  }
  return { root, files, warnings };
}

function refusalOf(read: { readonly kind: string; readonly why?: string }): string {
  return read.why ?? (read.kind === 'large' ? 'too large' : 'no text');
}

function overLong(path: string, kept: string): string {
  const what = kept === '' ? 'is skipped' : 'is truncated';
  return `${path} ${what}: instruction files may take ${MAX_BYTES / 1024} KiB in total.`;
}

/** Never splits a character. */
function cutBytes(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  let end = Math.max(0, maxBytes);
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.subarray(0, end).toString('utf8');
}

/**
 * From the root of the work tree down; outside a work tree only the directory itself, because a file further up may be
 * anyone's.
 */
async function projectFolders(cwd: string): Promise<readonly string[]> {
  const folders: string[] = [];
  for (let folder = cwd; ; folder = dirname(folder)) {
    folders.unshift(folder);
    if (await exists(join(folder, '.git'))) return folders;
    if (dirname(folder) === folder) return [cwd];
  }
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
