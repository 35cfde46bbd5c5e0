// Which requests belong to the work at hand: "continue" asks for nothing new, and who interrupts adds to what was asked.

import type { UserRequest } from './trail.ts';

/** A message longer than this says more than that the agent may go on. */
const LONGEST_GO_AHEAD = 60;

/** Words of consent and politeness, then a word that lets the work go on or closes a step of it. */
const GO_AHEAD =
  /^(?:(?:ok(?:ay)?|yes|yep|yeah|yup|sure|please|pls|great|good|nice|perfect|cool|thanks|thank you|and|then|now|just|ja|bitte|oui|sí|sim|да|好的?|是的?|はい|네)[\s,.!，。！]*)*(?:(?:continue|proceed|resume|carry on|keep going|keep (?:at it|working)|go (?:on|ahead|for it)|do (?:it|that|so)|commit(?: (?:it|this|that))?(?: and (?:continue|go on|push|proceed))?|push(?: it)?|next|weiter(?:machen)?|mach weiter|continue[rz]?|continúa|sigue|prossiga|продолжай|继续|続けて(?:ください)?|계속(?:해|해줘)?)[\s,.!，。！]*)?$/iu;

/** Whether a message only lets the agent go on with what it does. */
export function isGoAhead(text: string): boolean {
  const words = text.trim();
  return words.length <= LONGEST_GO_AHEAD && GO_AHEAD.test(words);
}

function isNewWork({ isInterjected, text }: UserRequest): boolean {
  return !isInterjected && !isGoAhead(text);
}

/** How many requests asked for something new after the one that has this number; 0 where its work is at hand still. */
export function newerWork(requests: readonly UserRequest[], turn: number): number {
  return requests.filter((request) => request.turn > turn && isNewWork(request)).length;
}
