// Records the session that `npm start` plays: the screenplay of an agent's work, with every command really carried out.
// `npm run record` writes it; the same bytes each time.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadTokenizer } from '../src/tokens/tokenizer.io.ts';
import { usableWindow } from '../src/tokens/pressure.ts';
import { perform, textMessage } from './record/perform.ts';
import type { Outcome } from './record/perform.ts';
import { Rollout } from './record/rollout.ts';
import { parseScreenplay } from './record/screenplay.ts';
import { inventSheets } from './record/sheets.ts';
import { SHOWN_DIRECTORY, Workspace } from './record/workspace.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** The recording, from the root of the repository. */
export const RECORDING = 'examples/sessions/tally.jsonl';

/** The acts of the screenplay, one a request of the user. */
const ACTS = [
  '1-report',
  '2-night-shifts',
  '3-six-minutes',
  '4-csv',
  '5-check',
  '6-lengths',
  '7-compare',
  '8-budgets',
] as const;

/**
 * Raw context window in tokens, chosen so that the fullest moment lies at 80 to 90 % of it.
 * @source docs/decisions/recording.md
 */
const WINDOW = 128_000;

const SESSION_ID = '019f35a1-7c00-7000-8000-5a11e50f0000';
const PROJECT_MS = Date.UTC(2026, 6, 1, 9, 0, 0);
const START_MS = Date.UTC(2026, 6, 6, 8, 12, 0);

/** A recording and what is in it. */
export interface Recording extends Outcome {
  readonly text: string;
  readonly window: number;
  readonly peakTokens: number;
}

/** Records the session anew. Takes some seconds; needs bash and git. */
export async function recordSession(): Promise<Recording> {
  const workspace = new Workspace();
  try {
    const commit = await setUpProject(workspace);
    const rollout = new Rollout(
      {
        sessionId: SESSION_ID,
        startMs: START_MS,
        producerVersion: packageVersion(),
        model: 'scripted',
        usableWindow: usableWindow(WINDOW),
        baseInstructions: story('base-instructions'),
        git: { branch: 'main', commit_hash: commit },
      },
      await loadTokenizer(),
    );
    const scenes = ACTS.flatMap((act) => parseScreenplay(story(act)));
    const outcome = await perform(scenes, workspace, rollout, await openings(workspace));
    return { ...outcome, text: rollout.text(), window: WINDOW, peakTokens: rollout.peakTokens };
  } finally {
    workspace.remove();
  }
}

/** @returns the hash of the commit that the session starts from */
async function setUpProject(workspace: Workspace): Promise<string> {
  const at = PROJECT_MS / 1000;
  const setUp = async (command: string, epochSeconds: number): Promise<string> => {
    const { exitCode, output } = await workspace.run(command, epochSeconds);
    if (exitCode !== 0) throw new Error(`Cannot set the project up: ${command}\n${output}`);
    return output.trim();
  };
  await setUp('git -c init.defaultBranch=main init -q', at);
  workspace.patch(`*** Begin Patch\n${story('project')}\n*** End Patch`);
  await setUp('git add -A && git commit -qm "Read time sheets and sum them"', at);
  for (const { path, text } of inventSheets()) workspace.write(path, text);
  await setUp('git add -A && git commit -qm "Add the sheets of the first half of 2026"', at + 3600);
  return setUp('git rev-parse HEAD', at);
}

async function openings(workspace: Workspace) {
  const { output } = await workspace.run('cat AGENTS.md', 0);
  return [
    textMessage(
      'developer',
      'Commands run in a sandbox that may write inside of the working directory and has no network. Nobody approves single commands.',
    ),
    textMessage(
      'user',
      `# AGENTS.md instructions for ${SHOWN_DIRECTORY}\n\n<INSTRUCTIONS>\n${output}</INSTRUCTIONS>`,
    ),
    textMessage(
      'user',
      `<environment_context>\n  <cwd>${SHOWN_DIRECTORY}</cwd>\n  <shell>bash</shell>\n  <current_date>2026-07-06</current_date>\n  <timezone>UTC</timezone>\n</environment_context>`,
    ),
  ];
}

function story(name: string): string {
  return readFileSync(join(ROOT, 'scripts', 'record', 'story', `${name}.txt`), 'utf8').trimEnd();
}

function packageVersion(): string {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  return version;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { text, window, peakTokens, turns, commands, compactionPlace } = await recordSession();
  const path = join(ROOT, RECORDING);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  const percent = Math.round((100 * peakTokens) / window);
  console.log(`${RECORDING}: ${turns} turns, ${commands} commands, ${Buffer.byteLength(text)} bytes`);
  console.log(`fullest at ${peakTokens} tokens, ${percent} % of ${window}`);
  if (compactionPlace !== undefined) {
    console.log(`to be compacted after line ${compactionPlace.lines} at ${compactionPlace.tokens} tokens`);
  }
}
