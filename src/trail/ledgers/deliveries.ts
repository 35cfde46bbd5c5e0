// What the session delivered: pushes, pull requests and issues.

import { pushIn } from '../outputs/git-output.ts';
import { linksIn } from '../outputs/outputs.ts';
import { clip, detached } from '../../text/sentences.ts';
import type { LogMoment } from './files.ts';
import { gitCommandOf } from '../../shell/git-commands.ts';
import type { SimpleCommand } from '../../shell/scripts.ts';
import type { Landmark } from '../trail.ts';

const MAX_LANDMARKS = 60;
const MAX_GIVEN = 500;
/** Characters of one text that are searched for links. */
const SEARCHED_LENGTH = 24_000;

/** A message with more links than this lists what was read. */
const MAX_OWN_LINKS = 3;

/** The state in which a `gh` command leaves a pull request or an issue. */
const HUB_STATES: Readonly<Record<string, Landmark['state']>> = {
  'pr merge': 'merged',
  'pr close': 'closed',
  'issue close': 'closed',
};

/** The outcome of a script. */
interface Finished {
  readonly output: string;
  readonly failed: boolean;
}

/** Collects deliveries; the limits above bound its memory. */
export class DeliveryLedger {
  /** By text, the newest mention last. */
  readonly #landmarks = new Map<string, Landmark>();
  /** Links that the user gave: the session's subject, which is shown with the messages. */
  readonly #given = new Set<string>();

  /** Takes in a script. */
  addRun(simple: readonly SimpleCommand[], { output, failed }: Finished, { turn }: LogMoment): void {
    if (failed) return;
    for (const command of simple) {
      const isPush = gitCommandOf(command)?.verb === 'push';
      if (isPush && pushIn(output, undefined)?.result !== 'refused')
        this.#mark(`pushed: \`${clip(command.words.join(' '), 100)}\``, turn);
      if (command.words[0] === 'gh') this.#addHubRun(command.words.slice(1), output, turn);
    }
  }

  /** What `gh` did to pull requests and issues: those that it opened, merged or closed belong to the session. */
  #addHubRun([kind = '', verb = '', ...words]: readonly string[], output: string, turn: number): void {
    const links = linksIn(output.slice(0, SEARCHED_LENGTH));
    if (verb === 'create') {
      for (const link of links) this.#mark(link, turn);
      const opened = links.at(-1);
      if (opened !== undefined) this.#mark(opened, turn, 'opened');
    }
    const done = HUB_STATES[`${kind} ${verb}`];
    const reported = verb === 'view' ? /"state": ?"(MERGED|CLOSED)"/.exec(output)?.[1] : undefined;
    const state = reported === undefined ? done : reported === 'MERGED' ? 'merged' : 'closed';
    if (state === undefined || words.includes('--auto')) return;
    const name = words.find((word) => /^#?\d+$|^https:/.test(word))?.replace('#', '');
    const known = [...this.#landmarks.values()].filter((landmark) =>
      name === undefined
        ? landmark.state !== undefined
        : landmark.text === name || landmark.text.endsWith(`/${name}`),
    );
    const [landmark] = known.slice(-1);
    if (verb === 'view' && landmark?.state === undefined) return;
    const text = landmark?.text ?? (name === undefined ? undefined : `${kind} ${name}`);
    if (text !== undefined) this.#mark(text, turn, state);
  }

  /** Takes in the addresses of pull requests and issues in a user's message: the session did not produce them. */
  addGivenLinks(text: string): void {
    if (!text.includes('https://')) return;
    for (const link of linksIn(text.slice(0, SEARCHED_LENGTH))) this.#given.add(detached(link));
    for (const oldest of this.#given) {
      if (this.#given.size <= MAX_GIVEN) break;
      this.#given.delete(oldest);
    }
  }

  /** Takes in those that the agent mentions. */
  addLinks(text: string, turn: number): void {
    if (!text.includes('https://')) return;
    const links = linksIn(text.slice(0, SEARCHED_LENGTH)).filter((link) => !this.#given.has(link));
    if (links.length <= MAX_OWN_LINKS) for (const link of links) this.#mark(link, turn);
  }

  landmarks(): Landmark[] {
    return [...this.#landmarks.values()];
  }

  #mark(text: string, turn: number, state = this.#landmarks.get(text)?.state): void {
    this.#landmarks.delete(text);
    this.#landmarks.set(detached(text), { turn, text: detached(text), state });
    for (const key of this.#landmarks.keys()) {
      if (this.#landmarks.size <= MAX_LANDMARKS) break;
      this.#landmarks.delete(key);
    }
  }
}
