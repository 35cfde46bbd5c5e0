// Asks models for a summary, down the ladder, within a deadline. Decides nothing: `ladder.ts` says what is asked next, and
// `answer.ts` what an answer is worth.

import { textOfParts } from '../../protocol/item.ts';
import type { Item, MessageItem } from '../../protocol/item.ts';
import type { ModelRequest } from '../../protocol/model.ts';
import type { SummaryAttempt } from '../../protocol/receipt.ts';
import { cutMiddle } from '../../tokens/cut.ts';
import { approximateTokens } from '../../tokens/estimate.ts';
import type { CountText } from '../../tokens/estimate.ts';
import { plural } from '../../tokens/words.ts';
import type { Rung } from '../../vocabulary.ts';
import type { Constraint } from '../../trail/trail.ts';
import {
  costsOf,
  RequestDeadline,
  listen,
  Listener,
  nameOf,
  readableBy,
  stopped,
  whyUnanswered,
} from './ask-model.io.ts';
import type { AskingWorld, Unanswered } from './ask-model.io.ts';
import type { SummaryModel } from './summarizers.ts';
import { cleanSummary } from '../full/summary.ts';
import { judgeAnswer, withRules } from './answer.ts';
import type { AnswerVerdict } from './answer.ts';
import { climbDown, startLadder } from './ladder.ts';
import type { Ask, AskOutcome } from './ladder.ts';
import { askMessage, wantedTokens } from './prompt.ts';
import type { SummaryPrompts } from './prompt.ts';
import { answerShare, learntRoom, roomsOf } from './room.ts';
import { excerptFor } from './transcript.ts';
import type { SizeOf, Transcript } from './transcript.ts';

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

/** The summary, if there is one, and how it was obtained. */
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
  const deadline = new RequestDeadline(world);
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
  const { text: whole, added } = withRules(cleanSummary(text), constraints, { preserved, mostTokens, count });
  const notes =
    added === 0
      ? []
      : [
          `${plural(added, 'user rule')} that the model omitted ${added === 1 ? 'follows' : 'follow'} its summary verbatim.`,
        ];
  return { text: whole, model: nameOf(author), rung, notes };
}

interface Asking {
  readonly ask: Ask;
  readonly model: SummaryModel;
  /** Tokens that the answer may take, its thinking included. */
  readonly answerTokens: number;
  readonly order: SummaryOrder;
  readonly world: AskingWorld;
  readonly deadline: RequestDeadline;
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
  if (world.signal.aborted) throw stopped();
  if (deadline.isOver) return { outcome: { type: 'lost' }, attempt: undefined };
  const { request, sentTokens } = requestOf(asking);
  // A piece that nothing fell into needs no request.
  if (request === undefined) return { outcome: { type: 'defect', reminder: '' }, attempt: undefined };
  const name = nameOf(model);
  const piece = ask.chunk === undefined ? '' : `, part ${ask.chunk.index + 1} of ${ask.chunk.count}`;
  world.report(`Asking ${name} for a summary (${RUNG_WORDS[ask.rung]}${piece}).`);
  const startedMs = world.clock.now();
  const heard = new Listener(answerTokens, world.report);
  const verdict = await listen(model.model, request, heard, deadline).then(
    (answer): AskVerdict => judgeAnswer(answer, wantedOf(asking)),
    (error: unknown): AskVerdict => whyUnanswered(error, world.signal),
  );
  const attempt: SummaryAttempt = {
    model: name,
    rung: ask.rung,
    ...(ask.chunk === undefined ? {} : { piece: ask.chunk.index + 1 }),
    outcome: verdict.type === 'summary' ? 'accepted' : verdict.type,
    ...(verdict.type === 'summary' ? {} : { why: verdict.why }),
    retries: heard.retries,
    ...costsOf(heard.usage, model),
    durationMs: world.clock.now() - startedMs,
  };
  if (verdict.type !== 'summary') world.report(`${name} did not return a summary: ${verdict.why}.`);
  const limitTokens = verdict.type === 'too_large' ? verdict.limitTokens : undefined;
  return { outcome: outcomeOf(verdict, asking, sentTokens), attempt, limitTokens };
}

const RUNG_WORDS: Readonly<Record<Ask['rung'], string>> = {
  whole: 'the whole conversation',
  results_cleared: 'without tool results',
  oldest_dropped: 'the newest part that fits',
  chunked: 'in pieces',
  newest_turns: 'the newest turns only',
};

/** The share of a request's room for summaries of pieces, where the newest part is shown beside them. */
const PARTIALS_SHARE = 0.5;

/** The summaries of pieces, cut where all together would take more than their share of the room. */
function partialsWithin({ partials, room }: Ask, share: number): Ask['partials'] {
  const told = partials.filter((text) => text !== undefined).length;
  const most = Math.floor((room * share) / Math.max(1, told));
  return partials.map((text) =>
    text === undefined ? undefined : (cutMiddle(text, most, approximateTokens) ?? '…'),
  );
}

function sumOf(texts: Ask['partials']): number {
  return texts.reduce((sum, text = '') => sum + approximateTokens(text), 0);
}

/** What a summary may take: what there is room for afterwards, and what the model can say at once. */
function mostFor({ mostTokens }: SummaryOrder, answerTokens: number): number {
  return Math.min(mostTokens, answerTokens);
}

function requestOf({ ask, model, order, answerTokens }: Asking): {
  readonly request: ModelRequest | undefined;
  readonly sentTokens: number;
} {
  const { transcript, sizeOf, prompts } = order;
  const isPartial = ask.rung === 'oldest_dropped' || ask.rung === 'newest_turns';
  const mayOmit = isPartial || (ask.rung === 'chunked' && ask.chunk === undefined);
  const digest = mayOmit
    ? order.digest(Math.min(MOST_DIGEST_TOKENS, Math.floor(ask.room * DIGEST_SHARE)))
    : '';
  const partials = partialsWithin(ask, isPartial ? PARTIALS_SHARE : 1 - DIGEST_SHARE);
  const told = approximateTokens(digest) + sumOf(partials);
  // All pieces are cut by the same room, so that together they hold everything once.
  const room = isPartial ? Math.max(0, ask.room - told) : ask.room;
  const excerpt = excerptFor(transcript, { ...ask, room }, sizeOf);
  if (ask.chunk !== undefined && excerpt.items.length === 0) return { request: undefined, sentTokens: 0 };
  const last = askMessage({ ...ask, partials }, prompts, excerpt, {
    mostTokens: mostFor(order, answerTokens),
    digest,
  });
  const items: readonly Item[] = [...readableBy(excerpt.items, model), last];
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

type AskVerdict = Exclude<AnswerVerdict, { type: 'too_large' }> | Unanswered;

function outcomeOf(
  verdict: AskVerdict,
  { ask, order, answerTokens }: Asking,
  sentTokens: number,
): AskOutcome {
  switch (verdict.type) {
    case 'summary': {
      if (ask.chunk === undefined) return { type: 'accepted', text: verdict.text };
      // Nobody says that a model keeps to the length it was asked for.
      const most = 2 * wantedTokens(ask, mostFor(order, answerTokens));
      return { type: 'accepted', text: cutMiddle(verdict.text, most, approximateTokens) ?? verdict.text };
    }
    case 'too_large':
      return { type: 'too_large', room: learntRoom(verdict, { sentTokens, answerTokens, order }) };
    case 'defect':
      return { type: 'defect', reminder: verdict.reminder };
    case 'refused':
      return { type: 'refused' };
    case 'failed':
      return { type: verdict.mayTakeLess ? 'refused' : 'lost' };
  }
}
