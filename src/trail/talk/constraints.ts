// Which sentences of a user apply beyond the request that contains them: prohibitions, duties, preferences, corrections. Small
// tables per language; a sentence is kept whole and verbatim, so a false hit costs space, not accuracy.

import { proseLines, sentencesOf, sentencesOfLine } from '../../text/sentences.ts';
import type { Constraint } from '../trail.ts';

const ENGLISH = [
  "never|always|must|mustn['’]t|cannot|can['’]?t|only|except|unless|without|nothing (?:may|should|must|else)|nobody (?:may|should|but)|none of|strictly|exactly",
  "do not|don['’]?t|doesn['’]t need|does not need|didn['’]t|won['’]t|should(?:n['’]?t)?|shall|(?:may|need|let['’]s) not|no need|do nothing|at no point",
  '(?:has|have|needs?|ought) to (?:be|stay|remain|keep|come|have|use|go|match|work|fit)',
  'at (?:most|least)|(?:no )?(?:more|less|longer|fewer) than|(?:below|under|within|up to|limit\\S* (?:\\S+ ){0,5}to|max(?:imum)?\\.?(?: of)?|min(?:imum)?(?: of)?) \\d+|\\d+ (?:and|or) (?:up|above|newer|less|fewer)',
  'instead of|rather than|prefer|avoid|no longer|not allowed|(?:make|be) sure|ensure|stick (?:to|with)|keep (?:it|the|this|that|all|every|each|using|everything|things|\\S+ (?:under|below|above|within|in|at|as|small|short|out))',
  'refrain from|stay (?:away|out|within|on)|hands off|off[ -]limits|capped|compatible with|leave (?:\\S+ ){1,6}(?:alone|untouched|as (?:is|it is|they are))|under no circumstances|whatever you do|treat \\S+ (?:\\S+ )?as',
  "from now on|going forward|remember (?:to|that)|(?:keep|bear|have) in mind|be aware|take (?:care|into account)|important|crucial|essential|mandatory|requires?|required|forbidden|prohibited|stop \\w+ing|that['’]s wrong|I(?:['’]d| would) rather|(?:I|we) want .{1,60}(?:everywhere|only|always|all)|(?:to|should) keep \\w+ing|everywhere|hold on to|skip|by hand",
  'in (?:English|German|French|Spanish|Chinese|Japanese)|(?:^|[,;:] ?|please )no \\w+s|(?:any|every)(?:thing|one|body) (?:that|who|must|should|goes|gets)|(?:prefix|suffix|name|write|put|mark|format) (?:all|every|each)|(?:ask|tell|check with|confirm with) (?:me|us) (?:before|first)|before (?:every|each|any|you|commit\\w*|merg\\w*|push\\w*)|(?:after|for|as|once) (?:every|each)',
  'use (?:\\S+ ){1,12}(?:not|instead|for (?:all|every)|(?:for|as) \\S+)|(?:use|target) (?:only )?[\\w.-]+|not? (?:new|more|extra|other|additional|network|external|third|default|global|magic|any)\\b.{1,60}|(?:imperative|present) (?:mood|tense)|(?:go|goes|live|belong)s? (?:next to|in|into|under|below)',
];
const GERMAN = [
  'nie|niemals|immer|muss|müssen|darf|dürfen|soll(?:te|st|en|ten)?|nicht|kein(?:e|en|er|es|em)?|nur|statt|anstatt|lieber|vermeide[n]?|ohne|nichts|auf (?:Deutsch|Englisch)|alle \\S+ (?:auf|in|mit|müssen)|ab jetzt|wichtig|höchstens|mindestens|maximal|ausschließlich|stets|finger weg|verboten|auf keinen fall|beachte[nt]?',
];
const FRENCH = [
  "jamais|toujours|doit|doivent|dois|il faut|ne pas|n['’]\\S{1,30} (?:pas|jamais|plus)|uniquement|seulement|plutôt que|au lieu de|évite[zr]?|sans|désormais|important|au (?:plus|moins|maximum)|interdit[es]*|obligatoire|pas de|aucune?",
  'ne \\S{1,20} (?:pas|jamais|plus)',
];
const SPANISH = [
  'nunca|siempre|debe[ns]?|debería[ns]?|hay que|tienen? que|no (?:uses|usar|hagas|hacer|toques|tocar|cambies|cambiar|modifiques|modificar|borres|borrar|añadas|agregues)|solo|sólo|solamente|únicamente|en lugar de|en vez de|evita[r]?|sin|a partir de ahora|importante|como (?:máximo|mínimo)|prohibido|obligatorio|mantén|manten(?:ga|er)|ningún|ninguna',
];
const PORTUGUESE = [
  'sempre|deve[m]?|precisa[m]? (?:ser|ficar)|não (?:altere|use|mude|toque|apague|remova|adicione|modifique|faça|pode[m]?)|apenas|somente|em vez de|evite|sem|a partir de agora|no (?:máximo|mínimo)|proibido|obrigatório|nenhum[a]?',
];
const ITALIAN = [
  'mai|sempre|deve|devono|bisogna|non (?:modificare|usare|toccare|cambiare|cancellare|aggiungere|fare|deve|devono)|soltanto|solamente|invece di|evita(?:re)?|senza|da ora in poi|al (?:massimo|minimo)|vietato|obbligatorio|nessun[oa]?',
];
const DUTCH = [
  'nooit|altijd|moet(?:en)?|mag|mogen|niet|geen|alleen|liever|vermijd|zonder|voortaan|belangrijk|hoogstens|minstens|verboden|in plaats van',
];
const RUSSIAN = [
  'никогда|всегда|нельзя|не (?:меняй|трогай|используй|удаляй|добавляй|надо|нужно|должн\\S+)(?:те)?|только|должен|должн[аыо]|обязательно|вместо|избегай(?:те)?|без|запрещено|важно|не (?:более|менее|больше|меньше)|максимум|минимум|ни в коем случае',
];
const POLISH = [
  'nigdy|zawsze|nie|musi|muszą|tylko|wyłącznie|bez|zamiast|unikaj|ważne|zabronione|najwyżej|co najmniej',
];
const TURKISH = ['asla|her zaman|sadece|yalnızca|olmadan|yerine|yasak|önemli|en (?:fazla|az)|mutlaka|sakın'];
/** A sentence that opens with a correction, and "one, not the other". */
const CORRECTION =
  /^(?:no|nope|wait|actually|nein|non|нет|不|いいえ|아니)[,.: ，。、]|\p{L}[,;] (?:please, )?not \p{L}/iu;
