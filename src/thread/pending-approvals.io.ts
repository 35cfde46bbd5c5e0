// Where a thread waits for its user: approvals and questions go out as events, answers arrive as ops.

import { BatonError } from '../errors.ts';
import type { CancelSignal } from '../ports.ts';
import type { SessionEvent } from '../protocol/wire/event.ts';
import type { Op } from '../protocol/wire/op.ts';
import type { ApprovalAnswer, ApprovalRequest } from './tools.io.ts';

/** The user's possible answers about a call. */
type Decision = Pick<Extract<Op, { type: 'exec_approval' }>, 'decision' | 'message'>;

/** The options of a question. */
type QuestionOption = Extract<SessionEvent, { type: 'question' }>['options'][number];

/** What pending approvals need. */
export interface PendingApprovalsTerms {
  /** The workspace, absolute. */
  readonly root: string;
  readonly emit: (event: SessionEvent) => void;
  /** Called when the user wants the turn to end. */
  readonly interrupt: () => void;
}

interface Pending<Answer> {
  readonly kind: string;
  readonly resolve: (answer: Answer) => void;
}

/** Asks one user by events. */
export class PendingApprovals {
  readonly #terms: PendingApprovalsTerms;
  readonly #calls = new Map<string, Pending<Decision | 'nobody'>>();
  readonly #questions = new Map<string, Pending<string | undefined>>();
  /** What the user approved for the session. */
  readonly #approved = new Set<string>();
  #isDeserted = false;

  constructor(terms: PendingApprovalsTerms) {
    this.#terms = terms;
  }

  /**
   * Asks about a call, unless the same was approved for the session.
   * @throws BatonError `interrupted`
   */
  async approve(request: ApprovalRequest, signal: CancelSignal): Promise<ApprovalAnswer> {
    const keys = approvalKeys(request);
    if (keys.every((key) => this.#approved.has(key))) return { type: 'approved' };
    if (this.#isDeserted) return NOBODY;
    const answer = this.#wait(this.#calls, request.callId, { kind: opFor(request), signal });
    this.#terms.emit(approvalEvent(request, this.#terms.root));
    const said = await answer;
    if (said === 'nobody') return NOBODY;
    const { decision, message } = said;
    if (decision === 'approved_for_session') for (const key of keys) this.#approved.add(key);
    switch (decision) {
      case 'approved':
      case 'approved_for_session':
        return { type: 'approved' };
      case 'denied':
        return { type: 'denied', why: denialOf(message) };
      case 'abort':
        this.#terms.interrupt();
        return { type: 'denied', why: 'The user ended the turn.' };
    }
  }

  /**
   * Asks a question.
   * @returns the answer; undefined if no one is there to answer
   * @throws BatonError `interrupted`
   */
  async ask(
    id: string,
    { question, options }: { readonly question: string; readonly options: readonly QuestionOption[] },
    signal: CancelSignal,
  ): Promise<string | undefined> {
    if (this.#isDeserted) return undefined;
    const answer = this.#wait(this.#questions, id, { kind: 'answer_question', signal });
    this.#terms.emit({ type: 'question', question_id: id, question, options });
    return answer;
  }

  /**
   * Takes the user's answer about a call.
   * @throws BatonError `op_invalid` if no such call waits for it, or for a message that would not be read
   */
  decide(op: Extract<Op, { type: 'exec_approval' | 'patch_approval' }>): void {
    const pending = take(this.#calls, { id: op.call_id, kind: op.type, key: 'call_id' });
    if (op.message !== undefined && op.decision !== 'denied') {
      throw new BatonError('op_invalid', `The agent does not read a message sent with ${op.decision}`, {
        cure: 'Send the decision without it, and the message as steer. The call is still waiting.',
        data: { key: 'message' },
      });
    }
    pending.resolve(op);
  }

  /** Takes the user's answer to a question. @throws BatonError `op_invalid` if no such question waits */
  answer({ question_id: id, answer }: Extract<Op, { type: 'answer_question' }>): void {
    take(this.#questions, { id, kind: 'answer_question', key: 'question_id' }).resolve(answer);
  }

  /** The user has left: denies what waits, and asks nothing more. */
  desert(): void {
    this.#isDeserted = true;
    for (const { resolve } of this.#calls.values()) resolve('nobody');
    for (const { resolve } of this.#questions.values()) resolve(undefined);
  }

  #wait<Answer>(
    waiting: Map<string, Pending<Answer>>,
    id: string,
    { kind, signal }: { readonly kind: string; readonly signal: CancelSignal },
  ): Promise<Answer> {
    return new Promise<Answer>((resolve, reject) => {
      const stop = (): void => {
        waiting.delete(id);
        reject(new BatonError('interrupted', 'The question was not answered before the turn ended'));
      };
      if (signal.aborted) return stop();
      signal.addEventListener('abort', stop);
      const settle = (answer: Answer): void => {
        waiting.delete(id);
        signal.removeEventListener('abort', stop);
        resolve(answer);
      };
      waiting.set(id, { kind, resolve: settle });
    });
  }
}

function denialOf(message: string | undefined): string {
  return message === undefined
    ? 'The user rejected it. Do not try it another way; ask what they want instead.'
    : `The user rejected it and says: ${message}`;
}

const NOBODY: ApprovalAnswer = {
  type: 'denied',
  why: 'There is no longer anyone to ask: do without it.',
};

function take<Answer>(
  waiting: ReadonlyMap<string, Pending<Answer>>,
  { id, kind, key }: { readonly id: string; readonly kind: string; readonly key: string },
): Pending<Answer> {
  const pending = waiting.get(id);
  if (pending?.kind === kind) return pending;
  const cure =
    pending === undefined
      ? 'It may have been answered, or its turn may have ended.'
      : `Answer it with ${pending.kind}.`;
  throw new BatonError('op_invalid', `Nothing is waiting for ${kind} under ${JSON.stringify(id)}`, {
    cure,
    data: { key },
  });
}

function opFor({ action }: ApprovalRequest): 'exec_approval' | 'patch_approval' {
  return action.kind === 'run' ? 'exec_approval' : 'patch_approval';
}

/** What counts as "the same again": the exact command or the exact files, in the same sandbox. */
function approvalKeys({ tool, action, sandbox }: ApprovalRequest): readonly string[] {
  if (action.kind === 'run') return [JSON.stringify(['run', sandbox, action.command])];
  if (action.kind !== 'edit') return [JSON.stringify([tool, sandbox])];
  return action.paths.map((path) => JSON.stringify(['edit', sandbox, path]));
}

function approvalEvent(request: ApprovalRequest, cwd: string): SessionEvent {
  const { callId, action, changes, sandbox, why } = request;
  if (action.kind !== 'run') {
    const paths = action.kind === 'edit' ? action.paths : [];
    return { type: 'patch_approval_request', call_id: callId, paths, changes, reason: why };
  }
  const { command, justification = null } = action;
  return {
    type: 'exec_approval_request',
    call_id: callId,
    command,
    cwd,
    sandbox,
    reason: why,
    justification,
  };
}
