// Which commands of a shell script ran, and how they ended, as far as the script's exit status shows. A status
// describes only the last command: `git commit; true` says nothing about the commit, `make && git commit` everything.

import type { Command, Node, Redirect, Statement } from 'unbash';
import { MAX_SCRIPT_LENGTH, nestedScript, parseScript, programWords } from '../../shell/scripts.ts';

/** How a command or script ended. */
export type CommandOutcome = 'succeeded' | 'failed' | 'unknown';

/** The fate of one simple command. */
export interface CommandFate {
  /** Program and operands, quotes and wrappers removed; never empty. */
  readonly words: readonly string[];
  /** Whether it certainly ran; otherwise a condition decided, which the script's status does not reveal. */
  readonly ran: boolean;
  /** How it ended, if it ran. */
  readonly outcome: CommandOutcome;
  /** Where its output went: `piped` output may be in the script's, wholly or partly; `redirected` output is not. */
  readonly output: 'shown' | 'piped' | 'redirected';
}

type Context = Omit<CommandFate, 'words'>;

interface FateWalk {
  readonly fates: CommandFate[];
  readonly functions: Map<string, Node>;
  depth: number;
  /** Commands that may still be visited: functions that call each other could run longer than anyone waits. */
  budget: number;
  stopsAtFailure: boolean;
  failsWithPipe: boolean;
}

const MAX_DEPTH = 8;
const MAX_COMMANDS = 5_000;

/**
 * The fates of the simple commands of a script in order, including those inside `bash -c "…"`, `eval`, groups,
 * conditions, loops and called functions; excludes commands that cannot have run. Never throws. Of a script too long to
 * parse, only the head is examined, with an unknown outcome.
 * @param exit how the script as a whole ended
 */
export function commandFates(script: string, exit: CommandOutcome): CommandFate[] {
  const walk: FateWalk = {
    fates: [],
    functions: new Map(),
    depth: 0,
    budget: MAX_COMMANDS,
    stopsAtFailure: false,
    failsWithPipe: false,
  };
  const isCut = script.length > MAX_SCRIPT_LENGTH;
  const context: Context = { ran: true, outcome: isCut ? 'unknown' : exit, output: 'shown' };
  visitScript(isCut ? script.slice(0, MAX_SCRIPT_LENGTH) : script, context, walk);
  return walk.fates;
}

function visitScript(script: string, context: Context, walk: FateWalk): void {
  if (walk.depth >= MAX_DEPTH) return;
  walk.depth++;
  visitList(parseScript(script)?.commands ?? [], context, walk);
  walk.depth--;
}

function visitList(statements: readonly Statement[], context: Context, walk: FateWalk): void {
  for (const [index, statement] of statements.entries()) {
    const isLast = index === statements.length - 1;
    visit(statement, contextInList(context, { isFirst: index === 0, isLast }, walk), walk);
    if (isExit(statement)) return;
  }
}

function contextInList(
  context: Context,
  { isFirst, isLast }: { readonly isFirst: boolean; readonly isLast: boolean },
  { stopsAtFailure }: FateWalk,
): Context {
  if (!stopsAtFailure) return isLast ? context : { ...context, outcome: 'unknown' };
  if (context.outcome === 'succeeded') return context;
  // Under `set -e` any command may be the one that failed, and those after it did not run.
  return { ...context, ran: context.ran && isFirst, outcome: 'unknown' };
}

function isExit({ command }: Statement): boolean {
  return command.type === 'Command' && /^(?:exit|return)$/.test(programWords(command)[0] ?? '');
}

