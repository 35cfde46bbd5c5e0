// The parts of a continuation packet, and how to find them in an answer with any style of headings.

/** The parts of a packet, in order. @source spec 3-watcher §4.4, after seed 004 and rawr's packet prompt. */
export const PACKET_SECTIONS = [
  'goal',
  'completed',
  'state',
  'invariants',
  'next_step',
  'snippet',
  'directive',
] as const;
export type PacketSection = (typeof PACKET_SECTIONS)[number];

/** The name of each part for people and models. */
export const SECTION_NAMES: Readonly<Record<PacketSection, string>> = {
  goal: 'Overarching goal',
  completed: 'Just completed',
  state: 'Current state',
  invariants: 'Invariants, decisions, open questions',
  next_step: 'Next step',
  snippet: 'Verbatim snippet',
  directive: 'Final directive',
};

/** Consecutive lines of an answer that belong to one part; undefined before the first heading. */
export interface SectionBlock {
  readonly section: PacketSection | undefined;
  /** Starts with the heading, if the block has one. */
  readonly lines: readonly string[];
  /** The text after the heading, on its line and below it; trimmed. */
  readonly content: string;
}

/**
 * Words that identify a heading, in several languages; the first matching row wins, so that "next steps to complete the
 * goal" is a next step. The order of headings identifies all others.
 */
const WORDS: readonly (readonly [PacketSection, RegExp])[] = [
  [
    'snippet',
    /\bverbatim\b|\bsnippet\b|recent activity|wörtlich|textuel|literal(?:es)?$|дословн|原文|逐字|発言/u,
  ],
  ['directive', /\bdirective\b|anweisung|consigne|directiva|diretiva|указани|指令|指示/u],
  [
    'next_step',
    /\bnext\b|immediate continuation|what remains|nächste|weiteres vorgehen|prochaine|suivante|siguiente|próxim|proximo|дальнейш|следующ|下一步|接下来|次の|次に|다음/u,
  ],
  [
    'invariants',
    /invariant|decision|constraint|open question|\btraps?\b|\bgotchas?\b|\bcaveats?\b|assumption|entscheidung|offene fragen|décision|contrainte|decisi[oó]n|decis[õã]o|restricci|решени|ограничени|决定|决策|約束|约束|決定|결정/u,
  ],
  [
    'completed',
    /\bcompleted\b|\baccomplished\b|\bfinished\b|\bdone\b|erledigt|abgeschlossen|terminé|achevé|accompli|completad|hecho|concluíd|завершен|сделан|完了|完成|완료/u,
  ],
  [
    'state',
    /\bstate\b|\bstatus\b|\bprogress\b|where (?:we|things|it|i) (?:are|stand|am)|\bstand\b|zustand|\bétat\b|situation|estado|situaci|состояни|текущ|現状|現在|状態|现状|状态|当前|현재/u,
  ],
  [
    'goal',
    /\bgoal\b|\bobjectives?\b|\bmission\b|\bpurpose\b|overarching|\bziel\b|gesamtziel|aufgabe|objectif|objetivo|\bmeta\b|цель|задач|目標|目的|目标|목표/u,
  ],
];

/** A line that could be a heading. */
interface Heading {
  readonly at: number;
  /** Lines with the same style are headings of one rank. */
  readonly style: string;
  readonly title: string;
  /** The rest of the line. */
  readonly rest: string;
}

/** Maximum length of a heading in characters; a longer one is a paragraph. */
const MOST_TITLE = 90;

/**
 * Divides an answer into its parts. Words identify headings first; if fewer than two are identified, the rank that has
 * as many headings as a packet is taken in order. Linear; each part is found once, and a second heading of it is
 * content.
 */
export function divide(text: string): readonly SectionBlock[] {
  const lines = text.split('\n');
  const headings = headingsOf(lines);
  const known = byWords(headings);
  return blocksOf(lines, known.size >= 2 ? fillGaps(headings, known) : byOrder(headings, known));
}

