// The calls of a thread: finds, approves, orders, runs and reports them, and turns them into results.

import { BatonError } from '../errors.ts';
import { failedResult } from '../history/pairs.ts';
import type { CancelSignal } from '../ports.ts';
import { callOf } from '../protocol/item.ts';
import type { CallView, Item, ToolOutputItem } from '../protocol/item.ts';
import type { ToolSpec } from '../protocol/model.ts';
import type { FileChangeView, ToolEvent, ToolResult } from '../protocol/tool.ts';
import type { ReportCall, ToolRunner } from '../session/terms.ts';
import { ABORTED_RESULT } from '../session/loop.ts';
import { decideApproval } from '../tools/approval.ts';
import { mayReadOutside } from '../tools/shell/links.io.ts';
import { runCall } from '../tools/toolbox.io.ts';
import type { Toolbox } from '../tools/toolbox.io.ts';
import { MAX_TIMEOUT_MS } from '../tools/shell/shell.io.ts';
import type { Tool, ToolAction } from '../tools/tool.ts';
import type { ApprovalPolicy, Author, SandboxMode } from '../vocabulary.ts';

/** A call that needs the user's approval. */
export interface ApprovalRequest {
  readonly callId: string;
  readonly tool: string;
  readonly action: ToolAction;
  /** What it would change in files now. */
  readonly changes: readonly FileChangeView[];
  /** The sandbox that it would run in. */
  readonly sandbox: SandboxMode;
  /** Why approval is needed, in one sentence. */
  readonly why: string;
}

/** The user's answer about a call. */
export type ApprovalAnswer =
  | { readonly type: 'approved' }
  /** `why` is for the model: what would allow the call, or what the user wants instead. */
  | { readonly type: 'denied'; readonly why: string };

/** Asks the user about a call; rejects only with `interrupted`. */
export type AskApproval = (request: ApprovalRequest, signal: CancelSignal) => Promise<ApprovalAnswer>;

/** What running calls requires. */
export interface RunnerTerms {
  readonly toolbox: Toolbox;
  /** The present rules. */
  readonly rules: () => CallRules;
  /** The author of the message that the running turn answers: only the user's turns may ask. */
  readonly author: () => Author;
  readonly ask: AskApproval;
  /** Runs before a call that may change a file. Rejects only with `interrupted`, or the failure of writing the log. */
  readonly beforeChange: (signal: CancelSignal) => Promise<void>;
  readonly emit: (event: ToolEvent) => void;
  /** Tools besides those of the toolbox. */
  readonly more: readonly Tool[];
}

/** The rules for calls. */
export interface CallRules {
  readonly policy: ApprovalPolicy;
  readonly sandbox: SandboxMode;
  /** Changes and commands are forbidden. */
  readonly isPlanning: boolean;
}

type CommandEnd = Extract<ToolEvent, { type: 'exec_command_end' }>;

/** The outcome of the user's shell line. */
export interface LineResult {
  readonly end: CommandEnd;
  /** As an agent would read it: how it ended and its output, with the middle cut if it is long. */
  readonly text: string;
}

/** The outcome of a call. */
interface Ran extends ToolResult {
  /** By the user or the rules. */
  readonly isRefused?: boolean;
}

/** The result of a call that would have changed something in plan mode. */
const PLANNING =
  'Plan mode is on: change nothing and run no command. Read, and present the plan to the user, who switches plan mode off when you may carry it out.';

/** Runs the calls of one thread. */
export class ThreadTools implements ToolRunner {
  readonly specs: readonly ToolSpec[];
  readonly #terms: RunnerTerms;
  readonly #tools: ReadonlyMap<string, Tool>;
  /** The newest call that holds the tools exclusively. */
  #alone: Promise<unknown> = Promise.resolve();
  /** Later calls, which only read. */
  #reading: Promise<unknown>[] = [];

  constructor(terms: RunnerTerms) {
    const tools = [...terms.toolbox.tools, ...terms.more];
    this.#terms = terms;
    this.#tools = new Map(tools.map((tool) => [tool.spec.name, tool]));
    this.specs = tools.map(({ spec }) => spec);
  }