function visit(node: Node, context: Context, walk: FateWalk): void {
  const unsure: Context = { ...context, outcome: 'unknown' };
  const perhaps: Context = { ...context, ran: false };
  switch (node.type) {
    case 'Command':
      return visitCommand(node, context, walk);
    case 'Statement':
      return visit(
        node.command,
        redirected(node.background === true ? unsure : context, node.redirects),
        walk,
      );
    case 'AndOr':
      return visitAndOr(node.commands, node.operators, context, walk);
    case 'Pipeline':
      return visitPipeline(node, context, walk);
    case 'CompoundList':
      return visitList(node.commands, context, walk);
    case 'Subshell':
    case 'BraceGroup':
      return visit(node.body, context, walk);
    case 'Coproc':
      return visit(node.body, unsure, walk);
    case 'If':
      visit(node.clause, unsure, walk);
      visit(node.then, perhaps, walk);
      if (node.else !== undefined) visit(node.else, perhaps, walk);
      return;
    case 'While':
      visit(node.clause, unsure, walk);
      return visit(node.body, { ...perhaps, outcome: 'unknown' }, walk);
    case 'For':
    case 'Select':
    case 'ArithmeticFor':
      return visit(node.body, { ...perhaps, outcome: 'unknown' }, walk);
    case 'Case':
      for (const item of node.items) visit(item.body, perhaps, walk);
      return;
    case 'Function':
      walk.functions.set(node.name.value, node.body);
      return;
    default:
  }
}

/** `a && b || c` groups from the left, so the last operator decides first. */
// oxlint-disable-next-line max-params -- the parts of one node with the two that every visit takes
function visitAndOr(
  nodes: readonly Node[],
  operators: readonly string[],
  context: Context,
  walk: FateWalk,
): void {
  const last = nodes.at(-1);
  if (last === undefined) return;
  if (nodes.length === 1) return visit(last, context, walk);
  const decided: CommandOutcome = operators.at(-1) === '&&' ? 'succeeded' : 'failed';
  const isDecided = context.outcome === decided;
  const before: Context = isDecided ? context : { ...context, outcome: 'unknown' };
  visitAndOr(nodes.slice(0, -1), operators.slice(0, -1), before, walk);
  visit(last, isDecided ? context : { ...context, ran: false, outcome: 'unknown' }, walk);
}

function visitPipeline(node: Node & { type: 'Pipeline' }, context: Context, walk: FateWalk): void {
  const outcome = node.negated === true ? opposite(context.outcome) : context.outcome;
  const areAllKnown = walk.failsWithPipe && outcome === 'succeeded';
  for (const [index, command] of node.commands.entries()) {
    const isLast = index === node.commands.length - 1;
    const known = isLast && !(walk.failsWithPipe && outcome === 'failed' && index > 0) ? outcome : 'unknown';
    const output = isLast || context.output === 'redirected' ? context.output : 'piped';
    visit(command, { ...context, outcome: areAllKnown ? outcome : known, output }, walk);
  }
}

function opposite(outcome: CommandOutcome): CommandOutcome {
  if (outcome === 'unknown') return outcome;
  return outcome === 'succeeded' ? 'failed' : 'succeeded';
}

function visitCommand(node: Command, context: Context, walk: FateWalk): void {
  const words = programWords(node);
  const [program] = words;
  if (program === undefined || walk.budget-- <= 0) return;
  const here = redirected(context, node.redirects);
  const inner = program === 'eval' ? words.slice(1).join(' ') : nestedScript(words);
  if (inner !== undefined) return visitScript(inner, here, walk);
  const body = walk.functions.get(program);
  if (body !== undefined) return visitFunction(body, here, walk);
  if (program === 'set') noteOptions(words, walk);
  walk.fates.push({ words, ...here });
}

function visitFunction(body: Node, context: Context, walk: FateWalk): void {
  if (walk.depth >= MAX_DEPTH) return;
  walk.depth++;
  visit(body, context, walk);
  walk.depth--;
}

function noteOptions(words: readonly string[], walk: FateWalk): void {
  for (const [index, word] of words.entries()) {
    const isShort = /^-[a-zA-Z]+$/.test(word);
    if ((isShort && word.includes('e')) || word === 'errexit') walk.stopsAtFailure = true;
    if (word === 'pipefail' && (words[index - 1] ?? '').startsWith('-')) walk.failsWithPipe = true;
  }
}

function redirected(context: Context, redirects: readonly Redirect[]): Context {
  const isRedirected = redirects.some(
    ({ operator, fileDescriptor }) =>
      operator.includes('>') && operator !== '>&' && (fileDescriptor ?? 1) === 1,
  );
  return isRedirected ? { ...context, output: 'redirected' } : context;
}
