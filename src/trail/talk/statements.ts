// The agent's own sentences: decisions with their reasons, findings, intents, questions.

import {
  hasMatches,
  clip,
  detached,
  ELLIPSIS,
  proseBlocks,
  proseLines,
  sentencesOf,
  sentencesOfLine,
  withoutEmphasis,
} from '../../text/sentences.ts';
import { isQuestion } from '../../text/questions.ts';
import { announcesCheck, musedSentences } from './thinking.ts';
import type { LogMoment } from '../ledgers/files.ts';
import type { Statement } from '../trail.ts';

const MAX_STATEMENTS = 1_600;
const STATEMENT_LENGTH = 320;
const MIN_LENGTH = 16;
/** Characters read of one message. */
const READ_LENGTH = 24_000;

const DECISION =
  /\b(?:because|so that|instead of|instead,|decided|chose|opted|going with|went with|rather than|therefore|the reason|root cause|turns out|(?:fix|problem|issue|cause|bug) (?:is|was)|on purpose|intentional|trade-?off|must|never|weil|damit|stattdessen|entschieden|parce que|afin|porque|因为|所以|决定|ため|ので)/i;
const INTENT =
  /^(?:next\b|I(?:['’]m| am) (?:now |also |still )?\w+ing\b|now,? (?:I|let)|then,? I|(?:first|also|and|so|ok(?:ay)?|good|great|perfect|alright)[,:.!]? (?:I['’](?:ll|m(?: now| also)? \w+ing)\b|I will\b|let me\b|let['’]s\b)|I['’](?:ll|m going to|m about to)|I will|let me|let['’]s|remaining|still to do|als nächstes|接下来|次に)|\b(?:next step|I['’]ll (?:now|next)|I['’]m (?:now )?(?:checking|running|adding|fixing|updating|going))/i;

/** How a sentence states the next step as an imperative: "Now update the parser." */
const ORDER =
  /^(?:now|next|then),? (?:let['’]?s |also )?(?:add|apply|build|change|check|clean|commit|continue|convert|create|delete|document|edit|extract|find|fix|format|implement|install|look|make|move|push|read|refactor|remove|rename|replace|restart|re-?run|rewrite|run|search|see|set|start|test|try|update|use|verify|wire|write)\b|^(?:re-?)?run (?:the )?(?:tests?|checks?|build) again\b/i;

/** How a sentence without a subject describes current work: "Retrying the push." */
const AT_WORK =
  /^(?:(?:now|next|then|still|also|back to|first|ok(?:ay)?)[,:]? )*(?:re-?)?(?:add|analy[sz]|apply|ask|await|build|check|clean|commit|compar|compil|confirm|continu|creat|debugg|delegat|delet|deploy|dig(?:g)|dispatch|download|edit|examin|explor|fetch|fill|find|finish|fix|format|gather|generat|gett|implement|inspect|install|investigat|kick|launch|look|mak|merg|monitor|mov|open|pok|poll|prepar|proceed|pull|push|read|rebas|rebuild|record|refactor|remov|renam|replac|reproduc|restart|resum|retry|revert|review|rewrit|runn|scan|search|send|sett|spawn|stag|start|sweep|switch|tak|test|trac|try|updat|validat|verify|wait|wip|writ)ing\b/iu;

/** How a sentence without a subject says what remains to do: "Need to see which test failed." */
const NEEDS = /^(?:(?:so|now|still|also|but)[,:]? )?(?:need|have|going|about|time) to \p{L}/iu;

/** How a sentence merely names the next subject: "Now the docs." */
const TURNS_TO = /^(?:now|next|then)(?: up)?[,:]? (?:the|for the|on to|onto|to the|back to)\b/i;

/** Signs of a statement rather than an announcement: a verb with its subject, a reason, text after a colon. */
const STATES =
  /\b(?:is|are|was|were|has|have|had|does|do|did|can|could|will|would|should|must|may|might|needs?|takes?|took|gets?|got|requires?|means?|makes?|made|gives?|gave|shows?|showed|fails?|failed|breaks?|broke|works?|worked|causes?|caused|leaves?|left|returns?|returned|us(?:es|ed)|pass(?:es|ed)?|prints?|contains?|follows?|match(?:es)?|handles?|accepts?|includes?|reads|writes|runs|says|said|seems?|avoids?|keeps?|kept|became|becomes?|because|since|so|instead|rather|I|we|you|it|they|there)\b|n['’]t\b|['’]s (?!\w+ing)|: \S|, (?:the|a|an|this|that|no|all|each|every) /i;
/** A clause that depends on the announcement and may have its own verb. */
const BELOW = /\b(?:whether|what|how|why|where|which|who|until|while|when|if|as)\b[^,;—]*/gi;
const CODE_SPANS = /`[^`]*`/g;

/** Characters of the line that introduces a list. */
const LEAD_LENGTH = 100;

/**
 * The sentences of an agent's message with their kinds; long ones are clipped between words. A list item carries the line that
 * introduces its list, because alone it would be a fragment.
 */
export function statementsOf(text: string, { turn, position }: LogMoment): Statement[] {
  const statements: Statement[] = [];
  const sentences: string[] = [];
  const places: number[] = [];
  let lead: string | undefined;
  let list = { items: 0 };
  for (const { line, mark } of proseBlocks(text.slice(0, READ_LENGTH))) {
    const plain = withoutEmphasis(line);
    if (mark === 'heading' || isLead(plain, line)) {
      lead = detached(clip(plain.replace(/:$/, ''), LEAD_LENGTH));
      list = { items: 0 };
      continue;
    }
    if (mark === 'none') lead = undefined;
    else list.items++;
    const place = lead === undefined ? undefined : { list, item: list.items };
    for (const sentence of sentencesOfLine(plain)) {
      sentences.push(sentence);
      if (sentence.length < MIN_LENGTH || !isMeaningful(sentence)) continue;
      places.push(sentences.length - 1);
      statements.push({
        turn,
        position,
        text: detached(clip(sentence, STATEMENT_LENGTH)),
        kind: kindOf(sentence, lead),
        lead,
        place,
      });
    }
  }
  const mused = musedSentences(sentences);
  const isUnchecked = announcesCheck(sentences.at(-1) ?? '');
  if (mused === 0 && !isUnchecked) return statements;
  // A list below a heading is considered thought through.
  return statements.map((statement, at) => ({
    ...statement,
    isMused: statement.lead === undefined && (places[at] ?? 0) < mused,
    isUnchecked,
  }));
}

/** A line that introduces others: it ends with a colon, or is bold throughout. */
function isLead(plain: string, line: string): boolean {
  return plain.endsWith(':') || /^\*\*[^*]{1,80}\*\*$/.test(line);
}

/** A word of two letters or more. */
const WORD = /\p{L}{2,}/gu;
/** A statement has at least this many words. */
const SOME_WORDS = 3;
/** The same for writing systems without spaces. */
const SOME_SIGNS = /\p{Lo}{6,}/u;
/** Characters within which a sentence must reach its point. */
const LOOKED_AT = 400;

/** A line of code outside a fence. */
const CODE = /[;{}]$|\);|^(?:from \S+ import|import \w|print\(|const \w|let \w+ =|\w+ ?= ?\w+\()/;

/** Whether a sentence is meaningful on its own: not a table row, a line of code, a heading or a bare name. */
export function isMeaningful(sentence: string): boolean {
  if (sentence.startsWith('|') || /:[*_]*$/.test(sentence) || CODE.test(sentence)) return false;
  if (isCourtesy(sentence)) return false;
  const prose = sentence.includes('`') ? sentence.replaceAll(/`[^`]*`/g, ' ') : sentence;
  return hasMatches(prose.slice(0, LOOKED_AT), WORD, SOME_WORDS) || SOME_SIGNS.test(prose);
}

/** Whether a sentence announces its speaker's next step. */
export function isIntent(sentence: string): boolean {
  return INTENT.test(sentence) || announcesBarely(sentence);
}

/** Whether a sentence without a subject only announces and states nothing else. */
function announcesBarely(sentence: string): boolean {
  if (isQuestion(sentence)) return false;
  if (NEEDS.test(sentence)) return !/\b(?:because|since)\b/i.test(sentence);
  if (!AT_WORK.test(sentence) && !TURNS_TO.test(sentence)) return false;
  return !STATES.test(sentence.replaceAll(CODE_SPANS, ' ').replace(BELOW, ''));
}

/** An explicit statement that a choice was made. */
const CHOICE =
  /\b(?:(?:I|we)(?:['’]ve| have)? (?:\w+ly )?(?:decided|chose|opted|settled|picked)|(?:was|been|is) (?:decided|chosen|settled)|decision:|(?:habe|haben) \S.{0,80}entschieden|(?:j['’]ai|nous avons) (?:décidé|choisi))\b|决定(?:了|使用|用)|(?:に|と)決め/i;

/** Whether a sentence explicitly states that a choice was made; most decisions only give a reason. */
export function isChoice(sentence: string): boolean {
  return CHOICE.test(sentence);
}

function kindOf(sentence: string, lead: string | undefined): Statement['kind'] {
  if (isQuestion(sentence)) return 'question';
  // Below a heading, a phrase without a subject is a list item.
  if (lead === undefined ? isIntent(sentence) : INTENT.test(sentence)) return 'intent';
  return DECISION.test(sentence) ? 'decision' : 'finding';
}

/**
 * Sentences at the end of a message that may say what comes next, and the number shown of a list that one of them introduces.
 */
const LAST_SENTENCES = 8;
const LED_SENTENCES = 5;

/** The question with which the agent's message ends, or undefined. */
export function closingQuestion(text: string): string | undefined {
  const last = sentencesOf(text.slice(-2_000)).slice(-3);
  return last.findLast(isQuestion);
}

/** Rows of a message that form a list or a table. */
const LIST_ROW =
  /^\s*(?:[-*+•] +|\*{0,2}\d{1,3}[.)] +|\|.*\|\s*$|\*{0,2}(?:option|step|phase|issue|item) \S{1,4}\b)/i;

/** Rows that a user refers to by number or name: "do 2 and 4", "option B". */
const NAMED_ROW =
  /^\s*(?:[-*] +)?(?:\*{0,2}\d{1,3}[.)] +|\|.*\|\s*$|(?:#+ +)?\*{0,2}(?:option|step|phase|issue|item) \S{1,4}\b)/i;
const LEAST_NAMED_ROWS = 3;
/** Rows that may come between two items of a list: text about the first. */
const ROWS_BETWEEN = 6;

/**
 * The last list of a message whose items have numbers or names, verbatim, below the line that introduces it; undefined without
 * at least three items.
 */
export function namedList(text: string): string | undefined {
  const rows = unfencedRows(text);
  let list: { from: number; to: number; items: number } | undefined;
  let run = { from: 0, to: -Infinity, items: 0 };
  for (const [at, row] of rows.entries()) {
    if (!NAMED_ROW.test(row)) continue;
    run =
      at - run.to > ROWS_BETWEEN ? { from: at, to: at, items: 1 } : { ...run, to: at, items: run.items + 1 };
    if (run.items >= LEAST_NAMED_ROWS) list = run;
  }
  if (list === undefined) return undefined;
  const from = headOf(rows, list.from);
  // If the head of the message was cut off, the list does not begin here.
  const lead = from === undefined ? ELLIPSIS : rows.slice(0, from).findLast((row) => row.trim() !== '');
  const below = rows.slice(list.to + 1).findIndex((row) => !/^\s+\S/.test(row));
  const end = below < 0 ? rows.length : list.to + 1 + below;
  return [...(lead === undefined ? [] : [lead]), ...rows.slice(from ?? list.from, end)].join('\n');
}

/** The rows of a text outside fences: code between two items does not end their list. */
function unfencedRows(text: string): string[] {
  let isFenced = false;
  return text.split('\n').filter((row) => {
    const isFence = /^\s*(?:```|~~~)/.test(row);
    if (isFence) isFenced = !isFenced;
    return !isFence && !isFenced;
  });
}

/** Where the list of an item begins: further up if the item is not the first; undefined if its start is missing. */
function headOf(rows: readonly string[], at: number): number | undefined {
  let head = at;
  for (let number = numberOf(rows[at]) - 1; number >= 1; number--) {
    head = rows.slice(0, head).findLastIndex((row) => numberOf(row) === number);
    if (head < 0) return undefined;
  }
  return head;
}

/** The number of an item; 0 without one. */
function numberOf(row = ''): number {
  return Number(/^\s*(?:[-*] +)?(?:#+ +)?\*{0,2}(\d{1,3})[.)] +/.exec(row)?.[1] ?? 0);
}

/** Headings for a list of open work. */
const REMAINING =
  /^(?:what(?:['’]s| is) (?:left|next|missing|still)|(?:still )?(?:remaining|outstanding|pending|open|unfinished|unresolved|deferred)\b|still (?:to do|open|missing)|(?:not|to be) (?:yet )?(?:done|implemented|fixed|addressed)|next steps?\b|to ?dos?\b|follow-?ups?\b|left to do|offen\b|noch zu tun|reste à faire|pendientes?|剩余|待办|残り)/i;
const LONGEST_HEADING = 90;
const MAX_REMAINING = 20;

/** The rows of a message's list of remaining work, verbatim; none without such a list. */
export function remainingRows(text: string): readonly string[] {
  const rows = text.split('\n');
  const heading = rows.findLastIndex((row) => {
    const plain = withoutEmphasis(row.trim()).replace(/^#{1,6} +|^[^\p{L}\p{N}]{1,4}(?=\p{L})/gu, '');
    return plain.length <= LONGEST_HEADING && isHeadingOf(row, plain) && REMAINING.test(plain);
  });
  if (heading < 0) return [];
  const found: string[] = [];
  for (const row of rows.slice(heading + 1, heading + 1 + 3 * MAX_REMAINING)) {
    if (row.trim() === '' || /^[\s|:=_*-]+$/.test(row)) continue;
    if (!LIST_ROW.test(row) && !/^\s{2,}\S/.test(row)) break;
    found.push(withoutEmphasis(row.trimEnd()));
  }
  return found.slice(0, MAX_REMAINING);
}

function isHeadingOf(row: string, plain: string): boolean {
  return /^\s*(?:#|\*\*)/.test(row) || /[:：]$/.test(plain);
}

/** Praise for a remark, without any consequence. */
const PRAISE =
  /^(?:(?:and |ah,? |oh,? )?(?:that|this|it)(?:['’]s| is)(?: indeed| actually| really)? an? (?:\w+ly )?(?:crucial|clever|smart|good|great|fair|excellent|important|valid|nice|interesting|reasonable|key|subtle)(?: \w+){1,2}|you (?:raise|make|have|bring up) an? (?:\w+ )?(?:point|question|issue|observation))[.!…]*$/i;

/** How a message begins that withdraws its speaker's earlier statement. */
const CONCESSION =
  /^\W{0,4}(?:(?:ah|oh|yes|good|sorry|apologies)[,.!]? )*(?:(?:you(?:['’]re| are) (?:\w+ )?(?:right|correct)|good (?:catch|point)|I (?:was wrong|misread|misunderstood|got (?:that|it|this) wrong)|my (?:mistake|bad)|that was wrong|du hast recht|sie haben recht|(?:tu as|vous avez) raison|tienes razón|tem razão|hai ragione|je hebt gelijk)\b|вы правы|ты прав|masz rację|hakl[ıi]s[ıi]n|[你您]说得对|[你您]是对的|おっしゃる通り|ご指摘の通り|(?:말씀이 )?맞습니다)/i;

/** Whether a message opens with a concession. */
export function isConcession(text: string): boolean {
  return CONCESSION.test(text.slice(0, 200));
}

/** A sentence that only responds to the tone of the previous message, or waits: the request has no outcome yet. */
export function isCourtesy(sentence: string): boolean {
  return (
    PRAISE.test(sentence.trim()) ||
    /^(?:you(?:['’]re| are) (?:absolutely |completely |totally |quite )?(?:right|correct)|(?:good|great|excellent|fair) (?:catch|point|question|idea|call)|(?:absolutely|certainly|sure|of course|got it|understood|perfect|great|done|ok(?:ay)?|yes|no problem|sounds good|makes sense|that makes sense|no action needed(?: yet)?|(?:still )?waiting|nothing to do(?: yet)?)\b[^.!:]{0,24})[.!…]*$/i.test(
      sentence.trim(),
    )
  );
}

/** What the agent says it will do next, or undefined: its newest sentence of intent, including list headings. */
export function announcedStep(text: string): string | undefined {
  const lines = proseLines(text.slice(-6_000));
  const heading = lines.findLastIndex((line) =>
    /^\**(?:next(?: steps?)?|remaining(?: work)?|to ?do)\b[^.]{0,30}:?\**:?$/i.test(line),
  );
  if (heading >= 0 && heading < lines.length - 1) {
    return clip(lines.slice(heading + 1, heading + 4).join('; '), 500);
  }
  const sentences = lastSentences(lines);
  const last = sentences.findLastIndex(isAnnouncement);
  // "First, let me look at it" only leads to what precedes it.
  const isOpening = last > 0 && /^first\b/i.test(sentences[last] ?? '');
  const at = isOpening && isAnnouncement(sentences[last - 1] ?? '') ? last - 1 : last;
  const step = sentences[at];
  if (step === undefined) return undefined;
  // A sentence that ends with a colon needs what follows.
  const rest = /[:：]$/.test(step) ? sentences.slice(at + 1, at + 1 + LED_SENTENCES) : [];
  return clip([step, ...rest].join(' '), 400);
}

function isAnnouncement(sentence: string): boolean {
  return (
    isIntent(sentence) ||
    ORDER.test(sentence) ||
    /\bif you (?:want|like|wish)|would you like\b/i.test(sentence)
  );
}

/** The last sentences of some lines; earlier lines are not split. */
function lastSentences(lines: readonly string[]): readonly string[] {
  // Each line has a sentence at least.
  return lines.slice(-LAST_SENTENCES).flatMap(sentencesOfLine).slice(-LAST_SENTENCES);
}

/** Collects statements; older ones thin out, findings before decisions. */
export class StatementPool {
  #statements: Statement[] = [];

  add(statements: readonly Statement[]): void {
    this.#statements.push(...statements);
    if (this.#statements.length > MAX_STATEMENTS) this.#thin();
  }

  statements(): Statement[] {
    return [...this.#statements];
  }

  /** Halves the older half: each round costs old statements a little more, so that the budget of an epoch decays. */
  #thin(): void {
    const half = this.#statements.length >> 1;
    let isKept = false;
    const old = this.#statements.slice(0, half).filter(({ kind }) => {
      if (kind === 'intent' || kind === 'question') return false;
      isKept = !isKept;
      return isKept || kind === 'decision';
    });
    this.#statements = [...old.slice(-MAX_STATEMENTS / 3), ...this.#statements.slice(half)];
  }
}
