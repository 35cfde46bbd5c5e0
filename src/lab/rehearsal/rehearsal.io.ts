// Plays a recorded session through the real loop: it replaces the model, the tools and the user. Nothing is executed
// and no one is asked; the thread's records show what has been played.

import { BatonError } from '../../errors.ts';
import { failedResult, MISSING_RESULT } from '../../history/pairs.ts';
import { withoutUndoneTurns } from '../../history/undone.ts';
import type { CancelSignal, Hash, Model } from '../../ports.ts';
import { authorOf, callOf, textOfParts } from '../../protocol/item.ts';
import type { Item, ToolOutputItem } from '../../protocol/item.ts';
import type { ModelEvent, ModelRequest, ToolSpec } from '../../protocol/model.ts';
import type { LogRecord } from '../../protocol/record.ts';
import type { SessionLog, ToolRunner } from '../../session/terms.ts';
import type { EstimateSettings } from '../../tokens/estimate.ts';
import { TrailCollector } from '../../trail/collect.ts';
import { wait } from '../../system/wait.io.ts';
import { isOfOthers, placeId, PlaceFold, placeOf, REHEARSAL } from './script-position.ts';
import { replyTo, usageOf } from './reply.ts';
import { readScript } from './script.ts';
import type { InputStep, Script } from './script.ts';

/** How to play a recording. */
export interface RehearsalSettings {
  readonly estimate: EstimateSettings;
  /** 0: immediately; else a factor above 0 on the recorded speed. */
  readonly speed?: number;
  /** `model_context_window`: overrides the recording. */
  readonly window?: number;
  /** The system prompt with which this process asks for summaries, `compact-system.md`. */
  readonly summaryInstructions: string;
}

/** What a rehearsal needs from the world. */
export interface RehearsalWorld {
  readonly hash: Hash;
  /** Resolves after that many milliseconds, including 0; rejects with `interrupted` when the signal aborts. */
  readonly pause: (ms: number, signal: CancelSignal) => Promise<void>;
}

/** The thread that plays a recording. */
export interface PlayedThread {
  /** Its records so far: playing continues at their position in the recording. */
  readonly past: Iterable<LogRecord>;
  /** Puts an item into the running turn: `Session.steer`. */
  readonly steer: (item: Item) => Promise<unknown>;
}

/** A turn to submit. */
export interface RehearsedTurn {
  /** Identical for the same place, to recognise a submitted but undelivered turn. */
  readonly id: string;
  /** The user's message. */
  readonly text: string;
  /** The input of the turn: user messages, and the harness's text beside them. At least one item. */
  readonly items: readonly Item[];
}

/**
 * Longest single wait of a rehearsal, in recorded milliseconds: a night between two lines should not slow it down.
 * @source docs/decisions/rehearsal.md
 */
export const LONGEST_PAUSE_MS = 30_000;

/** Characters of a delta at recorded speed: about a line. */
const DELTA_CHARACTERS = 80;

/** A recorded session that can be played, by one thread at a time. */
export class Rehearsal {
  /** Answers as recorded. */
  readonly model: Model;
  /** Answers calls as recorded. */
  readonly tools: ToolRunner;
  readonly #script: Script;
  readonly #settings: RehearsalSettings;
  readonly #world: RehearsalWorld;
  readonly #place: PlaceFold;
  readonly #trail = new TrailCollector();
  #bring: PlayedThread['steer'] = () => Promise.resolve(false);
  #steered: InputStep | undefined;

  /**
   * @param recording all records of the recorded session
   * @throws RangeError for a negative speed
   */
  constructor(recording: readonly LogRecord[], settings: RehearsalSettings, world: RehearsalWorld) {
    const { speed = 0, estimate, window } = settings;
    if (!(speed >= 0 && Number.isFinite(speed)))
      throw new RangeError(`Not a speed for a rehearsal: ${speed}`);
    this.#script = readScript(withoutUndoneTurns(recording), { estimate, window, hash: world.hash });
    this.#settings = settings;
    this.#world = world;
    this.#place = new PlaceFold(this.#script);
    this.model = {
      provider: REHEARSAL,
      stream: (request, signal) => this.#stream(request, signal),
    };
    this.tools = {
      specs: this.#script.toolNames.filter((name) => TOOL_NAME.test(name)).map(recordedTool),
      run: (call, signal) => this.#run(call, signal),
    };
  }

