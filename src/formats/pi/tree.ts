// Which entries of a pi session form its conversation: those on the path from the newest entry back to the first.

import type { JsonObject } from '../../protocol/item.ts';
import { keyOf } from '../claude-code/tree/node.ts';
import type { LineKey } from '../claude-code/tree/node.ts';
import { countAt, stringAt } from '../fields.ts';
import { KeptRefs } from '../agents/kept-refs.ts';
import type { LineAt, LineReader, Report } from '../reader.ts';

/** Facts about the entries that only the whole file shows. */
export interface PiSurvey {
  /** The ref of each entry on the path, by its place; other entries belong to abandoned branches. */
  readonly refs: ReadonlyMap<LineKey, string>;
  /** The refs that a compaction kept, oldest first, by the place of the compaction. */
  readonly kept: ReadonlyMap<LineKey, readonly string[]>;
}

interface PiEntry {
  readonly key: LineKey;
  readonly ref: string;
  readonly parent: PiEntry | undefined;
  /** Set on compactions only: the first entry that stays. */
  readonly firstKept: PiEntry | undefined;
  readonly isCompaction: boolean;
}

/**
 * Links entries as pi does: by `parentId`, or to the previous entry if the session predates ids (2025). A missing parent, as
 * after a damaged line, is also replaced by the previous entry: pi would lose everything older.
 */
export class PiSurveyor implements LineReader {
  readonly #report: Report;
  readonly #byId = new Map<string, PiEntry>();
  /** By position in the file, including headers, as the oldest compactions count. */
  readonly #byIndex: (PiEntry | undefined)[] = [];
  #newest: PiEntry | undefined;

  constructor(report: Report) {
    this.#report = report;
  }

  accept(value: JsonObject, at: LineAt): void {
    if (value['type'] === 'session') {
      this.#byIndex.push(undefined);
      return;
    }
    const id = stringAt(value, 'id');
    const isCompaction = value['type'] === 'compaction';
    const entry: PiEntry = {
      key: keyOf(at),
      ref: id ?? `entry-${this.#byIndex.length}`,
      parent: this.#parentOf(value, at),
      firstKept: isCompaction ? this.#firstKept(value) : undefined,
      isCompaction,
    };
    if (id !== undefined) {
      if (this.#byId.has(id)) {
        const message = 'Two entries have the same id; the following ones belong to the later one';
        this.#report({ line: at.line, kind: 'duplicate_id', message, lost: false });
      }
      this.#byId.set(id, entry);
    }
    this.#byIndex.push(entry);
    this.#newest = entry;
  }

  end(): void {
    // Everything is known after the last entry.
  }

  result(): PiSurvey {
    const way: PiEntry[] = [];
    for (let entry = this.#newest; entry !== undefined; entry = entry.parent) way.push(entry);
    way.reverse();
    const kept = new Map<LineKey, readonly string[]>();
    const budget = new KeptRefs<PiEntry>((message) =>
      this.#report({ line: 1, kind: 'wrong_shape', message, lost: false }),
    );
    const positionOf = new Map<PiEntry | undefined, number>(way.map((entry, position) => [entry, position]));
    for (const [position, entry] of way.entries()) {
      if (!entry.isCompaction) continue;
      const from = positionOf.get(entry.firstKept) ?? position;
      const refs = budget.of(entry, () => way.slice(from, position).map(({ ref }) => ref));
      kept.set(entry.key, refs);
    }
    return { refs: new Map(way.map(({ key, ref }) => [key, ref])), kept };
  }

  #parentOf(value: JsonObject, at: LineAt): PiEntry | undefined {
    const { parentId } = value;
    if (parentId === null) return undefined;
    if (typeof parentId !== 'string') return this.#newest;
    const parent = this.#byId.get(parentId);
    if (parent !== undefined) return parent;
    const message = 'The parent of this entry is not in the file; the entry is read after the line above';
    this.#report({ line: at.line, kind: 'dangling_parent', message, lost: false });
    return this.#newest;
  }

  #firstKept(value: JsonObject): PiEntry | undefined {
    const id = stringAt(value, 'firstKeptEntryId');
    if (id !== undefined) return this.#byId.get(id);
    const index = countAt(value, 'firstKeptEntryIndex');
    return index === undefined ? undefined : this.#byIndex[index];
  }
}