  /**
   * Runs a call when its turn comes: calls that only read run in parallel, every other call runs alone, in the order of
   * the calls to this method, so that each sees the effects of those before it.
   */
  async run(call: Item, signal: CancelSignal, report: ReportCall = () => undefined): Promise<ToolOutputItem> {
    const view = callOf(call);
    const tool = view === undefined ? undefined : this.#tools.get(view.name);
    if (view === undefined || tool === undefined) return failedResult(call, this.#unknown(view));
    const result = await this.#inOrder(tool.kind === 'read', () => this.#runTool(tool, view, signal));
    if (result.isRefused === true) report({ status: 'refused' });
    else if (result.changes !== undefined) report({ changes: result.changes });
    return resultItem(call, result);
  }

  /**
   * Runs the user's shell line in the sandbox. The line is the user's own, so it needs no approval, not even in plan
   * mode.
   * @throws BatonError `usage` if it could not start
   */
  async runLine(command: string, callId: string, signal: CancelSignal): Promise<LineResult> {
    const { toolbox, rules, emit } = this.#terms;
    let end: CommandEnd | undefined;
    const context = {
      callId,
      sandbox: rules().sandbox,
      emit: (event: ToolEvent): void => {
        if (event.type === 'exec_command_end') end = event;
        emit(event);
      },
    };
    const tool = toolbox.tools.find(({ spec }) => spec.name === 'shell');
    if (tool === undefined) throw new TypeError('The toolbox has no shell');
    const input = JSON.stringify({ command, timeout_ms: MAX_TIMEOUT_MS });
    const { text } = await this.#inOrder(false, () => runCall({ tool, arguments: input }, context, signal));
    if (end !== undefined) return { end, text };
    throw new BatonError('usage', text, { cure: 'Change sandbox_mode with set_settings, or the command.' });
  }

  /** Resolves when nothing runs any more. */
  async idle(): Promise<void> {
    await Promise.all([this.#alone, ...this.#reading]);
  }

  #inOrder(isReading: boolean, work: () => Promise<Ran>): Promise<Ran> {
    const before = isReading ? [this.#alone] : [this.#alone, ...this.#reading];
    const running = Promise.all(before).then(work);
    const ended = running.catch(() => undefined);
    if (isReading) this.#reading.push(ended);
    else {
      this.#alone = ended;
      this.#reading = [];
    }
    return running;
  }

  async #runTool(tool: Tool, { callId = '', input }: CallView, signal: CancelSignal): Promise<Ran> {
    if (signal.aborted) return turnedDown(ABORTED_RESULT);
    const parsed = tool.parse(input);
    if (parsed.type === 'complaint') return turnedDown(parsed.text);
    const { rules, toolbox, author, ask, beforeChange, emit } = this.#terms;
    const { policy, sandbox, isPlanning } = rules();
    const isChanging = tool.kind === 'edit' || tool.kind === 'run';
    if (isChanging && isPlanning) return refused(PLANNING);
    const canConfine = toolbox.confinement.type === 'bubblewrap';
    const action = tool.actionOf(parsed.input);
    const isLinkedOut =
      policy === 'untrusted' && action.kind === 'run' && (await mayReadOutside(action, toolbox.root));
    const decision = decideApproval(action, { policy, sandbox, canConfine, isLinkedOut }, author());
    if (decision.type === 'refuse') return refused(decision.why);
    if (decision.type === 'ask') {
      const { why } = decision;
      const changes = (await tool.preview?.(parsed.input, signal)) ?? [];
      const request = { callId, tool: tool.spec.name, action, changes, sandbox: decision.sandbox, why };
      const answer = await ask(request, signal);
      if (answer.type === 'denied') return refused(`${why} ${answer.why}`);
    }
    if (isChanging) await beforeChange(signal);
    return runCall({ tool, arguments: input }, { callId, sandbox: decision.sandbox, emit }, signal);
  }

  #unknown(view: CallView | undefined): string {
    const names = [...this.#tools.keys()].join(', ');
    return `There is no tool ${JSON.stringify(view?.name ?? '')}. The tools are: ${names}.`;
  }
}

function turnedDown(text: string): ToolResult {
  return { text, success: false };
}

function refused(why: string): Ran {
  return { text: `The call was not run. ${why}`, success: false, isRefused: true };
}

function resultItem(call: Item, { text, success, exitCode }: ToolResult): ToolOutputItem {
  return {
    type: call.type === 'custom_tool_call' ? 'custom_tool_call_output' : 'function_call_output',
    call_id: callOf(call)?.callId ?? '',
    output: text,
    success,
    ...(exitCode === undefined ? {} : { exit_code: exitCode }),
  };
}