const CHINESE = [
  '不要|不能|不得|不可|不许|不准|别(?:用|再|改|动|碰|加)|必须|务必|一定要|只(?:能|用|要|需|允许|准)|仅(?:限|用|使用|能|允许)?|总是|始终|永远|禁止|避免|而不是|改用|请勿|应该|应当|不应|最多|最少|至少|不(?:超过|少于|多于)|不要超过|以内|严禁|切勿|保持',
];
const JAPANESE = [
  'しないで|ないでください|してはいけ|禁止|必ず|常に|絶対|こと。?$|だけ(?:を|に|で|使)|のみ|ではなく|代わりに|避けて|べき|てはならない|以内|以下に|以上に|まで(?:に|と)|なしで|せずに|ように(?:して|すること)|厳守',
];
const KOREAN = [
  '지 마|지 말|말고|반드시|항상|절대|금지|만 (?:사용|써|쓰)|대신|해야|없이|꼭|이내|이하로|이상으로|안 (?:돼|됩니다)|최대|최소',
];

/** Matches whole words only: within letters of any script they are parts of other words, and `\b` knows only ASCII letters. */
const WORDS = [
  ENGLISH,
  [...GERMAN, ...DUTCH],
  [...FRENCH, ...SPANISH],
  [...PORTUGUESE, ...ITALIAN],
  [...RUSSIAN, ...POLISH, ...TURKISH],
].map((words) => new RegExp(`(?<![\\p{L}\\p{N}_])(?:${words.join('|')})(?![\\p{L}\\p{N}_])`, 'iu'));
const SIGNS = new RegExp([...CHINESE, ...JAPANESE, ...KOREAN].join('|'), 'u');

