// Whether a message of the user answers the question with which the agent ended, or goes on to something else.

/** Characters of a message that says little besides an answer. */
const SHORT = 80;

/** How an answer begins: consent, refusal, a choice. */
const ANSWERS =
  /^\W{0,3}(?:(?:yes|yep|yeah|yup|no|nope|nah|ok(?:ay)?|sure|please|fine|right|correct|exactly|agreed?|both|all|none|neither|either|option|go|do|let['’]?s|ja|nein|doch|oui|non|sí|si|sim|não|da|nee|tak|nie|да|нет|evet|hayır)(?![\p{L}\p{N}])|\p{L}?\d{1,2}(?![\p{L}\p{N}])|\p{L}\)|[#*-]|是|好|对|不|はい|いいえ|네|예|아니)/iu;

/** Words that say what a sentence is about. */
const TOPIC = /[\p{L}\p{N}_][\p{L}\p{N}_./-]{3,}|[\p{Lo}]{2}/gu;
const COMMON = new Set(
  'want should would could have this that these those them with from into also like just here there what when which where were they your more some anything before after first next make need know look think change update'.split(
    ' ',
  ),
);
/** Words that question and answer have in common. */
const SHARED = 2;

/** Whether a text begins as an answer does: with consent, refusal, or a choice. */
export function opensAsReply(text: string): boolean {
  return ANSWERS.test(text.trim());
}

/** Whether a text answers a question, as far as its words tell: it begins so, is short and asks nothing back, or speaks of the same. */
export function isReplyTo(question: string, text: string): boolean {
  const words = text.trim();
  if (opensAsReply(words)) return true;
  if (words.length <= SHORT && !/[?？]/.test(words)) return true;
  const asked = topicOf(question);
  return [...topicOf(words.slice(0, 1_000))].filter((word) => asked.has(word)).length >= SHARED;
}

function topicOf(text: string): ReadonlySet<string> {
  const words = text.toLowerCase().match(TOPIC) ?? [];
  return new Set(
    words.map((word) => word.replace(/(?<![./-])[./-]+$/, '')).filter((word) => !COMMON.has(word)),
  );
}
