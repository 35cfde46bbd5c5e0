// The linked lines of a session, by position and by id.

import { KeptRefs } from '../../agents/kept-refs.ts';
import type { Report } from '../../reader.ts';
import type { Node } from './node.ts';

/** Nodes in file order. Of lines with the same id, the first one counts. */
export class Tree {
  readonly #nodes: Node[] = [];
  readonly #indexOf = new Map<string, number>();
  /** What boundaries keep. */
  readonly kept: KeptRefs<Node>;

  constructor(report: Report) {
    this.kept = new KeptRefs((message) => report({ line: 1, kind: 'wrong_shape', message, lost: false }));
  }

  get nodes(): readonly Node[] {
    return this.#nodes;
  }

  /** Whether the node was added; a node with the id of an earlier one is not. */
  add(node: Node): boolean {
    if (node.uuid !== undefined) {
      if (this.#indexOf.has(node.uuid)) return false;
      this.#indexOf.set(node.uuid, this.#nodes.length);
    }
    this.#nodes.push(node);
    return true;
  }

  /** The position of a line; undefined for no id and for one that is not in the file. */
  indexOf(uuid: string | null | undefined): number | undefined {
    return typeof uuid === 'string' ? this.#indexOf.get(uuid) : undefined;
  }

  /** The line of an id, see `indexOf`. */
  byUuid(uuid: string | null | undefined): Node | undefined {
    const index = this.indexOf(uuid);
    return index === undefined ? undefined : this.#nodes[index];
  }
}
