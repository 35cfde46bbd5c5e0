// The path from the leaf to the root: the conversation, except for the lines beside it from parallel calls.

import type { Report } from '../../reader.ts';
import type { Node } from './node.ts';
import { isCutAt, isList, relinkBetween } from './preserved.ts';
import type { KeptLine, Relinks } from './preserved.ts';
import type { Tree } from './tree.ts';

/** A boundary on the path, and the message below it if one comes before the next boundary. */
export interface OnWay {
  readonly index: number;
  readonly below: number | undefined;
}

/** The result of a walk. */
export interface Way {
  /** 1 for each node on the path. */
  readonly included: Uint8Array;
  /** Newest first. */
  readonly boundaries: readonly OnWay[];
  /** Lines whose link was not followed because it led back to the path itself. */
  readonly unlinked: ReadonlySet<number>;
  /** What boundaries keep, by their position, if the conversation continues from inside the kept lines. */
  readonly cuts: ReadonlyMap<number, readonly string[]>;
}

/** The input of a walk. */
export interface Terrain {
  readonly tree: Tree;
  readonly leaf: number | undefined;
  readonly relinks: Relinks;
  /** Lines that do not belong to this conversation, whatever links to them. */
  readonly isOutside: (node: Node) => boolean;
  readonly report: Report;
}

/** Walks from the leaf to the root, with a note on each guessed link. */
export function walkToRoot(terrain: Terrain): Way {
  return new TreeWalk(terrain).toRoot();
}

class TreeWalk {
  readonly #terrain: Terrain;
  readonly #included: Uint8Array;
  readonly #unlinked = new Set<number>();
  readonly #cuts = new Map<number, KeptLine>();
  /** For each line, a line at or before it with nothing usable in between: shortens as lines are used up. */
  readonly #earlier: Int32Array;

  constructor(terrain: Terrain) {
    this.#terrain = terrain;
    this.#included = new Uint8Array(terrain.tree.nodes.length);
    this.#earlier = Int32Array.from(terrain.tree.nodes, (_, index) => index - 1);
  }

  toRoot(): Way {
    const { tree, leaf } = this.#terrain;
    const boundaries: OnWay[] = [];
    let below: number | undefined;
    // The next appended line will come after every boundary.
    let index = leaf === undefined ? undefined : this.#relinked(tree.nodes.length, leaf);
    while (index !== undefined) {
      const node = tree.nodes[index];
      if (node === undefined) break;
      this.#included[index] = 1;
      const parent = this.#parentOf(index, node);
      if (node.isBoundary) {
        boundaries.push({ index, below });
        below = undefined;
      }
      if (node.kind === 'user' || node.kind === 'assistant') below = index;
      index = parent;
    }
    const cuts = new Map<number, readonly string[]>();
    for (const [boundary, { relink, position }] of this.#cuts)
      cuts.set(boundary, relink.refs.slice(0, position + 1));
    return { included: this.#included, boundaries, unlinked: this.#unlinked, cuts };
  }

  #parentOf(index: number, node: Node): number | undefined {
    const link = linkOf(node);
    const linked = this.#terrain.tree.indexOf(link);
    const parent = linked === undefined ? undefined : this.#relinked(index, linked);
    if (parent !== undefined && this.#included[parent] === 0) return parent;
    if (parent !== undefined) {
      this.#unlinked.add(index);
      this.#terrain.report({
        line: node.line,
        kind: 'parent_cycle',
        message: 'A chain of parents leads back to itself; reading continues in line order',
        lost: false,
      });
      return this.#lineBefore(index);
    }
    if (node.isBoundary) return this.#lineBefore(index);
    if (node.isSummary) {
      return this.#boundaryBefore(index) ?? (link === null ? undefined : this.#lineBefore(index));
    }
    return link === null ? undefined : this.#lineBefore(index);
  }

