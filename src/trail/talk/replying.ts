// Whether a user's message answers the agent's closing question or turns to something else.

/** Characters of a message that holds little more than an answer. */
const SHORT = 80;

/** How an answer begins: consent, refusal, a choice. */
const ANSWERS =
  /^\W{0,3}(?:(?:yes|yep|yeah|yup|no|nope|nah|ok(?:ay)?|sure|please|fine|right|correct|exactly|agreed?|both|all|none|neither|either|option|go|do|let['’]?s|ja|nein|doch|oui|non|sí|si|sim|não|da|nee|tak|nie|да|нет|evet|hayır)(?![\p{L}\p{N}])|\p{L}?\d{1,2}(?![\p{L}\p{N}])|\p{L}\)|[#*-]|是|好|对|不|はい|いいえ|네|예|아니)/iu;

/** Words that indicate what a sentence is about. */
const TOPIC = /[\p{L}\p{N}_][\p{L}\p{N}_./-]{3,}|[\p{Lo}]{2}/gu;
const COMMON = new Set(
  'want should would could have this that these those them with from into also like just here there what when which where were they your more some anything before after first next make need know look think change update'.split(
    ' ',
  ),
);
/** Number of words that question and answer must share. */
const SHARED = 2;

/** Whether a text begins like an answer: with consent, refusal, or a choice. */
export function opensAsReply(text: string): boolean {
  return ANSWERS.test(text.trim());
}

/**
 * Whether a text answers a question, judging by its words: it begins like an answer, is short and asks nothing back, or shares
 * the subject.
 */
export function isReplyTo(question: string, text: string): boolean {
  const words = text.trim();
  if (opensAsReply(words)) return true;
  if (words.length <= SHORT && !/[?？]/.test(words)) return true;
  const topic = topicOf(question);
  return [...topicOf(words.slice(0, 1_000))].filter((word) => topic.has(word)).length >= SHARED;
}

function topicOf(text: string): ReadonlySet<string> {
  const words = text.toLowerCase().match(TOPIC) ?? [];
  return new Set(
    words.map((word) => word.replace(/(?<![./-])[./-]+$/, '')).filter((word) => !COMMON.has(word)),
  );
}
