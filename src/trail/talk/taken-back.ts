// What the agent said and what no longer stands: claims that it gave up when the user disputed them, what it proposed and the
// user refused, and what it said of names that an edit took out since.

import { overtakenIn } from './overtaken.ts';
import { identifiersOf } from '../../text/identifiers/identifiers.ts';
import { denies, reportOf } from './reported.ts';
import type { Report } from './reported.ts';
import { sentencesOf } from '../../text/sentences.ts';
import { wordsOf } from '../../text/subjects.ts';
import type { Removal, Trail, UserRequest } from '../trail.ts';

/** Who admits that something said before was wrong: more than that the other one is right. */
const ADMITS =
  /\b(?:I (?:was|stand|am) (?:wrong|mistaken|corrected|incorrect)|I(?:['’]ve| have)? (?:mis(?:read|understood|applied|interpreted|remembered|stated|judged)|got (?:that|it|this) wrong|(?:made|had) an? (?:mistake|error)|accept (?:that|the|your) (?:correction|point))|(?:that|this|it|my \w+) was (?:wrong|incorrect|mistaken|not (?:right|correct|true|accurate))|my (?:mistake|bad|error)|let me (?:re-?(?:examine|check|consider|think|visit|investigate|evaluate|assess)|think again|look again|check (?:again|more carefully))|ich (?:lag falsch|habe mich (?:geirrt|vertan))|mein fehler|das war falsch|(?:je me suis|j['’]avais) (?:tromp|tort)\w*|mon erreur|c['’]était faux|me equivoqué|estaba equivocado|mi error|eu estava errado|me enganei|erro meu|mi sono sbagliato|avevo torto|errore mio|ik (?:had het mis|zat fout)|mijn fout)|(?:я ошиб(?:ся|лась|ался)|моя ошибка|pomyliłem się|mój błąd|yanıldım|benim hatam)|我(?:搞|弄|说|看)?错了|我误解|是我的错|間違って(?:い|お)|私の(?:誤り|ミス)|誤解して(?:い|お)|제가 틀렸|제 실수|잘못 (?:이해|봤|말씀)/i;

/** How a user says that the agent said something that is not so. */
const DISPUTES =
  /\b(?:(?:that|this|it|you)(?:['’]s| is|['’]re| are|s)? (?:wrong|incorrect|not (?:right|correct|true))|you (?:also |just |even |had )?(?:said|marked|claimed|told|wrote|listed|stated|say|claim)|(?:das|es) (?:ist|stimmt) (?:falsch|nicht)|du (?:hast|sagtest)|c['’]est faux|tu (?:as dit|disais)|vous avez dit|eso (?:es incorrecto|no es)|dijiste)\b|不对|错了|你说|違います|と言い/i;

/** Characters of a message of the user that may dispute something, and of the answer that gives in. */
const DISPUTE_LENGTH = 800;
const ADMISSION_LENGTH = 900;
const ADMISSION_SENTENCES = 4;

/** Whether an answer that opens with giving in takes back what was said, rather than agreeing to a wish. */
export function takesBack(opening: string, request: string): boolean {
  return (
    ADMITS.test(opening.slice(0, ADMISSION_LENGTH / 2)) || DISPUTES.test(request.slice(0, DISPUTE_LENGTH))
  );
}

/** What a dispute is about. */
interface Dispute {
  readonly turn: number;
  readonly names: ReadonlySet<string>;
  readonly words: ReadonlySet<string>;
}

/** Of what a sentence is about, the share that a dispute has at least; more where it names nothing. */
const SAME_SUBJECT = 0.4;
const SAME_WORDS = 0.6;
const LEAST_SHARED = 3;
/** Words from which on a sentence is long enough for its share to tell. */
const LEAST_WORDS = 4;

/** What a member is called on: `lens` of `lens.turn`. */
function ownerOf(name: string): string {
  return name.slice(0, Math.max(0, name.lastIndexOf('.')));
}

/** @param isAnswered whether the text stands in what the dispute answers: then a name that it does not take up may be another word for it */
function isAbout({ names, words }: Dispute, text: string, isAnswered: boolean): boolean {
  const ownNames = identifiersOf(text);
  const isNamed = ownNames.some((name) => names.has(name) || names.has(ownerOf(name)));
  if (ownNames.length > 0 && !isNamed && !isAnswered) return false;
  const own = [...new Set([...wordsOf(text), ...ownNames])];
  const shared = own.filter((word) => words.has(word) || names.has(word)).length;
  const share = shared / Math.max(LEAST_WORDS, own.length);
  return shared >= LEAST_SHARED && share >= (isNamed || isAnswered ? SAME_SUBJECT : SAME_WORDS);
}

function disputeOf({ turn, text, admission = '' }: UserRequest): Dispute {
  const about = `${text.slice(0, DISPUTE_LENGTH)} ${sentencesOf(admission).slice(0, ADMISSION_SENTENCES).join(' ')}`;
  return { turn, names: new Set(identifiersOf(about)), words: wordsOf(about) };
}

/** What is kept of an answer that takes something back. */
export function admissionOf(text: string): string {
  return text.slice(0, ADMISSION_LENGTH);
}

/** How a sentence proposes something. */
const PROPOSES =
  /\b(?:should|shall|could|would|will|['’]ll|let me|let['’]s|propos\w+|suggest\w*|going to|need(?:s)? to|want to|sollte\w*|devrait|deber[ií]a)\b|应该|建议|べき|해야/i;

/** A name that ends as the names of files do. */
const FILE_NAME = /(?<![\w-])[\w-]+\.(?=\d*[a-z])[a-z\d]{1,5}\b(?![(.])/g;

/** Whether a sentence speaks of files, but not of the one that a name was taken out of: others may define the same. */
function isOfOtherFile(text: string, { path }: Removal): boolean {
  const named = text.match(FILE_NAME) ?? [];
  return named.length > 0 && !named.some((name) => path.endsWith(name));
}

/** Something that was said, and where. */
interface Utterance {
  readonly turn: number;
  readonly position: number;
  readonly text: string;
}

/** What became of what was said. */
export interface Standing {
  /** The message of the user after which a text was taken back that was said on an earlier one. */
  readonly takenBackAfter: (text: string, turn: number) => number | undefined;
  /** What the next message says became of what was done on a request. */
  readonly reportOn: (turn: number) => Report | undefined;
  /** Whether a sentence told how something stood that was done since. */
  readonly isOvertaken: (said: Utterance) => boolean;
  /** Whether a sentence tells nothing that holds: it was taken back, refused or overtaken, or what it names is gone. */
  readonly isSpent: (said: Utterance) => boolean;
}

/** What an answer may claim that a user throws out without a word on what: of more it is not known which. */
const MOST_CLAIMS = 3;

/** Where answers stand that make few claims and that the next message says are wrong. */
function refutedIn(
  { statements }: Trail,
  reports: ReadonlyMap<number, Report | undefined>,
): ReadonlySet<number> {
  const refuted = new Set<number>();
  for (const [turn, report] of reports) {
    if (report !== 'refuted') continue;
    const said = statements.filter((statement) => statement.turn === turn);
    const last = Math.max(...said.map(({ position }) => position));
    if (said.filter(({ position }) => position === last).length <= MOST_CLAIMS) refuted.add(last);
  }
  return refuted;
}

/** Looks up what no longer stands of what was said. */
export function standingOf(trail: Trail): Standing {
  const { requests, answers, removed, files } = trail;
  const isOvertaken = overtakenIn(trail);
  const disputes = requests.filter(({ admission }) => admission !== undefined).map(disputeOf);
  const refused = new Set(answers.map(({ proposedAt }) => proposedAt));
  const gone = new Map(removed);
  for (const { path, state, lastEditPosition: position } of files)
    if (state === 'deleted') gone.set(path, { path, position });
  const takenBackAfter = (text: string, turn: number): number | undefined =>
    disputes.find((dispute) => dispute.turn > turn && isAbout(dispute, text, dispute.turn === turn + 1))
      ?.turn;
  const reports = new Map(requests.map((request) => [request.turn - 1, reportOf(request.text)]));
  const refuted = refutedIn(trail, reports);
  const isDenied = (said: Utterance): boolean =>
    denies(reports.get(said.turn), said.text) || refuted.has(said.position);
  const isGone = ({ text, position }: Utterance): boolean =>
    gone.size > 0 &&
    identifiersOf(text).some((name) => {
      const removal = gone.get(name);
      return removal !== undefined && removal.position > position && !isOfOtherFile(text, removal);
    });
  return {
    takenBackAfter,
    isOvertaken,
    reportOn: (turn) => reports.get(turn),
    isSpent: (said) =>
      isGone(said) ||
      isOvertaken(said) ||
      isDenied(said) ||
      (refused.has(said.position) && PROPOSES.test(said.text)) ||
      takenBackAfter(said.text, said.turn) !== undefined,
  };
}

/** What came of a request, with a word behind it where the next message says that it is gone or did not help. */
export function withReport(text: string, turn: number, { reportOn }: Standing): string {
  const report = reportOn(turn);
  if (report === undefined) return text;
  return `${text} (message ${turn + 1} ${REPORTED[report]})`;
}

const REPORTED: Readonly<Record<Report, string>> = {
  undone: 'undoes it',
  remains: 'says that it did not help',
  refuted: 'says that it is wrong',
};

/** A text that was said on a request, with a word behind it where it was taken back. */
export function withStanding(text: string, turn: number, { takenBackAfter }: Standing): string {
  const after = takenBackAfter(text, turn);
  return after === undefined ? text : `${text} (taken back after message ${after})`;
}
