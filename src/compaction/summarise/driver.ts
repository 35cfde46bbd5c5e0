// Asks models for a summary, down the ladder, within a deadline. Decides nothing: `ladder.ts` says what is asked next, and
// `answer.ts` what an answer is worth.

import { BatonError } from '../../errors.ts';
import type { CancelSignal, Clock, Model } from '../../ports.ts';
import { callOf, textOfParts } from '../../protocol/item.ts';
import type { Item, MessageItem } from '../../protocol/item.ts';
import type { ModelEvent, ModelRequest, ModelUsage } from '../../protocol/model.ts';
import type { SummaryAttempt } from '../../protocol/receipt.ts';
import { cutMiddle } from '../../tokens/cut.ts';
import { approximateTokens } from '../../tokens/estimate.ts';
import type { CountText } from '../../tokens/estimate.ts';
import type { Effort, Rung, StopReason, Verbosity } from '../../vocabulary.ts';
import type { Constraint } from '../../trail/trail.ts';
import { judgeAnswer, withRules } from './answer.ts';
import type { Answer, Verdict } from './answer.ts';
import { climbDown, startLadder } from './ladder.ts';
import type { Ask, AskOutcome } from './ladder.ts';
import { askMessage, wantedTokens } from './prompt.ts';
import type { SummaryPrompts } from './prompt.ts';
import { answerShare, learntRoom, roomsOf } from './room.ts';
import type { ModelLimits } from './room.ts';
import { excerptFor } from './transcript.ts';
import type { SizeOf, Transcript } from './transcript.ts';

/** A model that may write summaries. */
export interface SummaryModel extends ModelLimits {
  readonly model: Model;
  /** As its provider knows it. */
  readonly name: string;
  readonly effort?: Effort;
  readonly verbosity?: Verbosity;
  /** US dollars; undefined without a list price. */
  readonly costOf: (usage: ModelUsage) => number | undefined;
}

/** What is to be summarised, and for what room. */
export interface SummaryOrder {
  readonly transcript: Transcript;
  readonly sizeOf: SizeOf;
  readonly count: CountText;
  /** Room for the summary, in tokens by `count`. */
  readonly mostTokens: number;
  /** The user's messages that stay verbatim beside it. */
  readonly preserved: readonly MessageItem[];
  readonly constraints: readonly Constraint[];
  readonly prompts: SummaryPrompts;
  /** What Baton's own records say of the conversation, in at most that many tokens. */
  readonly digest: (budget: number) => string;
  readonly cacheKey: string;
}

/** Under which circumstances models are asked. */
export interface AskingWorld {
  readonly clock: Clock;
  /** The user's: it ends the compaction. */
  readonly signal: CancelSignal;
  /** Milliseconds for all requests together; after them the compaction goes on without a model. */
  readonly deadlineMs: number;
  /** Told of each request and retry, one sentence. */
  readonly tell: (message: string) => void;
}

/** What came of it. */
export interface ModelSummary {
  readonly text: string;
  /** `PROVIDER/MODEL`. */
  readonly model: string;
  readonly rung: Rung;
  /** What a receipt should mention. */
  readonly notes: readonly string[];
}

/**
 * Asks one model after the other until one gave a summary.
 * @returns the summary, undefined where none came; and every request that was made
 * @throws BatonError `interrupted` when the user's signal fires, and nothing else
 */
