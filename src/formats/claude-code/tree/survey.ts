// The first pass over a Claude Code session: which lines are the conversation. Lines form a tree by uuid and parentUuid; the
// conversation is the path from the leaf to the root, and the lines that parallel tool calls put beside that path.

import type { JsonObject } from '../../../protocol/item.ts';
import type { LineAt, LineReader, Report } from '../../reader.ts';
import { includeOffPath } from './parallel-lines.ts';
import { surveyBoundaries } from './boundaries.ts';
import type { SurveyedBoundaries } from './boundaries.ts';
import { countAt, stringAt } from '../../fields.ts';
import { LINKED_KINDS, nodeOf } from './node.ts';
import type { LineKey, Node } from './node.ts';
import { isList, relinksOf, statesPreserved } from './preserved.ts';
import { mergeSurroundings } from '../tail.ts';
import type { ClaudeTail, SessionFields } from '../tail.ts';
import { Tree } from './tree.ts';
import { noteStrayLinks, walkToRoot } from './walk.ts';
import type { Terrain, Way } from './walk.ts';

/** What the second pass needs from the first. Values in none of the sets are the conversation. */
export interface ClaudeSurvey extends SurveyedBoundaries {
  readonly abandoned: ReadonlySet<LineKey>;
  readonly subagent: ReadonlySet<LineKey>;
  /** Lines before their parent, with the key of the parent. */
  readonly early: ReadonlyMap<LineKey, LineKey>;
  readonly tail: ClaudeTail;
}

/** The first pass. `accept` takes whole and skimmed values (`skimLine`) alike. */
export class ClaudeSurveyor implements LineReader {
  readonly #report: Report;
  readonly #tree: Tree;
  readonly #duplicates = new Set<LineKey>();
  #leaf: number | undefined;
  /** The leaf and the non-message lines below it. */
  readonly #tips = new Set<string>();
  #surroundings: SessionFields = {};
  #survey: ClaudeSurvey | undefined;

  constructor(report: Report) {
    this.#report = report;
    this.#tree = new Tree(report);
  }

  accept(value: JsonObject, at: LineAt): void {
    const kind = LINKED_KINDS.find((each) => each === value['type']);
    if (kind !== undefined) this.#acceptLinked(nodeOf(value, kind, at), value);
    else if (value['type'] === 'last-prompt') this.#acceptLastPrompt(value);
  }

  end(): void {
    this.#survey = this.#conclude();
  }

  /** @throws RangeError before `end` was called. */
  result(): ClaudeSurvey {
    if (this.#survey === undefined) throw new RangeError('The survey has not ended');
    return this.#survey;
  }

  #acceptLinked(node: Node, value: JsonObject): void {
    if (!this.#tree.add(node)) {
      this.#duplicates.add(node.key);
      const message = 'Another line has this id; only the earlier one is read';
      this.#report({ line: node.line, kind: 'duplicate_id', message, lost: false });
      return;
    }
    if (node.isSidechain) return;
    this.#surroundings = mergeSurroundings(this.#surroundings, value);
    this.#moveLeaf(node);
  }

  /**
   * The newest user or assistant line is the leaf, whatever branch it continues, because the user continued there; so is a
   * boundary that lists the history. Other lines move the leaf only along its own branch.
   */
  #moveLeaf(node: Node): void {
    const isNewest = node.kind === 'user' || node.kind === 'assistant' || isList(node);
    const continues = typeof node.parent === 'string' && this.#tips.has(node.parent);
    if (!isNewest && !continues) return;
    if (isNewest) this.#tips.clear();
    if (node.uuid !== undefined) this.#tips.add(node.uuid);
    if (node.kind !== 'progress') this.#leaf = this.#tree.nodes.length - 1;
  }

  /** Measured with the real tool: a `last-prompt` makes its leaf the leaf, even on an abandoned branch. */
  #acceptLastPrompt(value: JsonObject): void {
    const uuid = stringAt(value, 'leafUuid');
    const index = this.#tree.indexOf(uuid);
    if (uuid === undefined || index === undefined) return;
    this.#leaf = index;
    this.#tips.clear();
    this.#tips.add(uuid);
  }

  #conclude(): ClaudeSurvey {
    const tree = this.#tree;
    const { nodes } = tree;
    // A subagent's own file contains only a side chain, which is the conversation there.
    const isAllSide = nodes.every((node) => node.isSidechain || node.kind === 'progress');
    const isOutside = (node: Node): boolean => node.isSidechain && !isAllSide;
    const leaf = isAllSide || this.#leaf === undefined ? lastLine(nodes, isOutside) : this.#leaf;
    const terrain: Terrain = { tree, leaf, relinks: relinksOf(tree), isOutside, report: this.#report };
    const way = walkToRoot(terrain);
    noteStrayLinks(terrain, way.unlinked);
    includeOffPath(tree, way.included, isOutside);
    const boundaries = surveyBoundaries(tree, way, this.#report);
    const abandoned = new Set(this.#duplicates);
    const subagent = new Set<LineKey>();
    for (const [index, node] of nodes.entries()) {
      if (isOutside(node)) subagent.add(node.key);
      else if (way.included[index] === 0 && node.kind !== 'progress') abandoned.add(node.key);
    }
    return {
      ...boundaries,
      abandoned,
      subagent,
      early: earlyLines(tree, way),
      tail: this.#tail(way, leaf),
    };
  }

  #tail({ boundaries, included }: Way, leaf: number | undefined): ClaudeTail {
    const { nodes } = this.#tree;
    const dropped = boundaries.flatMap(({ index }) => {
      const count = countAt(nodes[index]?.metadata ?? {}, 'cumulativeDroppedTokens');
      return count === undefined ? [] : [count];
    });
    const bare = nodes.findLast((node) => node.isBoundary && !statesPreserved(node));
    return {
      ...this.#surroundings,
      uuid: (leaf === undefined ? undefined : nodes[leaf]?.uuid) ?? null,
      cumulativeDroppedTokens: dropped[0] ?? 0,
      ...(bare === undefined ? {} : { bareBoundaryLine: bare.line }),
      attachments: attachmentsOf(nodes, included),
    };
  }
}

/** The end of a file without messages, or of a subagent alone. */
function lastLine(nodes: readonly Node[], isOutside: (node: Node) => boolean): number | undefined {
  const index = nodes.findLastIndex((node) => node.kind !== 'progress' && !isOutside(node));
  return index === -1 ? undefined : index;
}

function earlyLines(tree: Tree, { included, unlinked }: Way): Map<LineKey, LineKey> {
  const early = new Map<LineKey, LineKey>();
  for (const [index, node] of tree.nodes.entries()) {
    if (included[index] === 0 || unlinked.has(index) || node.isBoundary) continue;
    const parent = tree.indexOf(node.parent);
    const key = parent === undefined || included[parent] === 0 ? undefined : tree.nodes[parent]?.key;
    if (key !== undefined && key > node.key) early.set(node.key, key);
  }
  return early;
}

function attachmentsOf(nodes: readonly Node[], included: Uint8Array): ReadonlyMap<string, readonly string[]> {
  const attachments = new Map<string, string[]>();
  for (const [index, { kind, uuid, parent }] of nodes.entries()) {
    if (kind !== 'attachment' || included[index] === 0) continue;
    if (uuid === undefined || typeof parent !== 'string') continue;
    const group = attachments.get(parent);
    if (group === undefined) attachments.set(parent, [uuid]);
    else group.push(uuid);
  }
  return attachments;
}
