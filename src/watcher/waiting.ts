// Whether an agent waits for the user. In doubt it does: a synthetic message must never be taken for the user's consent.

import { proseLines } from '../trail/sentences.ts';

/** Characters at the end of a message in which an agent says that it waits; what comes before has been answered by its own work. */
const ENDING_LENGTH = 700;

/** A question at the end of a line, behind whatever closes a quotation or emphasis. */
const QUESTION = /[?？؟]["'”»)\]*_]{0,4}$/u;

/**
 * How agents say that they wait: for consent, an answer, a choice, or something that the user must do first.
 * @source findings of an audit: "Please confirm that … before I go on" was answered by the handoff
 */
const WAITING: readonly RegExp[] = [
  /\bplease (?:confirm|approve|advise|review|reply|choose|decide|answer|clarify|provide|tell me|let me know)/i,
  /\b(?:let me know|tell me|say the word|your (?:call|choice|decision|approval|confirmation|go-ahead)|up to you)/i,
  /\b(?:wait(?:ing)?|await(?:ing)?|pending|hold(?:ing)? off|paus(?:e|ing|ed))\b[^.!\n]{0,40}\b(?:you|your|user|approval|confirmation|answer|reply|decision|go-ahead|review|input|instructions?)\b/i,
  /\b(?:once|after|when|until|unless|before) (?:you|the user)(?:['’](?:ve|re)| have| has| are| is)? ?(?:confirm|approv|agree|answer|repl|decid|choos|chosen|review|said|say|respond|provid|ready|done|ok)/i,
  /\bbefore (?:I|we) (?:go on|proceed|continue)\b/i,
  /\b(?:need|require)s? (?:your|the user['’]s|user) (?:approval|confirmation|decision|answer|input|permission|consent|ok|go-ahead)\b/i,
  /\b(?:shall|should|may|can) I (?:go on|proceed|continue|start|begin|delete|remove|merge|push|deploy|run)\b/i,
  /\b(?:would you like|do you want|which (?:one|option) (?:do|would) you)\b/i,
  /\bbitte (?:bestätig|sag|gib|wähl|entscheid|antwort)/i,
  /\b(?:wartet?|sobald|bis) (?:auf )?(?:du|sie|dich|ihre?|deine?)\b/i,
  /\b(?:veuillez|merci de) (?:confirmer|choisir|répondre)/i,
  /\b(?:por favor,? )?(?:confirma|confirme|avísame|dime)\b/i,
];

/** Whether a message of the agent, at the end of its turn, waits for the user. */
export function waitsForUser(message: string): boolean {
  const prose = proseLines(message)
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const ending = prose.join('\n').slice(-ENDING_LENGTH);
  // A list of options may follow the question.
  return (
    ending.split('\n').some((line) => QUESTION.test(line)) || WAITING.some((words) => words.test(ending))
  );
}