export async function summariseWithModels(
  models: readonly SummaryModel[],
  order: SummaryOrder,
  world: AskingWorld,
): Promise<{ readonly summary: ModelSummary | undefined; readonly attempts: readonly SummaryAttempt[] }> {
  const { whole, cleared } = order.transcript;
  const rooms = roomsOf(models, order);
  const answers = rooms.map(({ answer }) => answer);
  const attempts: SummaryAttempt[] = [];
  const deadline = new Deadline(world);
  try {
    let ladder = startLadder({ rooms: rooms.map(({ transcript }) => transcript), whole, cleared });
    while (ladder.type === 'ask') {
      const { ask } = ladder;
      const model = models[ask.author];
      const answerTokens = answers[ask.author];
      if (model === undefined || answerTokens === undefined) break;
      const { outcome, attempt, limitTokens } = await askOnce({
        ask,
        model,
        answerTokens,
        order,
        world,
        deadline,
      });
      if (attempt !== undefined) attempts.push(attempt);
      if (limitTokens !== undefined) answers[ask.author] = Math.min(answerTokens, answerShare(limitTokens));
      ladder = climbDown(ladder, outcome);
    }
    const author = ladder.type === 'done' ? models[ladder.ask.author] : undefined;
    if (ladder.type !== 'done' || author === undefined) return { summary: undefined, attempts };
    return { summary: finish(ladder.text, ladder.ask.rung, author, order), attempts };
  } finally {
    deadline.clear();
  }
}

function finish(text: string, rung: Rung, author: SummaryModel, order: SummaryOrder): ModelSummary {
  const { constraints, mostTokens, count } = order;
  const preserved = order.preserved.map(({ content }) => textOfParts(content));
  const { text: whole, added } = withRules(text, constraints, { preserved, mostTokens, count });
  const notes =
    added === 0
      ? []
      : [`${added} rule(s) of the user that the model left out stand verbatim behind its summary.`];
  return { text: whole, model: nameOf(author), rung, notes };
}

/** The model as people name it. */
export function nameOf({ model, name }: Pick<SummaryModel, 'model' | 'name'>): string {
  return `${model.provider}/${name}`;
}

interface Asking {
  readonly ask: Ask;
  readonly model: SummaryModel;
  /** Tokens that the answer may take, its thinking included. */
  readonly answerTokens: number;
  readonly order: SummaryOrder;
  readonly world: AskingWorld;
  readonly deadline: Deadline;
}

/** Share of a request's room for notes on what it does not show, and their largest size. @source docs/decisions/ladder.md */
const DIGEST_SHARE = 0.15;
const MOST_DIGEST_TOKENS = 1_500;

async function askOnce(asking: Asking): Promise<{
  readonly outcome: AskOutcome;
  readonly attempt: SummaryAttempt | undefined;
  /** The window that the provider named. */
  readonly limitTokens?: number | undefined;
}> {
  const { ask, model, world, deadline, answerTokens } = asking;
  if (deadline.isOver) return { outcome: { type: 'lost' }, attempt: undefined };
  const { request, sentTokens } = requestOf(asking);
  // A piece that nothing fell into needs no request.
  if (request === undefined) return { outcome: { type: 'defect', reminder: '' }, attempt: undefined };
  const name = nameOf(model);
  const piece = ask.chunk === undefined ? '' : `, part ${ask.chunk.index + 1} of ${ask.chunk.count}`;
  world.tell(`Asking ${name} for a summary (${RUNG_WORDS[ask.rung]}${piece}).`);
  const startedMs = world.clock.now();
  const heard = new Listener(answerTokens * MOST_CHARACTERS_PER_TOKEN, world.tell);
  const verdict = await listen(model.model, request, heard, deadline).then(
    (answer): AskVerdict => judgeAnswer(answer, wantedOf(asking)),
    (error: unknown): AskVerdict => failed(error, world.signal),
  );
  const attempt: SummaryAttempt = {
    model: name,
    rung: ask.rung,
    ...(ask.chunk === undefined ? {} : { piece: ask.chunk.index + 1 }),
    outcome: verdict.type === 'summary' ? 'accepted' : verdict.type,
    ...(verdict.type === 'summary' ? {} : { why: verdict.why }),
    retries: heard.retries,
    ...costs(heard.usage, model),
    durationMs: world.clock.now() - startedMs,
  };
  if (verdict.type !== 'summary') world.tell(`${name} gave no summary: ${verdict.why}.`);
  const limitTokens = verdict.type === 'too_large' ? verdict.limitTokens : undefined;
  return { outcome: outcomeOf(verdict, asking, sentTokens), attempt, limitTokens };
}

