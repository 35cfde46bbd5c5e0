// What each boundary of a conversation did: a compaction, or a new list of the history.

import type { JsonObject } from '../../../protocol/item.ts';
import type { NewRefs } from '../../../protocol/record.ts';
import type { Report } from '../../reader.ts';
import { arrayAt, objectAt, stringAt } from '../../fields.ts';
import type { LineKey, Node } from './node.ts';
import { anchorIndex, isList, preservedRefs } from './preserved.ts';
import type { Tree } from './tree.ts';
import type { Way } from './walk.ts';

/** A compaction of the conversation, by its lines. */
export interface SurveyedCompaction {
  readonly summary: LineKey;
  /** The line that the kept ones follow: the summary, or a later line. */
  readonly anchor: LineKey;
  /** uuids of earlier lines that stay in the context, in order. */
  readonly keptRefs: readonly string[];
  /** The kept lines precede the summary, which replaces the end of the conversation. */
  readonly isKeptFirst: boolean;
}

/** A boundary that lists the whole history. */
export interface SurveyedList {
  /** What Baton wrote it for, if that still applies; a list of unknown purpose is a compaction. */
  readonly as: 'undo' | 'micro' | 'compaction';
  readonly keptRefs: readonly string[];
  /** The last of its lines: the boundary itself, or a listed line after it. */
  readonly until: LineKey;
}

/** The boundaries of a conversation, each by its key. */
export interface SurveyedBoundaries {
  readonly compactions: ReadonlyMap<LineKey, SurveyedCompaction>;
  readonly lists: ReadonlyMap<LineKey, SurveyedList>;
  /** Lines that repeat others of the conversation, for Claude Code only. */
  readonly copies: ReadonlySet<LineKey>;
}

/** The id by which an undo refers to a boundary's change. */
export function changeIdOf({
  uuid,
  line,
}: {
  readonly uuid: string | undefined;
  readonly line: number;
}): string {
  return uuid ?? `line-${line}`;
}

/** Baton's notes about a list that it wrote. */
export function listNotes(metadata: JsonObject): {
  readonly undo: string | undefined;
  readonly micro: JsonObject | undefined;
  readonly newRefs: NewRefs;
  /** uuids of all lines that only repeat others. */
  readonly copies: readonly string[];
} {
  const baton = objectAt(metadata, 'baton') ?? {};
  const newRefs: [string, string][] = [];
  const copies: string[] = [];
  for (const pair of arrayAt(baton, 'copies')) {
    const [from, to] = Array.isArray(pair) ? (pair as readonly unknown[]) : [];
    if (typeof to !== 'string') continue;
    copies.push(to);
    if (typeof from === 'string') newRefs.push([from, to]);
  }
  return { undo: stringAt(baton, 'undo'), micro: objectAt(baton, 'micro'), newRefs, copies };
}

/**
 * Reads the boundaries on a path, oldest first: whether an undo applies depends on what is in force.
 * @param way receives the lines that boundaries keep
 */
export function surveyBoundaries(tree: Tree, way: Way, report: Report): SurveyedBoundaries {
  const compactions = new Map<LineKey, SurveyedCompaction>();
  const lists = new Map<LineKey, SurveyedList>();
  const copies = new Set<LineKey>();
  const inForce: string[] = [];
  for (const { index, below } of way.boundaries.toReversed()) {
    const node = tree.nodes[index];
    if (node === undefined) continue;
    const keptRefs = way.cuts.get(index) ?? preservedRefs(tree, node);
    const summary = below === undefined ? undefined : tree.nodes[below];
    const isListed = isList(node);
    if (isListed && summary?.isSummary !== true) {
      const list = readList(node, { tree, keptRefs, isCut: way.cuts.has(index), newest: inForce.at(-1) });
      lists.set(node.key, list);
      if (list.as === 'undo') inForce.pop();
      else inForce.push(changeIdOf(node));
      if (list.as === 'compaction') include(tree, way, list.keptRefs);
      else for (const uuid of listNotes(node.metadata ?? {}).copies) addKey(copies, tree.byUuid(uuid));
      continue;
    }
    if (summary?.kind !== 'user' || summary.results.length > 0) {
      const message = 'A compaction without a summary; ignored, as Claude Code does';
      report({ line: node.line, kind: 'wrong_shape', message, lost: false });
      continue;
    }
    include(tree, way, keptRefs);
    const anchor = anchorKey(tree, node, summary);
    compactions.set(node.key, { summary: summary.key, anchor, keptRefs, isKeptFirst: isListed });
    inForce.push(changeIdOf(node));
  }
  return { compactions, lists, copies };
}

interface ListContext {
  readonly tree: Tree;
  readonly keptRefs: readonly string[];
  /** The conversation continues from inside the list. */
  readonly isCut: boolean;
  /** The newest change in force. */
  readonly newest: string | undefined;
}

function readList(node: Node, { tree, keptRefs, isCut, newest }: ListContext): SurveyedList {
  const { undo, micro } = listNotes(node.metadata ?? {});
  if (!isCut && undo !== undefined && undo === newest) return { as: 'undo', keptRefs, until: node.key };
  if (!isCut && micro !== undefined) return { as: 'micro', keptRefs, until: node.key };
  const keys = keptRefs.map((uuid) => tree.byUuid(uuid)?.key ?? 0);
  return { as: 'compaction', keptRefs, until: keys.reduce((a, b) => Math.max(a, b), node.key) };
}

function addKey(keys: Set<LineKey>, node: Node | undefined): void {
  if (node !== undefined) keys.add(node.key);
}

/** Lines that a boundary names stay in the context, even if the path from the leaf misses them. */
function include(tree: Tree, { included }: Way, refs: readonly string[]): void {
  for (const uuid of refs) {
    const index = tree.indexOf(uuid);
    if (index !== undefined) included[index] = 1;
  }
}

function anchorKey(tree: Tree, boundary: Node, summary: Node): LineKey {
  const index = anchorIndex(tree, boundary);
  const anchor = index === undefined ? undefined : tree.nodes[index];
  return anchor !== undefined && anchor.key > summary.key ? anchor.key : summary.key;
}
