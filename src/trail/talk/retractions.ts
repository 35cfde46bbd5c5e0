// Which of the agent's statements no longer hold: claims that it withdrew after the user disputed them, proposals that the user
// rejected, and statements about names that an edit has removed since.

import { outdatedIn } from './outdated-statements.ts';
import { identifiersOf } from '../../text/identifiers/identifiers.ts';
import { denies, reportOf } from './user-report.ts';
import type { Report } from './user-report.ts';
import { sentencesOf } from '../../text/sentences.ts';
import { wordsOf } from '../../text/subjects.ts';
import type { Removal, Trail, UserRequest } from '../trail.ts';

/** Admits that an earlier statement was wrong, rather than just agreeing with the other side. */
const ADMITS =
  /\b(?:I (?:was|stand|am) (?:wrong|mistaken|corrected|incorrect)|I(?:['’]ve| have)? (?:mis(?:read|understood|applied|interpreted|remembered|stated|judged)|got (?:that|it|this) wrong|(?:made|had) an? (?:mistake|error)|accept (?:that|the|your) (?:correction|point))|(?:that|this|it|my \w+) was (?:wrong|incorrect|mistaken|not (?:right|correct|true|accurate))|my (?:mistake|bad|error)|let me (?:re-?(?:examine|check|consider|think|visit|investigate|evaluate|assess)|think again|look again|check (?:again|more carefully))|ich (?:lag falsch|habe mich (?:geirrt|vertan))|mein fehler|das war falsch|(?:je me suis|j['’]avais) (?:tromp|tort)\w*|mon erreur|c['’]était faux|me equivoqué|estaba equivocado|mi error|eu estava errado|me enganei|erro meu|mi sono sbagliato|avevo torto|errore mio|ik (?:had het mis|zat fout)|mijn fout)|(?:я ошиб(?:ся|лась|ался)|моя ошибка|pomyliłem się|mój błąd|yanıldım|benim hatam)|我(?:搞|弄|说|看)?错了|我误解|是我的错|間違って(?:い|お)|私の(?:誤り|ミス)|誤解して(?:い|お)|제가 틀렸|제 실수|잘못 (?:이해|봤|말씀)/i;

/** How a user says that a statement of the agent is not true. */
const DISPUTES =
  /\b(?:(?:that|this|it|you)(?:['’]s| is|['’]re| are|s)? (?:wrong|incorrect|not (?:right|correct|true))|you (?:also |just |even |had )?(?:said|marked|claimed|told|wrote|listed|stated|say|claim)|(?:das|es) (?:ist|stimmt) (?:falsch|nicht)|du (?:hast|sagtest)|c['’]est faux|tu (?:as dit|disais)|vous avez dit|eso (?:es incorrecto|no es)|dijiste)\b|不对|错了|你说|違います|と言い/i;

/** Characters of a user's message that may dispute something, and of the answer that admits it. */
const DISPUTE_LENGTH = 800;
const ADMISSION_LENGTH = 900;
const ADMISSION_SENTENCES = 4;

/** Whether an answer that opens with an admission withdraws a statement instead of agreeing to a wish. */
export function takesBack(opening: string, request: string): boolean {
  return (
    ADMITS.test(opening.slice(0, ADMISSION_LENGTH / 2)) || DISPUTES.test(request.slice(0, DISPUTE_LENGTH))
  );
}

/** The subject of a dispute. */
interface Dispute {
  readonly turn: number;
  readonly names: ReadonlySet<string>;
  readonly words: ReadonlySet<string>;
}

/** Least share of a sentence's subject that a dispute must mention; higher if the dispute names nothing. */
const SAME_SUBJECT = 0.4;
const SAME_WORDS = 0.6;
const LEAST_SHARED = 3;
/** A sentence needs this many words for that share to be meaningful. */
const LEAST_WORDS = 4;

/** The object of a member: `lens` in `lens.turn`. */
function ownerOf(name: string): string {
  return name.slice(0, Math.max(0, name.lastIndexOf('.')));
}

/** @param isAnswered whether the dispute answers the text; then a name that it does not repeat may be another word for it */
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

/** The part kept of an answer that withdraws something. */
export function admissionOf(text: string): string {
  return text.slice(0, ADMISSION_LENGTH);
}

/** How a sentence proposes something. */
const PROPOSES =
  /\b(?:should|shall|could|would|will|['’]ll|let me|let['’]s|propos\w+|suggest\w*|going to|need(?:s)? to|want to|sollte\w*|devrait|deber[ií]a)\b|应该|建议|べき|해야/i;

/** A name with a file extension. */
const FILE_NAME = /(?<![\w-])[\w-]+\.(?=\d*[a-z])[a-z\d]{1,5}\b(?![(.])/g;

/** Whether a sentence is about files other than the one that lost a name: they may define the same name. */
function isOfOtherFile(text: string, { path }: Removal): boolean {
  const named = text.match(FILE_NAME) ?? [];
  return named.length > 0 && !named.some((name) => path.endsWith(name));
}

/** A statement and where it was made. */
interface Utterance {
  readonly turn: number;
  readonly position: number;
  readonly text: string;
}

/** What became of statements. */
export interface Retractions {
  /** The user message after which a text from an earlier one was withdrawn. */
  readonly takenBackAfter: (text: string, turn: number) => number | undefined;
  /** What the next message reports about the work on a request. */
  readonly reportOn: (turn: number) => Report | undefined;
  /** Whether a sentence describes a state that later work has changed. */
  readonly isOutdated: (said: Utterance) => boolean;
  /** Whether a sentence no longer holds: it was withdrawn, rejected or overtaken, or what it names is gone. */
  readonly isObsolete: (said: Utterance) => boolean;
}

/** A user's rejection that names no claim applies to answers with at most this many; with more, its target is unclear. */
const MOST_CLAIMS = 3;

/** Positions of answers with few claims that the next message calls wrong. */
function refutedIn(
  { statements }: Trail,
  reports: ReadonlyMap<number, Report | undefined>,
): ReadonlySet<number> {
  const refuted = new Set<number>();
  for (const [turn, report] of reports) {
    if (report !== 'refuted') continue;
    const ofTurn = statements.filter((statement) => statement.turn === turn);
    const last = Math.max(...ofTurn.map(({ position }) => position));
    if (ofTurn.filter(({ position }) => position === last).length <= MOST_CLAIMS) refuted.add(last);
  }
  return refuted;
}

/** Finds which statements no longer hold. */
export function findRetractions(trail: Trail): Retractions {
  const { requests, answers, removed, files } = trail;
  const isOutdated = outdatedIn(trail);
  const disputes = requests.filter(({ admission }) => admission !== undefined).map(disputeOf);
  const refused = new Set(answers.map(({ proposedAt }) => proposedAt));
  const removals = new Map(removed);
  for (const { path, state, lastEditPosition: position } of files)
    if (state === 'deleted') removals.set(path, { path, position });
  const takenBackAfter = (text: string, turn: number): number | undefined =>
    disputes.find((dispute) => dispute.turn > turn && isAbout(dispute, text, dispute.turn === turn + 1))
      ?.turn;
  const reports = new Map(requests.map((request) => [request.turn - 1, reportOf(request.text)]));
  const refuted = refutedIn(trail, reports);
  const isDenied = (said: Utterance): boolean =>
    denies(reports.get(said.turn), said.text) || refuted.has(said.position);
  const isGone = ({ text, position }: Utterance): boolean =>
    removals.size > 0 &&
    identifiersOf(text).some((name) => {
      const removal = removals.get(name);
      return removal !== undefined && removal.position > position && !isOfOtherFile(text, removal);
    });
  return {
    takenBackAfter,
    isOutdated: isOutdated,
    reportOn: (turn) => reports.get(turn),
    isObsolete: (said) =>
      isGone(said) ||
      isOutdated(said) ||
      isDenied(said) ||
      (refused.has(said.position) && PROPOSES.test(said.text)) ||
      takenBackAfter(said.text, said.turn) !== undefined,
  };
}

/** The outcome of a request, with a note if the next message says that it was undone or did not help. */
export function withReport(text: string, turn: number, { reportOn }: Retractions): string {
  const report = reportOn(turn);
  if (report === undefined) return text;
  return `${text} (message ${turn + 1} ${REPORTED[report]})`;
}

const REPORTED: Readonly<Record<Report, string>> = {
  undone: 'undoes it',
  remains: 'says that it did not help',
  refuted: 'says that it is wrong',
};

/** A text from a request, with a note if it was withdrawn. */
export function withRetraction(text: string, turn: number, { takenBackAfter }: Retractions): string {
  const after = takenBackAfter(text, turn);
  return after === undefined ? text : `${text} (taken back after message ${after})`;
}