  /** Claude Code moves the lines that a boundary keeps after it; links to them lead to their new place. */
  #relinked(from: number, to: number): number {
    const { tree, relinks } = this.#terrain;
    const uuid = tree.nodes[to]?.uuid;
    const kept = relinkBetween(relinks, from, { index: to, uuid });
    if (kept === undefined) return to;
    if (isCutAt(kept)) this.#cuts.set(kept.relink.boundary, kept);
    return kept.relink.anchor;
  }

  /** The nearest earlier line that a broken link may have meant. */
  #lineBefore(index: number): number | undefined {
    let found = index - 1;
    while (found >= 0 && !this.#isUsable(found)) found = this.#earlier[found] ?? -1;
    // Makes the next search a single step: otherwise a file of cycles would be walked once per line.
    for (let at = index - 1; at > found;) {
      const next = this.#earlier[at] ?? -1;
      this.#earlier[at] = found;
      at = next;
    }
    return found < 0 ? undefined : found;
  }

  #isUsable(index: number): boolean {
    const { tree, isOutside } = this.#terrain;
    const node = tree.nodes[index];
    return node !== undefined && this.#included[index] === 0 && node.kind !== 'progress' && !isOutside(node);
  }

  #boundaryBefore(index: number): number | undefined {
    for (let earlier = index - 1; earlier >= 0; earlier--) {
      const node = this.#terrain.tree.nodes[earlier];
      if (node?.isBoundary === true) return earlier;
      if (node?.kind === 'user' || node?.kind === 'assistant') return undefined;
    }
    return undefined;
  }
}

function linkOf(node: Node): string | null | undefined {
  return node.isBoundary ? (node.logicalParent ?? node.parent ?? undefined) : node.parent;
}

/** Notes on broken and unexpected links in the whole file. */
export function noteStrayLinks({ tree, isOutside, report }: Terrain, unlinked: ReadonlySet<number>): void {
  const continued = continuedBoundaries(tree);
  let isFirst = true;
  for (const [index, node] of tree.nodes.entries()) {
    if (node.kind === 'progress' || isOutside(node)) continue;
    const note = (kind: 'dangling_parent' | 'wrong_shape', message: string): void =>
      report({ line: node.line, kind, message, lost: false });
    if (node.isBoundary && !isList(node) && tree.nodes[index + 1]?.isSummary !== true) {
      if (node.uuid === undefined || !continued.has(node.uuid)) {
        note('wrong_shape', 'A compaction without following lines; ignored, as Claude Code does');
      }
    }
    const link = node.isBoundary ? (node.logicalParent ?? node.parent) : node.parent;
    const parent = tree.indexOf(link);
    if (typeof link === 'string' && parent === undefined) note('dangling_parent', danglingMessage(isFirst));
    else if (parent !== undefined && parent > index && !unlinked.has(index)) {
      note('wrong_shape', 'A line before its parent; read after it');
    } else if (link === null && !isFirst && isStrayRoot(node)) {
      note('dangling_parent', 'Another root: earlier lines belong to another branch');
    }
    isFirst = false;
  }
}

/** Boundaries that a later line names as its parent. */
function continuedBoundaries(tree: Tree): ReadonlySet<string> {
  const continued = new Set<string>();
  const seen = new Set<string>();
  for (const { uuid, parent, isBoundary } of tree.nodes) {
    if (isBoundary && uuid !== undefined) seen.add(uuid);
    if (typeof parent === 'string' && seen.has(parent)) continued.add(parent);
  }
  return continued;
}

function danglingMessage(isFirst: boolean): string {
  return isFirst
    ? 'The file starts in the middle of a session: the parent of its first line is not in it'
    : 'The parent is not in this file; the line is read after the previous one';
}

/** Summaries and boundaries are roots by design, and name their origin. */
function isStrayRoot(node: Node): boolean {
  return !node.isBoundary && !node.isSummary && node.logicalParent === undefined;
}
