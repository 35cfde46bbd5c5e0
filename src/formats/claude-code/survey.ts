// The first pass over a Claude Code session: which lines are the conversation. Lines form a tree by uuid and parentUuid; the
// conversation is the way from the leaf to the root, and what parallel tool calls put beside that way.

import type { JsonObject } from '../../protocol/item.ts';
import type { LineAt, LineReader, Report } from '../reader.ts';
import { countAt, objectAt, stringAt, stringsAt } from '../fields.ts';
import { LINKED_KINDS, nodeOf } from './node.ts';
import type { LineKey, Node } from './node.ts';

/** What of a file is needed to append to it. */
export interface ClaudeTail {
  /** The uuid of the leaf; null when the file holds no conversation. */
  readonly uuid: string | null;
  readonly sessionId?: string;
  readonly cwd?: string;
  readonly version?: string;
  readonly gitBranch?: string;
  readonly userType?: string;
  readonly entrypoint?: string;
  readonly slug?: string;
  /** Sum that the newest boundary of the conversation states; 0 where none does. */
  readonly cumulativeDroppedTokens: number;
}

/** A compaction of the conversation, by the lines that make it up. */
export interface SurveyedCompaction {
  /** uuid of the boundary, where it has one. */
  readonly uuid: string | undefined;
  /** uuid of the line that the conversation had come to; to continue it is to undo. */
  readonly before: string | undefined;
  readonly summary: LineKey;
  /** The line after which the kept ones follow: the summary, or a later line. */
  readonly anchor: LineKey;
  /** uuids of earlier lines that stay in the context, in order. */
  readonly keptRefs: readonly string[];
}

/** What the first pass knows and the second needs. Values in none of the sets are the conversation. */
export interface ClaudeSurvey {
  readonly abandoned: ReadonlySet<LineKey>;
  readonly subagent: ReadonlySet<LineKey>;
  /** By the key of the boundary. */
  readonly compactions: ReadonlyMap<LineKey, SurveyedCompaction>;
  /** Lines that stand before their parent, with the key of the parent. */
  readonly early: ReadonlyMap<LineKey, LineKey>;
  readonly tail: ClaudeTail;
}

/** A boundary on the way from leaf to root, with the message below it and the line above it. */
interface OnWay {
  readonly index: number;
  readonly below: number | undefined;
  readonly before: number | undefined;
}

/** The first pass. `accept` takes whole values or skimmed ones (`skimLine`) alike. */
export class ClaudeSurveyor implements LineReader {
  readonly #report: Report;
  readonly #nodes: Node[] = [];
  readonly #indexOf = new Map<string, number>();
  readonly #duplicates = new Set<LineKey>();
  /** Boundaries that a later line names as its parent. */
  readonly #continued = new Set<string>();
  readonly #boundaryIds = new Set<string>();
  /** Lines whose link was not followed because it led back to the conversation itself. */
  readonly #unlinked = new Set<number>();
  #leaf: number | undefined;
  /** The leaf and the lines hung below it that are no messages. */
  readonly #tips = new Set<string>();
  #facts: Omit<ClaudeTail, 'uuid' | 'cumulativeDroppedTokens'> = {};
  #survey: ClaudeSurvey | undefined;

  constructor(report: Report) {
    this.#report = report;
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
    if (node.uuid !== undefined) {
      if (this.#indexOf.has(node.uuid)) {
        this.#duplicates.add(node.key);
        this.#note(node, 'duplicate_id', 'An id that an earlier line has; the earlier one is read');
        return;
      }
      this.#indexOf.set(node.uuid, this.#nodes.length);
    }
    this.#nodes.push(node);
    if (node.isBoundary && node.uuid !== undefined) this.#boundaryIds.add(node.uuid);
    if (typeof node.parent === 'string' && this.#boundaryIds.has(node.parent))
      this.#continued.add(node.parent);
    if (node.isSidechain) return;
    this.#facts = mergeFacts(this.#facts, value);
    this.#moveLeaf(node);
  }

  /**
   * The newest user or assistant line is the leaf, whatever branch it continues, because that is where the user went
   * on; other lines move the leaf only along its own branch.
   */
  #moveLeaf(node: Node): void {
    const isMessage = node.kind === 'user' || node.kind === 'assistant';
    const continues = typeof node.parent === 'string' && this.#tips.has(node.parent);
    if (!isMessage && !continues) return;
    if (isMessage) this.#tips.clear();
    if (node.uuid !== undefined) this.#tips.add(node.uuid);
    if (node.kind !== 'progress') this.#leaf = this.#nodes.length - 1;
  }

