// What part of the agent's previous message a user's message answers: the items whose numbers it names, the offer that it
// accepts, or the closing question. On their own, "yes please" and "skip 5 and 7" mean nothing.

import { LONGEST_FOLLOW_UP } from './items.ts';
import { clip, oneLine, proseBlocks, sentencesOfLine, withoutEmphasis } from '../../text/sentences.ts';
import { isReplyTo } from './replying.ts';
import { isQuestion } from '../../text/questions.ts';
import { closingQuestion } from './statements.ts';

/** The part of the agent's previous message that a user's message answers, verbatim; undefined without a question. */
export function replyTarget(message: string, reply: string): string | undefined {
  const numbered = reply.length > LONGEST_FOLLOW_UP ? undefined : namedItems(message, reply);
  const meant = numbered ?? (isAssent(reply) ? offeredLast(message, reply) : undefined);
  if (meant !== undefined) return meant;
  const question = closingQuestion(message);
  return question !== undefined && (putsOff(reply) || isReplyTo(question, reply)) ? question : undefined;
}

/** How a message postpones an answer: it asks or wants something else first. */
const PUTS_OFF =
  /^(?:(?:ok(?:ay)?|well|hm+|wait|yes)[,.!]? )?(?:(?:just )?(?:a |one )?(?:more )?(?:quick|short|small|follow[- ]?up)\b[\w -]{0,24}\bquestion|before (?:that|we|you|I)\b)|\bquestion first\b|^(?:zuerst|erst mal|vorher) |^(?:avant (?:ça|cela)|antes de eso)\b/i;

/** Whether a user's message leaves the preceding question open. */
export function putsOff(text: string): boolean {
  return PUTS_OFF.test(text.slice(0, 160));
}

/** Words of a message that agrees, and of one whose first word is ambiguous. */
const MOST_WORDS = 6;
const MOST_WORDS_OF_WEAK = 3;
const ASSENT =
  /^\W*(?:y(?:es|ep|eah|up)|sure|absolutely|definitely|sounds good|go (?:ahead|for it)|ja|gerne|oui|sí|sim|да|давай|好的?|是的?|可以|はい|お願いします|네|응)(?![\p{L}\p{N}])/iu;
const WEAK_ASSENT =
  /^\W*(?:ok(?:ay)?|please|pls|great|perfect|do (?:it|that|so|both|all)|bitte)(?![\p{L}\p{N}])/iu;

/** Whether a message agrees in few words. */
function isAssent(text: string): boolean {
  const words = text.trim().split(/\s+/).length;
  return (
    (words <= MOST_WORDS && ASSENT.test(text)) || (words <= MOST_WORDS_OF_WEAK && WEAK_ASSENT.test(text))
  );
}

