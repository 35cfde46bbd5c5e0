// Parts of the conversation that are not on the path from the leaf to the root.

import type { Node } from './node.ts';
import type { Tree } from './tree.ts';

/**
 * Each block of an answer has its own line, and results of parallel calls are linked to the call they answer, so the path from
 * leaf to root passes only one of them. The others belong to the conversation just as much, and so do attachments and notices
 * that no other branch continues.
 * @param included 1 for each node of the conversation; this function sets more
 */
export function includeOffPath(tree: Tree, included: Uint8Array, isOutside: (node: Node) => boolean): void {
  includeParallel(tree, included, isOutside);
  includeTrailing(tree, included, isOutside);
}

function includeParallel({ nodes }: Tree, included: Uint8Array, isOutside: (node: Node) => boolean): void {
  const isOn = (index: number): boolean => included[index] === 1;
  const messageIds = new Set<string>();
  const unanswered = new Set<string>();
  const answered = new Set<string>();
  for (const [index, node] of nodes.entries()) {
    if (!isOn(index)) continue;
    if (node.messageId !== undefined) messageIds.add(node.messageId);
    for (const call of node.results) answered.add(call);
  }
  for (const [index, node] of nodes.entries()) {
    const isBlock = node.messageId !== undefined && messageIds.has(node.messageId) && !isOutside(node);
    if (isBlock) included[index] = 1;
    if (!isOn(index)) continue;
    for (const call of node.calls) if (!answered.has(call)) unanswered.add(call);
  }
  for (const [index, node] of nodes.entries()) {
    if (isOn(index) || isOutside(node) || !node.results.some((call) => unanswered.has(call))) continue;
    included[index] = 1;
    for (const call of node.results) unanswered.delete(call);
  }
}

function includeTrailing(tree: Tree, included: Uint8Array, isOutside: (node: Node) => boolean): void {
  const { nodes } = tree;
  const leadsElsewhere = new Uint8Array(nodes.length);
  for (let index = nodes.length - 1; index >= 0; index--) {
    const node = nodes[index];
    if (node === undefined || included[index] === 1) continue;
    const isMessage = node.kind === 'user' || node.kind === 'assistant';
    const parent = tree.indexOf(node.parent);
    if (parent !== undefined && (isMessage || leadsElsewhere[index] === 1)) leadsElsewhere[parent] = 1;
  }
  for (const [index, node] of nodes.entries()) {
    if (included[index] === 1 || leadsElsewhere[index] === 1 || node.isBoundary || isOutside(node)) continue;
    if (node.kind !== 'attachment' && node.kind !== 'system' && node.kind !== 'progress') continue;
    const parent = tree.indexOf(node.parent);
    if (parent !== undefined && included[parent] === 1) included[index] = 1;
  }
}
