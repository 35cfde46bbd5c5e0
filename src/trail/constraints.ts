// Which sentences of a user hold beyond the request they came with: prohibitions, duties, preferences, corrections.
// Small tables per language; a sentence is kept whole and verbatim, so a false hit costs room, never truth.

import { sentencesOf } from './sentences.ts';

const ENGLISH = [
  "\\b(?:never|always|must|mustn['’]t|cannot|can['’]t use|only|except|unless|without)\\b",
  "\\b(?:do not|don['’]?t|doesn['’]?t need|does not need|should(?:n['’]?t)?|at (?:most|least)|(?:no )?more than|(?:below|under) \\d+)\\b",
  '\\b(?:instead of|rather than|prefer|avoid|no longer|not allowed|make sure|ensure|stick (?:to|with)|keep (?:it|the|using))\\b',
  '\\buse\\b.{1,60}\\b(?:not|instead|for all)\\b',
  "\\b(?:from now on|remember (?:to|that)|important|required?|forbidden|stop (?:using|doing)|that['’]s wrong)\\b",
  '^(?:no|nope|wait|actually)[,.: ]',
];
const GERMAN = [
  '\\b(?:nie|niemals|immer|muss|müssen|darf|dürfen|soll(?:te|st|en)? (?:nicht|nur|immer)|nicht|kein(?:e|en|er)?|nur|statt|anstatt|lieber|vermeide[n]?|ohne|ab jetzt|bitte nicht|wichtig)\\b',
];
const FRENCH = [
  "\\b(?:jamais|toujours|doit|doivent|dois|il faut|ne pas|n['’]utilise[zr]? pas|utilise[zr]? .{1,40} pas|uniquement|seulement|plutôt que|au lieu de|évite[zr]?|sans|désormais|important)\\b",
  '\\bne \\S{1,20} (?:pas|jamais|plus)\\b',
];
const SPANISH = [
  '\\b(?:nunca|siempre|debe[sn]?|debería[sn]?|hay que|no (?:uses|usar|hagas|toques|cambies|modifiques|borres)|solo|sólo|solamente|únicamente|en lugar de|en vez de|evita[r]?|sin|a partir de ahora|importante)\\b',
];
const CHINESE = [
  '不要|不能|不得|不可|别(?:用|再|改|动)|必须|务必|一定要|只(?:能|用|要|需|允许)|总是|始终|永远|禁止|避免|而不是|改用|请勿|应该|不应',
];
const JAPANESE = [
  'しないで|ないでください|してはいけ|禁止|必ず|常に|絶対|だけ(?:を|に|で|使)|のみ|ではなく|代わりに|避けて|べき|てはならない',
];

/** \b knows ASCII letters only, so accented words at an edge need their own test: the tables avoid them there. */
const WORDS = new RegExp([...ENGLISH, ...GERMAN, ...FRENCH, ...SPANISH].join('|'), 'iu');
const SIGNS = new RegExp([...CHINESE, ...JAPANESE].join('|'), 'u');

/** A sentence longer than this is a pasted log or a document, not an order. */
const MAX_SENTENCE_LENGTH = 600;

/** Pasted output: an error with its class or program in front, a prompt, a line of a stack trace. */
const LOGGED =
  /^(?:\S{1,60}(?:Error|Exception|Warning)?: (?:error\b|cannot\b)|\S{1,60}(?:Error|Exception):|\$ |>>> |at \S+ \(|File "|\(\.?venv\)|\[\w+\] )/;

/** Whether a sentence of the user states a rule, limit, preference or correction. A question states none. */
export function isConstraint(sentence: string): boolean {
  if (sentence.length > MAX_SENTENCE_LENGTH || sentence.length < 4) return false;
  if (/[?？]$/.test(sentence) || LOGGED.test(sentence)) return false;
  return WORDS.test(sentence) || SIGNS.test(sentence);
}

/** A line that announces rules: what is listed below it binds, whatever its words. */
const RULES_HEADING =
  /^(?:#{1,6} +)?[*_]*(?:[\p{L}]+ ){0,3}(?:rules?|constraints?|requirements?|conventions?|guidelines?|limits?|restrictions?|regeln|vorgaben|règles|contraintes|reglas|restricciones)[*_]*(?: .{0,30})?:?[*_]*$|^(?:#{1,6} +)?(?:规则|约束|要求|ルール|制約)[:：]?$/iu;
const LIST_ITEM = /^(?:[-*+•]|\d{1,3}[.)]) +/;

/** The constraint sentences of a user's message, in order, each once. */
export function constraintsOf(text: string): string[] {
  const listed = new Set(listedRules(text));
  return [...new Set(sentencesOf(text).filter((sentence) => listed.has(sentence) || isConstraint(sentence)))];
}

/** Sentences of the list items that follow a heading about rules. */
function listedRules(text: string): string[] {
  const sentences: string[] = [];
  let isBelow = false;
  for (const raw of text.split('\n')) {
    const line = raw.trim();
    if (line === '') continue;
    if (LIST_ITEM.test(line)) {
      if (isBelow && line.length <= MAX_SENTENCE_LENGTH) sentences.push(...sentencesOf(line));
    } else isBelow = RULES_HEADING.test(line) && line.length <= 60;
  }
  return sentences;
}
