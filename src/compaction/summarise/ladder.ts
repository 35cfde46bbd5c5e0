// The ladder: which model is asked next for a summary, and how much of the history it is shown. It goes down only, so it
// ends, and its last rung asks nobody. Pure: requests are sent by somebody else, and their outcomes are the events.

import type { Rung } from '../../vocabulary.ts';

/** The rungs on which a model is asked. */
export type ModelRung = Extract<
  Rung,
  'whole' | 'results_cleared' | 'oldest_dropped' | 'chunked' | 'newest_turns'
>;

/** Fewest tokens of transcript that are worth a request. @source docs/decisions/ladder.md */
export const LEAST_ROOM = 400;

/** Most pieces in which a history is summarised; a note describes what is older. @source docs/decisions/ladder.md */
export const MOST_CHUNKS = 8;

/** What the ladder is set up with. Counts in tokens. */
export interface LadderSetup {
  /** The models in the order in which they are wanted: what the transcript may take in a request to each. */
  readonly rooms: readonly number[];
  /** The transcript as it is. */
  readonly whole: number;
  /** The transcript without the results of its tools. */
  readonly cleared: number;
}

/** One request for a summary. */
export interface Ask {
  /** Index of the model. */
  readonly author: number;
  readonly rung: ModelRung;
  /** Most tokens that the transcript may take. */
  readonly room: number;
  /** What was wrong with the last answer; told to the model. */
  readonly reminder?: string;
  /** Which piece is to be summarised, counted from 0; on the chunked rung, absent: the pieces' summaries become one. */
  readonly chunk?: { readonly index: number; readonly count: number };
  /** Summaries of pieces that were made so far; undefined where a piece could not be summarised. */
  readonly partials: readonly (string | undefined)[];
}

/** What became of a request. */
export type AskOutcome =
  | { readonly type: 'accepted'; readonly text: string }
  /** It was larger than the model, or its provider, takes. `room`: what a transcript may take, as far as was learnt. */
  | { readonly type: 'too_large'; readonly room: number }
  /** An answer that is not a summary; `reminder` says what is missing. */
  | { readonly type: 'defect'; readonly reminder: string }
  /** The provider does not answer what it was shown. */
  | { readonly type: 'refused' }
  /** This model cannot be had now, whatever it is shown. */
  | { readonly type: 'lost' };

/** Where the ladder stands. */
export type Ladder =
  | { readonly type: 'ask'; readonly ask: Ask; readonly memory: Memory }
  | { readonly type: 'done'; readonly text: string; readonly ask: Ask }
  /** No model gave a summary. */
  | { readonly type: 'exhausted' };

interface Memory {
  readonly setup: LadderSetup;
  readonly lost: readonly number[];
  /** The one reminder of a compaction was used. */
  readonly wasReminded: boolean;
}

/** The first request: to the first model that takes the transcript whole or cleared, else to the one with the most room. */
export function startLadder(setup: LadderSetup): Ladder {
  return toNextAuthor({ setup, lost: [], wasReminded: false }, []);
}

/** The next request after the outcome of the last one. */
export function climbDown({ ask, memory }: Extract<Ladder, { type: 'ask' }>, outcome: AskOutcome): Ladder {
  if (ask.chunk !== undefined) return afterChunk(ask, memory, outcome);
  switch (outcome.type) {
    case 'accepted':
      return { type: 'done', text: outcome.text, ask };
    case 'too_large':
      return toLowerRung(ask, memory, Math.min(outcome.room, ask.room));
    case 'defect':
      return memory.wasReminded
        ? toNextAuthor(without(memory, ask), ask.partials)
        : {
            type: 'ask',
            ask: { ...ask, reminder: outcome.reminder },
            memory: { ...memory, wasReminded: true },
          };
    case 'refused':
      // What a filter objects to is more often in the output of a tool than in what people said.
      return ask.rung === 'whole' && memory.setup.cleared < memory.setup.whole
        ? onRung(ask, memory, 'results_cleared', ask.room)
        : toNextAuthor(without(memory, ask), ask.partials);
    case 'lost':
      return toNextAuthor(without(memory, ask), ask.partials);
  }
}

function afterChunk(ask: Ask, memory: Memory, outcome: AskOutcome): Ladder {
  const { chunk } = ask;
  if (chunk === undefined || outcome.type === 'lost') {
    return toNextAuthor(without(memory, ask), ask.partials);
  }
  if (outcome.type === 'too_large') {
    return toLowerRung(ask, memory, Math.min(outcome.room, ask.room));
  }
  const partials = [...ask.partials, outcome.type === 'accepted' ? outcome.text : undefined];
  const index = chunk.index + 1;
  if (index < chunk.count) {
    return { type: 'ask', ask: { ...ask, chunk: { ...chunk, index }, partials }, memory };
  }
  const { chunk: _, ...reduce } = ask;
  return partials.some((text) => text !== undefined)
    ? { type: 'ask', ask: { ...reduce, partials }, memory }
    : toNextAuthor(without(memory, ask), []);
}

const BELOW: Readonly<Record<ModelRung, ModelRung | undefined>> = {
  whole: 'results_cleared',
  results_cleared: 'oldest_dropped',
  oldest_dropped: 'chunked',
  chunked: 'newest_turns',
  newest_turns: undefined,
};

function toLowerRung(ask: Ask, memory: Memory, room: number): Ladder {
  const below = BELOW[ask.rung];
  if (below === undefined || room < LEAST_ROOM) return toNextAuthor(without(memory, ask), ask.partials);
  const isSkipped = below === 'results_cleared' && memory.setup.cleared > room;
  return onRung(ask, memory, isSkipped ? 'oldest_dropped' : below, room);
}

/** The share of the room that the newest turns take: a provider that refused all else gets little. @source docs/decisions/ladder.md */
const NEWEST_TURNS_SHARE = 0.25;

function onRung({ author, partials }: Ask, memory: Memory, rung: ModelRung, room: number): Ladder {
  const ask: Ask = {
    author,
    rung,
    room: rung === 'newest_turns' ? Math.max(LEAST_ROOM, Math.floor(room * NEWEST_TURNS_SHARE)) : room,
    partials,
  };
  if (rung !== 'chunked') return { type: 'ask', ask, memory };
  const count = Math.min(MOST_CHUNKS, Math.max(2, Math.ceil(memory.setup.cleared / room)));
  return { type: 'ask', ask: { ...ask, partials: [], chunk: { index: 0, count } }, memory };
}

function without(memory: Memory, { author }: Ask): Memory {
  return { ...memory, lost: [...memory.lost, author] };
}

function toNextAuthor(memory: Memory, partials: Ask['partials']): Ladder {
  const { rooms, whole, cleared } = memory.setup;
  const left = rooms
    .map((room, author) => ({ room, author }))
    .filter(({ room, author }) => room >= LEAST_ROOM && !memory.lost.includes(author));
  const widest = left.toSorted((a, b) => b.room - a.room)[0];
  const next = left.find(({ room }) => cleared <= room) ?? widest;
  if (next === undefined) return { type: 'exhausted' };
  const { author, room } = next;
  const rung = whole <= room ? 'whole' : cleared <= room ? 'results_cleared' : 'oldest_dropped';
  // Who is shown everything needs no summaries of pieces.
  return {
    type: 'ask',
    ask: { author, rung, room, partials: rung === 'oldest_dropped' ? partials : [] },
    memory,
  };
}
