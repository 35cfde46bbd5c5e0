// Harness facts: what Baton knows about the state of the work without asking anyone. Appended to every packet, never
// judged.

import { redact } from '../../text/redact.ts';
import { clip, oneLine } from '../../text/sentences.ts';
import type { Commit, CommandRun, Plan, Trail } from '../../trail/trail.ts';

/** The state of the work tree according to git. The caller runs git. */
export interface GitFacts {
  /** Undefined on a detached HEAD. */
  readonly branch: string | undefined;
  /** Undefined before the first commit. */
  readonly head: { readonly hash: string; readonly subject: string } | undefined;
  /** Paths that differ from HEAD, including untracked ones, each with git's two letters (`M `, `??`) or a word. */
  readonly changes: readonly { readonly status: string; readonly path: string }[];
}

/** A subagent that still runs. */
export interface RunningSubagent {
  readonly name: string;
  /** Its task, in short. */
  readonly task: string;
}

/** What the world knows and the trail does not. Absent parts are unknown. */
export interface WorldFacts {
  readonly git?: GitFacts;
  readonly subagents?: readonly RunningSubagent[];
  /** Relative to the working directory. Absent: no notes. */
  readonly scratchPath?: string;
}

/** All facts that are appended to a packet. */
export interface HarnessFacts extends WorldFacts {
  readonly cwd: string | undefined;
  /** From the log; git's own answer takes precedence. */
  readonly branch: string | undefined;
  /** The agent's newest commit in the log. */
  readonly lastCommit: Commit | undefined;
  /** Todo list and plan, each in its last state. */
  readonly plans: readonly Plan[];
  /** The newest run of a test command. */
  readonly lastTest: CommandRun | undefined;
  /** Files changed during the session according to the log, newest first. */
  readonly editedPaths: readonly string[];
}

/** The heading of Baton's facts. `withoutForgedHeading` removes it from other authors' texts. */
export const FACTS_HEADING = '## Harness facts';

/** The replacement for such a heading in the agent's text, or in a text that it quotes. */
const CLAIMED_HEADING = 'Facts as the agent gives them, not checked by the harness';

const FACTS_LETTERS = 'harnessfacts';

/** A prominent line: a heading, a label, a table cell, a quotation or a tag. */
const STANDS_OUT = /^[^\p{L}]|[:：]\s{0,9}\S{0,9}$/u;

/**
 * Another author's text with all lines renamed that pass for the heading of the harness facts, regardless of the marks
 * around the words. Works by line; linear.
 */
export function withoutForgedHeading(text: string): string {
  return text.split('\n').map(renameForged).join('\n');
}

function renameForged(line: string): string {
  const plain = line.slice(0, LINE_LENGTH).normalize('NFKC');
  const letters = plain.replace(/[^\p{L}]/gu, '').toLowerCase();
  // `<h2>` and `</h2>` leave a letter each.
  if (letters.replace(/^h(?=harness)|h$/g, '') === FACTS_LETTERS) {
    return `${/^\s{0,3}#{1,6}\s/.exec(line)?.[0] ?? ''}${CLAIMED_HEADING}`;
  }
  if (!letters.startsWith(FACTS_LETTERS) || !STANDS_OUT.test(line.trim())) return line;
  return `${plain.replace(/harness[^\p{L}]{0,20}facts/iu, CLAIMED_HEADING)}${line.slice(LINE_LENGTH)}`;
}

/** Programs and scripts whose runs are tests. */
const TESTS =
  /\b(?:jest|vitest|mocha|ava|pytest|tox|rspec|phpunit|ctest|gotestsum|nextest|unittest|playwright|cypress|bats)\b|\b(?:npm|pnpm|yarn|bun|deno|cargo|go|mix|dotnet|swift|make|just|task|gradle|gradlew|mvn|node|rake|mise|turbo|nx|zig|sbt)\b[^&|;]{0,60}\btests?\b|--test\b/;

/** Derives the facts that the trail holds. The same trail always gives the same facts. */
export function factsOf(trail: Trail, world: WorldFacts = {}): HarnessFacts {
  return {
    ...world,
    cwd: trail.cwd,
    branch: trail.gitBranch,
    lastCommit: trail.commits.findLast(({ fate }) => fate !== 'thrown away'),
    plans: trail.plans,
    lastTest: trail.commands.findLast(({ command }) => TESTS.test(command)),
    editedPaths: trail.files
      .filter(({ state, edits }) => state !== 'read' && edits > 0)
      .toSorted((a, b) => b.lastPosition - a.lastPosition)
      .map(({ path }) => path),
  };
}

