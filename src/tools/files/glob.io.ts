// The tool `glob`: finds files by path patterns.

import { relative } from 'node:path';
import * as z from 'zod';
import type { CancelSignal } from '../../ports.ts';
import type { ToolResult } from '../../protocol/tool.ts';
import { locate } from '../../system/workspace.io.ts';
import { pathLine } from '../cap.ts';
import { pathMatcher } from './glob-pattern.ts';
import { listFiles, MAX_FILES } from './listing.io.ts';
import { defineTool, done, failed } from '../tool.ts';
import type { Tool } from '../tool.ts';
import type { ToolWorld } from '../world.ts';

/** Maximum number of paths in one result. @source docs/decisions/tools.md */
const MAX_PATHS = 500;

interface GlobInput {
  readonly pattern: string;
  readonly path: string;
}

/** Finds files by path, except those that git ignores. */
export function createGlobTool(world: ToolWorld): Tool<GlobInput> {
  return defineTool({
    name: 'glob',
    kind: 'read',
    description:
      'Finds files by a pattern: *, ?, [a-z], {a,b}, and ** for any directories. A pattern without / matches names at any depth. Omits files that git ignores, unless path is inside an ignored directory.',
    arguments: {
      pattern: z.string().min(1).max(1000).describe('Matches paths relative to path, e.g. src/**/*.ts'),
      path: z.string().default('.').describe('The directory to search.'),
    },
    run: (input, _context, signal) => glob(input, world, signal),
  });
}

async function glob(
  { pattern, path }: GlobInput,
  world: ToolWorld,
  signal: CancelSignal,
): Promise<ToolResult> {
  const matches = pathMatcher(pattern);
  if (matches === undefined) return failed('The pattern has too many alternatives in braces.');
  const place = await locate(path, world.root);
  if (place.kind === 'refused') return failed(`${path} is ${place.why}.`);
  if (place.kind !== 'directory') return failed(`The directory ${path} does not exist.`);
  const { paths, isPartial } = await listFiles(place.path, world, signal);
  const prefix = relative(world.root, place.path);
  const found = paths.filter((file) => matches(prefix === '' ? file : file.slice(prefix.length + 1)));
  const notes = [
    ...(found.length > MAX_PATHS
      ? [`${found.length - MAX_PATHS} more files match; narrow the pattern or the path.`]
      : []),
    ...(isPartial ? [`Only the first ${MAX_FILES} files were searched; narrow the path.`] : []),
    ...(signal.aborted ? ['The user stopped the search; there may be more.'] : []),
  ];
  if (found.length === 0 && notes.length === 0) return done(`No file matches ${pattern}.`);
  return done([...found.slice(0, MAX_PATHS).map(pathLine), ...notes.map((note) => `[${note}]`)].join('\n'));
}
