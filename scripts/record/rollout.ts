// Writes what happened as a Codex rollout, with the usage that the requests would have had.

import type { Item } from '../../src/protocol/item.ts';
import { itemTokens, sumTokens } from '../../src/tokens/estimate.ts';
import type { CountText } from '../../src/tokens/estimate.ts';
import { BATON_ORIGINATOR } from '../../src/formats/codex/shapes.ts';
import { SHOWN_DIRECTORY } from './workspace.ts';

/** Tokens of the three tool definitions, which are in every request and in no line: about what Codex's own take. */
const TOOLS_TOKENS = 1_400;

/** Prompt caches of the field work in steps of this many tokens. @source cached_input_tokens of real rollouts. */
const CACHE_STEP = 128;

/** Tokens a second at which an answer arrives; only spaces the timestamps. */
const ANSWER_SPEED = 60;

/** What the first lines say. */
export interface Head {
  readonly sessionId: string;
  readonly startMs: number;
  readonly producerVersion: string;
  readonly model: string;
  /** Usable part of the context window in tokens: what Codex records. */
  readonly usableWindow: number;
  readonly baseInstructions: string;
  readonly git: { readonly branch: string; readonly commit_hash: string };
}

interface Usage {
  readonly input_tokens: number;
  readonly cached_input_tokens: number;
  readonly output_tokens: number;
  readonly reasoning_output_tokens: number;
  readonly total_tokens: number;
}

const NO_USAGE: Usage = {
  input_tokens: 0,
  cached_input_tokens: 0,
  output_tokens: 0,
  reasoning_output_tokens: 0,
  total_tokens: 0,
};

/** A rollout that grows line by line, and the clock and the context that belong to it. */
export class Rollout {
  readonly #lines: string[] = [];
  readonly #head: Head;
  readonly #count: CountText;
  #nowMs: number;
  #turn = 0;
  #context: number;
  #cached = 0;
  #answer = 0;
  #peak = 0;
  #spent: Usage = NO_USAGE;

  constructor(head: Head, count: CountText) {
    this.#head = head;
    this.#count = count;
    this.#nowMs = head.startMs;
    this.#context = TOOLS_TOKENS + count(head.baseInstructions);
    this.#line('session_meta', {
      id: head.sessionId,
      timestamp: new Date(head.startMs).toISOString(),
      cwd: SHOWN_DIRECTORY,
      originator: BATON_ORIGINATOR,
      cli_version: head.producerVersion,
      source: 'cli',
      model_provider: 'scripted',
      base_instructions: { text: head.baseInstructions },
      git: head.git,
    });
  }

  /** Seconds since 1970, for the commits made now. */
  get epochSeconds(): number {
    return Math.floor(this.#nowMs / 1000);
  }

  /** Tokens of the next request. */
  get contextTokens(): number {
    return this.#context + this.#answer;
  }

  /** The largest request and answer so far. */
  get peakTokens(): number {
    return this.#peak;
  }

  get lineCount(): number {
    return this.#lines.length;
  }

  /** Lets scripted time pass. */
  wait(seconds: number): void {
    this.#nowMs += Math.round(seconds * 1000);
  }

  /** Opens a turn; the items that the harness puts before the user's message come between. */
  startTurn(): void {
    this.#turn++;
    this.#line('event_msg', {
      type: 'task_started',
      turn_id: this.#turnId(),
      model_context_window: this.#head.usableWindow,
    });
    this.#line('turn_context', {
      turn_id: this.#turnId(),
      cwd: SHOWN_DIRECTORY,
      approval_policy: 'never',
      sandbox_policy: { mode: 'workspace-write' },
      model: this.#head.model,
      summary: 'auto',
    });
  }

  completeTurn(lastMessage: string): void {
    this.#line('event_msg', {
      type: 'task_complete',
      turn_id: this.#turnId(),
      last_agent_message: lastMessage,
    });
  }

  /** An item that the next request will hold: a message of the user, the result of a tool. */
  input(item: Item): void {
    this.#item(item);
    this.#context += this.#tokensOf(item);
  }

  /** An item of the answer that is arriving. */
  output(item: Item): void {
    const tokens = this.#tokensOf(item);
    this.wait(1 + tokens / ANSWER_SPEED);
    this.#item(item);
    this.#answer += tokens;
  }

  /** Closes an answer: what its request took, as the provider would have said. Call it before the results are added. */
  measure(): Usage {
    const last: Usage = {
      input_tokens: this.#context,
      cached_input_tokens: this.#cached,
      output_tokens: this.#answer,
      reasoning_output_tokens: 0,
      total_tokens: this.#context + this.#answer,
    };
    this.#cached = this.#context - (this.#context % CACHE_STEP);
    this.#context += this.#answer;
    this.#answer = 0;
    this.#peak = Math.max(this.#peak, last.total_tokens);
    this.#spent = addUsage(this.#spent, last);
    return last;
  }

  /** Writes a measurement; Codex does so after the results of the calls in the answer. */
  tokenCount(last: Usage): void {
    this.#line('event_msg', {
      type: 'token_count',
      info: {
        total_token_usage: this.#spent,
        last_token_usage: last,
        model_context_window: this.#head.usableWindow,
      },
      rate_limits: null,
    });
  }

  /** The file. */
  text(): string {
    return `${this.#lines.join('\n')}\n`;
  }

  #tokensOf(item: Item): number {
    return sumTokens(itemTokens(item, this.#count));
  }

  #item(item: Item): void {
    this.#line('response_item', item);
  }

  #line(type: string, payload: object): void {
    this.#lines.push(JSON.stringify({ timestamp: new Date(this.#nowMs).toISOString(), type, payload }));
    // Two lines of one moment would tell nothing about their order.
    this.#nowMs += 1;
  }

  #turnId(): string {
    return `${this.#head.sessionId.slice(0, -4)}${String(this.#turn).padStart(4, '0')}`;
  }
}

function addUsage(a: Usage, b: Usage): Usage {
  return {
    input_tokens: a.input_tokens + b.input_tokens,
    cached_input_tokens: a.cached_input_tokens + b.cached_input_tokens,
    output_tokens: a.output_tokens + b.output_tokens,
    reasoning_output_tokens: a.reasoning_output_tokens + b.reasoning_output_tokens,
    total_tokens: a.total_tokens + b.total_tokens,
  };
}