/** Text in a fence is not a heading; if the fences do not pair up, it is unclear what they enclose, so all headings count. */
function headingsOf(lines: readonly string[]): readonly Heading[] {
  const headings: Heading[] = [];
  const inFences: Heading[] = [];
  let fence = '';
  let doPairUp = true;
  lines.forEach((raw, at) => {
    const line = raw.trim();
    const [, mark, info] = /^(`{3,}(?!`)|~{3,}(?!~))(.*)$/.exec(line) ?? [];
    if (mark !== undefined) {
      if (fence === '') fence = mark;
      else if (mark.startsWith(fence)) {
        // A fence with a language opens: the one before it was never closed. @source CommonMark §4.5
        if (info !== '') doPairUp = false;
        fence = '';
      }
      return;
    }
    if (line === '') return;
    const heading = headingOf(raw, lines[at + 1]?.trim() ?? '');
    if (heading !== undefined) (fence === '' ? headings : inFences).push({ at, ...heading });
  });
  return doPairUp && fence === '' ? headings : [...headings, ...inFences].toSorted((a, b) => a.at - b.at);
}

const NUMBER = /^(?:(?:section|part|abschnitt)\s+)?(?:\d{1,2}|[ivx]{1,4}|[一二三四五六七])\s?[.):、：-]\s*/iu;

