// Which earlier lines a boundary keeps, and where it puts them.

import type { JsonObject } from '../../../protocol/item.ts';
import { objectAt, stringAt, stringsAt } from '../../fields.ts';
import type { Node } from './node.ts';
import type { Tree } from './tree.ts';

/** Whether a boundary states which lines it keeps, even if none. Claude Code reads past those that do not. */
export function statesPreserved({ metadata = {} }: Node): boolean {
  return keptMetadata(metadata) !== undefined;
}

/**
 * Whether a boundary lists the whole history: it lists lines and anchors them at itself.
 * @source docs/real-tools.md, "A boundary that lists its history"
 */
export function isList({ uuid, metadata }: Pick<Node, 'uuid' | 'metadata'>): boolean {
  const messages = objectAt(metadata ?? {}, 'preservedMessages');
  if (uuid === undefined || messages === undefined) return false;
  return stringAt(messages, 'anchorUuid') === uuid && stringsAt(messages, 'uuids').length > 0;
}

/** The line that the kept ones follow, according to the boundary; undefined if it names none, or none in the file. */
export function anchorIndex(tree: Tree, { metadata = {} }: Node): number | undefined {
  const kept = keptMetadata(metadata);
  return kept === undefined ? undefined : tree.indexOf(stringAt(kept, 'anchorUuid'));
}

/** uuids of the lines that a boundary keeps, in order; skips those that are not in the file. */
export function preservedRefs(tree: Tree, node: Node): readonly string[] {
  const { metadata = {} } = node;
  return tree.kept.of(node, () => {
    const messages = objectAt(metadata, 'preservedMessages');
    const named = messages === undefined ? segment(tree, metadata) : stringsAt(messages, 'uuids');
    return named.filter((uuid) => {
      const line = tree.byUuid(uuid);
      return line !== undefined && line.kind !== 'progress';
    });
  });
}

function keptMetadata(metadata: JsonObject): JsonObject | undefined {
  return objectAt(metadata, 'preservedMessages') ?? objectAt(metadata, 'preservedSegment');
}

/** Everything on the path up from the tail of a segment to its head. */
function segment(tree: Tree, metadata: JsonObject): readonly string[] {
  const ends = objectAt(metadata, 'preservedSegment') ?? {};
  const head = stringAt(ends, 'headUuid');
  let uuid = stringAt(ends, 'tailUuid');
  const refs: string[] = [];
  const seen = new Set<string>();
  while (uuid !== undefined && !seen.has(uuid)) {
    seen.add(uuid);
    refs.push(uuid);
    if (uuid === head) return refs.toReversed();
    uuid = tree.byUuid(uuid)?.parent ?? undefined;
  }
  // The path up from the tail never met the head: the segment is invalid.
  return [];
}

/** A boundary that redirects links: a line linked to a kept one continues from the boundary's anchor. */
export interface Relink {
  readonly boundary: number;
  readonly anchor: number;
  readonly refs: readonly string[];
  /** The position of the last prompt in `refs`; -1 without one. */
  readonly lastPrompt: number;
}

/** A line that a boundary keeps, with its last position among them. */
export interface KeptLine {
  readonly relink: Relink;
  readonly position: number;
}

/** The redirecting boundaries of a file by the uuids of the lines that they keep, newest first. */
export type Relinks = ReadonlyMap<string, readonly KeptLine[]>;

/** Finds the redirecting boundaries of a file. */
export function relinksOf(tree: Tree): Relinks {
  const relinks = new Map<string, KeptLine[]>();
  for (let boundary = tree.nodes.length - 1; boundary >= 0; boundary--) {
    const node = tree.nodes[boundary];
    if (node?.isBoundary !== true) continue;
    const anchor = anchorIndex(tree, node);
    const refs = preservedRefs(tree, node);
    if (anchor === undefined || anchor < boundary || refs.length === 0) continue;
    const relink = { boundary, anchor, refs, lastPrompt: refs.findLastIndex((ref) => isPrompt(tree, ref)) };
    for (const [uuid, position] of new Map(refs.map((ref, at) => [ref, at]))) {
      const group = relinks.get(uuid);
      if (group === undefined) relinks.set(uuid, [{ relink, position }]);
      else group.push({ relink, position });
    }
  }
  return relinks;
}

/** The redirecting boundary between a line and the one that it is linked to, if there is one. */
export function relinkBetween(
  relinks: Relinks,
  from: number,
  to: { readonly index: number; readonly uuid: string | undefined },
): KeptLine | undefined {
  const { index, uuid } = to;
  if (uuid === undefined) return undefined;
  return relinks.get(uuid)?.find(({ relink }) => relink.anchor < from && index < relink.boundary);
}

/**
 * Whether a conversation that continues from a kept line abandons later ones. Only a rewind does: results of parallel calls may
 * come in any order, but a rewind always removes a prompt.
 */
export function isCutAt({ relink, position }: KeptLine): boolean {
  return position < relink.lastPrompt;
}

function isPrompt(tree: Tree, ref: string): boolean {
  const node = tree.byUuid(ref);
  return node?.kind === 'user' && node.results.length === 0;
}
