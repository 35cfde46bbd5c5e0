// Which requests belong to the current work: "continue" asks for nothing new, an interruption adds to the request, and "do the
// second" refers to a list.

import { isIdle, isLasting } from '../trail/talk/constraints.ts';
import { sentencesOf } from '../text/sentences.ts';
import type { Constraint, Plan, PlanStep, Reply, UserRequest } from '../trail/trail.ts';

/** A longer message says more than that the agent may continue. */
const LONGEST_GO_AHEAD = 60;

/** Words of consent and politeness, then a word that lets the work continue or completes a step of it. */
const GO_AHEAD =
  /^(?:(?:ok(?:ay)?|yes|yep|yeah|yup|sure|please|pls|great|good|nice|perfect|cool|thanks|thank you|and|then|now|just|ja|bitte|oui|sí|sim|да|好的?|是的?|はい|네)[\s,.!，。！]*)*(?:(?:continue|proceed|resume|carry on|keep going|keep (?:at it|working)|go (?:on|ahead|for it)|do (?:it|that|so)|commit(?: (?:it|this|that))?(?: and (?:continue|go on|push|proceed))?|push(?: it)?|next|weiter(?:machen)?|mach weiter|continue[rz]?|continúa|sigue|prossiga|продолжай|继续|続けて(?:ください)?|계속(?:해|해줘)?)[\s,.!，。！]*)?$/i;

/** Whether a message only tells the agent to continue. */
export function isGoAhead(text: string): boolean {
  const words = text.trim();
  return words.length <= LONGEST_GO_AHEAD && GO_AHEAD.test(words);
}

function isNewWork({ isInterjected, text }: UserRequest): boolean {
  return !isInterjected && !isGoAhead(text);
}

/** How many requests after the one with this number asked for something new; 0 if its work is still current. */
export function newerWork(requests: readonly UserRequest[], turn: number): number {
  return requests.filter((request) => request.turn > turn && isNewWork(request)).length;
}

/** Whether a rule applies to whatever comes next: it lasts, may be somebody else's, or came with work that is still current. */
export function isBinding(rule: Constraint, requests: readonly UserRequest[]): boolean {
  const { text, turn, isPasted } = rule;
  if (isIdle(rule)) return false;
  return isPasted || isLasting(text) || turn >= (requests.findLast(isNewWork)?.turn ?? 0);
}

/** Words and numbers by which a user refers to list items: "do 2 and 4", "option b", "the second", "all of them". */
const REFERS = [
  /(?<![\p{L}\p{N}#./:_-])#?\d{1,2}(?![\p{L}\p{N}%/:_-]|\.\d)/u,
  /(?<!\p{L})(?:(?:the|that|this|your) (?:list|table|options|items|points)|(?:option|item|point|step|phase|variant) \p{L}|first|second|third|fourth|fifth|both|(?:all|none|any|some|one|each) of (?:them|these|those)|them all|the (?:rest|others?|former|latter|last))(?!\p{L})/iu,
  /(?<!\p{L})(?:liste|tabelle|punkte?|beide|erste[nrs]?|zweite[nrs]?|première?|deuxième|tous|toutes|lista|primer[oa]?|segund[oa]|ambos|todos|список|перв\p{L}+|втор\p{L}+|оба|все)(?!\p{L})|列表|清单|选项|第[一二三四五六七八九]|全部|リスト|番目|全て|목록|번째|모두/iu,
];

/** Newest messages of the user that may refer to a list, and their greatest length. */
const REFERRING = 2;
const LONGEST_REFERENCE = 200;

/** Whether one of the newest messages may refer to an item of a list that the agent gave before it. */
export function mayMean(list: Reply, requests: readonly UserRequest[]): boolean {
  return requests
    .slice(-REFERRING)
    .some(
      ({ turn, text }) =>
        turn > list.turn &&
        text.length <= LONGEST_REFERENCE &&
        (REFERS.some((words) => words.test(text)) || (turn === list.turn + 1 && isGoAhead(text))),
    );
}

/** How a message withdraws or changes an earlier statement. */
const CHANGES =
  /\b(?:after all|instead|changed? (?:my|our) mind|forget (?:about|what|that|the)|never ?mind|no longer|any ?more|actually|scratch that|revert|undo|(?:go|switch|move)(?:ing)? back|back to|on second thoughts?|from now on|(?:is|are) (?:fine|ok(?:ay)?|allowed) (?:now|again)|you (?:may|can) (?:\w+ ){0,6}(?:now|again)|doch|stattdessen|nicht mehr|finalement|ya no|en vez)\b|改用|改成|不再|やっぱり|대신/i;

/** Longer words, which show what a sentence is about, except those common to many rules. */
const TOPIC_WORD = /\p{L}[\p{L}\p{N}_-]{3,}/gu;
const RULE_WORDS = new Set(
  'never always must please only should every each with without from this that these those have make sure when then instead actually dont them they what want need will just more than into after before again back using everywhere everything anything'.split(
    ' ',
  ),
);

function topicOf(text: string): ReadonlySet<string> {
  const words = text.toLowerCase().replaceAll(/['’]/g, '').match(TOPIC_WORD) ?? [];
  return new Set(words.filter((word) => !RULE_WORDS.has(word)));
}

/** A sentence in which a message changes something, with the names in it. */
interface TopicChange {
  readonly turn: number;
  readonly topic: ReadonlySet<string>;
}

/** Characters of a message that are searched for changes: longer ones were pasted. */
const READ_LENGTH = 1_200;

/** Least share of subject words that a rule and a change have in common. */
const SAME_TOPIC = 0.5;

/** Finds the newest message that seems to withdraw or change a rule. */
export function changeFinder(requests: readonly UserRequest[]): (rule: Constraint) => number | undefined {
  const changes: TopicChange[] = requests.flatMap(({ turn, text }) =>
    sentencesOf(text.slice(0, READ_LENGTH))
      .filter((sentence) => CHANGES.test(sentence))
      .map((sentence) => ({ turn, topic: topicOf(sentence) })),
  );
  return (rule) => {
    const about = [...topicOf(rule.text)];
    return changes.findLast(({ turn, topic }) => {
      if (turn <= rule.turn) return false;
      const shared = about.filter((word) => topic.has(word)).length;
      return shared > 0 && shared >= SAME_TOPIC * Math.max(about.length, topic.size);
    })?.turn;
  };
}

/** The step to take next, with its list: one in progress before a pending one, and of the newest list first. */
export function nextListStep(
  lists: readonly Plan[],
): { readonly list: Plan; readonly step: PlanStep } | undefined {
  const newestFirst = lists.toSorted((a, b) => b.position - a.position);
  for (const wanted of ['in_progress', 'pending'] as const) {
    for (const list of newestFirst) {
      const step = list.steps.find(({ status }) => status === wanted);
      if (step !== undefined) return { list, step };
    }
  }
  return undefined;
}

/** How a line names the list that a step is from. */
export function fromList({ kind }: Plan): string {
  return kind === 'todo' ? 'From the todo list' : 'From the plan';
}
