// Asks models for the summary of the legacy compaction: one request with the whole history, smaller where it is refused.

import type { Item, MessageItem } from '../../protocol/item.ts';
import type { SummaryAttempt } from '../../protocol/receipt.ts';
import { renderPrompt } from '../../prompts/render.ts';
import { approximateTokens } from '../../tokens/estimate.ts';
import type { CountText } from '../../tokens/estimate.ts';
import type { Rung } from '../../vocabulary.ts';
import {
  costsOf,
  Deadline,
  listen,
  Listener,
  nameOf,
  whyUnanswered,
  withoutForeignReasoning,
} from '../asking/driver.ts';
import type { AskingWorld, SummaryModel } from '../asking/driver.ts';
import { judgeAnswer } from '../summarise/answer.ts';
import { WORDS_PER_TOKEN } from '../summarise/prompt.ts';
import type { SizeOf } from '../summarise/transcript.ts';
import { historyBudget, legacyHistory, MOST_OVERFLOWS, nextDrop, trimHistory } from './request.ts';
import type { LegacyHistory } from './request.ts';

/** What is to be summarised. */
export interface LegacyOrder {
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
export interface LegacySummary {
  readonly text: string;
  /** `PROVIDER/MODEL`. */
  readonly model: string;
  readonly rung: Rung;
}

/**
 * Asks one model after the other until one gave a summary.
 * @returns the summary, undefined where none came; and every request that was made
 * @throws BatonError `interrupted` when the user's signal fires, and nothing else
 */
export async function summariseLegacy(
  models: readonly SummaryModel[],
  order: LegacyOrder,
  world: AskingWorld,
): Promise<{ readonly summary: LegacySummary | undefined; readonly attempts: readonly SummaryAttempt[] }> {
  const attempts: SummaryAttempt[] = [];
  const deadline = new Deadline(world);
  try {
    for (const model of models) {
      const history = legacyHistory(withoutForeignReasoning(order.history, model), order.sizeOf);
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
  readonly deadline: Deadline;
}

/** Tokens of an answer where the limit of the model is not known. @source docs/decisions/providers.md */
const UNKNOWN_OUTPUT_LIMIT = 8_192;

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
    world.tell(`Asking ${name} for a summary (legacy compaction).`);
    const startedMs = world.clock.now();
    const heard = new Listener(answerTokens, world.tell);
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
    world.tell(`${name} gave no summary: ${verdict.why}.`);
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
