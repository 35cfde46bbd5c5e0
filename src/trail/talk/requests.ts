// The user's requests in order, with the rules, answers and actions that belong to them.

import { constraintsOf, isConstraint, isCorrection, listedRules, pastedPart, unwrap } from './constraints.ts';
import {
  clip,
  clipMiddle,
  detached,
  endsOf,
  keptOf,
  oneLine,
  proseBlocks,
  sentencesOf,
  sentencesOfLine,
  withoutEmphasis,
} from '../../text/sentences.ts';
import { ordersOf, outlineOf } from './instructions.ts';
import { Newest } from './newest.ts';
import { isConcession, isCourtesy, isIntent } from './statements.ts';
import { admissionOf, takesBack } from './retractions.ts';
import type { AnsweredQuestion, Constraint, RequestActions, UserRequest } from '../trail.ts';

/** Characters kept of a request while it is among the newest, and later. */
const NEW_LENGTH = 6_000;
const OLD_LENGTH = 1_200;
const NEW_REQUESTS = 12;
/** Requests, rules and answers kept. The first requests stay, because they define the session's subject. */
const MAX_REQUESTS = 300;
const FIRST_REQUESTS = 10;
const MAX_CONSTRAINTS = 400;
const MAX_ANSWERS = 60;
const MAX_EDITED = 24;

interface OpenActions {
  readonly edited: Set<string>;
  commands: number;
  failedCommands: number;
  outcome: string | undefined;
}

interface OpenRequest {
  readonly turn: number;
  readonly position: number;
  text: string;
  readonly isInterjected: boolean;
  isCorrection: boolean;
  admission: string | undefined;
  instructions: string | undefined;
  orders: readonly string[];
  readonly actions: OpenActions;
}

/** The place of a user's message. */
interface RequestPlace {
  readonly position: number;
  /** The agent's question that it answers, if any. */
  readonly question: string | undefined;
  /** The agent had ended its work on the previous request with a message. */
  readonly isAnswered: boolean;
}

/** Characters of a question or an offer, and of the user's answer. */
const QUESTION_LENGTH = 600;
const ANSWER_LENGTH = 300;

/** Collects requests; the limits above bound its memory. */
export class RequestLedger {
  #requests: OpenRequest[] = [];
  #constraints = new Map<string, Constraint>();
  #answers: AnsweredQuestion[] = [];
  #turns = 0;
  #dropped = 0;
  /** The opening of the newest message on the current request. */
  readonly #outcome = new Newest(leadOf);

  /** The number of the current request; 0 before the first. */
  get turn(): number {
    return this.#turns;
  }

  /** The files changed for the current request. */
  get edited(): readonly string[] {
    return [...(this.#requests.at(-1)?.actions.edited ?? [])];
  }

  /** Takes in a message of the user. */
  add(text: string, { position, question, isAnswered }: RequestPlace): void {
    // A client that is stopped and asked again records the same text twice.
    const newest = this.#requests.at(-1);
    const kept = detached(clipMiddle(text, NEW_LENGTH));
    if (newest !== undefined && newest.text === kept && newest.actions.commands === 0) return;
    if (newest !== undefined && isBeginningOf(newest, kept)) {
      this.#replaceNewest(newest, kept, text);
      return;
    }
    if (newest !== undefined) newest.actions.outcome = this.#outcome.found;
    this.#outcome.clear();
    this.#turns++;
    this.#requests.push({
      turn: this.#turns,
      position,
      text: kept,
      isInterjected: newest !== undefined && !isAnswered,
      isCorrection: newest !== undefined && isCorrection(text),
      admission: undefined,
      instructions: undefined,
      orders: [],
      actions: { edited: new Set(), commands: 0, failedCommands: 0, outcome: undefined },
    });
    this.addConstraints(text);
    if (question !== undefined) this.answer(question, text);
    this.#shrink();
  }

  /** Treats a message that was sent too early and again with more text as one. */
  #replaceNewest(newest: OpenRequest, kept: string, text: string): void {
    newest.text = kept;
    newest.isCorrection ||= newest.turn > 1 && isCorrection(text);
    for (const [key, { turn }] of this.#constraints) if (turn === newest.turn) this.#constraints.delete(key);
    this.addConstraints(text);
  }

  /** Text from the harness right after a command is the command's expansion. */
  noteInstructions(text: string, position: number): void {
    const request = this.#requests.at(-1);
    if (request?.position !== position - 1 || !request.text.startsWith('/')) return;
    request.instructions = outlineOf(text);
    request.orders = request.instructions === undefined ? [] : ordersOf(text);
  }

