// The frontmatter of a prompt: a few YAML settings above the text. Faults in it are warnings, never failures.

import { isAlias, isMap, isNode, isScalar, LineCounter, parseDocument, visit } from 'yaml';
import type { Document } from 'yaml';
import * as z from 'zod';
import { nearestName } from '../text/nearest.ts';
import { BOUNDARIES, TIERS } from '../vocabulary.ts';
import { NO_FRONTMATTER, splitPrompt } from './parts.ts';
import type { Frontmatter, ParsedPrompt } from './parts.ts';

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

/** Splits a prompt into frontmatter and text. */
export function parsePrompt(text: string): ParsedPrompt {
  const { yaml, body } = splitPrompt(text);
  return yaml === undefined
    ? { frontmatter: NO_FRONTMATTER, body, warnings: [] }
    : { ...parseFrontmatter(yaml), body };
}

/** The known keys and their allowed values, which read after "must be". */
const ALLOWED: ReadonlyMap<string, string> = new Map(Object.entries({
  version: 'a whole number of at least 0',
  trigger: 'a table of keys with values',
  'trigger.early_percent_remaining_lt': 'a whole number from 0 to 100',
  'trigger.ready_percent_remaining_lt': 'a whole number from 0 to 100',
  'trigger.asap_percent_remaining_lt': 'a whole number from 0 to 100',
  'trigger.emergency_percent_remaining_lt': 'a whole number from 0 to 100',
  'trigger.auto_requires_any_boundary': `a list of any of ${BOUNDARIES.join(', ')}`,
  packet: 'a table of keys with values',
  'packet.max_tail_chars': 'a whole number of at least 1',
}));

/** Longest frontmatter, in characters: ten times one that sets every key. Lists in lists take the parser's memory and its stack. */
const LONGEST = 4096;

function parseFrontmatter(yaml: string): Pick<ParsedPrompt, 'frontmatter' | 'warnings'> {
  if (yaml.length > LONGEST) {
    return { frontmatter: NO_FRONTMATTER, warnings: [`1:1: this is longer than ${LONGEST} characters.`] };
  }
  const lineCounter = new LineCounter();
  const document = parseDocument(yaml, { lineCounter, prettyErrors: false });
  const failed = (problems: readonly Problem[]) => {
    const warnings = problems.map(({ offset, message }) => {
      const { line, col } = lineCounter.linePos(offset);
      // The line `---` above is not part of the YAML.
      return `${line + 1}:${col}: ${message}`;
    });
    return { frontmatter: NO_FRONTMATTER, warnings };
  };
  if (document.errors.length > 0) {
    return failed(
      document.errors.map(({ pos, message }) => ({
        offset: pos[0],
        message: `this is not valid YAML: ${message.replace(/\.$/, '')}.`,
      })),
    );
  }
  const anchored = findAnchor(document, yaml);
  if (anchored !== undefined) {
    return failed([{ offset: anchored, message: 'anchors and aliases are not supported here.' }]);
  }
  const result = FrontmatterSchema.safeParse(document.toJS() ?? {});
  if (!result.success) return failed(result.error.issues.flatMap((issue) => explainIssue(issue, document)));
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
  const misorder = findMisorder(thresholds, document);
  if (misorder !== undefined) return failed([misorder]);
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

/** A fault, and the offset in the YAML where it begins. */
interface Problem {
  readonly offset: number;
  readonly message: string;
}

/** The first anchor or alias: with these, a short text could expand to a giant one. */
function findAnchor(document: Document, yaml: string): number | undefined {
  let found: number | undefined;
  visit(document, (_, node) => {
    if (!isNode(node)) return undefined;
    const start = node.range?.[0] ?? 0;
    if (isAlias(node)) found = start;
    else if (node.anchor !== undefined) found = Math.max(0, yaml.lastIndexOf(`&${node.anchor}`, start));
    return found === undefined ? undefined : visit.BREAK;
  });
  return found;
}

function explainIssue(issue: z.core.$ZodIssue, document: Document): Problem[] {
  // Indexes in lists are not keys.
  const path = issue.path.filter((part) => typeof part !== 'number').map(String);
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => {
      const whole = [...path, key].join('.');
      const nearest = nearestName(whole, [...ALLOWED.keys()]);
      const hint = nearest === undefined ? '' : `; the nearest known one is ${nearest}`;
      return { offset: offsetOfKey(document, [...path, key]), message: `unknown key ${whole}${hint}.` };
    });
  }
  const key = path.join('.');
  const offset = offsetOfValue(document, issue.path) ?? offsetOfKey(document, path);
  const allowed = ALLOWED.get(key) ?? 'keys with values';
  return [{ offset, message: `${key === '' ? 'the frontmatter' : key} must be ${allowed}.` }];
}

function offsetOfValue(document: Document, path: readonly PropertyKey[]): number | undefined {
  const node: unknown = document.getIn(path, true);
  // A key without a value has an empty node somewhere after it.
  return isNode(node) && !(isScalar(node) && node.value === null) ? node.range?.[0] : undefined;
}

function offsetOfKey(document: Document, path: readonly string[]): number {
  const table: unknown = path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true);
  const pair = isMap(table)
    ? table.items.find(({ key }) => isScalar(key) && String(key.value) === path.at(-1))
    : undefined;
  return isNode(pair?.key) ? (pair.key.range?.[0] ?? 0) : 0;
}

/** Compares only the thresholds stated here: the policy combines them with configuration and defaults. */
function findMisorder(thresholds: Frontmatter['thresholds'], document: Document): Problem | undefined {
  const stated = TIERS.flatMap((tier) => {
    const below = thresholds[tier];
    return below === undefined ? [] : [{ key: `${tier}_percent_remaining_lt`, below }];
  });
  for (const [index, urgent] of stated.entries()) {
    const calm = stated[index - 1];
    if (calm === undefined || calm.below >= urgent.below) continue;
    return {
      offset: offsetOfKey(document, ['trigger', urgent.key]),
      message: `trigger.${calm.key} (${calm.below}) is below trigger.${urgent.key} (${urgent.below}), but thresholds must fall from early over ready and asap to emergency.`,
    };
  }
  return undefined;
}