/** How a speaker offers to do something. */
const OFFER =
  /\bif you(?:['’]d)? (?:want|like|wish|prefer)\b|\b(?:I|we) (?:can|could)(?: also| next| then| now)? (?!see|only|confirm|tell|find|not)|\bI can:|\b(?:do you )?want me to\b|\b(?:should|shall) (?:I|we)\b|\bwould you like\b|\bwenn du (?:willst|möchtest)\b|\bsoll ich\b|\b(?:si (?:tu veux|vous voulez|quieres)|se quiser|voulez-vous|veux-tu|quieres que)\b|如果[你您](?:想|需要|愿意)|要不要|需要我|よろしければ|しましょうか|할까요|원하시면/i;
/** Agrees to more than one thing. */
const ALL =
  /(?<!\p{L})(?:all|both|everything|beides?|alles?|tous|toutes|todos?|tutti|все)(?!\p{L})|全部|都|全て|모두/iu;

/** Characters at the end of a message that are searched for an offer, and that are shown of it. */
const OFFERED_WITHIN = 2_000;
const OFFER_LENGTH = 500;

/**
 * A message's last question or offer: with the rows below if it ends with a colon; the whole list if the user accepts all
 * offers.
 */
function offeredLast(message: string, reply: string): string | undefined {
  const lines = proseBlocks(message.slice(-OFFERED_WITHIN));
  const at = lines.findLastIndex(({ line }) => sentencesOfLine(line).some(isOffer));
  if (at < 0) return undefined;
  const isOfList = lines[at]?.mark === 'item' && ALL.test(reply);
  const lead = isOfList ? lines.findLastIndex(({ mark }, index) => index < at && mark !== 'item') : at;
  const offer = sentencesOfLine(lines[lead]?.line ?? '').findLast(
    (sentence) => isOfList || isOffer(sentence),
  );
  const below = lines.slice(lead + 1);
  const end = below.findIndex(({ mark }) => mark !== 'item');
  const rows = isOfList || offer?.endsWith(':') === true ? below.slice(0, end < 0 ? below.length : end) : [];
  const parts = [offer ?? '', rows.map(({ line }) => line).join('; ')].filter((part) => part !== '');
  return clip(withoutEmphasis(parts.join(' ')), OFFER_LENGTH);
}

function isOffer(sentence: string): boolean {
  return isQuestion(sentence) || OFFER.test(sentence);
}

/** Item numbers in a message: "skip 5, 7 and 8", "option 2", "#3". */
const NAMES_ITEMS =
  /(?:\b(?:skip|do|fix|options?|items?|numbers?|points?|ignore|address|implement|take|use|pick|choose|drop|keep|confirm|only|except|but|variant|scenario|approach|alternative|proposal|steps?|questions?|option|nummer|punkte?)\s+|#|^\s*)#?(\d{1,2}(?:\s*(?:,|&|\+|and|or|und|et)\s*(?:and\s+)?#?\d{1,2}){0,60})(?=$|[\s,.;:!?)])(?!\s+(?:%|px|ms|min\w*|hours?|days?|lines?|files?|times?|tests?|commits?|spaces?|columns?|rows?|char\w*|percent|more)\b|[.:]\d)/giu;
/** Numbered answers: "1. the left one, 2. yes". */
const ANSWERS = /^\s*1[.):] /;
const OWN_ROW = /^\s*\d{1,2}[.):] /;

/** A numbered row of a list or a table. */
const NUMBERED_ROW =
  /^\s*(?:[-*•] +)?(?:#+ +)?[*_`]{0,3}#?(\d{1,2})(?:[*_`]{0,3}[.):]+(?![.):])[*_]{0,2}|[*_`]{1,3}(?= *[(:–—-]))(.*)$/u;
const TABLE_ROW = /^\s*\|\s*[*_#`]*(\d{1,2})[*_`]*\s*\|(.*)$/;
/** Words for a choice, whatever its own list calls it. */
const OPTION = /\b(?:option|variant|scenario|approach|alternative|version|style|proposal)e? #?(\d{1,2})\b/i;
const OPTION_ROW =
  /^\W*(?:option|variante?|scenario|approach|alternative|version|style|proposal) (\d{1,2})\b[\s*:.)–—-]*(?![\s*:.)–—-])(.*)$/i;
const ITEM_LENGTH = 140;
const MOST_ITEMS = 6;

/**
 * The items that a message names by number, or the questions that it answers by number; undefined if one of them is missing.
 */
function namedItems(message: string, reply: string): string | undefined {
  if (!/\d/.test(reply)) return undefined;
  const isAnswer = ANSWERS.test(reply);
  // A message that begins with another number quotes a list.
  if (!isAnswer && OWN_ROW.test(reply)) return undefined;
  const options = OPTION.test(reply) ? numberedRows(message, OPTION_ROW) : new Map<number, string>();
  const rows = options.size > 0 && !isAnswer ? options : numberedRows(message, NUMBERED_ROW, TABLE_ROW);
  if (isAnswer) for (const [number, row] of rows) if (!row.includes('?')) rows.delete(number);
  const named = [...reply.matchAll(NAMES_ITEMS)].flatMap(([, list = '']) => list.match(/\d+/g) ?? []);
  const wanted = isAnswer ? [...rows.keys()] : [...new Set(named.map(Number))];
  if (wanted.length === 0 || wanted.length > MOST_ITEMS || !wanted.every((one) => rows.has(one)))
    return undefined;
  const chosen = isAnswer ? Number(OPTION.exec(reply)?.[1]) : NaN;
  const option = options.has(chosen) ? [`option ${chosen}: ${options.get(chosen) ?? ''}`] : [];
  return [...option, ...wanted.map((number) => `${number}. ${rows.get(number) ?? ''}`)].join('; ');
}

/** The rows of a message by number; the last one if several share a number. */
function numberedRows(message: string, ...patterns: readonly RegExp[]): Map<number, string> {
  const rows = new Map<number, string>();
  for (const row of message.split('\n')) {
    const match = patterns.map((pattern) => pattern.exec(row)).find((found) => found !== null);
    const [, number, text] = match ?? [];
    if (number === undefined || text === undefined) continue;
    const cells = text
      .split('|')
      .map((cell) => cell.trim())
      .filter((cell) => cell !== '');
    rows.set(Number(number), clip(oneLine(withoutEmphasis(cells.join(' – '))), ITEM_LENGTH));
  }
  return rows;
}