  /** Takes in the rules of a user's text that is not itself a request. */
  addConstraints(text: string): void {
    const pasted = pastedPart(text);
    const listed = pasted === '' ? [] : listedRules(text);
    const { text: whole, wrapped } = unwrap(text);
    // Each is searched in the whole text: without this limit the time would be quadratic.
    for (const sentence of constraintsOf(whole).slice(-MAX_CONSTRAINTS)) {
      const isCopied = wrapped.some((line) => line.includes(sentence));
      const isPasted = isCopied || (pasted.includes(sentence) && !listed.includes(sentence));
      const key = sentence.toLowerCase();
      // A repeated rule gains weight: its newest position counts, its first wording stays.
      const before = this.#constraints.get(key);
      this.#constraints.delete(key);
      this.#constraints.set(key, {
        turn: before?.turn ?? this.#turns,
        text: detached(sentence),
        isPasted: isPasted && before?.isPasted !== false,
      });
    }
    this.#boundConstraints();
  }

  /** Takes in the rules of the harness's template, except those that the task also states. */
  addTemplateRules(text: string): void {
    for (const sentence of sentencesOf(text).filter(isConstraint)) {
      const key = sentence.toLowerCase();
      if (this.#constraints.has(key) || !isWholeRule(sentence)) continue;
      const rule = { turn: this.#turns, text: detached(sentence), isPasted: true, isTemplate: true } as const;
      this.#constraints.set(key, rule);
    }
    this.#boundConstraints();
  }

  #boundConstraints(): void {
    for (const key of this.#constraints.keys()) {
      if (this.#constraints.size <= MAX_CONSTRAINTS) break;
      this.#constraints.delete(key);
    }
  }

  /** @param proposedAt for a rejected edit, the position of the agent's last message before it */
  answer(question: string, answer: string, proposedAt?: number): void {
    this.#answers.push({
      turn: this.#turns,
      question: detached(clip(oneLine(question), QUESTION_LENGTH)),
      answer: detached(clip(oneLine(answer), ANSWER_LENGTH)),
      proposedAt,
    });
    if (this.#answers.length > MAX_ANSWERS) this.#answers.shift();
  }

  noteEdit(path: string): void {
    const edited = this.#requests.at(-1)?.actions.edited;
    if (edited !== undefined && edited.size < MAX_EDITED) edited.add(path);
  }

  /** Git discarded changes of some files after a position; that part of the request is no longer done. */
  noteRestored(paths: readonly string[], since: number): void {
    const newest = this.#requests.at(-1);
    if (newest === undefined || newest.position <= since) return;
    for (const path of paths) newest.actions.edited.delete(path);
  }

  noteCommand(hasFailed: boolean): void {
    const actions = this.#requests.at(-1)?.actions;
    if (actions === undefined) return;
    actions.commands++;
    if (hasFailed) actions.failedCommands++;
  }

  noteMessage(text: string): void {
    const request = this.#requests.at(-1);
    if (request !== undefined && this.#turns > 1 && isConcession(text)) {
      if (this.#outcome.found === undefined) request.isCorrection = true;
      if (takesBack(text, request.text)) request.admission ??= detached(admissionOf(text));
    }
    this.#outcome.add(keptOf(text, endsOf(text, OPENING_LENGTH)));
  }

  requests(): UserRequest[] {
    const newest = this.#requests.at(-1);
    if (newest !== undefined) newest.actions.outcome = this.#outcome.found;
    return this.#requests.map(({ actions, ...request }) => ({ ...request, actions: closed(actions) }));
  }

  constraints(): Constraint[] {
    return [...this.#constraints.values()];
  }

  answers(): AnsweredQuestion[] {
    return [...this.#answers];
  }

  get dropped(): number {
    return this.#dropped;
  }

  #shrink(): void {
    const aged = this.#requests.at(-1 - NEW_REQUESTS);
    if (aged !== undefined) aged.text = clipMiddle(aged.text, OLD_LENGTH);
    if (this.#requests.length > MAX_REQUESTS) {
      this.#requests.splice(FIRST_REQUESTS, 1);
      this.#dropped++;
    }
  }
}

/** From this many characters on, a shared beginning of two messages is not chance. */
const LEAST_BEGINNING = 16;

/** Whether a text begins with the whole of a message that led to no action. */
function isBeginningOf({ text, actions }: OpenRequest, longer: string): boolean {
  const isIdle = actions.commands === 0 && actions.edited.size === 0;
  return isIdle && text.length >= LEAST_BEGINNING && longer.startsWith(text);
}

/** Whether a sentence is complete: not a heading or an introduction to other lines. */
function isWholeRule(sentence: string): boolean {
  return !/[:：]$/.test(sentence) && sentence.split(' ').length > 3;
}

/**
 * Characters of a message, at its head and again at its tail, that are searched for its opening sentence, and that are kept of
 * that sentence.
 */
const OPENING_LENGTH = 1_500;
const OUTCOME_LENGTH = 240;

/** How the remainder of a sentence begins. */
const BEGINS_SMALL = /^\p{Ll}/u;

/** A line that is bold throughout, long enough to be a statement, and introduces no other line. */
const BOLD_SENTENCE = /^\*\*(?:[^*\s]+\s+){4,}[^*\s]*[^*\s:]\*\*$/;

/**
 * The first sentence that is a statement: not a heading, a list item, an announcement or the remainder after a code block. For
 * a message of lists and headings, its last bold line, because an older message would be outdated.
 */
function leadOf(text: string): string | undefined {
  const blocks = proseBlocks(text);
  const lead = blocks
    .filter(({ mark, line }) => mark === 'none' && !/:[*_]*$|^\*\*[^*]*\*\*$|^\|/.test(line))
    .flatMap(({ line }) => sentencesOfLine(withoutEmphasis(line)))
    .find((sentence) => sentence.length >= 24 && !BEGINS_SMALL.test(sentence) && !isPassing(sentence));
  const bold = blocks.findLast(({ mark, line }) => mark === 'none' && BOLD_SENTENCE.test(line))?.line;
  const opening = lead ?? (bold === undefined ? undefined : withoutEmphasis(bold));
  return opening === undefined ? undefined : detached(clip(opening, OUTCOME_LENGTH));
}

/** Whether a sentence states no outcome: what it announces appears where it was done. */
function isPassing(sentence: string): boolean {
  return isCourtesy(sentence) || isIntent(sentence);
}

function closed({ edited, ...rest }: OpenActions): RequestActions {
  return { ...rest, edited: [...edited] };
}

/** The answer recorded for a user who rejects a call without comment. */
export const SILENT_REFUSAL = 'no (refused without a word)';

/** Text that clients write in the user's name. */
const WRAPPERS =
  /^(?:# AGENTS\.md instructions|Caveat: The messages below|\[Request interrupted by user|This session is being continued from a previous|Stop hook feedback:|Another language model started to solve|Base directory for this skill:|API Error)/;

/** Client commands that do not ask the agent for anything. */
const CLIENT_COMMANDS =
  /^\/(?:compact|clear|model|cost|status|context|config|help|login|logout|resume|exit|quit|mcp|hooks|memory|permissions|doctor|usage|fast|effort|rewind)\b/;

/** Further ones; followed by other words, they may be commands of the project. */
const LONE_COMMANDS =
  /^\/(?:mode|theme|settings|new|tree|fork|export|share|session|hotkeys|keybindings|changelog|copy|undo|redo|bug|feedback|release-notes|terminal-setup|vim|statusline|tokens|history|chat|stats|about|editor|reload|thinking)?$/;

/**
 * The user's own words in a user-role message: without reminders, IDE context and other wrappers. Undefined if nothing in it is
 * the user's.
 */
export function ownWords(text: string): string | undefined {
  const request = text.lastIndexOf('## My request for Codex:');
  let own = request < 0 ? text : text.slice(request + '## My request for Codex:'.length);
  const command = commandOf(own);
  if (command !== undefined) own = command;
  own = withoutWrapped(own).trim();
  if (own === '' || WRAPPERS.test(own) || CLIENT_COMMANDS.test(own) || LONE_COMMANDS.test(own))
    return undefined;
  return own;
}

function commandOf(text: string): string | undefined {
  const name = between(text, '<command-name>', '</command-name>');
  if (name === undefined) return undefined;
  const args = between(text, '<command-args>', '</command-args>') ?? '';
  return `${name} ${args}`.trim();
}

function between(text: string, open: string, close: string): string | undefined {
  const from = text.indexOf(open);
  const to = from < 0 ? -1 : text.indexOf(close, from);
  return to < 0 ? undefined : text.slice(from + open.length, to).trim();
}

/** Removes leading `<tag>…</tag>` blocks one by one, and reminders anywhere. */
function withoutWrapped(text: string): string {
  let rest = text.trimStart();
  for (;;) {
    const tag = /^<([a-zA-Z][\w-]{0,60})[\s>]/.exec(rest)?.[1];
    const close = tag === undefined ? -1 : rest.indexOf(`</${tag}>`);
    if (tag === undefined || close < 0 || !isWrapperTag(tag)) break;
    rest = rest.slice(close + tag.length + 3).trimStart();
  }
  for (;;) {
    const from = rest.indexOf('<system-reminder>');
    const to = from < 0 ? -1 : rest.indexOf('</system-reminder>', from);
    if (to < 0) return rest;
    rest = rest.slice(0, from) + rest.slice(to + '</system-reminder>'.length);
  }
}

/** Tags of harnesses and clients around a task. */
const TASK_TAGS = new Set([
  'pr_description',
  'problem_statement',
  'task_description',
  'issue_description',
  'user_query',
  'user_request',
]);

/** Client tags contain a hyphen or an underscore, or are one of a few words; HTML that a user pasted is not. */
function isWrapperTag(tag: string): boolean {
  if (TASK_TAGS.has(tag)) return false;
  return /[-_]/.test(tag) || /^(?:INSTRUCTIONS|skill|skills|context|environment|hook)$/.test(tag);
}
