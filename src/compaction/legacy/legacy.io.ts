// Asks models for the summary of the legacy compaction: one request with the whole history, smaller where it is refused.

import { UNKNOWN_OUTPUT_LIMIT } from '../../tokens/models.ts';
import type { Item, MessageItem } from '../../protocol/item.ts';
import type { SummaryAttempt } from '../../protocol/receipt.ts';
import { renderPrompt } from '../../prompts/render.ts';
import { approximateTokens } from '../../tokens/estimate.ts';
import type { CountText } from '../../tokens/estimate.ts';
import { countRedactions } from '../../text/redact.ts';
import type { Trail } from '../../trail/trail.ts';
import type { Rung } from '../../vocabulary.ts';
import {
  costsOf,
  RequestDeadline,
  listen,
  Listener,
  nameOf,
  whyUnanswered,
  readableBy,
} from '../summarise/ask-model.io.ts';
import type { AskingWorld } from '../summarise/ask-model.io.ts';
import type { Summarizers, SummaryModel } from '../summarise/summarizers.ts';
import { carryOut, requestSizes } from '../full/full.ts';
import type { FullRequest, FullResult } from '../full/request.ts';
import { judgeAnswer } from '../summarise/answer.ts';
import { WORDS_PER_TOKEN } from '../summarise/prompt.ts';
import type { SizeOf } from '../summarise/transcript.ts';
import { MODEL_SUMMARY_LIMIT } from '../summarise/room.ts';
import { modelFreeSummary, shadowedHistory } from '../full/summary.ts';
import { planLegacy, withBridge } from './layout.ts';
import { legacyPrompt } from './prompt.ts';
import { historyBudget, legacyHistory, MOST_OVERFLOWS, nextDrop, trimHistory } from './request.ts';
import type { LegacyHistory } from './request.ts';

/** What the legacy compaction goes by besides the request. */
export interface LegacyMaterial {
  readonly trail: Trail;
  /** The setting; empty: Baton's own prompt. */
  readonly compactPrompt: string;
  /** Without them no model is asked. */
  readonly summarizers: Summarizers | undefined;
}

/**
 * The legacy compaction, whole: a model's summary, else what Baton's own records say, in V1's layout.
 * @throws BatonError `interrupted` when the user's signal fires, and nothing else
 * @source seed 002, rawr-behaviour §11.2
 */
export async function compactLegacy(
  request: FullRequest,
  material: LegacyMaterial,
  world: AskingWorld,
): Promise<FullResult> {
  const { trail, summarizers } = material;
  const asked =
    summarizers === undefined
      ? NO_ANSWER
      : await summariseByModels(request, { ...material, summarizers }, world);
  if (asked.result !== undefined) return asked.result;
  const plan = planLegacy(request);
  if (plan.outcome !== 'planned') return plan;
  const notes = summarizers === undefined ? [] : [failureNote(asked.attempts)];
  for (const note of notes) world.report(note);
  const { rung, summarise } = modelFreeSummary(request, trail);
  return carryOut(
    rung === 'canned' ? withBridge(plan) : plan,
    (budget, preserved) => {
      const draft = summarise(budget, preserved);
      return { ...draft, notes: [...notes, ...(draft.notes ?? [])] };
    },
    { implementation: 'legacy', rung, attempts: asked.attempts },
  );
}

interface LegacyAnswer {
  /** Undefined where no model gave a summary that fits. */
  readonly result: FullResult | undefined;
  readonly attempts: readonly SummaryAttempt[];
}

const NO_ANSWER: LegacyAnswer = { result: undefined, attempts: [] };

/** @source seed 002: "we emit a background notice, skip the summarizer" */
function failureNote(attempts: readonly SummaryAttempt[]): string {
  const why = attempts.at(-1)?.why ?? 'no part of the history fits beside the request';
  return `No model could summarise the conversation (${why}); the summary of the older turns was written without a model.`;
}

async function summariseByModels(
  request: FullRequest,
  { trail, compactPrompt, summarizers }: LegacyMaterial & { readonly summarizers: Summarizers },
  world: AskingWorld,
): Promise<LegacyAnswer> {
  const plan = planLegacy({ ...request, summaryLimit: MODEL_SUMMARY_LIMIT });
  if (plan.outcome !== 'planned') return NO_ANSWER;
  const { models, prompts } = summarizers;
  const { summary, attempts } = await summariseLegacy(
    models,
    {
      history: shadowedHistory(request, trail),
      sizeOf: requestSizes(plan),
      count: request.count,
      mostTokens: plan.summaryTokens,
      instructions: prompts.system,
      prompt: legacyPrompt(compactPrompt, prompts.instructions),
      cacheKey: request.id,
    },
    world,
  );
  if (summary === undefined) return { result: undefined, attempts };
  const { text, model, rung } = summary;
  const draft = { text, redactions: countRedactions(text) };
  const result = carryOut(plan, () => draft, { implementation: 'legacy', rung, model, attempts });
  return { result: result.outcome === 'compacted' ? result : undefined, attempts };
}

