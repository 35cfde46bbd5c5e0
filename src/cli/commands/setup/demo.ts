// `npm start`: the main job on the session that comes with Baton, with the commands that a user types.

import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Config } from '../../../config/schema.ts';
import { BatonError } from '../../../errors.ts';
import { REHEARSAL } from '../../../lab/rehearsal/script-position.ts';
import { compact } from '../compact/compact.ts';
import { inspect } from '../inspect/inspect.ts';
import type { CommandIo } from '../../io.ts';
import { BUNDLED_SESSION } from '../../bundled.ts';
import { replay } from '../replay/replay.ts';
import { foldLines, paint } from '../../style.ts';
import { undo } from '../undo/undo.ts';

const TARGET_TOKENS = 8000;
/** The demonstrated compaction. */
const COMPACTION = { strategy: 'auto', format: 'same', targetTokens: TARGET_TOKENS } as const;
const SUMMARY_LINES_SHOWN = 24;
/** Raw window of the live session: small enough for four handovers, and never compacted by the limit. */
const LIVE_WINDOW = 60_000;

/** Inspects, replays, plays, compacts and restores the bundled session, then prints the next commands to type. */
export async function playDemo(io: CommandIo, config: Config): Promise<void> {
  const folder = await makeFolder();
  const compacted = join(folder, 'compacted.jsonl');
  const restored = join(folder, 'restored.jsonl');
  // Here the commands' notes are part of the story.
  const told: CommandIo = {
    ...io,
    stderr: (text) =>
      io.stdout(text.endsWith('\n') ? foldLines(io.look, indent(text.replaceAll(folder, '…'))) : text),
    // What is drawn there would stay in a file.
    showsProgress: io.showsProgress && io.look.isPiped !== true,
  };
  const quiet = { json: false, precise: true } as const;
  try {
    step(
      io,
      'An agent worked for eight turns. What fills its context?',
      'baton inspect tally.jsonl --precise',
    );
    await inspect(told, config, [BUNDLED_SESSION], quiet);
    step(
      io,
      'When should it have been compacted? The watcher and other policies, side by side.',
      'baton replay tally.jsonl',
    );
    await replay(told, { effective: config, compared: [] }, [BUNDLED_SESSION], { recall: true });
    io.stdout('\n');
    await playLive(io, config, folder);
    const size = `--target-tokens ${TARGET_TOKENS}`;
    step(
      io,
      'What would a compaction keep, and what would it summarise?',
      `baton compact tally.jsonl ${size} --preview --full`,
    );
    const preview = await printed(io, (shown) =>
      compact(shown, config, BUNDLED_SESSION, { ...COMPACTION, preview: true, full: true }),
    );
    io.stdout(`${preview.split('\n').slice(0, previewLength(preview)).join('\n')}\n  …\n\n`);
    step(
      io,
      'Compact it. The original bytes stay; Baton appends the compaction.',
      `baton compact tally.jsonl ${size} --out compacted.jsonl`,
    );
    await compact(told, config, BUNDLED_SESSION, { ...COMPACTION, out: compacted });
    await inspect(told, config, [compacted], quiet);
    step(io, 'Changed your mind? Nothing was lost.', 'baton undo compacted.jsonl --out restored.jsonl');
    await undo(told, config, compacted, { out: restored });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  io.stdout(nextCommands(io));
}

/**
 * Plays the session through Baton's own thread, in a temporary home, and shows the first handover: the messages during it and the
 * compaction in the file.
 */
async function playLive(io: CommandIo, config: Config, folder: string): Promise<void> {
  step(
    io,
    'How is it handed over? The same session, live, in a smaller window.',
    `baton -c model_context_window=${LIVE_WINDOW} exec --model ${REHEARSAL}`,
  );
  const said: string[] = [];
  const home = join(folder, 'home');
  const apart: CommandIo = {
    ...io,
    env: { ...io.env, BATON_HOME: home },
    stdout: () => undefined,
    stderr: (text) => void said.push(...text.split('\n').filter((line) => line !== '')),
  };
  const played: Config = { ...config, modelContextWindow: LIVE_WINDOW };
  const { exec } = await import('../agent/exec.ts');
  const surroundings = {
    version: '',
    configFile: undefined,
    configurationOf: () => () => Promise.resolve(played),
  };
  const status = await exec(apart, surroundings, undefined, { model: REHEARSAL });
  if (status === 130) throw new BatonError('interrupted', 'Interrupted');
  const from = said.findIndex((line) => line.startsWith('[rawr]'));
  const to = said.findIndex((line) => line.startsWith('handoff: '));
  const shown = from < 0 || to < from ? said.slice(-1) : ['…', ...said.slice(from, to + 1), '…'];
  io.stdout(foldLines(io.look, `${shown.map((line) => `  ${line}`).join('\n')}\n\n`));
  const [session] = await sessionsIn(home);
  if (session === undefined) return;
  step(
    io,
    'Its file says why it was compacted then, and what the context held afterwards.',
    'baton inspect SESSION',
  );
  const inspected = await printed(io, (quiet) =>
    inspect(quiet, played, [session], { json: false, precise: false }),
  );
  const lines = inspected.split('\n');
  const first = lines.findIndex((line) => /^ *#1 /.test(line));
  const next = lines.findIndex((line, at) => at > first && /^(?: *#2 |$)/.test(line));
  io.stdout(`${lines.slice(first, next).join('\n')}\n  …\n\n`);
}

/** @throws BatonError `output_failed` */
async function makeFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'baton-demo-')).catch((cause: NodeJS.ErrnoException) => {
    const reason = cause.code === 'ENOSPC' ? 'the disk is full' : (cause.code ?? cause.message);
    throw new BatonError('output_failed', `The demo cannot write to ${tmpdir()}: ${reason}`, {
      cure: 'Free space there, or name another directory in TMPDIR.',
      cause,
    });
  });
}

async function sessionsIn(home: string): Promise<readonly string[]> {
  const names = await readdir(join(home, 'sessions'), { recursive: true });
  return names.filter((name) => name.endsWith('.jsonl')).map((name) => join(home, 'sessions', name));
}

/** Does the same and prints the documents of all commands as one. */
export async function printDemoJson(io: CommandIo, config: Config): Promise<void> {
  const folder = await makeFolder();
  const compacted = join(folder, 'compacted.jsonl');
  const quiet: CommandIo = { ...io, stderr: () => undefined };
  const of = async (run: (io: CommandIo) => Promise<unknown>): Promise<unknown> =>
    JSON.parse((await printed(quiet, run)).replaceAll(`${folder}/`, ''));
  const json = true;
  try {
    const document = {
      inspect: await of((shown) => inspect(shown, config, [BUNDLED_SESSION], { json, precise: true })),
      replay: await of((shown) =>
        replay(shown, { effective: config, compared: [] }, [BUNDLED_SESSION], { recall: true, json }),
      ),
      compact: await of((shown) =>
        compact(shown, config, BUNDLED_SESSION, { ...COMPACTION, out: compacted, json }),
      ),
      undo: await of((shown) =>
        undo(shown, config, compacted, { out: join(folder, 'restored.jsonl'), json }),
      ),
    };
    io.stdout(`${JSON.stringify(document, null, 2)}\n`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function step(io: CommandIo, title: string, command: string): void {
  const lines = `${paint(io.look, 'strong', title)}\n${paint(io.look, 'accent', `$ ${command}`)}\n\n`;
  io.stdout(foldLines(io.look, lines));
}

/** Runs a command and returns its output. */
async function printed(io: CommandIo, run: (io: CommandIo) => Promise<unknown>): Promise<string> {
  const texts: string[] = [];
  await run({ ...io, stdout: (text) => void texts.push(text) });
  return texts.join('');
}

function previewLength(preview: string): number {
  const lines = preview.split('\n');
  const summary = lines.findIndex((line) => line.includes('The summary, '));
  return summary + SUMMARY_LINES_SHOWN;
}

function indent(text: string): string {
  return text.replaceAll(/^(?=.)/gm, '  ');
}

function nextCommands({ look }: CommandIo): string {
  const rows: readonly (readonly [command: string, does: string])[] = [
    ['npx baton sessions', 'the sessions of all agents on this machine'],
    ['npx baton inspect FILE', 'what fills one of them'],
    ['npx baton replay FILE --turns', 'when the watcher would have compacted it, and why'],
    ['npx baton exec --model rehearsal/FILE', 'how it would be handed over, live and without a model'],
    ['npx baton compact FILE --preview', 'what a compaction would keep and drop'],
    ['npx baton compact FILE --install', 'compact a copy and resume it in its agent'],
    ['npx baton doctor', 'what works here'],
  ];
  const width = Math.max(...rows.map(([command]) => command.length));
  const lines = [
    `\n${paint(look, 'strong', 'Next, on your own sessions')}`,
    ...rows.map(([command, does]) => `  ${paint(look, 'accent', command.padEnd(width))}  ${does}`),
    '',
  ];
  return foldLines(look, lines.join('\n'));
}
