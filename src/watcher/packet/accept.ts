// Taking the agent's answer as its packet (variant A): tolerant of form, strict about substance and size.

import type { CountText } from '../../tokens/estimate.ts';
import { countRedactions, redact } from '../../text/redact.ts';
import type { Redacted, SecretKind } from '../../text/redact.ts';
import { clip } from '../../text/sentences.ts';
import { FACTS_HEADING, withoutForgedHeading } from './facts.ts';
import { divide, PACKET_SECTIONS, SECTION_NAMES } from './sections.ts';
import type { PacketSection, SectionBlock } from './sections.ts';

/** Why an answer is no packet. `incomplete`: it lacks a part that a successor cannot do without. */
export type UnusableReason =
  'empty' | 'refusal' | 'echo' | 'promise' | 'too_short' | 'no_sections' | 'incomplete';

/** What an answer came to. */
export type PacketAnswer =
  | {
      readonly type: 'packet';
      /** As it will be handed back, harness facts included. */
      readonly text: Redacted;
      /** By the caller's `count`; never above the limit. */
      readonly tokens: number;
      /** Parts that say something, in order. */
      readonly sections: readonly PacketSection[];
      /** Parts that were asked for and are not there; none of them is required. */
      readonly missing: readonly PacketSection[];
      /** Lines that were cut to keep the limit. */
      readonly linesCut: number;
      /** What the packet gives as the next step, without its heading. */
      readonly nextStep: string | undefined;
      readonly redactions: Readonly<Partial<Record<SecretKind, number>>>;
    }
  | {
      readonly type: 'unusable';
      readonly reason: UnusableReason;
      /** One sentence for people. */
      readonly why: string;
      /** What the one reminder asks for. */
      readonly missing: readonly PacketSection[];
    };

/** What an answer is judged with. */
export interface AcceptSettings {
  /** `packet_max_tokens`, at least 1. */
  readonly maxTokens: number;
  readonly count: CountText;
  /** Lines of `factLines`: appended, never judged, never cut for the agent's sake. */
  readonly facts: readonly string[];
  /** The recent-activity tail: stands in for the placeholder, and is added where the answer has no snippet. */
  readonly tail: string;
  /** The request as it was sent, to know its echo. */
  readonly request: string;
  /**
   * The first answer, where this one answers the reminder: it may hold just what was missing. There is no second
   * reminder, so substance without form is then enough.
   */
  readonly first?: string;
}

/** What the prompt tells the agent to write where the tail belongs. @source rawr-behaviour §5 */
export const SNIPPET_PLACEHOLDER = '{{RAWR_VERBATIM_CONTINUATION_SNIPPET}}';
const PLACEHOLDER = /\{\{\s{0,4}RAWR_VERBATIM_CONTINUATION_SNIPPET\s{0,4}\}\}/g;

/** A successor needs to know where things are and what to do; the tail and the facts tell more or less of the rest. */
const REQUIRED: readonly PacketSection[] = ['state', 'next_step'];

/** Shorter answers hold no packet; one after the reminder has to be longer, since nothing but its length speaks for it. */
const LEAST_LENGTH = 60;
const LEAST_WITHOUT_FORM = 200;
/** A refusal or promise is short; a long answer that begins like one has said more. */
const MOST_EXCUSE = 700;

const MOST_OF_ANSWER = 0.6;

const REFUSAL =
  /^\W{0,10}(?:(?:i['’]?m |i am )?(?:sorry|unable)|i (?:can['’]?t|cannot|can not|won['’]?t|am not able|must decline|don['’]?t (?:have|think i))|as an ai|unfortunately|es tut mir leid|ich kann (?:das |dies |leider )?nicht|désolé|je ne peux pas|lo siento|no puedo|申し訳|抱歉|对不起|죄송)/iu;
