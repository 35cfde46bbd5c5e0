// Whether an agent waits for the user. When in doubt it does: a synthetic message must never count as the user's
// consent.

import { proseLines } from '../../text/sentences.ts';

/** Characters at the end of a message in which an agent says that it waits; its own work has answered anything earlier. */
const ENDING_LENGTH = 700;

/** A question at the end of a line, before any closing quotation or emphasis. */
const QUESTION = /[?？؟]["'”»)\]*_]{0,4}$/u;

/**
 * How agents say that they wait: for consent, an answer, a choice, or something that the user must do first.
 * @source findings of two audits: the handoff answered "Please confirm that … before I go on", and later "Approval
 * needed"
 */
const WAITING: readonly RegExp[] = [
  /\b(?:please|kindly)\b/i,
  /\b(?:need|requir|request|seek|get|obtain|without|lack|miss)(?:e?s|ing|ed)?\b[^.!\n]{0,25}\b(?:approval|permission|consent|authori[sz]ation|sign-?off)\b/i,
  /\b(?:approval|permission|consent|authori[sz]ation|confirmation|sign-?off)(?: is| was)? (?:needed|required|pending|missing|to [a-z])/i,
  /(?:^|[.!:;] )\W{0,4}(?:pick|choose|select) (?:one|either|between|an option|[A-D1-9]\b)/im,
  /(?:^|[.!:;] )\W{0,4}(?:ok(?:ay)?|safe|clear|fine) to [a-z]/im,
  /\b(?:without|(?:up|over|left) (?:this |that |it )?to|(?:leave|leaving|left)\b[^.!\n]{0,30}\b(?:to|for|with)) you\b/i,
  /\byou(?:['’]ll| will)? (?:need|have) to\b|\byou must\b/i,
  /\bping me\b|\bthe word\b|\byour (?:move|court|answer|reply|instructions?)\b|\bon hold\b|\bready for (?:your )?review\b|\bstopped (?:here )?for\b/i,
  /\b(?:ask|ping|consult|check with) (?:the )?user\b|\b(?:the )?user (?:must|should|has to|needs to|can) (?:first )?(?:choose|decide|pick|answer|approve|confirm|review|provide)/i,
  /\b(?:user|human|manual|explicit) (?:decision|choice|input|review|confirmation|action)\b/i,
  /\bI (?:still )?need (?:a|an|the|some) (?:decision|answer|choice|password|passphrase|token|key|credentials?|login|account)\b/i,
  /\bif (?:desired|wanted|you wish)\b/i,
  /^\W{0,4}(?:confirm|approve)\b/im,
  /\b(?:let me know|tell me|say the word|up to you|over to you|(?:is|are) yours|your (?:call|choice|turn))\b/i,
  /\byour (?:decision|approval|confirmation|consent|permission|blessing|sign-?off|preference|input|feedback|thoughts|word|ok|okay|go)\b/i,
  /\b(?:go[- ]ahead|green light|thumbs[- ]up|sign[- ]off|standing by|hold(?:ing)? off)\b/i,
  /\b(?:wait(?:ing)?|await(?:ing)?|pending|hold(?:ing)?|hear|blocked|paus(?:e|ing|ed))\b[^.!\n]{0,40}\b(?:you|your|user|approval|confirmation|answer|reply|decision|review|input|instructions?)\b/i,
  /\b(?:once|after|when(?:ever)?|until|unless|before|as soon as|if) (?:you|the user)(?:['’](?:ve|re|d)| have| has| are| is| would)? ?(?:confirm|approv|agree|answer|repl|decid|choos|chosen|review|said|say|respond|provid|want|like|prefer|happy|fine|ready|done|ok)/i,
  /\b(?:ready|proceed|continue|start|begin)\b[^.!\n]{0,30}\bwhen(?:ever)? you are\b/i,
  /\bbefore (?:I|we) (?:go|proceed|continue|move|delete|drop|remove|merge|push|deploy|touch)\b/i,
  /\b(?:need|require|want|like|appreciate)s?\b[^.!\n]{0,30}\b(?:from you|the user['’]s|user approval|user confirmation)\b/i,
  /\b(?:reply|respond|answer|type|send|say)\b[^.!\n]{0,20}["'“‘`*]?\b(?:yes|ok|go|proceed|confirm|continue|approve)\b/i,
  /\b(?:shall|should|may|can|could) (?:I|we)\b/i,
  /\bsay-so\b|\bsay when\b|\b(?:a|the|one|your) nod\b|\bgreen-?light(?:ing|ed)?\b|\bsecond (?:pair of eyes|opinion)\b/i,
  /\b(?:unless|until|once|when|if) (?:I(?:['’]m| am) )?(?:told|asked|instructed|directed|approved|confirmed|authori[sz]ed|allowed|cleared)\b(?! by\b)/i,
  /\bunless (?:you|the user|anyone|someone|somebody)\b|\bany (?:objections?|preferences?|concerns?)\b/i,
  /\bif (?:that|this|it)(?:['’]s| (?:is|works?|sounds?|suits?|seems?|looks?))\b[^.!\n]{0,30}\b(?:you|good|ok(?:ay)?|fine|right|intended|acceptable|wanted|desired)\b/i,
  /\b(?:can|could|would|will) you\b|\b(?:want|like|need|wants|prefer) me to\b|\b(?:happy|glad) to [a-z]/i,
  /\byou (?:can|may|could|should|might) (?:now |then |first )?(?:check|look|review|verify|decide|inspect|confirm|choose|pick|veto|object)\b/i,
  /\b(?:I|we)(?:['’](?:m|ll|ve|d)| am| have| had| will| would)? (?:stop(?:ping|ped)?|halt(?:ing|ed)?|paus(?:e|ing|ed)|wait(?:ing|ed)?)(?: off)? (?:here|there|now|short|before|until|so)\b/i,
  /\b(?:I|we)(?: am| are|['’](?:m|re))? ?(?:cannot|can['’]t|can not|will not|won['’]t|would not|unable to|should not|rather not|not going to|not able to) (?:continue|proceed|go|move|start|begin|finish|push|force-push|delete|drop|remove|deploy|merge|publish|do)\b/i,
  /\bnot (?:comfortable|confident|willing|prepared)\b|\b(?:reluctant|hesitant|hesitate) to\b|\b(?:not|nothing|isn['’]t)\b[^.!\n]{0,30}\b(?:by|on) (?:myself|my own)\b/i,
  /\b(?:I|we)(?: would|['’]d)? (?:want|need|like|prefer|have) to (?:be (?:sure|certain)|(?:double[- ])?check with|know|ask|hear|clarify)\b/i,
  /\b(?:irreversible|irrevocable|(?:is|are|be) destructive|(?:cannot|can['’]t|can not) be (?:undone|reverted)|no (?:way|going) back)\b/i,
  /\b(?:needs?|requires?|takes?|for) (?:someone|somebody|a (?:human|person|maintainer|colleague)|an (?:admin\w*|approver|owner)|the (?:owner|maintainer|reviewer))\b/i,
  /\bwithout (?:an? |any |explicit |further |written ){0,2}(?:confirmation|instructions?|answer|decision|word|yes)\b|\b(?:give me|with|takes|need) (?:a|your|one) ["“'*]?(?:yes|ok(?:ay)?)\b/i,
  /\b(?:a?wait)(?:ing|s)?(?: for| on)? (?:further |more |the |an? |any |some ){0,2}(?:direction|guidance|nod|ok|okay|yes|word|clearance|approval|confirmation|instructions?|decision|review|input)\b/i,
  /\bI(?: would|['’]d)? (?:lean|suggest|recommend|propose)\b/i,
  /(?:^|[.!:;] )\W{0,4}(?:verify|check|review|look|give|say|nod|tick|sign|answer|reply)\b[^.!\n]{0,80}\band (?:then )?I\b/im,
  /\bdefer to\b|\bfor (?:your|the user['’]s) [a-z]+|\byour (?:verdict|judge?ment|guidance|direction|nod|yes|signal|response|opinion|take|view)\b/i,
  /\b(?:would you (?:like|prefer)|do you (?:want|prefer|agree|mind)|which (?:one|option) (?:do|would) you)\b/i,
  /\bbitte\b[^.!\n]{0,30}(?:bestätig|sag|gib|wähl|entscheid|antwort|prüf|teil)/i,
  /\b(?:warte[nt]?|sobald|bis|wenn) (?:auf )?(?:du|sie|dich|ihre?|deine?)\b/i,
  /\b(?:bescheid|freigabe|einverständnis|zustimmung|rückmeldung)\b|\bsoll(?:en)? (?:ich|wir)\b|\bmöcht(?:est|en) (?:du|sie)\b/i,
  /\b(?:veuillez|merci de)\b[^.!\n]{0,20}(?:confirmer|choisir|répondre|valider|préciser)/i,
  /\b(?:dites|dis|faites|fais)-(?:le-)?moi\b|\bj['’]attends (?:vo|ton|ta)|\bfeu vert\b|\b(?:souhaitez|voulez)-vous\b|\bdois-je\b/i,
  /\b(?:votre|ton|ta) (?:accord|confirmation|avis|réponse|validation|retour|choix)\b|\bdès que (?:vous|tu)\b/i,
  /\b(?:confirma(?:me|r)?|confirme|confírm\w{1,8}|avísame|avíseme|dime|dígame)\b|\b(?:tu|su) (?:aprobación|confirmación|respuesta|visto bueno)(?![a-z])/i,
  /\b(?:a la espera|espero (?:tu|su)|en cuanto (?:me )?(?:confirm|dig)|quieres que|quiere que)/i,
  /\b(?:aguardo|aguardando) (?:a )?(?:sua|tua)|\bme avise\b|\b(?:fammi|fatemi) sapere\b|\battendo (?:la |il )?(?:tu|vostr)/i,
  /подтверди|дай(?:те)? знать|жду (?:ваш|тво|от)|скажи(?:те)?,? (?:если|когда)|ваше(?:го)? (?:решени|подтвержд)/i,
  /请(?:您)?(?:先)?(?:确认|回复|告诉|告知|选择|批准|指示)|等(?:待)?(?:你|您)|是否(?:要|需要|可以|继续)|需要(?:你|您)的?(?:确认|批准|同意)/,
  /(?:ご?確認|ご?指示|ご?承認|お?返事|教えて)(?:を)?(?:ください|お願い|いただ|お待ち)|お待ちして/,
  /(?:확인|승인|답변|알려)[을를]? ?(?:해 ?)?(?:주|기다)/,
];

/**
 * How agents announce work that they go on to without being asked. Only what they do themselves counts: "then we can
 * continue" and "I will not" announce nothing.
 * @source decision: no list of wordings holds every way to wait (17 of 20 new ones were missed), so that silence about
 * what comes next counts as waiting
 */
const ANNOUNCED: readonly RegExp[] = [
  /\b(?:next|now|then|still|remaining|remains?|left|to[- ]?do|follows?|afterwards|meanwhile|moving on|on to|turning to)\b/i,
  /\b(?:I|we)(?:['’]ll| will| am going to|['’]m going to| shall| go on| carry on| continue| proceed| start| begin| am| are|['’]m|['’]re) (?!not\b|never\b)[a-z]/i,
  /\b(?:continuing|proceeding|going on|carrying on|starting|beginning)\b|\b(?:step|phase|part) \d/i,
  /\b(?:als nächste[srn]?|danach|jetzt|weiter mit|ich (?:mache|fahre|werde)|ensuite|maintenant|je (?:vais|continue)|luego|ahora|continúo|a seguir|agora|poi|adesso)(?![\p{L}])/iu,
  /далее|теперь|следующ|接下来|然后|现在|下一步|次に|次は|続けて|다음|이제/,
];

/**
 * Whether an agent that has ended its turn goes on by itself: its last message announces work of its own and does not
 * wait for the user.
 */
export function goesOn(message: string): boolean {
  const ending = endingOf(message);
  return ANNOUNCED.some((words) => words.test(ending)) && !waitsForUser(message);
}

function endingOf(message: string): string {
  const prose = proseLines(message)
    .map((line) => line.trim())
    .filter((line) => line !== '');
  return prose.join('\n').slice(-ENDING_LENGTH);
}

/** Whether a message of the agent, at the end of its turn, waits for the user. */
export function waitsForUser(message: string): boolean {
  const ending = endingOf(message);
  // A list of options may follow the question.
  return (
    ending.split('\n').some((line) => QUESTION.test(line)) || WAITING.some((words) => words.test(ending))
  );
}
