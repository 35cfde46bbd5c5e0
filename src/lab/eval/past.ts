// What lies before a cut, folded step by step: the cuts of a session are measured in order, and looking at the whole
// past again for each of them would take quadratic time.

import { isUserMessage } from '../../history/filter.ts';
import type { Entry } from '../../history/project.ts';
import type { Item } from '../../protocol/item.ts';
import { ArtifactLedger } from './artifacts.ts';
import type { Artifacts } from './artifacts.ts';
import { rulesOf } from './constraints.ts';
import type { SessionLog } from './log.ts';
import { UseFinder } from './uses.ts';
import type { FutureUse } from './uses.ts';

/** The past at a cut that moves on. What it returns is as of the cut where it was asked. */
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

  /** Takes the steps up to `cut` in. @throws RangeError for a cut before the one where it stands */
  advance(cut: number): this {
    if (cut < this.#cut) throw new RangeError(`The past at step ${cut} is gone; it stands at ${this.#cut}`);
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

  /** Every line in order, the initial context left out. */
  get lines(): readonly string[] {
    return this.#lines;
  }

  /** The same, each once, at its first place. */
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

  /** What the session did to the world. */
  get artifacts(): Artifacts {
    return this.#artifacts.artifacts();
  }

  /** What of it is used later. */
  get uses(): readonly FutureUse[] {
    return this.#uses.usesAt(this.#cut);
  }
}
