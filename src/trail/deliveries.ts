// What left the session: commits, pushes, pull requests and issues.

import { commitsIn, linksIn } from './outputs.ts';
import { clip, detached } from './sentences.ts';
import type { Moment } from './files.ts';
import { gitCommandOf } from './shell.ts';
import type { SimpleCommand } from './shell.ts';
import type { Commit, Landmark, NewestCommit } from './trail.ts';

const MAX_COMMITS = 120;
const MAX_LANDMARKS = 60;
/** Characters of one text that are searched for links. */
const SEARCHED_LENGTH = 24_000;

/** How a script went. */
interface Finished {
  readonly output: string;
  readonly failed: boolean;
}

/** Collects deliveries; memory is bounded by the limits above. */
export class DeliveryLedger {
  readonly #commits: Commit[] = [];
  #newest: NewestCommit | undefined;
  /** By text, the newest mention last. */
  readonly #landmarks = new Map<string, Landmark>();

  /** Takes in a script. One that failed may have committed before it did: that is what it reports. */
  addRun(simple: readonly SimpleCommand[], { output, failed }: Finished, moment: Moment): void {
    for (const command of simple) {
      const { verb, words } = gitCommandOf(command) ?? { verb: '', words: [] };
      if (verb === 'commit') this.#addCommits(words, { output, failed }, moment);
      if (failed) continue;
      if (verb === 'push') this.#mark(`pushed: \`${clip(command.words.join(' '), 100)}\``, moment.turn);
      if (command.words[0] === 'gh' && command.words.includes('create')) this.addLinks(output, moment.turn);
    }
  }

  /** Takes in the addresses of pull requests and issues in a text. */
  addLinks(text: string, turn: number): void {
    if (!text.includes('https://')) return;
    for (const link of linksIn(text.slice(0, SEARCHED_LENGTH))) this.#mark(link, turn);
  }

  commits(): Commit[] {
    return [...this.#commits];
  }

  /** The newest commit, whether its subject is known or not. */
  get newestCommit(): NewestCommit | undefined {
    return this.#newest;
  }

  landmarks(): Landmark[] {
    return [...this.#landmarks.values()];
  }

  #addCommits(words: readonly string[], { output, failed }: Finished, { turn, position }: Moment): void {
    const reported = commitsIn(output);
    if (failed && reported.length === 0) return;
    if (words.includes('--amend')) this.#commits.pop();
    for (const { hash, subject } of reported) {
      this.#commits.push({ turn, hash: detached(hash), subject: detached(subject) });
    }
    const subject = commitSubject(words);
    if (reported.length === 0 && subject !== undefined) {
      this.#commits.push({ turn, hash: undefined, subject: detached(clip(subject, 120)) });
    }
    const hash = reported.at(-1)?.hash;
    this.#newest = { position, hash: hash === undefined ? undefined : detached(hash) };
    while (this.#commits.length > MAX_COMMITS) this.#commits.shift();
  }

  #mark(text: string, turn: number): void {
    this.#landmarks.delete(text);
    this.#landmarks.set(detached(text), { turn, text: detached(text) });
    for (const key of this.#landmarks.keys()) {
      if (this.#landmarks.size <= MAX_LANDMARKS) break;
      this.#landmarks.delete(key);
    }
  }
}

/** The first line of the message that `git commit` was given, also by a heredoc inside of `$(…)`. */
function commitSubject(words: readonly string[]): string | undefined {
  const flag = words.findIndex((word) => /^-[a-zA-Z]*m$/.test(word) || word === '--message');
  const lines = flag < 0 ? [] : (words[flag + 1] ?? '').split('\n');
  const subject = lines[0]?.startsWith('$(cat <<') === true ? lines[1] : lines[0];
  return subject === undefined || subject.trim() === '' ? undefined : subject.trim();
}