const RUNG_WORDS: Readonly<Record<Ask['rung'], string>> = {
  whole: 'the whole conversation',
  results_cleared: 'without the results of tools',
  oldest_dropped: 'the newest part that fits',
  chunked: 'in pieces',
  newest_turns: 'the newest turns only',
};

function requestOf({ ask, model, order, answerTokens }: Asking): {
  readonly request: ModelRequest | undefined;
  readonly sentTokens: number;
} {
  const { transcript, sizeOf, prompts, mostTokens } = order;
  const isPartial = ask.rung === 'oldest_dropped' || ask.rung === 'newest_turns';
  const digest = isPartial
    ? order.digest(Math.min(MOST_DIGEST_TOKENS, Math.floor(ask.room * DIGEST_SHARE)))
    : '';
  const told =
    approximateTokens(digest) + ask.partials.reduce((sum, text = '') => sum + approximateTokens(text), 0);
  const isWhole = ask.rung === 'whole' || ask.rung === 'results_cleared';
  const room = isWhole ? ask.room : Math.max(0, ask.room - told);
  const excerpt = excerptFor(transcript, { ...ask, room }, sizeOf);
  if (ask.chunk !== undefined && excerpt.items.length === 0) return { request: undefined, sentTokens: 0 };
  const wanted = Math.min(mostTokens, answerTokens);
  const last = askMessage(ask, prompts, excerpt, { mostTokens: wanted, digest });
  const items: readonly Item[] = [...excerpt.items, last];
  return {
    request: {
      model: model.name,
      instructions: prompts.system,
      items,
      tools: [],
      ...(model.effort === undefined ? {} : { effort: model.effort }),
      ...(model.verbosity === undefined ? {} : { verbosity: model.verbosity }),
      maxOutputTokens: answerTokens,
      cacheKey: order.cacheKey,
    },
    sentTokens: items.reduce((sum, item) => sum + sizeOf(item), 0),
  };
}

function wantedOf({ ask, order }: Asking) {
  return {
    mostTokens: order.mostTokens,
    count: order.count,
    hasSections: order.prompts.hasSections,
    wasReminded: ask.reminder !== undefined,
    isPiece: ask.chunk !== undefined,
  };
}

type AskVerdict =
  | Exclude<Verdict, { type: 'too_large' }>
  | { readonly type: 'failed'; readonly why: string }
  | {
      readonly type: 'too_large';
      readonly why: string;
      readonly limitTokens?: number;
      readonly requestedTokens?: number;
    };

/** @throws BatonError `interrupted` where the user's own signal is the reason; anything that is no failure of a provider */
function failed(error: unknown, signal: CancelSignal): AskVerdict {
  if (!(error instanceof BatonError)) throw error;
  if (error.code === 'interrupted') {
    if (signal.aborted) throw error;
    return { type: 'failed', why: 'the time for the compaction was over' };
  }
  if (!error.code.startsWith('model_')) throw error;
  const { limitTokens, requestedTokens, isUnmeetable, status } = error.data as Readonly<
    Record<string, unknown>
  >;
  const why = error.message.replace(/\.$/, '');
  // A limit per minute below the size of the request is met by a smaller request; an account without credit by none.
  const isTooLarge =
    error.code === 'model_overflow' ||
    (error.code === 'model_rate_limit' && isUnmeetable === true && status === 429);
  if (isTooLarge) {
    return {
      type: 'too_large',
      why,
      ...(typeof limitTokens === 'number' ? { limitTokens } : {}),
      ...(typeof requestedTokens === 'number' ? { requestedTokens } : {}),
    };
  }
  return error.code === 'model_refused' ? { type: 'refused', why } : { type: 'failed', why };
}