  /** Raw window of the recorded model, in tokens. */
  get modelWindow(): number {
    return this.#script.window;
  }

  /** Share of the recording that the thread has played, 0 to 1. */
  get progress(): number {
    const { steps } = this.#script;
    return steps.length === 0 ? 1 : this.#place.place.step / steps.length;
  }

  /** Turns of the recording that begin with a message, excluding messages that arrived while the agent was working. */
  get turnCount(): number {
    return this.#script.steps.filter((step) => step.type === 'input' && !step.isSteering).length;
  }

  /**
   * Joins a thread, once and before playing.
   * @throws BatonError `usage` for a thread that contains anything but this recording
   */
  join({ past, steer }: PlayedThread): void {
    this.#bring = steer;
    let isForeign = false;
    for (const record of withoutUndoneTurns([...past])) {
      isForeign ||= record.type === 'item' && isOfOthers(record.item, this.#script.fingerprint);
      this.#follow(record);
    }
    if (!isForeign) return;
    throw new BatonError('usage', 'The session is not a rehearsal of this recording.', {
      cure: 'To begin a new one, omit --resume.',
    });
  }

  /** A log that reports every write to the rehearsal. Without it the rehearsal does not advance. */
  following(log: SessionLog): SessionLog {
    return {
      append: async (records) => {
        await log.append(records);
        for (const record of records) this.#follow(record);
      },
      sync: () => log.sync(),
    };
  }

  /**
   * The turns to submit, each after the end of the one before; the items enter the thread unchanged. An interrupted
   * turn is continued. Ends with the recording, or after a turn without progress, which would repeat.
   */
  *turns(): Generator<RehearsedTurn, void, undefined> {
    let before: string | undefined;
    for (;;) {
      const { place } = this.#place;
      const id = placeId(this.#script.fingerprint, place);
      if (this.#script.steps[place.step] === undefined || id === before) return;
      before = id;
      const items = this.itemsOf(id);
      if (items === undefined)
        yield { id: `${id}${GO_ON}`, text: GO_ON_TEXT, items: [goOn(`${id}${GO_ON}`)] };
      else yield { id, text: textOfUser(items), items };
    }
  }

  /** The input of a submitted turn by its id; undefined for other ids. */
  itemsOf(id: string): readonly Item[] | undefined {
    if (id.startsWith(`${REHEARSAL}-`) && id.endsWith(GO_ON)) return [goOn(id)];
    const place = placeOf({ id }, this.#script.fingerprint);
    const step = place === undefined ? undefined : this.#script.steps[place.step];
    return step?.type === 'input' ? step.items.slice(place?.part) : undefined;
  }

  #follow(record: LogRecord): void {
    this.#place.add(record);
    this.#trail.add(record);
  }

  async *#stream(request: ModelRequest, signal: CancelSignal): AsyncGenerator<ModelEvent, void, undefined> {
    const { place, unanswered, isForeignTurn } = this.#place;
    const { summaryInstructions, estimate } = this.#settings;
    const trail = (): ReturnType<TrailCollector['trail']> => this.#trail.trail();
    const standing = { place, unanswered, isForeignTurn, trail };
    const reply = replyTo(request, this.#script, standing, summaryInstructions);
    const pieces = reply.items.map((item) => this.#deltas(item));
    const pauseMs = this.#paceMs(reply.durationMs) / Math.max(1, pieces.flat().length);
    await this.#pause(0, signal);
    for (const [index, item] of reply.items.entries()) {
      for (const piece of pieces[index] ?? []) {
        if (pauseMs > 0) await this.#pause(pauseMs, signal);
        yield* piece;
      }
      yield { type: 'item_done', item };
    }
    yield { type: 'usage', usage: usageOf(request, reply.items, this.#script.scale, estimate) };
    if (reply.steer !== undefined) await this.#steer(reply.steer);
    yield { type: 'completed', stopReason: reply.stopReason };
  }

  /** The deltas of a streaming item: at least one, so that each item takes its share of the time. */
  #deltas(item: Item): readonly (readonly ModelEvent[])[] {
    const told = deltaOf(item);
    if (told === undefined) return [[]];
    if (this.#paceMs(1) === 0) return [[told]];
    const pieces: ModelEvent[][] = [];
    const characters = Array.from(told.text);
    for (let from = 0; from < characters.length; from += DELTA_CHARACTERS) {
      pieces.push([{ ...told, text: characters.slice(from, from + DELTA_CHARACTERS).join('') }]);
    }
    return pieces;
  }

  async #run(call: Item, signal: CancelSignal): Promise<ToolOutputItem> {
    const result = this.#script.results.get(callOf(call)?.callId ?? '');
    const at = placeOf(call, this.#script.fingerprint);
    const next = at === undefined ? undefined : this.#script.steps[at.step + 1];
    await this.#pause(this.#paceMs(result?.durationMs ?? 0), signal);
    if (next?.type === 'input' && next.isSteering) await this.#steer(next);
    return result?.item ?? failedResult(call, MISSING_RESULT);
  }

  /** The calls of one answer run in parallel: the first to finish delivers messages that arrived meanwhile. */
  async #steer(step: InputStep): Promise<void> {
    if (this.#steered === step) return;
    this.#steered = step;
    for (const item of step.items) await this.#bring(item);
  }

  #paceMs(recordedMs: number): number {
    const { speed = 0 } = this.#settings;
    return speed === 0 ? 0 : Math.min(recordedMs, LONGEST_PAUSE_MS) / speed;
  }

  async #pause(ms: number, signal: CancelSignal): Promise<void> {
    if (signal.aborted) throw interrupted();
    await this.#world.pause(ms, signal);
    // The pause may have ended at the moment of its cancellation.
    if (isCancelled(signal)) throw interrupted();
  }
}

/** The suffix of a turn's id that continues an interrupted one. */
const GO_ON = '-on';
const GO_ON_TEXT = 'The turn was cut short here. The rehearsal continues it.';

/** In the harness's name, because the user has not said it. */
function goOn(id: string): Item {
  const content = [{ type: 'input_text', text: GO_ON_TEXT }] as const;
  return { type: 'message', role: 'user', content, origin: { author: 'harness' }, id };
}

function textOfUser(items: readonly Item[]): string {
  return items
    .flatMap((item) =>
      item.type === 'message' && authorOf(item) === 'user' ? [textOfParts(item.content)] : [],
    )
    .join('\n\n');
}

/** What providers accept as a tool's name. @source `ToolSpec` */
const TOOL_NAME = /^[\w-]{1,64}$/;

function recordedTool(name: string): ToolSpec {
  const description = 'A recorded tool. It is not executed; its recorded results are returned.';
  return { name, description, parameters: { type: 'object' } };
}

type Delta = Extract<ModelEvent, { type: 'text_delta' | 'reasoning_delta' }>;

function deltaOf(item: Item): Delta | undefined {
  if (item.type === 'message') return delta('text_delta', textOfParts(item.content));
  if (item.type !== 'reasoning') return undefined;
  return delta('reasoning_delta', item.text ?? item.summary.map(({ text }) => text).join('\n\n'));
}

function delta(type: Delta['type'], text: string): Delta | undefined {
  return text === '' ? undefined : { type, text };
}

function isCancelled({ aborted }: CancelSignal): boolean {
  return aborted;
}

function interrupted(): BatonError {
  return new BatonError('interrupted', 'The rehearsal was stopped.', {
    cure: 'Resume it to continue where it stopped.',
  });
}

/** The pause of a live process. With 0, everything else that waits in the process runs first. */
export function pauseFor(ms: number, signal: CancelSignal): Promise<void> {
  // Without a listener: many calls of one answer share a signal, and a moment needs no cancelling.
  if (ms === 0) return new Promise((resolve) => void setImmediate(resolve));
  return wait(ms, signal, interrupted);
}
