// The frontmatter of a prompt: a few settings in YAML above the text. What is wrong with it is a warning, never a failure.

import { LineCounter, parseDocument } from 'yaml';
import * as z from 'zod';
import { DEFAULT_THRESHOLDS, misorderedTiers } from '../config/tiers.ts';
import { BOUNDARIES } from '../vocabulary.ts';
import type { Boundary, Tier } from '../vocabulary.ts';

const percent = z.int().min(0).max(100).optional();

const FrontmatterSchema = z.strictObject({
  version: z.int().min(0).default(0),
  trigger: z
    .strictObject({
      early_percent_remaining_lt: percent,
      ready_percent_remaining_lt: percent,
      asap_percent_remaining_lt: percent,
      emergency_percent_remaining_lt: percent,
      auto_requires_any_boundary: z.array(z.enum(BOUNDARIES)).default([]),
    })
    .prefault({}),
  packet: z.strictObject({ max_tail_chars: z.int().min(1).optional() }).prefault({}),
});

/** What a frontmatter says. */
export interface Frontmatter {
  readonly version: number;
  /** As percent of the window that remain; tiers of which it says nothing are absent. */
  readonly thresholds: Partial<Readonly<Record<Tier, number>>>;
  readonly requiresAnyBoundary: readonly Boundary[];
  /** The last message in a packet of the watcher's, in characters. */
  readonly maxTailCharacters: number | undefined;
}

/** What holds without a frontmatter. */
export const NO_FRONTMATTER: Frontmatter = {
  version: 0,
  thresholds: {},
  requiresAnyBoundary: [],
  maxTailCharacters: undefined,
};

/** A prompt, taken apart. */
export interface ParsedPrompt {
  readonly frontmatter: Frontmatter;
  /** The text below the frontmatter, trimmed. */
  readonly body: string;
  /** `LINE:COLUMN: what is wrong`, counted from the first line of the file. One of them, and all defaults hold. */
  readonly warnings: readonly string[];
}

/** Takes a prompt apart. A file that does not begin with a closed block between lines `---` is all text. */
export function parsePrompt(text: string): ParsedPrompt {
  const match = /^\uFEFF?---\r?\n([\s\S]*?)(?<=\n)---(?:\r?\n|$)/.exec(text);
  if (match === null) return { frontmatter: NO_FRONTMATTER, body: text.replace(/^\uFEFF/, '').trim(), warnings: [] };
  const { frontmatter, warnings } = parseFrontmatter(match[1] ?? '');
  return { frontmatter, body: text.slice(match[0].length).trim(), warnings };
}

function parseFrontmatter(yaml: string): Pick<ParsedPrompt, 'frontmatter' | 'warnings'> {
  const lineCounter = new LineCounter();
  const document = parseDocument(yaml, { lineCounter, prettyErrors: false });
  const failed = (warnings: readonly string[]) => ({ frontmatter: NO_FRONTMATTER, warnings });
  const place = (offset: number): string => {
    const { line, col } = lineCounter.linePos(offset);
    return `${line + 1}:${col}`;
  };
  if (document.errors.length > 0) {
    return failed(document.errors.map(({ pos, message }) => `${place(pos[0])}: ${message}`));
  }
  if (/(?:^|[\s[,:-])[&*]\w/.test(yaml)) return failed(['2:1: anchors and aliases are not read here.']);
  const result = FrontmatterSchema.safeParse(document.toJS() ?? {});
  if (!result.success) {
    return failed(
      result.error.issues.map((issue) => {
        const keys = issue.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [];
        const path = [...issue.path, ...keys].map((part) => (typeof part === 'symbol' ? String(part) : part));
        const node: unknown = document.getIn(path, true);
        const range = typeof node === 'object' && node !== null && 'range' in node ? node.range : undefined;
        const offset: unknown = Array.isArray(range) ? range[0] : 0;
        return `${place(typeof offset === 'number' ? offset : 0)}: ${path.join('.')}: ${issue.message}`;
      }),
    );
  }
  const { version, trigger, packet } = result.data;
  const {
    early_percent_remaining_lt: early,
    ready_percent_remaining_lt: ready,
    asap_percent_remaining_lt: asap,
    emergency_percent_remaining_lt: emergency,
  } = trigger;
  const thresholds = {
    ...(early === undefined ? {} : { early }),
    ...(ready === undefined ? {} : { ready }),
    ...(asap === undefined ? {} : { asap }),
    ...(emergency === undefined ? {} : { emergency }),
  };
  const misorder = misorderedTiers({ ...DEFAULT_THRESHOLDS, ...thresholds });
  if (misorder !== undefined) {
    return failed([`2:1: the threshold of ${misorder[0]} is below that of ${misorder[1]}.`]);
  }
  return {
    frontmatter: {
      version,
      thresholds,
      requiresAnyBoundary: trigger.auto_requires_any_boundary,
      maxTailCharacters: packet.max_tail_chars,
    },
    warnings: [],
  };
}