function outcomeOf(
  verdict: AskVerdict,
  { ask, order, answerTokens }: Asking,
  sentTokens: number,
): AskOutcome {
  switch (verdict.type) {
    case 'summary': {
      if (ask.chunk === undefined) return { type: 'accepted', text: verdict.text };
      // Nobody says that a model keeps to the length it was asked for.
      const most = 2 * wantedTokens(ask, order.mostTokens);
      return { type: 'accepted', text: cutMiddle(verdict.text, most, approximateTokens) ?? verdict.text };
    }
    case 'too_large':
      return { type: 'too_large', room: learntRoom(verdict, { sentTokens, answerTokens, order }) };
    case 'defect':
      return { type: 'defect', reminder: verdict.reminder };
    case 'refused':
      return { type: 'refused' };
    case 'failed':
      return { type: 'lost' };
  }
}

function costs(usage: ModelUsage | undefined, model: SummaryModel): Partial<SummaryAttempt> {
  if (usage === undefined) return {};
  const costUsd = model.costOf(usage);
  return {
    inputTokens: usage.input,
    cachedInputTokens: usage.cachedInput,
    outputTokens: usage.output,
    ...(costUsd === undefined ? {} : { costUsd }),
  };
}

/** An answer that says more than this for each token it may take is noise, and is not read to its end. */
const MOST_CHARACTERS_PER_TOKEN = 12;

/** Puts an answer together, and begins again where a request is sent again. */
class Listener {
  readonly #mostCharacters: number;
  readonly #tell: (message: string) => void;
  #texts: string[] = [];
  #heard = 0;
  #hasCalls = false;
  #stopReason: StopReason | undefined;
  usage: ModelUsage | undefined;
  retries = 0;

  constructor(mostCharacters: number, tell: (message: string) => void) {
    this.#mostCharacters = mostCharacters;
    this.#tell = tell;
  }

  accept(event: ModelEvent): void {
    switch (event.type) {
      case 'restarted':
        this.#texts = [];
        this.#heard = 0;
        this.#hasCalls = false;
        this.usage = undefined;
        this.retries++;
        this.#tell(`Reconnecting… ${event.retry}/${event.maxRetries} (${event.why.replace(/\.$/, '')})`);
        return;
      case 'text_delta':
      case 'reasoning_delta':
        this.#heard += event.text.length;
        return;
      case 'item_done':
        if (event.item.type === 'message') this.#texts.push(textOfParts(event.item.content));
        else if (callOf(event.item) !== undefined) this.#hasCalls = true;
        return;
      case 'usage':
        this.usage = event.usage;
        return;
      case 'completed':
        this.#stopReason = event.stopReason;
    }
  }

  get isNoise(): boolean {
    return this.#heard > this.#mostCharacters;
  }

  answer(): Answer {
    // An answer that was not read to its end is one that was too long.
    const stopReason = this.#stopReason ?? 'output_limit';
    return { text: this.#texts.join('\n\n'), hasCalls: this.#hasCalls, stopReason };
  }
}

async function listen(
  model: Model,
  request: ModelRequest,
  heard: Listener,
  signal: CancelSignal,
): Promise<Answer> {
  for await (const event of model.stream(request, signal)) {
    heard.accept(event);
    if (heard.isNoise) break;
  }
  return heard.answer();
}

/** Fires when the user stops the compaction, and when the time for its requests is over. */
class Deadline implements CancelSignal {
  readonly #listeners = new Set<() => void>();
  readonly #signal: CancelSignal;
  readonly #timer: ReturnType<typeof setTimeout>;
  readonly #fire = (): void => {
    this.isOver = true;
    for (const listener of this.#listeners) listener();
  };
  /** Whether no further request may be sent. */
  isOver: boolean;

  constructor({ signal, deadlineMs }: AskingWorld) {
    this.#signal = signal;
    this.isOver = signal.aborted;
    signal.addEventListener('abort', this.#fire);
    this.#timer = setTimeout(this.#fire, deadlineMs);
  }

  get aborted(): boolean {
    return this.isOver;
  }

  addEventListener(_: 'abort', listener: () => void): void {
    this.#listeners.add(listener);
  }

  removeEventListener(_: 'abort', listener: () => void): void {
    this.#listeners.delete(listener);
  }

  clear(): void {
    clearTimeout(this.#timer);
    this.#signal.removeEventListener('abort', this.#fire);
  }
}
