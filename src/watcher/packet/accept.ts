// Accepts the agent's answer as its packet (variant A): tolerant of form, strict about substance and size.

import type { CountText } from '../../tokens/estimate.ts';
import { countRedactions, redact } from '../../text/redact.ts';
import type { Redacted, SecretKind } from '../../text/redact.ts';
import { clip } from '../../text/sentences.ts';
import { FACTS_HEADING, withoutForgedHeading } from './facts.ts';
import { divide, PACKET_SECTIONS, SECTION_NAMES } from './sections.ts';
import type { PacketSection, SectionBlock } from './sections.ts';

/** Why an answer is not a packet. `incomplete`: it lacks a part that a successor needs. */
export type UnusableReason =
  'empty' | 'refusal' | 'echo' | 'promise' | 'too_short' | 'no_sections' | 'incomplete';

/** The verdict on an answer. */
export type PacketAnswer =
  | {
      readonly type: 'packet';
      /** The packet as it will be handed back, including harness facts. */
      readonly text: Redacted;
      /** By the caller's `count`; never above the limit. */
      readonly tokens: number;
      /** Parts with content, in order. */
      readonly sections: readonly PacketSection[];
      /** Requested parts that are missing; none of them is required. */
      readonly missing: readonly PacketSection[];
      /** Lines that were cut to keep the limit. */
      readonly linesCut: number;
      /** The packet's next step, without its heading. */
      readonly nextStep: string | undefined;
      readonly redactions: Readonly<Partial<Record<SecretKind, number>>>;
    }
  | {
      readonly type: 'unusable';
      readonly reason: UnusableReason;
      /** One sentence for people. */
      readonly why: string;
      /** The parts that the one reminder requests. */
      readonly missing: readonly PacketSection[];
    };

/** The settings for judging an answer. */
export interface AcceptSettings {
  /** `packet_max_tokens`, at least 1. */
  readonly maxTokens: number;
  readonly count: CountText;
  /** Lines of `factLines`: appended, never judged, never cut to make room for the agent's text. */
  readonly facts: readonly string[];
  /** The recent-activity tail: replaces the placeholder, and is added if the answer has no snippet. */
  readonly tail: string;
  /** The request as it was sent, to recognise an echo of it. */
  readonly request: string;
  /**
   * The first answer, if this one answers the reminder: this one may hold only the missing parts. There is no second
   * reminder, so substance without form is then enough.
   */
  readonly first?: string;
}

/** What the prompt has the agent write where the tail belongs. @source rawr-behaviour §5 */
export const SNIPPET_PLACEHOLDER = '{{RAWR_VERBATIM_CONTINUATION_SNIPPET}}';
const PLACEHOLDER = /\{\{\s{0,4}RAWR_VERBATIM_CONTINUATION_SNIPPET\s{0,4}\}\}/g;

/** A successor needs to know the state and the next step; the tail and the facts cover most of the rest. */
const REQUIRED: readonly PacketSection[] = ['state', 'next_step'];

/** Shorter answers are not packets; an answer to the reminder must be longer, because only its length supports it. */
const LEAST_LENGTH = 60;
const LEAST_WITHOUT_FORM = 200;
/** A refusal or promise is short; a long answer that starts like one contains more. */
const MOST_EXCUSE = 700;

const MOST_OF_ANSWER = 0.6;

const REFUSAL =
  /^\W{0,10}(?:(?:i['’]?m |i am )?(?:sorry|unable)|i (?:can['’]?t|cannot|can not|won['’]?t|am not able|must decline|don['’]?t (?:have|think i))|as an ai|unfortunately|es tut mir leid|ich kann (?:das |dies |leider )?nicht|désolé|je ne peux pas|lo siento|no puedo|申し訳|抱歉|对不起|죄송)/iu;
const PROMISE =
  /\b(?:i['’]ll|i will|i['’]m going to|i am going to|let me|i plan to|first,? i)\b[^.]{0,160}\b(?:write|prepare|create|produce|draft|put together|compile|assemble|gather|packet)\b|ich werde|je vais|voy a\b|これから|我将|我会/iu;

/**
 * Judges an answer and turns it into a packet. Never throws on any text; linear in it except for the counts of its
 * lines.
 * @throws RangeError when `maxTokens` is below 1
 */