/** What is to be summarised. */
interface LegacyOrder {
  readonly history: readonly Item[];
  readonly sizeOf: SizeOf;
  readonly count: CountText;
  /** Room for the summary, in tokens by `count`. */
  readonly mostTokens: number;
  /** The system prompt. */
  readonly instructions: string;
  /** See `legacyPrompt`. May hold `{maxWords}`. */
  readonly prompt: string;
  readonly cacheKey: string;
}

/** A summary of the legacy compaction. */
interface LegacySummary {
  readonly text: string;
  /** `PROVIDER/MODEL`. */
  readonly model: string;
  readonly rung: Rung;
}

/** Asks one model after the other until one gave a summary. */
async function summariseLegacy(
  models: readonly SummaryModel[],
  order: LegacyOrder,
  world: AskingWorld,
): Promise<{ readonly summary: LegacySummary | undefined; readonly attempts: readonly SummaryAttempt[] }> {
  const attempts: SummaryAttempt[] = [];
  const deadline = new RequestDeadline(world);
  try {
    for (const model of models) {
      const history = legacyHistory(readableBy(order.history, model), order.sizeOf);
      const summary = await askModel({ model, history, order, world, deadline }, attempts);
      if (summary !== undefined) return { summary, attempts };
    }
    return { summary: undefined, attempts };
  } finally {
    deadline.clear();
  }
}

interface Asking {
  readonly model: SummaryModel;
  readonly history: LegacyHistory;
  readonly order: LegacyOrder;
  readonly world: AskingWorld;
  readonly deadline: RequestDeadline;
}

/** The share of the window that seed 002 leaves for the answer. */
const ANSWER_SHARE = 0.2;

async function askModel(asking: Asking, attempts: SummaryAttempt[]): Promise<LegacySummary | undefined> {
  const { model, history, order, world, deadline } = asking;
  const name = nameOf(model);
  const answerTokens = Math.min(
    model.outputLimit ?? UNKNOWN_OUTPUT_LIMIT,
    Math.floor(model.window * ANSWER_SHARE),
  );
  const prompt = promptMessage(order);
  const budget = historyBudget(model.window, order.sizeOf(prompt) + approximateTokens(order.instructions));
  let dropped = 0;
  for (let overflows = 0; overflows <= MOST_OVERFLOWS && !deadline.isOver; overflows++) {
    if (overflows > 0) dropped = nextDrop(dropped, overflows);
    const excerpt = trimHistory(history, budget, dropped);
    if (excerpt.items.length === 0) return undefined;
    dropped = excerpt.dropped;
    const rung: Rung = dropped === 0 ? 'whole' : 'oldest_dropped';
    world.report(`Asking ${name} for a summary (legacy compaction).`);
    const startedMs = world.clock.now();
    const heard = new Listener(answerTokens, world.report);
    const request = {
      model: model.name,
      instructions: order.instructions,
      items: [...excerpt.items, prompt],
      tools: [],
      ...(model.effort === undefined ? {} : { effort: model.effort }),
      ...(model.verbosity === undefined ? {} : { verbosity: model.verbosity }),
      maxOutputTokens: answerTokens,
      cacheKey: order.cacheKey,
    };
    const verdict = await listen(model.model, request, heard, deadline).then(
      (answer) => judgeAnswer(answer, { ...WANTED, mostTokens: order.mostTokens, count: order.count }),
      (error: unknown) => whyUnanswered(error, world.signal),
    );
    attempts.push({
      model: name,
      rung,
      outcome: verdict.type === 'summary' ? 'accepted' : verdict.type,
      ...(verdict.type === 'summary' ? {} : { why: verdict.why }),
      retries: heard.retries,
      ...costsOf(heard.usage, model),
      durationMs: world.clock.now() - startedMs,
    });
    if (verdict.type === 'summary') return { text: verdict.text, model: name, rung };
    world.report(`${name} did not return a summary: ${verdict.why}.`);
    if (verdict.type !== 'too_large') return undefined;
  }
  return undefined;
}

/** V1 asks for no sections and does not ask twice. */
const WANTED = { hasSections: false, wasReminded: true, isPiece: false } as const;

function promptMessage({ prompt, mostTokens }: LegacyOrder): MessageItem {
  const maxWords = String(Math.max(100, Math.floor(mostTokens * WORDS_PER_TOKEN)));
  return {
    type: 'message',
    role: 'user',
    content: [{ type: 'input_text', text: renderPrompt(prompt, { maxWords }) }],
    origin: { author: 'harness' },
  };
}