  /** Measured with the real tool: a `last-prompt` makes its leaf the leaf, even of a branch that was left. */
  #acceptLastPrompt(value: JsonObject): void {
    const uuid = stringAt(value, 'leafUuid');
    const index = uuid === undefined ? undefined : this.#indexOf.get(uuid);
    if (uuid === undefined || index === undefined) return;
    this.#leaf = index;
    this.#tips.clear();
    this.#tips.add(uuid);
  }

  #note(
    node: Node,
    kind: 'duplicate_id' | 'dangling_parent' | 'parent_cycle' | 'wrong_shape',
    message: string,
  ) {
    this.#report({ line: node.line, kind, message, lost: false });
  }

  #conclude(): ClaudeSurvey {
    const nodes = this.#nodes;
    // A subagent's own file holds nothing but a side chain; there it is the conversation.
    const isAllSide = nodes.every((node) => node.isSidechain || node.kind === 'progress');
    if (isAllSide || this.#leaf === undefined) {
      this.#leaf = nodes.findLastIndex(
        (node) => node.kind !== 'progress' && (isAllSide || !node.isSidechain),
      );
    }
    const isOutside = (node: Node): boolean => node.isSidechain && !isAllSide;
    const { included, boundaries } = this.#walk(isOutside);
    this.#includeParallel(included, isOutside);
    const compactions = this.#compactions(boundaries, included);
    const abandoned = new Set(this.#duplicates);
    const subagent = new Set<LineKey>();
    for (const [index, node] of nodes.entries()) {
      if (isOutside(node)) subagent.add(node.key);
      else if (included[index] === 0 && node.kind !== 'progress') abandoned.add(node.key);
    }
    return { abandoned, subagent, compactions, early: this.#early(included), tail: this.#tail(boundaries) };
  }

  /** Marks the way from the leaf to the root; tells the boundaries on it, newest first, with the message below each. */
  #walk(isOutside: (node: Node) => boolean): {
    included: Uint8Array;
    boundaries: OnWay[];
  } {
    const nodes = this.#nodes;
    const included = new Uint8Array(nodes.length);
    const boundaries: OnWay[] = [];
    const before = this.#linePredecessor(included, isOutside);
    let below: number | undefined;
    let index = this.#leaf;
    while (index !== undefined) {
      const node = nodes[index];
      if (node === undefined) break;
      included[index] = 1;
      const parent = this.#parentOf(index, node, { included, before });
      if (node.isBoundary) boundaries.push({ index, below, before: parent });
      if (node.kind === 'user' || node.kind === 'assistant') below = index;
      index = parent;
    }
    this.#noteStrayLinks(isOutside);
    return { included, boundaries };
  }

  #parentOf(
    index: number,
    node: Node,
    { included, before }: { included: Uint8Array; before: (index: number) => number | undefined },
  ): number | undefined {
    const link = node.isBoundary ? (node.logicalParent ?? node.parent ?? undefined) : node.parent;
    const parent = typeof link === 'string' ? this.#indexOf.get(link) : undefined;
    if (parent !== undefined && included[parent] === 0) return parent;
    if (parent !== undefined) {
      this.#unlinked.add(index);
      this.#note(node, 'parent_cycle', 'A chain of parents that leads back to itself; read on by line order');
      return before(index);
    }
    if (node.isBoundary) return before(index);
    if (node.isSummary) return this.#boundaryBefore(index) ?? (link === null ? undefined : before(index));
    return link === null ? undefined : before(index);
  }

  /** The nearest earlier line that can be what a lost link meant. */
  #linePredecessor(included: Uint8Array, isOutside: (node: Node) => boolean) {
    return (index: number): number | undefined => {
      for (let earlier = index - 1; earlier >= 0; earlier--) {
        const node = this.#nodes[earlier];
        if (node === undefined || included[earlier] === 1) continue;
        if (node.kind !== 'progress' && !isOutside(node)) return earlier;
      }
      return undefined;
    };
  }

  #boundaryBefore(index: number): number | undefined {
    for (let earlier = index - 1; earlier >= 0; earlier--) {
      const node = this.#nodes[earlier];
      if (node?.isBoundary === true) return earlier;
      if (node?.kind === 'user' || node?.kind === 'assistant') return undefined;
    }
    return undefined;
  }

  #noteStrayLinks(isOutside: (node: Node) => boolean): void {
    let isFirst = true;
    for (const [index, node] of this.#nodes.entries()) {
      if (node.kind === 'progress' || isOutside(node)) continue;
      if (node.isBoundary && !this.#hasSuccessor(index, node)) {
        this.#note(node, 'wrong_shape', 'A compaction that nothing follows; ignored, as Claude Code does');
      }
      const link = node.isBoundary ? (node.logicalParent ?? node.parent) : node.parent;
      const parent = typeof link === 'string' ? this.#indexOf.get(link) : undefined;
      if (typeof link === 'string' && parent === undefined) {
        this.#note(node, 'dangling_parent', danglingMessage(isFirst));
      } else if (parent !== undefined && parent > index && !this.#unlinked.has(index)) {
        this.#note(node, 'wrong_shape', 'A line that stands before its parent; read after it');
      } else if (link === null && !isFirst && isStrayRoot(node)) {
        this.#note(node, 'dangling_parent', 'Another root: what stands before it belongs to another branch');
      }
      isFirst = false;
    }
  }

  /** Whether anything continues a boundary: the line after it, or any that names it. */
  #hasSuccessor(index: number, boundary: Node): boolean {
    if (this.#nodes[index + 1]?.isSummary === true) return true;
    return boundary.uuid !== undefined && this.#continued.has(boundary.uuid);
  }

  /**
   * Each block of an answer has a line of its own, and results of parallel calls hang below the call they answer, so
   * the way from leaf to root passes only one of them. The others belong to the conversation just as much.
   */
  #includeParallel(included: Uint8Array, isOutside: (node: Node) => boolean): void {
    const nodes = this.#nodes;
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
    this.#includeTrailing(included, isOutside);
  }

  /** Attachments and notices hung on the conversation that no other branch continues are part of it too. */
  #includeTrailing(included: Uint8Array, isOutside: (node: Node) => boolean): void {
    const nodes = this.#nodes;
    const parentIndex = (node: Node): number | undefined =>
      typeof node.parent === 'string' ? this.#indexOf.get(node.parent) : undefined;
    const leadsElsewhere = new Uint8Array(nodes.length);
    for (let index = nodes.length - 1; index >= 0; index--) {
      const node = nodes[index];
      if (node === undefined || included[index] === 1) continue;
      const isMessage = node.kind === 'user' || node.kind === 'assistant';
      const parent = parentIndex(node);
      if (parent !== undefined && (isMessage || leadsElsewhere[index] === 1)) leadsElsewhere[parent] = 1;
    }
    for (const [index, node] of nodes.entries()) {
      if (included[index] === 1 || leadsElsewhere[index] === 1 || node.isBoundary || isOutside(node))
        continue;
      if (node.kind !== 'attachment' && node.kind !== 'system' && node.kind !== 'progress') continue;
      const parent = parentIndex(node);
      if (parent !== undefined && included[parent] === 1) included[index] = 1;
    }
  }

  #compactions(boundaries: readonly OnWay[], included: Uint8Array): Map<LineKey, SurveyedCompaction> {
    const found = new Map<LineKey, SurveyedCompaction>();
    for (const { index, below, before } of boundaries) {
      const boundary = this.#nodes[index];
      const summary = below === undefined ? undefined : this.#nodes[below];
      if (boundary === undefined) continue;
      if (summary?.kind !== 'user' || summary.results.length > 0) {
        this.#note(boundary, 'wrong_shape', 'A compaction without a summary; ignored, as Claude Code does');
        continue;
      }
      found.set(boundary.key, {
        uuid: boundary.uuid,
        before: before === undefined ? undefined : this.#nodes[before]?.uuid,
        summary: summary.key,
        anchor: this.#anchor(boundary, summary),
        keptRefs: this.#keptRefs(boundary, included),
      });
    }
    return found;
  }

  #anchor(boundary: Node, summary: Node): LineKey {
    const kept = keptMetadata(boundary);
    const uuid = kept === undefined ? undefined : stringAt(kept, 'anchorUuid');
    const index = uuid === undefined ? undefined : this.#indexOf.get(uuid);
    const anchor = index === undefined ? undefined : this.#nodes[index];
    return anchor !== undefined && anchor.key > summary.key ? anchor.key : summary.key;
  }

  /** Lines that a compaction names stay in the context, even where the way from the leaf misses them. */
  #keptRefs(boundary: Node, included: Uint8Array): string[] {
    const metadata = boundary.metadata ?? {};
    const messages = objectAt(metadata, 'preservedMessages');
    const named = messages === undefined ? this.#segment(metadata) : stringsAt(messages, 'uuids');
    const refs: string[] = [];
    for (const uuid of named) {
      const index = this.#indexOf.get(uuid);
      if (index === undefined || this.#nodes[index]?.kind === 'progress') continue;
      included[index] = 1;
      refs.push(uuid);
    }
    return refs;
  }

  #segment(metadata: JsonObject): string[] {
    const segment = objectAt(metadata, 'preservedSegment');
    const head = segment === undefined ? undefined : stringAt(segment, 'headUuid');
    let uuid = segment === undefined ? undefined : stringAt(segment, 'tailUuid');
    const refs: string[] = [];
    const seen = new Set<string>();
    while (uuid !== undefined && !seen.has(uuid)) {
      seen.add(uuid);
      refs.unshift(uuid);
      if (uuid === head) return refs;
      const index = this.#indexOf.get(uuid);
      uuid = (index === undefined ? undefined : this.#nodes[index]?.parent) ?? undefined;
    }
    // The way up from the tail never met the head: the segment means nothing.
    return [];
  }

  #early(included: Uint8Array): Map<LineKey, LineKey> {
    const early = new Map<LineKey, LineKey>();
    for (const [index, node] of this.#nodes.entries()) {
      if (included[index] === 0 || this.#unlinked.has(index) || node.isBoundary) continue;
      if (typeof node.parent !== 'string') continue;
      const parent = this.#indexOf.get(node.parent);
      const key = parent === undefined || included[parent] === 0 ? undefined : this.#nodes[parent]?.key;
      if (key !== undefined && key > node.key) early.set(node.key, key);
    }
    return early;
  }

  #tail(boundaries: readonly OnWay[]): ClaudeTail {
    const leaf = this.#leaf === undefined ? undefined : this.#nodes[this.#leaf];
    let cumulativeDroppedTokens = 0;
    for (const { index } of boundaries) {
      const dropped = countAt(this.#nodes[index]?.metadata ?? {}, 'cumulativeDroppedTokens');
      if (dropped === undefined) continue;
      cumulativeDroppedTokens = dropped;
      break;
    }
    return { ...this.#facts, uuid: leaf?.uuid ?? null, cumulativeDroppedTokens };
  }
}

function danglingMessage(isFirst: boolean): string {
  return isFirst
    ? 'The file starts in the middle of a session: the parent of its first line is not in it'
    : 'A parent that is not in this file; linked to the line before it';
}

/** Baton's own second roots say where they come from; so do summaries and boundaries. */
function isStrayRoot(node: Node): boolean {
  return !node.isBoundary && !node.isSummary && node.logicalParent === undefined;
}

function keptMetadata(boundary: Node): JsonObject | undefined {
  const metadata = boundary.metadata ?? {};
  return objectAt(metadata, 'preservedMessages') ?? objectAt(metadata, 'preservedSegment');
}

const FACTS = ['sessionId', 'cwd', 'version', 'gitBranch', 'userType', 'entrypoint', 'slug'] as const;
type Facts = Omit<ClaudeTail, 'uuid' | 'cumulativeDroppedTokens'>;

function mergeFacts(facts: Facts, value: JsonObject): Facts {
  const changed = FACTS.filter((name) => typeof value[name] === 'string' && value[name] !== facts[name]);
  if (changed.length === 0) return facts;
  return { ...facts, ...Object.fromEntries(changed.map((name) => [name, value[name]])) };
}
