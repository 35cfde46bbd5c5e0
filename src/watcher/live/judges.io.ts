// Asks the judge: reads its prompt, asks the model, and reports the answer. A judge that nobody awaits any more is stopped.

import { BatonError } from '../../errors.ts';
import { renderPrompt } from '../../prompts/render.ts';
import type { CancelSignal } from '../../ports.ts';
import type { Judgment, JudgmentRequest } from '../../protocol/judgment.ts';
import type { AskJudgment } from '../effects.ts';
import { judgmentValues, parseJudgment } from '../judgment.ts';
import type { WatcherVoice, WatcherWorld } from './agent.ts';

/** The thread that a judge decides about. */
export type JudgedThread = Parameters<typeof judgmentValues>[1];

/** The judges of one thread's watcher. */
export class Judges {
  readonly #world: WatcherWorld;
  readonly #voice: WatcherVoice;
  readonly #running = new Map<
    number,
    { readonly controller: AbortController; readonly request: JudgmentRequest }
  >();

  constructor(world: WatcherWorld, voice: WatcherVoice) {
    this.#world = world;
    this.#voice = voice;
  }

  /** Starts to ask. @param decided receives the answer, unless the judge is dismissed before */
  ask({ number, request }: AskJudgment, thread: JudgedThread, decided: (judgment: Judgment) => void): void {
    const controller = new AbortController();
    this.#running.set(number, { controller, request });
    this.#voice.show({ surface: 'status', text: `RAWR judgment: start ${request.tier}` });
    const { signal } = controller;
    void this.#judgmentOf(request, thread, signal).then((judgment) => {
      if (signal.aborted) return;
      this.#running.delete(number);
      this.#voice.judged(request, judgment);
      const word = judgment.type === 'failure' ? 'failed' : judgment.shouldCompact ? 'approve' : 'veto';
      this.#voice.show({ surface: 'status', text: `RAWR judgment: result ${word}` });
      decided(judgment);
    });
  }

  /** Asks on someone else's behalf: reports the answer, which decides nothing. */
  async consult(request: JudgmentRequest, thread: JudgedThread, signal: CancelSignal): Promise<void> {
    const judgment = await this.#judgmentOf(request, thread, signal);
    if (signal.aborted) return;
    this.#voice.judged(request, judgment);
    if (judgment.type === 'failure') {
      this.#voice.show({ surface: 'warning', text: `The judge gave no answer: ${judgment.why}` });
    }
  }

  /** Stops all judges but one. Answers of stopped judges change and show nothing. */
  dismissExcept(awaited: number | undefined): void {
    for (const [number, { controller, request }] of this.#running) {
      if (number === awaited) continue;
      this.#running.delete(number);
      controller.abort();
      this.#voice.judged(request, { type: 'failure', why: 'Nobody waits for the answer any more.' });
      this.#voice.show({ surface: 'status', text: 'RAWR judgment: result none' });
    }
  }

  /** Stops all judges; the thread closes. */
  stop(): void {
    for (const { controller } of this.#running.values()) controller.abort();
  }

  async #judgmentOf(request: JudgmentRequest, thread: JudgedThread, signal: CancelSignal): Promise<Judgment> {
    try {
      const instructions = await this.#world.judgePrompt(request.decision_prompt_path);
      const { body } = await this.#world.prompt('judgment-context.md');
      const text = renderPrompt(body, judgmentValues(request, thread));
      return parseJudgment(await this.#world.askJudge({ instructions, text }, signal));
    } catch (error) {
      const why = error instanceof BatonError ? error.message : String(error);
      return { type: 'failure', why };
    }
  }
}
