// Connects the watcher to your own agent loop: npx tsx examples/drive-the-watcher.ts
//
// The loop below uses Baton in two places only: it reports events (`watcher.…`) and answers requests (`WatchedAgent`).
// A script replaces the model, so that the example runs anywhere.

import { createHash, randomUUID } from 'node:crypto';
import {
  approximateTokens,
  DEFAULT_CONFIG,
  HistoryFold,
  percentRemaining,
  SUMMARY_PREFIX,
  textOfParts,
  TrailCollector,
  WHOLE_ITEMS,
} from 'baton-agent/engine';
import type { Item, LogRecord } from 'baton-agent/engine';
import {
  Compactor,
  LiveWatcher,
  parsePrompt,
  resolvePolicy,
  SHIPPED_PROMPTS,
  SNIPPET_PLACEHOLDER,
} from 'baton-agent/watcher';
import type { CompactableThread, TurnOrigin, WatchedAgent } from 'baton-agent/watcher';

const WINDOW = 20_000;
const settings = { config: DEFAULT_CONFIG, policy: resolvePolicy(DEFAULT_CONFIG) };

function says(text: string): Item {
  return { type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] };
}

/** Your model and its tools: each turn reads a long file and commits; when asked for a packet, it writes one. */
function work(history: readonly Item[]): readonly Item[] {
  if (history.at(-1)?.origin?.step === 'packet_request') {
    return [
      says(
        '## Overarching goal\nWrite the almanac.\n## Just completed\nThis chapter is committed.\n' +
          '## Current state\nThe tides are tabulated.\n## Invariants\nHeights are in fathoms.\n## Next step\nThe next chapter.\n' +
          `## Verbatim snippet\n${SNIPPET_PLACEHOLDER}`,
      ),
    ];
  }
  const id = randomUUID();
  const shell = JSON.stringify({ command: `cat tides.txt && git commit -am 'Add a chapter'` });
  const output = `${'high water 06:12, low water 12:31\n'.repeat(350)}[main 1a2b3c4] Add a chapter`;
  return [
    { type: 'function_call', call_id: id, name: 'shell', arguments: shell },
    { type: 'function_call_output', call_id: id, output, success: true, exit_code: 0 },
    says('The chapter is written and committed. The next one comes next.'),
  ];
}