const PROMISE =
  /\b(?:i['’]ll|i will|i['’]m going to|i am going to|let me|i plan to|first,? i)\b[^.]{0,160}\b(?:write|prepare|create|produce|draft|put together|compile|assemble|gather|packet)\b|ich werde|je vais|voy a\b|これから|我将|我会/iu;

/**
 * Judges an answer and makes it a packet. Never throws on any text; linear in it but for the counts of its lines.
 * @throws RangeError when `maxTokens` is below 1
 */
export function acceptPacket(answer: string, settings: AcceptSettings): PacketAnswer {
  if (!(settings.maxTokens >= 1)) throw new RangeError(`No packet fits ${settings.maxTokens} tokens`);
  const blocks = blocksOfAnswer(answer, settings.request);
  const all =
    settings.first === undefined ? blocks : joined(blocksOfAnswer(settings.first, settings.request), blocks);
  const sections = PACKET_SECTIONS.filter((name) => all.some(({ section }) => section === name));
  const lacking = REQUIRED.filter((name) => !isToldBy(name, sections));
  const reason = reasonAgainst(answer, all, lacking, settings);
  if (reason !== undefined) {
    const missing = sections.length === 0 ? asked([]) : asked(sections);
    return { type: 'unusable', reason, why: sentenceFor(reason, lacking), missing };
  }
  return packetOf(all, sections, settings);
}

/** What is just done tells the state as well, in a pinch. */
function isToldBy(name: PacketSection, sections: readonly PacketSection[]): boolean {
  return sections.includes(name) || (name === 'state' && sections.includes('completed'));
}

/** What a reminder asks for. The snippet is the watcher's own, and the directive is in the handoff. */
function asked(sections: readonly PacketSection[]): PacketSection[] {
  return PACKET_SECTIONS.filter(
    (name) => name !== 'snippet' && name !== 'directive' && !sections.includes(name),
  );
}

/** Parts of the answer that say something of their own; what only repeats the request is gone. */
function blocksOfAnswer(answer: string, request: string): readonly SectionBlock[] {
  const text = redact(unwrapped(answer.replaceAll('\r\n', '\n').trim()));
  const echoed = new Set(
    request
      .split('\n')
      .map(comparable)
      .filter((line) => line.length > 3),
  );
  return divide(text).filter(({ content }) => saysSomething(content, echoed));
}

function saysSomething(content: string, echoed: ReadonlySet<string>): boolean {
  if (content.search(PLACEHOLDER) >= 0) return true;
  return content.split('\n').some((line) => /[\p{L}\p{N}]/u.test(line) && !echoed.has(comparable(line)));
}