function headingOf(raw: string, below: string): Omit<Heading, 'at'> | undefined {
  const line = raw.slice(0, 400).trim();
  const isIndented = /^(?:\s{4}|\t)/.test(raw);
  const hash = /^(#{1,6})(?!#)\s*(?!\s)(.{1,200})$/.exec(line);
  if (hash !== null) return titled(`h${hash[1]?.length ?? 0}`, hash[2] ?? '');
  if (isIndented) return undefined;
  if (/^(?:={3,}|-{3,})$/.test(below) && line.length <= MOST_TITLE && !/^[-*|>]/.test(line)) {
    return titled('underlined', line);
  }
  const numbered = NUMBER.test(line);
  const body = line.replace(NUMBER, '');
  const bold = /^(?:\*\*|__)([^*_]{1,120})(?:\*\*|__)\s*(?:[:：]\s*)?(?!\s)(.*)$/.exec(body);
  if (bold !== null) {
    const [, title = '', rest = ''] = bold;
    return { style: numbered ? 'numbered_bold' : 'bold', title: plain(title), rest: rest.trim() };
  }
  const label = /^([^:：`"'|]{2,60})[:：](?:\s+(?!\s)(.*)|)$/u.exec(body);
  if (label !== null && !/^[-*>]/.test(body)) {
    const [, title = '', rest = ''] = label;
    return { style: numbered ? 'numbered' : 'label', title: plain(title), rest: rest.trim() };
  }
  return numbered && body.length <= MOST_TITLE
    ? { style: 'numbered', title: plain(body), rest: '' }
    : undefined;
}

/** A marked heading, which may still hold a number, bold marks and its first words of content. */
function titled(style: string, text: string): Omit<Heading, 'at'> | undefined {
  const body = text.replace(/(?<!\s)\s*#{1,6}$/, '').replace(NUMBER, '');
  const colon = body.search(/[:：]\s/);
  const isInline = colon > 1 && colon <= 60;
  const title = plain(isInline ? body.slice(0, colon) : body);
  if (title === '' || title.length > MOST_TITLE) return undefined;
  return { style, title, rest: isInline ? body.slice(colon + 1).trim() : '' };
}

function plain(title: string): string {
  return title
    .replace(/[*_`#:：]/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .toLowerCase();
}

/** Sections by the line of their heading. */
type SectionsByLine = ReadonlyMap<number, PacketSection>;

function byWords(headings: readonly Heading[]): SectionsByLine {
  const found = new Map<number, PacketSection>();
  const taken = new Set<PacketSection>();
  const best = bestStyle(headings);
  // A heading of the main rank takes precedence over a label with the same word in a list above it.
  for (const isMain of [true, false]) {
    for (const heading of headings) {
      if ((heading.style === best) !== isMain) continue;
      const section = sectionNamed(heading);
      if (section === undefined || taken.has(section)) continue;
      taken.add(section);
      found.set(heading.at, section);
    }
    if (found.size >= 3) break;
  }
  return found;
}

/** The rank where words identify the most headings. */
function bestStyle(headings: readonly Heading[]): string | undefined {
  const sections = new Map<string, Set<PacketSection>>();
  for (const heading of headings) {
    const section = sectionNamed(heading);
    if (section === undefined) continue;
    const known = sections.get(heading.style) ?? new Set();
    sections.set(heading.style, known.add(section));
  }
  const [best] = [...sections].toSorted((a, b) => b[1].size - a[1].size);
  return best?.[0];
}

function sectionNamed({ title, style }: Heading): PacketSection | undefined {
  const section = WORDS.find(([, words]) => words.test(title))?.[0];
  // A label can as well be the start of a sentence, so it must be short.
  return section !== undefined && style === 'label' && title.split(' ').length > 5 ? undefined : section;
}

/** A heading of the same rank between two identified ones is the missing part, if exactly one is missing. */
function fillGaps(headings: readonly Heading[], known: SectionsByLine): SectionsByLine {
  const style = bestStyle(headings);
  const ranked = headings.filter((heading) => heading.style === style);
  const found = new Map(known);
  const taken = new Set(known.values());
  ranked.forEach(({ at }, index) => {
    if (found.has(at)) return;
    const before = index === 0 ? -1 : positionOf(found.get(ranked[index - 1]?.at ?? -1));
    const after = positionOf(found.get(ranked[index + 1]?.at ?? -1)) ?? PACKET_SECTIONS.length;
    const due = before === undefined ? undefined : PACKET_SECTIONS[before + 1];
    if (before === undefined || due === undefined || after !== before + 2 || taken.has(due)) return;
    found.set(at, due);
    taken.add(due);
  });
  return found;
}

function positionOf(section: PacketSection | undefined): number | undefined {
  return section === undefined ? undefined : PACKET_SECTIONS.indexOf(section);
}

/** The parts of headings that only their number identifies. @source rawr's prompt has the five. */
const BY_COUNT: Readonly<Record<number, readonly PacketSection[]>> = {
  4: ['goal', 'state', 'invariants', 'next_step'],
  5: ['goal', 'state', 'invariants', 'next_step', 'snippet'],
  6: ['goal', 'completed', 'state', 'invariants', 'next_step', 'snippet'],
  7: PACKET_SECTIONS,
};

function byOrder(headings: readonly Heading[], known: SectionsByLine): SectionsByLine {
  const counts = new Map<string, Heading[]>();
  for (const heading of headings) {
    const ranked = counts.get(heading.style) ?? [];
    ranked.push(heading);
    counts.set(heading.style, ranked);
  }
  for (const ranked of counts.values()) {
    const sections = BY_COUNT[ranked.length];
    if (sections !== undefined) {
      return new Map(ranked.map(({ at }, index) => [at, sections[index] ?? 'directive'] as const));
    }
  }
  return known;
}

function blocksOf(lines: readonly string[], found: SectionsByLine): readonly SectionBlock[] {
  const starts = [...found.keys()].toSorted((a, b) => a - b);
  const first = starts[0] ?? lines.length;
  const blocks: SectionBlock[] = [];
  if (first > 0) blocks.push(blockOf(lines.slice(0, first), undefined));
  starts.forEach((start, index) => {
    blocks.push(blockOf(lines.slice(start, starts[index + 1] ?? lines.length), found.get(start)));
  });
  return blocks.filter(({ lines: rows }) => rows.some((row) => row.trim() !== ''));
}

function blockOf(lines: readonly string[], section: PacketSection | undefined): SectionBlock {
  if (section === undefined) return { section, lines, content: lines.join('\n').trim() };
  const [head = '', ...body] = lines;
  const rest = headingOf(head, body[0]?.trim() ?? '')?.rest ?? '';
  const below = body.join('\n').replace(/^[ \t]{0,8}(?:={3,}|-{3,})[ \t]{0,8}$/m, '');
  return { section, lines, content: `${rest}\n${below}`.trim() };
}