class Agent implements WatchedAgent, CompactableThread {
  readonly threadId = randomUUID();
  readonly #history = new HistoryFold(WHOLE_ITEMS);
  readonly #trail = new TrailCollector();
  readonly #compactor = new Compactor(this, DEFAULT_CONFIG, {
    clock: Date,
    ids: { uuid: randomUUID },
    hash: (text) => createHash('sha256').update(text).digest('hex'),
    count: approximateTokens,
    counter: 'approximate',
    emit: (event) => {
      if (event.type === 'compact_completed') {
        console.log(`compacted: ${event.pre_compact_tokens} -> ${event.post_compact_tokens} tokens`);
      }
    },
  });
  readonly watcher = new LiveWatcher(
    this,
    {
      settings: () => Promise.resolve(settings),
      prompt: (name) => Promise.resolve({ body: parsePrompt(SHIPPED_PROMPTS[name]).body, isOwn: false }),
      judgePrompt: () => Promise.resolve(SHIPPED_PROMPTS['judgment.md']),
      askJudge: () => Promise.resolve('{"should_compact": true, "reason": "nobody was asked"}'),
      facts: () => Promise.resolve({}),
      // The watcher asks an agent that can write files for notes; for this one it keeps them in memory.
      scratch: { size: () => Promise.resolve(undefined), append: () => Promise.resolve() },
      nowMs: Date.now,
    },
    {
      show: ({ surface, text }) => {
        if (surface !== 'status') console.log(text);
      },
      judged: () => undefined,
      queueChanged: () => undefined,
      decided: () => undefined,
      moved: () => undefined,
      rested: () => undefined,
    },
    { settings },
  );
  #turns = 0;

  /** Your log: a real one writes to disk before it returns. */
  #write(record: LogRecord): void {
    this.#history.add(record);
    this.#trail.add(record);
    this.#compactor.noteRecord(record);
    this.watcher.record(record);
  }

  #add(items: readonly Item[]): void {
    for (const item of items) this.#write({ type: 'item', item });
  }

  // Requests of the watcher.

  items(): readonly Item[] {
    return this.#history.entries.map(({ value }) => value);
  }

  trail(): ReturnType<TrailCollector['trail']> {
    return this.#trail.trail();
  }

  situation(): ReturnType<WatchedAgent['situation']> {
    const { used } = this.usage();
    return { used, window: WINDOW, percentRemaining: percentRemaining(used, WINDOW), projected: 4_000 };
  }

  lastAgentMessage(): string | undefined {
    const last = this.items().findLast((item) => item.type === 'message' && item.role === 'assistant');
    return last?.type === 'message' ? textOfParts(last.content) : undefined;
  }

  note(kind: string, value: Extract<LogRecord, { type: 'note' }>['value']): Promise<void> {
    this.#write({ type: 'note', kind, value });
    return Promise.resolve();
  }

  put(items: readonly Item[]): Promise<void> {
    this.#add(items);
    return Promise.resolve();
  }

  startTurn(origin: TurnOrigin, input: readonly Item[]): Promise<void> {
    const turn = { turnId: `turn-${++this.#turns}`, kind: 'regular', origin } as const;
    const step = input[0]?.origin?.step;
    console.log(`${turn.turnId}: ${step ?? 'the user'}, ${this.usage().used} tokens before it`);
    this.#write({ type: 'turn_started', ...turn });
    this.#add(input);
    this.watcher.turnStarted(turn);
    // Not awaited: the loop reports the turn's end when it comes.
    queueMicrotask(() => {
      this.#add(work(this.items()));
      this.#write({ type: 'turn_complete', ...turn });
      this.watcher.turnComplete({ ...turn, hadAction: true });
    });
    return Promise.resolve();
  }

  /** For loops that report `samplingComplete` inside their turns; this one only asks between them. */
  resumeTurn(): void {}

  /** For models that can be stopped. */
  interruptTurn(): void {}

  plan(wish: Parameters<WatchedAgent['plan']>[0]): ReturnType<WatchedAgent['plan']> {
    return this.#compactor.plan({ ...wish, from: 'watcher' });
  }

  async compact(
    order: Parameters<WatchedAgent['compact']>[0],
    signal: Parameters<WatchedAgent['compact']>[1],
  ): ReturnType<WatchedAgent['compact']> {
    // A summary between turns is a separate turn, so that nothing else begins before it ends.
    const origin = { type: 'watcher', number: order.number } as const;
    const turn = { turnId: `turn-${++this.#turns}`, kind: 'compact', origin } as const;
    if (order.strategy === 'full') this.watcher.turnStarted(turn);
    const outcome = await this.#compactor.request({ ...order, from: 'watcher' }, signal);
    if (order.strategy === 'full') this.watcher.turnComplete({ ...turn, hadAction: false });
    if (outcome.type === 'compacted') return { type: 'compacted', strategy: outcome.compaction.type };
    return { type: 'failed', why: outcome.type === 'failed' ? outcome.error.message : outcome.why };
  }

  noteVeto(): void {
    this.#compactor.noteVeto();
  }

  // Requests of the compactor.

  usage(): { readonly used: number; readonly rawWindow: number } {
    return { used: approximateTokens(JSON.stringify(this.items())), rawWindow: WINDOW };
  }

  subject(): ReturnType<CompactableThread['subject']> {
    return {
      entries: this.#history.entries,
      window: WINDOW,
      leavesInitialContext: false,
      summaryPrefix: SUMMARY_PREFIX,
      session: { sessionId: this.threadId, transcriptPath: undefined, cwd: undefined, model: undefined },
      trail: this.#trail.trail(),
    };
  }

  commit({ record }: Parameters<CompactableThread['commit']>[0]): Promise<void> {
    this.#write(record);
    return Promise.resolve();
  }
}

const agent = new Agent();
for (const chapter of ['the tides', 'the lights', 'the fog signals']) {
  await agent.watcher.submit({ id: randomUUID(), text: `Write the chapter on ${chapter}.` });
  await agent.watcher.rest();
}
await agent.watcher.shutdown();
console.log(`at the end: ${agent.usage().used} of ${WINDOW} tokens`);