function comparable(line: string): string {
  return line
    .replace(/[\s*_#>`-]+/g, ' ')
    .trim()
    .toLowerCase();
}

/** Most of an answer, or all of its sections, in one fence: agents wrap a document that they were asked for. */
function unwrapped(text: string): string {
  const open = /(?:^|\n)(`{3,}(?!`)|~{3,}(?!~))[^\n`]{0,40}\n/.exec(text);
  if (open === null) return text;
  const from = open.index + open[0].length;
  // The last fence closes: a packet may hold some of its own.
  const to = text.lastIndexOf(`\n${open[1] ?? ''}`);
  const inside = (to < from ? text.slice(from) : text.slice(from, to)).trim();
  const namesSections = (part: string, least: number) =>
    divide(part).filter(({ section }) => section !== undefined).length >= least;
  // What begins below the first section is a part of the packet, even where it is most of it.
  const isPart = namesSections(text.slice(0, open.index), 1) && namesSections(text, 2);
  if (isPart) return text;
  if (inside.length > MOST_OF_ANSWER * text.length) return inside;
  return !namesSections(text, 2) && namesSections(inside, 2) ? inside : text;
}

/** The first answer with what the second adds or tells anew. */
function joined(first: readonly SectionBlock[], second: readonly SectionBlock[]): readonly SectionBlock[] {
  const renewed = new Set(second.flatMap(({ section }) => section ?? []));
  const kept = first.filter(({ section }) => section !== undefined && !renewed.has(section));
  // Without a heading, a second answer is just what was asked for; a first one that had none was the same packet.
  return [...kept, ...second];
}

function reasonAgainst(
  answer: string,
  blocks: readonly SectionBlock[],
  lacking: readonly PacketSection[],
  { request, first }: AcceptSettings,
): UnusableReason | undefined {
  const text = answer.trim();
  if (text === '') return 'empty';
  const named = blocks.filter(({ section }) => section !== undefined).length;
  if (blocks.length === 0) return isEcho(text, request) ? 'echo' : 'too_short';
  if (named < 2 && text.length <= MOST_EXCUSE) {
    if (isRefusal(text)) return 'refusal';
    if (PROMISE.test(text)) return 'promise';
  }
  if (isEcho(text, request)) return 'echo';
  const length = blocks.reduce((sum, { content }) => sum + content.length, 0);
  if (length < LEAST_LENGTH) return 'too_short';
  if (first !== undefined && length >= LEAST_WITHOUT_FORM) return undefined;
  if (named === 0) return 'no_sections';
  return lacking.length === 0 ? undefined : 'incomplete';
}

function isRefusal(text: string): boolean {
  return REFUSAL.test(text.slice(0, 200));
}

/** Whether a short answer declines what it was asked for, or promises it. */
export function isExcuse(text: string): boolean {
  return text.length <= MOST_EXCUSE && (isRefusal(text) || PROMISE.test(text));
}

/** Whether nearly all of an answer stands in the request. */
function isEcho(text: string, request: string): boolean {
  const echoed = new Set(request.split('\n').map(comparable));
  const lines = text
    .split('\n')
    .map(comparable)
    .filter((line) => line.length > 3);
  const own = lines.filter((line) => !echoed.has(line));
  return lines.length > 0 && own.length < lines.length * 0.1;
}

function sentenceFor(reason: UnusableReason, lacking: readonly PacketSection[]): string {
  switch (reason) {
    case 'empty':
      return 'The agent answered nothing.';
    case 'refusal':
      return 'The agent declined to write a packet.';
    case 'echo':
      return 'The agent repeated the request.';
    case 'promise':
      return 'The agent said that it would write a packet, and wrote none.';
    case 'too_short':
      return 'The answer is too short to hold a packet.';
    case 'no_sections':
      return 'The answer has none of the sections of a packet.';
    case 'incomplete':
      return `The packet lacks: ${lacking.map((name) => SECTION_NAMES[name]).join(', ')}.`;
  }
}

function packetOf(
  blocks: readonly SectionBlock[],
  sections: readonly PacketSection[],
  settings: AcceptSettings,
): PacketAnswer {
  const parts = withTail(blocks, settings.tail).map(partOf);
  const { text: fitting, linesCut } = fit(parts, settings);
  const text = redact(fitting);
  return {
    type: 'packet',
    text,
    tokens: settings.count(text),
    sections,
    missing: asked(sections),
    linesCut,
    nextStep: blocks.find(({ section }) => section === 'next_step')?.content,
    redactions: countRedactions(text),
  };
}

/** The tail in the place of the first placeholder, else in a section of its own where the agent gave no snippet. */
function withTail(blocks: readonly SectionBlock[], tail: string): readonly SectionBlock[] {
  let isPlaced = false;
  const placed = blocks.map((block): SectionBlock => {
    const text = block.lines.join('\n');
    if (text.search(PLACEHOLDER) < 0) return block;
    // A function: the tail may hold `$&` and its like, which mean nothing here.
    const filled = text.replace(PLACEHOLDER, () => {
      if (isPlaced) return '(see the verbatim snippet)';
      isPlaced = true;
      return tail === '' ? '(nothing was recorded)' : tail;
    });
    return { ...block, lines: filled.split('\n') };
  });
  if (isPlaced || tail === '' || blocks.some(({ section }) => section === 'snippet')) return placed;
  const lines = ['', '## Recent activity, verbatim', '', ...tail.split('\n')];
  const directive = placed.findIndex(({ section }) => section === 'directive');
  const at = directive < 0 ? placed.length : directive;
  return placed.toSpliced(at, 0, { section: 'snippet', lines, content: tail });
}

/** A part of the packet that can be shortened from its end. */
interface PacketPart {
  readonly section: PacketSection | undefined;
  readonly lines: string[];
}

function partOf({ section, lines }: SectionBlock): PacketPart {
  return { section, lines: lines.map((line) => withoutForgedHeading(line).trimEnd()) };
}

/** What goes first when there is too much; undefined is what stands before the first heading. */
const LEAST_IMPORTANT_FIRST: readonly (PacketSection | undefined)[] = [
  undefined,
  'snippet',
  'completed',
  'directive',
  'state',
  'goal',
  'invariants',
  'next_step',
];

/** A line longer than this is clipped when it has to be cut, rather than left out. */
const CLIPPED_LINE = 600;

function fit(
  parts: readonly PacketPart[],
  { maxTokens, count, facts }: AcceptSettings,
): { text: string; linesCut: number } {
  const whole = parts.map(({ lines }) => lines.length);
  const written = (): string => render(parts, facts, linesLost(parts, whole));
  let text = written();
  for (const section of LEAST_IMPORTANT_FIRST) {
    const shortened = parts.filter((part) => part.section === section);
    // Lines counted one by one are not the tokens of the whole: what is still over is taken in the next round.
    for (let over = count(text) - maxTokens; over > 0 && shortened.some(({ lines }) => lines.length > 0);) {
      let left = over + NOTE_TOKENS;
      for (const part of shortened.toReversed()) left = shorten(part, left, count);
      text = written();
      over = count(text) - maxTokens;
    }
  }
  const linesCut = linesLost(parts, whole);
  return { text: count(text) <= maxTokens ? text : cutToFit(text, maxTokens, count), linesCut };
}

/** What the note about cut lines may cost. */
const NOTE_TOKENS = 24;

function linesLost(parts: readonly PacketPart[], whole: readonly number[]): number {
  return parts.reduce((sum, { lines }, at) => sum + (whole[at] ?? 0) - lines.length, 0);
}

/** Takes lines off the end of a part, a giant last line by halves. @returns tokens still to go */
function shorten({ lines }: PacketPart, over: number, count: CountText): number {
  let left = over;
  while (left > 0 && lines.length > 0) {
    const line = lines.pop() ?? '';
    left -= count(`${line}\n`);
    if (left < 0 && line.length > CLIPPED_LINE) {
      const kept = clip(
        line,
        Math.max(40, Math.floor(line.length * Math.min(0.9, -left / Math.max(1, count(line))))),
      );
      left += count(`${kept}\n`);
      if (left <= 0) lines.push(kept);
      else left -= count(`${kept}\n`);
    }
  }
  return left;
}

function render(parts: readonly PacketPart[], facts: readonly string[], linesCut: number): string {
  const body = parts
    .map(({ lines }) => lines.join('\n').trim())
    .filter((text) => text !== '')
    .join('\n\n');
  const note =
    linesCut === 0 ? '' : `(${linesCut} lines were left out here to keep the packet within its limit.)`;
  const known = facts.length === 0 ? '' : `${FACTS_HEADING}\n\n${facts.join('\n')}`;
  return [body, note, known].filter((text) => text !== '').join('\n\n');
}

/** The last resort, where the facts alone are too long: whole lines from the top, as many as fit. */
export function cutToFit(text: string, maxTokens: number, count: CountText): string {
  const lines = text.split('\n');
  let low = 0;
  let high = lines.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (count(lines.slice(0, middle).join('\n')) <= maxTokens) low = middle;
    else high = middle - 1;
  }
  return lines.slice(0, low).join('\n').trimEnd();
}
