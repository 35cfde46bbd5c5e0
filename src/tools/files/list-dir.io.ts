// The tool `list_dir`: the content of a directory, some levels deep.

import type { Dirent } from 'node:fs';
import { opendir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import * as z from 'zod';
import type { CancelSignal } from '../../ports.ts';
import type { ToolResult } from '../../protocol/tool.ts';
import { locate } from '../../system/workspace.io.ts';
import { ignoredOf, isIgnored, MAX_FILES } from './listing.io.ts';
import { defineTool, done, failed } from '../tool.ts';
import type { Tool } from '../tool.ts';
import type { ToolWorld } from '../world.ts';

/** Maximum number of entries in one result. @source docs/decisions/tools.md */
const MAX_ENTRIES = 500;

/** How many entries to stat at once. */
const ENTRIES_AT_ONCE = 1000;

/** Maximum number of entries of one directory below the first level. */
const MAX_NESTED = 50;

interface ListInput {
  readonly path: string;
  readonly depth: number;
}

/** Lists a directory; entries that git ignores are only counted. */
export function createListDirTool(world: ToolWorld): Tool<ListInput> {
  return defineTool({
    name: 'list_dir',
    kind: 'read',
    description:
      'Lists a directory as an indented tree: / after directories, @ after links, = after anything that is neither file nor directory. Entries that git ignores are only counted.',
    arguments: {
      path: z.string().default('.').describe('Relative to the workspace, or absolute and inside it.'),
      depth: z.int().min(1).max(5).default(2).describe('Levels to show.'),
    },
    run: (input, _context, signal) => listDirectory(input, world, signal),
  });
}

interface Node {
  readonly path: string;
  readonly label: string;
  readonly isDirectory: boolean;
  children: readonly Node[] | undefined;
  /** A note about entries that are not shown. */
  note: string | undefined;
}

async function listDirectory(
  { path, depth }: ListInput,
  world: ToolWorld,
  signal: CancelSignal,
): Promise<ToolResult> {
  const place = await locate(path, world.root);
  if (place.kind === 'free') return failed(`The directory ${path} does not exist.`);
  if (place.kind === 'refused') return failed(`${path} is ${place.why}.`);
  if (place.kind === 'file') return failed(`${path} is a file; use read.`);
  const hidesIgnored = world.isRepository && !(await isIgnored(place.path, world, signal));
  const shown = relative(world.root, place.path) || '.';
  const top: Node = {
    path: place.path,
    label: `${shown}/`,
    isDirectory: true,
    children: undefined,
    note: undefined,
  };
  let left = MAX_ENTRIES;
  const looked = { entries: 0 };
  let level: readonly Node[] = [top];
  // Level by level, so that a large nested directory does not hide its siblings.
  for (let at = 0; at < depth && level.length > 0 && left > 0 && !signal.aborted; at++) {
    const listed: Listed[] = [];
    for (const node of level) listed.push(await readNode(node, looked, signal));
    const ignored = hidesIgnored
      ? await ignoredOf(
          listed.flatMap(({ nodes }) => nodes.map((node) => node.path)),
          world,
          signal,
        )
      : new Set<string>();
    const next: Node[] = [];
    for (const [index, { nodes, why }] of listed.entries()) {
      const node = level[index];
      if (node === undefined) continue;
      const visible = nodes.filter((child) => !ignored.has(child.path));
      const room = Math.min(left, at === 0 ? MAX_ENTRIES : MAX_NESTED);
      const children = visible.slice(0, room);
      left -= children.length;
      node.children = children;
      node.note = why ?? noteOf(visible.length - children.length, nodes.length - visible.length);
      next.push(...children.filter((child) => child.isDirectory));
    }
    level = next;
  }
  return done(render(top, 0).join('\n'));
}

interface Listed {
  readonly nodes: readonly Node[];
  /** A note about them. */
  readonly why?: string;
}

/** @param looked counts the entries of one call: a stranger may create a directory of any size */
async function readNode({ path }: Node, looked: { entries: number }, signal: CancelSignal): Promise<Listed> {
  try {
    const entries: Dirent[] = [];
    let isPartial = false;
    for await (const entry of await opendir(path, { bufferSize: ENTRIES_AT_ONCE })) {
      isPartial = looked.entries >= MAX_FILES || signal.aborted;
      if (isPartial) break;
      looked.entries++;
      entries.push(entry);
    }
    const nodes = entries
      .filter(({ name }) => name !== '.git')
      .map((entry) => ({
        path: join(path, entry.name),
        label: JSON.stringify(entry.name).slice(1, -1) + markOf(entry),
        isDirectory: entry.isDirectory(),
        children: undefined,
        note: undefined,
      }));
    const sorted = nodes.toSorted((a, b) => (a.label < b.label ? -1 : 1));
    return isPartial
      ? { nodes: sorted, why: `not completely listed: ${MAX_FILES} entries at most` }
      : { nodes: sorted };
  } catch (error) {
    return { nodes: [], why: `cannot be read: ${(error as NodeJS.ErrnoException).code ?? String(error)}` };
  }
}

function markOf(entry: { isDirectory(): boolean; isSymbolicLink(): boolean; isFile(): boolean }): string {
  if (entry.isDirectory()) return '/';
  if (entry.isSymbolicLink()) return '@';
  return entry.isFile() ? '' : '=';
}

function noteOf(hidden: number, ignored: number): string | undefined {
  const notes = [
    ...(hidden > 0 ? [`${hidden} more`] : []),
    ...(ignored > 0 ? [`${ignored} ignored by git`] : []),
  ];
  return notes.length === 0 ? undefined : notes.join(', ');
}

function render({ label, children, note }: Node, indent: number): string[] {
  const blanks = '  '.repeat(indent);
  return [
    blanks + label,
    ...(children ?? []).flatMap((child) => render(child, indent + 1)),
    ...(note === undefined ? [] : [`${blanks}  [${note}]`]),
  ];
}
