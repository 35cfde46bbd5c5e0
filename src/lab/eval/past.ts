// The past before a cut, folded step by step: the cuts of a session are measured in order, and reading the whole past
// again for each would take quadratic time.

import { isUserMessage } from '../../history/filter.ts';
import type { Entry } from '../../history/project.ts';
import type { Item } from '../../protocol/item.ts';
import { ArtifactLedger } from './artifacts.ts';
import type { Artifacts } from './artifacts.ts';
import { rulesOf } from './constraints.ts';
import type { SessionLog } from './log.ts';
import { UseFinder } from './uses.ts';
import type { FutureUse } from './uses.ts';

/** The past at a moving cut. Results are valid for the cut at which they were returned. */
export class Past {
  readonly #log: SessionLog;
  readonly #lines: string[] = [];
  readonly #distinctLines = new Set<string>();
  readonly #userMessages: Entry<Item>[] = [];
  readonly #constraints = new Set<string>();
  readonly #artifacts: ArtifactLedger;
  readonly #uses: UseFinder;
  #cut = 0;
  #tokens = 0;

  constructor(log: SessionLog) {
    this.#log = log;
    this.#artifacts = new ArtifactLedger(log.textActions);
    this.#uses = new UseFinder(log);
  }

  /** Steps that belong to the past. */
  get cut(): number {
    return this.#cut;
  }

  /** Adds the steps up to `cut`. @throws RangeError for a cut before the present one */
  advance(cut: number): this {
    if (cut < this.#cut)
      throw new RangeError(`The past at step ${cut} is gone; the position is now ${this.#cut}`);
    for (; this.#cut < cut; this.#cut++) {
      const step = this.#log.steps[this.#cut];
      if (step === undefined) continue;
      const { item, kind, lines, tokens } = step;
      if (kind !== 'initial') {
        this.#tokens += tokens;
        for (const line of lines) {
          this.#lines.push(line);
          this.#distinctLines.add(line);
        }
      }
      if (isUserMessage(item)) {
        this.#userMessages.push({ seq: this.#cut, value: item, isReplacement: false });
      }
      for (const rule of rulesOf(step)) this.#constraints.add(rule);
      this.#artifacts.add(item);
    }
    return this;
  }

  /** Every line in order, without the initial context. */
  get lines(): readonly string[] {
    return this.#lines;
  }

  /** The same lines, each once, at its first place. */
  get distinctLines(): ReadonlySet<string> {
    return this.#distinctLines;
  }

  /** Tokens of all lines. */
  get tokens(): number {
    return this.#tokens;
  }

  /** Messages of the user, oldest first. */
  get userMessages(): readonly Entry<Item>[] {
    return this.#userMessages;
  }

  /** The rules that the user stated, each once. */
  get constraints(): readonly string[] {
    return [...this.#constraints];
  }

  /** The changes that the session made to the world. */
  get artifacts(): Artifacts {
    return this.#artifacts.artifacts();
  }

  /** The parts of it that are used later. */
  get uses(): readonly FutureUse[] {
    return this.#uses.usesAt(this.#cut);
  }
}