const SHOWN_PATHS = 16;
const SHOWN_STEPS = 6;
const SHOWN_SUBAGENTS = 6;
const LINE_LENGTH = 300;

/** The facts as lines of a list, redacted; one line each, shortest first; unknown facts are omitted or marked unknown. */
export function factLines(facts: HarnessFacts): readonly string[] {
  const lines = [
    workplaceLine(facts),
    facts.scratchPath === undefined ? undefined : `Scratch notes: \`${oneLine(facts.scratchPath)}\``,
    headLine(facts),
    subagentLine(facts.subagents),
    testLine(facts.lastTest),
    ...facts.plans.map(planLine),
    changesLine(facts),
  ];
  return lines.flatMap((line) => (line === undefined ? [] : [`- ${redact(line)}`]));
}

function workplaceLine({ cwd }: HarnessFacts): string | undefined {
  return cwd === undefined ? undefined : `Working directory: ${clip(oneLine(cwd), LINE_LENGTH)}`;
}

function headLine({ git, branch, lastCommit }: HarnessFacts): string | undefined {
  const on = git === undefined ? branch : git.branch;
  const where = on === undefined ? '' : ` on ${oneLine(on)}`;
  if (git !== undefined) {
    if (git.head === undefined) return `HEAD: no commit yet${where}`;
    const { hash, subject } = git.head;
    return `HEAD: ${hash.slice(0, 12)} "${clip(oneLine(subject), 120)}"${where}`;
  }
  if (lastCommit !== undefined) {
    const hash = lastCommit.hash === undefined ? '' : `${lastCommit.hash} `;
    const subject = clip(oneLine(lastCommit.subject), 120);
    return `Last commit in the log: ${hash}"${subject}"${where} (message ${lastCommit.turn}); HEAD was not checked`;
  }
  return on === undefined ? undefined : `Branch: ${oneLine(on)}, according to the log`;
}

function changesLine({ git, editedPaths }: HarnessFacts): string | undefined {
  if (git !== undefined) {
    const changes = git.changes.map(({ status, path }) => `${status.trim()} ${oneLine(path)}`);
    return changes.length === 0
      ? 'Changed files: none, the work tree is clean'
      : `Changed files: ${listed(changes)}`;
  }
  if (editedPaths.length === 0) return undefined;
  return `Files changed in this session, newest first (the work tree was not checked): ${listed(editedPaths)}`;
}

function listed(names: readonly string[]): string {
  const more = names.length > SHOWN_PATHS ? `, and ${names.length - SHOWN_PATHS} more` : '';
  return `${names
    .slice(0, SHOWN_PATHS)
    .map((name) => clip(name, 120))
    .join(', ')}${more}`;
}

function planLine({ steps, kind, turn }: Plan): string {
  const open = steps.filter(({ status }) => status === 'pending' || status === 'in_progress');
  const done = steps.filter(({ status }) => status === 'completed').length;
  const name = kind === 'plan' ? 'Plan' : 'Todo list';
  const count = `${name} (as of message ${turn}): ${done} of ${steps.length} done`;
  if (open.length === 0) return count;
  const shown = open
    .slice(0, SHOWN_STEPS)
    .map(({ text, status }) => `${status === 'in_progress' ? 'in progress' : 'to do'}: ${clip(text, 120)}`);
  const more = open.length > SHOWN_STEPS ? `; and ${open.length - SHOWN_STEPS} more` : '';
  return `${count}; ${shown.join('; ')}${more}`;
}

function testLine(run: CommandRun | undefined): string | undefined {
  if (run === undefined) return undefined;
  const status = run.exitCode === undefined ? '' : ` (exit ${run.exitCode})`;
  const said = run.outcomeLines
    .slice(-2)
    .map((line) => clip(oneLine(line), 110))
    .join(' | ');
  const went = `${run.failed ? 'failed' : 'passed'}${status}${said === '' ? '' : `: ${said}`}`;
  return `Last tests: \`${clip(oneLine(run.command), 140)}\` → ${went} (message ${run.turn})`;
}

function subagentLine(subagents: readonly RunningSubagent[] | undefined): string | undefined {
  if (subagents === undefined) return undefined;
  if (subagents.length === 0) return 'Running subagents: none';
  const shown = subagents
    .slice(0, SHOWN_SUBAGENTS)
    .map(({ name, task }) => `${clip(oneLine(name), 60)} (${clip(oneLine(task), 100)})`);
  const more = subagents.length > SHOWN_SUBAGENTS ? `, and ${subagents.length - SHOWN_SUBAGENTS} more` : '';
  return `Running subagents: ${shown.join(', ')}${more}`;
}