export function acceptPacket(answer: string, settings: AcceptSettings): PacketAnswer {
  if (!(settings.maxTokens >= 1)) throw new RangeError(`No packet fits ${settings.maxTokens} tokens`);
  const blocks = blocksOfAnswer(answer, settings.request);
  const all =
    settings.first === undefined ? blocks : joined(blocksOfAnswer(settings.first, settings.request), blocks);
  const sections = PACKET_SECTIONS.filter((name) => all.some(({ section }) => section === name));
  const lacking = REQUIRED.filter((name) => !isCoveredBy(name, sections));
  const reason = reasonAgainst(answer, all, lacking, settings);
  if (reason !== undefined) {
    const missing = sections.length === 0 ? asked([]) : asked(sections);
    return { type: 'unusable', reason, why: sentenceFor(reason, lacking), missing };
  }
  return packetOf(all, sections, settings);
}

/** If necessary, the completed work also describes the state. */
function isCoveredBy(name: PacketSection, sections: readonly PacketSection[]): boolean {
  return sections.includes(name) || (name === 'state' && sections.includes('completed'));
}

/** The parts that a reminder requests. The watcher supplies the snippet, and the handoff holds the directive. */
function asked(sections: readonly PacketSection[]): PacketSection[] {
  return PACKET_SECTIONS.filter(
    (name) => name !== 'snippet' && name !== 'directive' && !sections.includes(name),
  );
}

/** Parts of the answer with content of their own; text that only repeats the request is removed. */
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

/** The content of a fence that holds most of an answer, or all its sections: agents wrap a requested document. */
function unwrapped(text: string): string {
  const open = /(?:^|\n)(`{3,}(?!`)|~{3,}(?!~))[^\n`]{0,40}\n/.exec(text);
  if (open === null) return text;
  const from = open.index + open[0].length;
  // The last fence closes: a packet may contain fences.
  const to = text.lastIndexOf(`\n${open[1] ?? ''}`);
  const inside = (to < from ? text.slice(from) : text.slice(from, to)).trim();
  const namesSections = (part: string, least: number) =>
    divide(part).filter(({ section }) => section !== undefined).length >= least;
  // A fence that starts below the first section is part of the packet, even if it is most of it.
  const isPart = namesSections(text.slice(0, open.index), 1) && namesSections(text, 2);
  if (isPart) return text;
  if (inside.length > MOST_OF_ANSWER * text.length) return inside;
  return !namesSections(text, 2) && namesSections(inside, 2) ? inside : text;
}

/** The first answer with the parts that the second adds or rewrites. */
function joined(first: readonly SectionBlock[], second: readonly SectionBlock[]): readonly SectionBlock[] {
  const renewed = new Set(second.flatMap(({ section }) => section ?? []));
  const kept = first.filter(({ section }) => section !== undefined && !renewed.has(section));
  // Without a heading, the second answer is exactly what was missing; a first one without headings was the same packet.
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

/** Whether a short answer declines or merely promises the requested text. */
export function isExcuse(text: string): boolean {
  return text.length <= MOST_EXCUSE && (isRefusal(text) || PROMISE.test(text));
}

/** Whether the request contains nearly all of an answer. */
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
      return 'The agent said that it would write a packet, but did not.';
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

/** Replaces the first placeholder with the tail, or adds the tail as a section if the agent gave no snippet. */
function withTail(blocks: readonly SectionBlock[], tail: string): readonly SectionBlock[] {
  let isPlaced = false;
  const placed = blocks.map((block): SectionBlock => {
    const text = block.lines.join('\n');
    if (text.search(PLACEHOLDER) < 0) return block;
    // A function: the tail may contain `$&` and similar patterns, which must stay literal.
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

/** What to cut first if the packet is too long; undefined is the text before the first heading. */
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

/** A longer line, in characters, is clipped instead of removed when it must be cut. */
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
    // Counts of single lines do not add up to the tokens of the whole: the next round removes what is still over.
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

/** The allowance for the note about cut lines. */
const NOTE_TOKENS = 24;

function linesLost(parts: readonly PacketPart[], whole: readonly number[]): number {
  return parts.reduce((sum, { lines }, at) => sum + (whole[at] ?? 0) - lines.length, 0);
}

/** Removes lines from the end of a part; halves a giant last line. @returns tokens still to remove */
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
    linesCut === 0 ? '' : `(${linesCut} lines were omitted here to keep the packet within its limit.)`;
  const known = facts.length === 0 ? '' : `${FACTS_HEADING}\n\n${facts.join('\n')}`;
  return [body, note, known].filter((text) => text !== '').join('\n\n');
}

/** The last resort if the facts alone are too long: as many whole lines from the top as fit. */
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
