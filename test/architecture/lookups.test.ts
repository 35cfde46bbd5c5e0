// A stranger's text as a key: a plain object has `constructor` and `__proto__` although nobody put them there.
// Two sessions crashed on that, one through an error code, one through `git constructor`.

import assert from 'node:assert/strict';
import { join, relative } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { isBinaryExpression, isCallExpression, isElementAccessExpression } from 'typescript/unstable/ast/is';
import { SyntaxKind } from 'typescript/unstable/ast';
import type { Node, SourceFile } from 'typescript/unstable/ast';
import { API } from 'typescript/unstable/sync';
import type { Project } from 'typescript/unstable/sync';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Functions of `formats/` that look a name up in a JSON object: their second argument. */
const READERS = /^(?:array|count|list|number|object|objects|string|strings)At$/;

/** Lookups by a key that may be any text as far as its type says, and why it is not a stranger's. Elsewhere a Map or `Object.hasOwn` is asked. */
const JUSTIFIED: Readonly<Record<string, readonly string[]>> = {
  'the key is a word of the code': [
    'cli/session-files/agents.io.ts: io.env[name]',
    'cli/commands/setup/completion.ts: ARGUMENT_SOURCES[argument.name()]',
    'cli/commands/setup/completion.ts: OPTION_SOURCES[placeholderOf(flags)]',
    'cli/session-files/digest.ts: (info as Record<string, unknown>)[key]',
    'cli/commands/setup/doctor.ts: env[name]',
    "cli/program.ts: EXAMPLES[path.join(' ')]",
    'cli/commands/undo/undo-turn.ts: flags[name]',
    'formats/messages/chat.ts: arrayAt(value, key)',
    'formats/claude-code/attachment.ts: attachment[key]',
    'formats/claude-code/detect.ts: value[mark]',
    'formats/claude-code/tree/node.ts: block[key]',
    'formats/codex/items.ts: payload[key]',
    'formats/codex/read.ts: value[key]',
    'formats/codex/wire.ts: payload[field]',
    'formats/codex/verbatim-items.ts: value[key]',
    'formats/record-emitter.ts: (known as JsonObject)[key]',
    'providers/wires/breakpoints.ts: arrayAt(holder, key)',
    'providers/wires/transport.io.ts: headers[name.toLowerCase()]',
    'rollout/lines.ts: numberAt(spent, key)',
    'session/spending.ts: value[key]',
    'watcher/packet/scratch.ts: values[key]',
  ],
  'the key is a word of the code, which this test sees to where they are called': [
    'formats/codex/shapes.ts: object[key]',
    'formats/fields.ts: arrayAt(value, key)',
    'formats/fields.ts: value[key]',
  ],
  'the key is one of the object itself': [
    'cli/commands/compact/view.ts: after?.[part as keyof typeof PART_NAMES]',
    'config/resolve.ts: variables[variable]',
    'formats/lines.ts: container[key]',
    'tokens/estimate.ts: split[category as Category]',
  ],
  'the key begins with BATON_': ['config/load.io.ts: variables[name]'],
  'the key is a number': [
    'formats/codex/read.ts: marks[String(index)]',
    'formats/codex/write.ts: marks[String(history.length)]',
  ],
  'the key was asked for with Object.hasOwn': [
    'formats/claude-code/skim.ts: found[key]',
    "formats/codex/verbatim-items.ts: REQUIRED[type as Item['type']]",
    'protocol/wire/parse.ts: (found as Readonly<Record<PropertyKey, unknown>>)[key]',
  ],
  'the names of settings and providers have a shape, which is checked before': [
    'config/explain.ts: (value as Readonly<Record<string, unknown>>)[key]',
    'config/explain.ts: table[leafName(setting)]',
    'config/explain.ts: table[name]',
  ],
  "the environment is the user's": ['providers/choose.io.ts: environment[envKey]'],
  'the key is a word of zod': [
    'protocol/wire/parse.ts: KINDS[issue.expected]',
    'protocol/wire/parse.ts: UNITS[issue.origin]',
  ],
  'all keys of both are compared, and nothing is done with a value': [
    'formats/codex/wire.ts: a[key]',
    'formats/codex/wire.ts: b[key]',
  ],
};

/** One lookup. */
interface Lookup {
  readonly object: Node;
  readonly key: Node;
  readonly whole: Node;
}

let api: API;
let project: Project;
before(() => {
  api = new API({ cwd: ROOT });
  const [opened] = api.updateSnapshot({ openProjects: ['tsconfig.json'] }).getProjects();
  assert.ok(opened !== undefined);
  project = opened;
});
after(() => api.close());

function lookupOf(node: Node): Lookup | undefined {
  if (isElementAccessExpression(node))
    return { object: node.expression, key: node.argumentExpression, whole: node };
  if (isBinaryExpression(node) && node.operatorToken.kind === SyntaxKind.InKeyword)
    return { object: node.right, key: node.left, whole: node };
  if (!isCallExpression(node)) return undefined;
  const [object, key] = node.arguments;
  return READERS.test(textOf(node.expression)) && object !== undefined && key !== undefined
    ? { object, key, whole: node }
    : undefined;
}

function textOf(node: Node): string {
  return node.getSourceFile().text.slice(node.pos, node.end).trim().replaceAll(/\s+/g, ' ');
}

function* nodesOf(node: Node): Generator<Node> {
  yield node;
  const children: Node[] = [];
  node.forEachChild((child) => void children.push(child));
  for (const child of children) yield* nodesOf(child);
}

/** Lookups by a key that may be any text, and is not asked for with `Object.hasOwn` in the same file. */
function openLookups(file: SourceFile): readonly Lookup[] {
  const lookups = [...nodesOf(file)].flatMap((node) => lookupOf(node) ?? []);
  if (lookups.length === 0) return [];
  const types = project.checker.getTypeAtLocation(lookups.map(({ key }) => key));
  const anyText = project.checker.getStringType();
  return lookups.filter(({ object, key }, at) => {
    const type = types[at];
    const isLiteral = key.kind === SyntaxKind.StringLiteral || key.kind === SyntaxKind.NumericLiteral;
    if (type === undefined || isLiteral) return false;
    // What is claimed of a text with `as` may not be so.
    const isAny = project.checker.isTypeAssignableTo(anyText, type) || key.kind === SyntaxKind.AsExpression;
    return isAny && !file.text.includes(`Object.hasOwn(${textOf(object)}, ${textOf(key)})`);
  });
}

test('no plain object is indexed by the text of a stranger', () => {
  const found = new Set<string>();
  for (const name of project.program.getSourceFileNames()) {
    const path = relative(join(ROOT, 'src'), name);
    const isOwn = !path.startsWith('..') && !path.endsWith('.test.ts');
    const file = isOwn ? project.program.getSourceFile(name) : undefined;
    for (const { whole } of file === undefined ? [] : openLookups(file))
      found.add(`${path}: ${textOf(whole)}`);
  }
  const justified = Object.values(JUSTIFIED).flat();
  assert.deepEqual(
    [...found].toSorted(),
    justified.toSorted(),
    'ask a Map or Object.hasOwn, or give the reason',
  );
});
