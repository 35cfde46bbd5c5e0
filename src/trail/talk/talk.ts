// The conversation between user and agent: messages, questions and answers, and what the agent announced.

import { replyTarget, putsOff } from './reply-target.ts';
import { excerpt } from '../trail-state.ts';
import type { TrailState } from '../trail-state.ts';
import { withoutCitations } from '../outputs/excerpts.ts';
import { Newest } from './newest.ts';
import { redact } from '../../text/redact.ts';
import { isUndoneByUser } from './user-report.ts';
import { clipMiddle, detached, keptOf, proseLines } from '../../text/sentences.ts';
import { announcedStep, closingQuestion, namedList, statementsOf } from './statements.ts';
import type { CurrentWork, Reply, Statement } from '../trail.ts';

/** How many of the agent's newest messages are kept, and their limit in characters. */
const MAX_MESSAGES = 24;
const SAID_LENGTH = 2_400;

/** Follows the conversation; keeps only the newest messages. */
export class Talk {
  readonly #state: TrailState;
  readonly #messages: Reply[] = [];
  readonly #list = new Newest(listIn);
  readonly #step = new Newest(announcedStep);
  /** Calls since the user last spoke. */
  #calls = 0;
  #lastMessage = '';
  #repliesTo: Reply | undefined;
  /** The agent's question that the user has postponed in favour of a question of their own. */
  #putOff: Statement | undefined;
  #newestReply: Reply | undefined;
  #hasCalledSinceMessage = false;
  /** The position of the last message of user or agent. */
  messagePosition = 0;

  constructor(state: TrailState) {
    this.#state = state;
  }

  /** @param own the user's own words, without secrets */
  addUserText(own: string): void {
    this.#state.hasPast = true;
    const target = this.#hasCalledSinceMessage ? undefined : replyTarget(this.#lastMessage, own);
    const question = putsOff(own) ? undefined : target;
    this.#putOff = undefined;
    if (target !== undefined && putsOff(own))
      this.#putOff = { kind: 'question', ...this.#state.moment, text: target };
    this.messagePosition = this.#state.position;
    const isAnswered = this.isAgentLast;
    if (isUndoneByUser(own))
      for (const path of this.#state.requests.edited)
        this.#state.files.restore(path, this.#state.moment, { since: -1, isUndone: () => false });
    this.#state.requests.add(own, { position: this.#state.position, question, isAnswered });
    this.#state.note(excerpt(own), 'user', this.#state.quotable('user', detached(own)));
    this.#state.items.addRequest(own, this.#state.requests.turn, this.#newestReply);
    this.#repliesTo = this.#newestReply ?? this.#repliesTo;
    this.#newestReply = undefined;
    this.#calls = 0;
    this.#lastMessage = '';
    this.#step.clear();
    this.#state.deliveries.addGivenLinks(own);
  }

  addAgentText(message: string): void {
    this.#state.hasPast = true;
    const text = redact(withoutCitations(message));
    this.messagePosition = this.#state.position;
    this.#state.statements.add(statementsOf(text, this.#state.moment));
    this.#state.note(excerpt(text), 'agent', this.#state.quotable('agent', text));
    this.#state.requests.noteMessage(text);
    this.#state.items.addAnswer(text, this.#state.moment);
    this.#lastMessage = keptOf(text, text.slice(-6_000));
    const { turn, position } = this.#state.moment;
    const reply = { turn, position, text: this.#lastMessage };
    this.#newestReply = reply;
    this.#state.steps.noteMessage();
    this.#list.add(reply);
    this.#messages.push(reply);
    if (this.#messages.length > MAX_MESSAGES) this.#messages.shift();
    this.#step.add(this.#lastMessage);
    this.#hasCalledSinceMessage = false;
    this.#state.deliveries.addLinks(text, this.#state.requests.turn);
  }

  /** The agent called a tool, so it is not waiting for an answer. */
  noteCall(): void {
    this.#hasCalledSinceMessage = true;
    this.#calls++;
  }

  /** Whether the agent has spoken since the user did. */
  get hasAgentSpoken(): boolean {
    return this.#lastMessage !== '';
  }

  /** Whether the agent spoke last and has called nothing since. */
  get isAgentLast(): boolean {
    return this.#lastMessage !== '' && !this.#hasCalledSinceMessage;
  }

  /** The harness rejected an answer and ran nothing in it, so its code changed nothing. */
  noteSentBack(): void {
    this.#hasCalledSinceMessage = true;
    const last = this.#messages.at(-1);
    if (last?.position !== this.#state.position - 1) return;
    const prose = proseLines(last.text).join('\n');
    this.#messages[this.#messages.length - 1] = { ...last, text: prose };
    if (this.#newestReply?.position === last.position) this.#newestReply = { ...last, text: prose };
    this.#state.steps.act(
      'answered in a way that the harness sent back: nothing of it ran',
      this.#state.moment,
    );
  }

  /** The conversation's part of a trail. */
  current(): Pick<CurrentWork, 'messages' | 'newestList' | 'calls' | 'repliesTo' | 'newestReply'> {
    return {
      messages: this.#messages.map(clippedReply),
      newestList: this.#list.found,
      calls: this.#calls,
      repliesTo: this.#repliesTo,
      newestReply: this.#newestReply,
    };
  }

  /** Questions that await the user. @param now the agent's statements on the current request */
  openQuestions(now: readonly Statement[]): Statement[] {
    return [
      ...(this.#putOff === undefined ? [] : [this.#putOff]),
      // An agent that calls a tool after a question is not waiting for an answer.
      ...(this.#hasCalledSinceMessage ? [] : openQuestions(now, this.#lastMessage)),
    ];
  }

  /** What the agent announced. For a finished agent, announcements before its last message are done. */
  nextStep(isAgentDone: boolean): string | undefined {
    return isAgentDone ? announcedStep(this.#lastMessage) : this.#step.found;
  }
}

/** The list in a message whose items the user may refer to. */
function listIn({ turn, position, text }: Reply): Reply | undefined {
  const list = namedList(text);
  return list === undefined ? undefined : { turn, position, text: detached(list) };
}

function clippedReply({ turn, position, text }: Reply): Reply {
  return { turn, position, text: clipMiddle(text, SAID_LENGTH) };
}

function openQuestions(now: readonly Statement[], lastMessage: string): Statement[] {
  const closing = closingQuestion(lastMessage);
  return closing === undefined
    ? []
    : now.filter(({ kind, text }) => kind === 'question' && closing.startsWith(text.slice(0, 60))).slice(-1);
}