function hasRuleWords(sentence: string): boolean {
  return WORDS.some((words) => words.test(sentence)) || SIGNS.test(sentence);
}

/** A longer sentence is a pasted log or a document, not an order. */
const MAX_SENTENCE_LENGTH = 600;

/** Pasted output: an error preceded by its class or program, a prompt, a stack trace line. */
const LOGGED =
  /^(?:\S{1,60}(?:Error|Exception|Warning)?: (?:error\b|cannot\b)|\S{1,60}(?:Error|Exception):|\$ |>>> |at \S+ \(|File "|\(\.?venv\)|\[\w+\] )/;

/** A question that may lack its question mark: "now can you explain: …". It asks for an explanation, not for action. */
const ASKS_WHY =
  /^(?:(?:and|but|so|ok(?:ay)?|now|also|then|hmm?)[, ]+)*(?:(?:can|could|would|will) (?:you|u)(?: please)? (?:explain|tell|show|describe|summari[sz]e|list|give|walk|remind|clarify|ask)\b|(?:why|how come) (?:do|does|did|is|are|was|were|would|should|can['’]?t|don['’]t|doesn['’]t|isn['’]t)\b|(?:what|how|where|which) (?:do|does|did|is|are|was|were) (?:the|this|that|these|those|it|we|you|I)\b|tell me (?:why|what|how|where|which)\b)/i;

/** A printed row: a tree or table, a commit with its hash, columns, a diff line, a computed value. */
const PRINTED =
  /^[│├└╭╰┃|] |\t.*\t|^(?:- )?[0-9a-f]{7,12} \S.* (?:ago|\[[+-])|^\d{1,6} [-+] |^[\w.]{1,60} = .*\d/;

/** The user's account of the past or of an observation; wishes in it are rules. */
const NARRATED =
  /^(?:(?:and|but|so|well|also)[, ]+)*I (?:(?:never|always|only|just) (?:saw|got|had|did|heard|used|knew|noticed|found|said)|did(?:n['’]?t| not) (?:see|get|find|notice|hear|know|use|run|try|check|look)|haven['’]t|couldn['’]t|wasn['’]t)\b/i;

/**
 * Whether a sentence of the user states a rule, limit, preference or correction. Questions, accounts and printed rows do not.
 */
export function isConstraint(sentence: string): boolean {
  if (sentence.length > MAX_SENTENCE_LENGTH || sentence.length < 4) return false;
  if (/[?？]$/.test(sentence) || LOGGED.test(sentence) || TITLE.test(sentence)) return false;
  if (ASKS_WHY.test(sentence) || NARRATED.test(sentence) || PRINTED.test(sentence)) return false;
  return hasRuleWords(sentence) || CORRECTION.test(sentence);
}

/** A title rather than a sentence: a few words, each capitalized. */
const TITLE = /^\p{Lu}\p{Ll}+(?: \p{Lu}\p{Ll}+){1,3}$/u;

/** Words that make a rule apply beyond its request, and those that do so except in an opinion. */
const LASTING =
  /\b(?:never|always|must(?:n['’]t)?|shall|from now on|going forward|under no circumstances|whatever you do|forbidden|prohibited|not allowed|mandatory|strictly|hands off|off[ -]limits)\b|(?<!\b(?:I|we|you|they|it|that|this|who|which) )\b(?:do not|don['’]?t)\b|^(?:please )?no (?:\w+ )?\w+s[.!]*$/i;
const GENERAL =
  /\b(?:remember|in mind|crucial|essential|to (?:stay|remain)|(?:you|we|they) may not|rather you|every\w*|each|any\w*|nothing|nobody|none of|prefer|avoid|refrain|stick (?:to|with)|at (?:most|least|no point)|let['’]?s not|use \S+,? not)\b|^(?:please |and |but |so )*only\b|\b(?:no|not) (?:new|more|extra|other|additional|network|external|third|default|global|magic)\b/i;
/** An order to change certain words of a text: it ends with the change. */
const EDITS_WORDS =
  /^(?:(?:please|now|also|and|then|ok(?:ay)?)[, ]+)*(?:remove|delete|drop|cut|take out|replace|rewrite|reword|rename|shorten) (?:this|that|these|those|the (?:line|sentence|part|bullet|section|paragraph|phrase|word)s?)\b/i;
/** How a user repeats how something must be done, or gives a reason that applies each time. */
const INSISTS =
  /^(?:what I (?:said|asked for|meant) (?:was|is)|(?:as|like) I (?:already )?said|I (?:already )?(?:said|told you) to)\b|\bso (?:that )?I(?:['’]ll)? (?:only |just )?(?:have|need) to \w+ (?:\w+ )?once\b/i;
/** How an opinion, a report or a request begins. */
const OPINION =
  /^(?:(?:also|ok(?:ay)?|so|now|and|but|then|well|hm+|yes|yeah|actually)[, ]+)*(?:(?:I|we) (?:think|thought|guess|believe|feel|wonder|see|selected|don['’]?t th?ink)|I['’]m|maybe|perhaps|probably|basically|right now|currently|in theory|given that|what I said|(?:can|could) (?:you|we))\b/i;
/** Words of rules that only say what to do about the current request. */
const PASSING =
  /\b(?:should(?:n['’]?t)?|can(?:no|['’]?)t|(?:does|did)(?:n['’]t| not)|don['’]?t|do not|won['’]t|without|exactly|only|except|unless|important|requires?|required|make sure|ensure|instead of|rather than|no longer|skip|(?:has|have|needs?|ought) to \w+|stop \w+ing|(?:may|need) not)\b/i;
/** How a correction of the latest work begins. */
const OBJECTION =
  /^(?:no|nope|wait|actually|nein|non|нет|不|いいえ|아니)[,.:，。、]|^no(?:pe)? (?:remove|revert|undo|that|this|it|I|you|we|the)\b/i;

/**
 * Whether a rule still applies after its request was answered. What a request should do, cannot do, or was wrong about ("it
 * should be dimmer") ends with that request; in doubt, a rule lasts.
 */
export function isLasting(rule: string): boolean {
  if (EDITS_WORDS.test(rule)) return false;
  if (LASTING.test(rule) || INSISTS.test(rule)) return true;
  if (OPINION.test(rule)) return false;
  return GENERAL.test(rule) || !(PASSING.test(rule) || OBJECTION.test(rule));
}

/** Words with which a user states a permanent rule, besides those of `LASTING`. */
const EARNEST =
  /\b(?:(?:keep|bear|have) in mind|remember (?:to|that)|(?:make|be) sure|ensure|prefer|avoid|refrain|stick (?:to|with)|at (?:most|least)|no need|crucial|essential|only (?:use|when|if|with|for))\b/i;
const ENGLISH_WORDS = new RegExp(`\\b(?:${ENGLISH.join('|')})\\b`, 'i');

/**
 * Whether a reader would call a lasting rule a rule: it contains a word that says so, or it was not an English word, from the
 * widest table, that made it one.
 */
export function isEarnest(rule: string): boolean {
  if (!isLasting(rule)) return false;
  return LASTING.test(rule) || INSISTS.test(rule) || EARNEST.test(rule) || !ENGLISH_WORDS.test(rule);
}

/** How a speaker thinks aloud about options, and words that make such a sentence an order all the same. */
const MUSES =
  /^(?:(?:also|ok(?:ay)?|so|now|and|but|then|well|hm+|yes|yeah|actually)[, ]+)*(?:maybe|perhaps|(?:I|we) (?:think|thought|guess|wonder)|should (?:I|we))\b/i;
const ORDERS = /\b(?:please|let['’]?s|make sure|be sure|don['’]?t|do not)\b/i;
/** A line that introduces others, and one that turns them into orders: "Never do these:". */
const INTRODUCES = /[:：]$|^here(?:['’]s| is| are)\b.{0,80}\b(?:list|overview|summary|table)\b/i;
const COMMANDS = /^(?:(?:please|and|but|also|so)[, ]+)*(?:use|keep|follow|avoid|ensure|make sure|only|no)\b/i;

/** Whether a rule concerns certain words of a text, or binds to nothing: the user thinks aloud or introduces a list. */
export function isIdle({ text, isPasted }: Pick<Constraint, 'text' | 'isPasted'>): boolean {
  if (EDITS_WORDS.test(text)) return true;
  if (isPasted || LASTING.test(text) || COMMANDS.test(text)) return false;
  return INTRODUCES.test(text) || (MUSES.test(text) && !ORDERS.test(text));
}

/** Words that call an earlier statement or action wrong, anywhere in a message. */
const WRONG =
  /\b(?:(?:that|this|it|you)(?:['’]s| is|['’]re| are|s)? (?:wrong|incorrect|not (?:right|correct|true|what I))|I (?:didn['’]t|did not) (?:ask|mean|say)|(?:das|es) (?:ist|stimmt) (?:falsch|nicht)|c['’]est faux|eso (?:es incorrecto|no es))\b|不对|错了|違います/i;

/** Whether a user's message opens with a correction or calls something wrong. */
export function isCorrection(text: string): boolean {
  const head = text.trimStart().slice(0, 400);
  return CORRECTION.test(head) || WRONG.test(head);
}

/** Whether a sentence contains a word typical of rules, even in a question or an account. Excludes printed rows. */
export function soundsBinding(sentence: string): boolean {
  if (sentence.length > MAX_SENTENCE_LENGTH || LOGGED.test(sentence) || PRINTED.test(sentence)) return false;
  return hasRuleWords(sentence);
}

/** A message with this many lines and characters contains more than the user typed: a review, a log, a model's answer. */
const PASTED_LINES = 14;
const PASTED_LENGTH = 900;
/** Lines at either end of such a message that the user most likely typed. */
const OWN_LINES = 2;

/**
 * The middle of a message long enough to contain pasted text. Somebody wrote the rules in it, but maybe not the user. Empty for
 * a typed message.
 */
export function pastedPart(text: string): string {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  if (text.length < PASTED_LENGTH || lines.length < PASTED_LINES) return '';
  return lines.slice(OWN_LINES, -OWN_LINES).join('\n');
}

/** A line of at least this many characters was wrapped by a program, not by a typist. */
const WRAPPED_LENGTH = 50;
/** How a typist continues on a new line, without a capital. */
const GOES_ON = /^(?:also|and|but|or|then|so|please|ok|if|i|now|maybe|no|dont|don['’]t)\b/i;

/**
 * A text with a program's line breaks undone, and the lines that were wrapped, each joined: they were copied from elsewhere.
 */
export interface Unwrapped {
  readonly text: string;
  readonly wrapped: readonly string[];
}

/** Joins lines that a program wrapped in the middle of a sentence. */
export function unwrap(text: string): Unwrapped {
  const lines: string[] = [];
  const wrapped = new Set<number>();
  let before = '';
  for (const raw of text.split('\n')) {
    const line = raw.trim();
    const isOpen = before.length >= WRAPPED_LENGTH && /(?:[\p{L}\p{N},)-]|\.{3})$/u.test(before);
    if (isOpen && /^[\p{Ll}$]/u.test(line) && !GOES_ON.test(line)) {
      const last = lines.pop() ?? '';
      lines.push(last.endsWith('-') ? `${last}${line}` : `${last} ${line}`);
      wrapped.add(lines.length - 1);
    } else lines.push(raw.trimEnd());
    before = line;
  }
  return { text: lines.join('\n'), wrapped: lines.filter((_, at) => wrapped.has(at)) };
}

/** A line that announces rules: the list below it, or the rest of the line, binds whatever its words. */
const RULES_HEADING =
  /(?<!\p{L})(?:rules?|constraints?|requirements?|conventions?|guidelines?|limits?|limitations?|restrictions?|(?:code |coding |house )?style|dos and don['’]ts|don['’]ts|regeln|vorgaben|anforderungen|einschränkungen|règles|contraintes|exigences|consignes|reglas|restricciones|requisitos|normas|regras|restrições|regole|vincoli|regels|eisen|правила|ограничения|требования|zasady|reguły|kurallar)(?!\p{L})|规则|规定|约束|要求|规范|ルール|制約|規約|규칙|제약|규약/iu;
const LONGEST_HEADING = 80;
const LIST_ITEM = /^(?:[-*+] +|[•–・] *|\d{1,3}[.)、] *|[a-z][.)] +)(?=\S)/;

/** A sentence that depends on the one before it: a few words, one of them a reference back. */
const POINTS_BACK =
  /^(?=(?:\S+\s+){0,6}\S+$)(?:.*\b(?:this|that|it|its|they|them|those|these|so)\b|(?:if|else|otherwise|same)\b)/i;

/**
 * The constraint sentences of a user's message, in order, each once. A sentence that refers back brings along the one before it
 * on its line.
 */
export function constraintsOf(text: string): string[] {
  const listed = new Set(listedRules(text));
  const rules = new Set<string>();
  for (const line of proseLines(text)) {
    let before = '';
    for (const sentence of sentencesOfLine(line)) {
      if (listed.has(sentence) || isConstraint(sentence)) {
        const whole = before !== '' && POINTS_BACK.test(sentence) ? `${before} ${sentence}` : sentence;
        if (whole !== sentence) rules.delete(before);
        rules.add(line.includes(whole) ? whole : sentence);
      }
      before = sentence;
    }
  }
  return [...rules];
}

/** The position of a line: a heading about rules, the list or lines after one, or elsewhere. */
type RuleContext = 'elsewhere' | 'heading' | 'list' | 'lines';

/** Sentences below a heading about rules: a list, or the lines up to the next blank one. */
export function listedRules(text: string): string[] {
  const sentences: string[] = [];
  let place: RuleContext = 'elsewhere';
  for (const raw of text.split('\n')) {
    const line = raw.trim();
    place = placeOf(line, place);
    if (place === 'elsewhere' || place === 'heading' || line.length > MAX_SENTENCE_LENGTH) continue;
    sentences.push(...sentencesOf(line));
  }
  return sentences;
}

function placeOf(line: string, before: RuleContext): RuleContext {
  if (line === '') return before === 'lines' ? 'elsewhere' : before;
  if (LIST_ITEM.test(line)) return before === 'elsewhere' ? 'elsewhere' : 'list';
  if (isRulesHeading(line)) return 'heading';
  return before === 'elsewhere' || before === 'list' || isHeading(line) ? 'elsewhere' : 'lines';
}

function isHeading(line: string): boolean {
  return line.startsWith('#') || /^\*\*[^*]+\*\*:?$/.test(line) || /[:：]$/.test(line);
}

function isRulesHeading(line: string): boolean {
  if (line.length > LONGEST_HEADING || !RULES_HEADING.test(line)) return false;
  return isHeading(line) || /^[\p{L} ]{1,30}[:：]?$/u.test(line);
}
