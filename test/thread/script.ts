// A scripted session: a message that waits, one into the running turn, a handover inside of a turn and one between turns,
// and commands that can be counted. The provider answers from another process.

import type { SessionEvent } from '../../src/protocol/wire/event.ts';
import type { Item } from '../../src/protocol/item.ts';
import type { Thread } from '../../src/thread/terms.ts';
import type { Reply } from '../support/provider-server/script.ts';
import { PACKET } from '../support/packet.ts';

/** Where each run of a command leaves a line, in the directory of the agent. */
export const EFFECTS = 'effects.txt';

const FIRST = 'Light the lamp and fill the oil.';
const QUEUED = 'Trim the wick of the lamp.';
const STEERED = 'Mind the fog.';
const LATE = 'Then say good night.';

/** What the user says, in the order in which it is said. */
export const MESSAGES: readonly string[] = [FIRST, QUEUED, STEERED, LATE];

/** What the command prints is what a compaction can free. */
function commits(name: string, input: number): Reply {
  const command = `echo ${name} >> ${EFFECTS}; git add -A; git commit -m "Trim the ${name}" && seq 1 9000`;
  return { calls: [{ name: 'shell', arguments: { command } }], fills: input };
}

/** An answer without calls. @param input tokens that the provider counts for its request */
export function says(text: string, input: number): Reply {
  return { text, fills: input };
}

/** What the provider answers to the whole script. */
export const REPLIES: readonly Reply[] = [
  commits('wick', 62_000),
  says(PACKET, 62_500),
  says('The oil is filled.', 9_000),
  commits('lamp', 40_000),
  says('The lamp is committed. The oil comes next.', 62_000),
  says(PACKET, 62_500),
  says('The oil is full.', 9_000),
];

/** What tells whoever plays the script of its progress. */
export interface Audience {
  /** A message can no longer be lost. */
  acknowledged(text: string): void;
}

/** Plays the user's part: speaks when the thread is in the middle of something. */
export class Script {
  readonly #audience: Audience;
  readonly #heard = new Map<string, number>();
  readonly #waiting = new Map<string, () => void>();

  constructor(audience: Audience) {
    this.#audience = audience;
  }

  /** To be told every event of the thread. */
  readonly hear = (event: SessionEvent): void => {
    if (event.type === 'exec_command_begin') this.#happened('command');
    if (event.type === 'queue_changed') {
      for (const { text } of event.messages) this.#audience.acknowledged(text);
    }
    if (event.type !== 'user_message') return;
    // A message is told of once it is in the log, whether it waits there or begins a turn.
    if (event.author === 'user') this.#audience.acknowledged(event.message);
    else this.#happened(event.steps.at(-1) ?? 'note');
  };

  /** @param thread open, and telling its events to `hear` */
  async play(thread: Thread): Promise<void> {
    const steer = (text: string) => thread.steer(text).then(() => this.#audience.acknowledged(text));
    const said = [thread.turn(FIRST)];
    await this.#when('packet_request 1');
    said.push(thread.turn(QUEUED));
    await this.#when('command 2');
    const steered = steer(STEERED);
    await this.#when('packet_request 2');
    await Promise.all([...said, steered, steer(LATE)]);
  }

  #happened(what: string): void {
    const count = (this.#heard.get(what) ?? 0) + 1;
    this.#heard.set(what, count);
    this.#waiting.get(`${what} ${count}`)?.();
  }

  #when(what: string): Promise<void> {
    return new Promise((resolve) => this.#waiting.set(what, resolve));
  }
}

/** The messages of the user among items, as texts. */
export function userTexts(items: readonly Item[]): readonly string[] {
  return items.flatMap((item) =>
    item.type === 'message' && item.role === 'user' && item.origin?.author === 'user'
      ? item.content.flatMap((part) => ('text' in part ? [part.text] : []))
      : [],
  );
}
