// Golden summaries: text files that a change of the summarizer shows in its diff, for people to read.

import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Whether this run writes the goldens instead of comparing them. */
export function writesGoldens(environment: NodeJS.ProcessEnv): boolean {
  return environment['BATON_GOLDEN'] === 'write';
}

/** The file of a golden summary, below the root of the repository. */
export function goldenPath(name: string, size: number): string {
  return join('test', 'summaries', 'golden', name, `${size / 1_000}k.txt`);
}

/** Writes a golden summary. */
export function writeGolden(root: string, path: string, summary: string): void {
  const file = join(root, path);
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, `${summary}\n`);
}

/** What is wrong with a golden file: a sentence, or undefined. */
export function goldenFault(root: string, path: string, summary: string): string | undefined {
  const file = join(root, path);
  if (!existsSync(file)) return `${path} is missing`;
  const rows = readFileSync(file, 'utf8').split('\n');
  const fresh = `${summary}\n`.split('\n');
  const at = fresh.findIndex((row, index) => row !== rows[index]);
  if (at < 0 && rows.length === fresh.length) return undefined;
  const line = at < 0 ? fresh.length : at + 1;
  return `${path}:${line} differs: ${JSON.stringify(rows[line - 1] ?? '')} is now ${JSON.stringify(fresh[line - 1] ?? '')}`;
}

/** Golden folders of stories that are gone. */
export function orphanedGoldens(root: string, names: readonly string[]): readonly string[] {
  const folder = join(root, 'test', 'summaries', 'golden');
  return existsSync(folder) ? readdirSync(folder).filter((name) => !names.includes(name)) : [];
}

/** Removes the golden folder of a story that is gone. */
export function removeGolden(root: string, name: string): void {
  rmSync(join(root, 'test', 'summaries', 'golden', name), { recursive: true });
}
