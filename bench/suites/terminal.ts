// The terminal UI in a pseudo-terminal: its first frame against the bare runtime, and a streaming answer against pi-tui and Ink.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { median } from '../measure.ts';
import { atMost, digits, duration } from '../report.ts';
import type { Row } from '../report.ts';
import { startServer } from '../server.ts';
import { ROOT, withFolder } from '../session-files.ts';
import { PseudoTerminal } from '../terminal/pseudo-terminal.ts';
import type { Started } from '../terminal/pseudo-terminal.ts';
import { PROGRAM } from './starting.ts';
import type { Effort } from './suite.ts';

const FOLDER = join(ROOT, 'bench', 'terminal');

/** Turns of the history: 400 messages. @source the history that the terminal UIs of three agents were measured with */
const TURNS = 200;

/** Keys that are typed while the answer streams. */
const KEYS = 20;

/** The rows of the terminal UI. */
export async function* terminal({ rounds }: Effort): AsyncGenerator<Row> {
  yield* await withFolder(async (folder) => {
    const { port, stop } = await startStream();
    try {
      const baton = await resumable(folder, port);
      const first = await firstFrames(baton, rounds);
      return [...first, ...(await streams({ baton, port, folder }))];
    } finally {
      stop();
    }
  });
}

async function startStream(): Promise<{ readonly port: number; readonly stop: () => void }> {
  const child = spawn(process.execPath, [join(FOLDER, 'stream.mjs')], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [line] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string];
  return { port: Number(line), stop: () => void child.stdin.end() };
}

/** Baton with a session of 400 messages, which it resumes. */
async function resumable(folder: string, streamPort: number): Promise<Started> {
  const [home, cwd] = [join(folder, 'home'), join(folder, 'project')];
  mkdirSync(home);
  mkdirSync(cwd);
  const env = { HOME: folder, BATON_HOME: home };
  const instant = await startServer();
  configure(home, instant.port);
  spawnSync(process.execPath, [PROGRAM, 'exec', 'What are the totals?'], {
    cwd,
    env: { PATH: process.env['PATH'] ?? '', ...env },
  });
  instant.stop();
  configure(home, streamPort);
  const names = readdirSync(join(home, 'sessions'), { recursive: true, encoding: 'utf8' });
  const name = names.find((each) => each.endsWith('.jsonl'));
  if (name === undefined) throw new Error('Baton recorded no session');
  lengthen(join(home, 'sessions', name));
  return { args: [PROGRAM, '--resume', 'last'], cwd, env };
}

function configure(home: string, port: number): void {
  const config = `model = "instant"
model_provider = "instant"
model_context_window = 400000
[model_providers.instant]
base_url = "http://127.0.0.1:${port}/v1"
wire_api = "responses"
`;
  writeFileSync(join(home, 'config.toml'), config);
}

/** Repeats the only turn of a session, with ids of its own each time. */
function lengthen(file: string): void {
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  const [from, to] = ['"turn_started"', '"task_complete"'].map((tag) =>
    lines.findIndex((each) => each.includes(tag)),
  ) as [number, number];
  const turn = lines.slice(from, to + 1).filter((each) => !each.includes('"baton_note"'));
  const more = Array.from({ length: TURNS - 1 }, (_, at) =>
    turn.map((each) =>
      each
        .replaceAll('turn-1', `turn-${at + 2}`)
        .replaceAll('msg_1', `msg_${at + 2}`)
        .replaceAll(/"[0-9a-f]{8}(-[0-9a-f-]{27})"/g, (_id, rest) =>
          `"${0x10000000 + at}${rest}"`.slice(0, 38),
        ),
    ),
  ).flat();
  writeFileSync(file, `${lines.toSpliced(to + 1, 0, ...more).join('\n')}\n`);
}

async function firstFrames(baton: Started, rounds: number): Promise<readonly Row[]> {
  const times = { node: [] as number[], version: [] as number[], frame: [] as number[] };
  await leaveOnce(baton);
  for (let round = 0; round <= rounds; round++) {
    times.node.push(timed(['-e', '0']));
    times.version.push(timed([PROGRAM, '--version']));
    const shown = new PseudoTerminal(baton);
    // A frame ends with synchronized output.
    times.frame.push(await shown.waitFor('\u001B[?2026l'));
    await shown.close();
  }
  const [node, version, frame] = [times.node, times.version, times.frame].map((each) =>
    median(each.slice(1)),
  ) as [number, number, number];
  return [
    {
      topic: TOPIC,
      what: 'first frame, 400 messages resumed',
      baton: duration(frame),
      against: `\`node -e 0\` ${duration(node)}, \`baton --version\` ${duration(version)}`,
      figure: `${digits(frame / node)}× the time of \`node -e 0\``,
      target: atMost(frame / node, 3.5, '×'),
    },
  ];
}

const TOPIC = 'The terminal UI';

/** The code that a start compiles is kept when the user leaves. */
async function leaveOnce(baton: Started): Promise<void> {
  const shown = new PseudoTerminal(baton);
  await shown.waitFor('shows the keys');
  shown.type('\u0003');
  await sleep(200);
  shown.type('\u0003');
  await shown.ended;
}

function timed(args: readonly string[]): number {
  const began = performance.now();
  spawnSync(process.execPath, args, { stdio: 'ignore' });
  return performance.now() - began;
}

interface Streamed {
  readonly processorMs: number;
  readonly peakMebibytes: number;
  readonly echoMs: number;
}

async function streams({
  baton,
  port,
  folder,
}: {
  readonly baton: Started;
  readonly port: number;
  readonly folder: string;
}): Promise<readonly Row[]> {
  const env = { HOME: folder, STREAM_PORT: String(port) };
  const peer = (name: string): Started => ({ args: [join(FOLDER, name)], cwd: folder, env });
  const own = await streamed(baton, 'shows the keys');
  const pi = await streamed(peer('pi-tui.mjs'), 'sums of cents');
  const ink = await streamed(peer('ink.mjs'), 'sums of cents');
  const row = (what: string, of: keyof Streamed, show: (value: number) => string, most: number): Row => ({
    topic: TOPIC,
    what,
    baton: show(own[of]),
    against: `pi-tui ${show(pi[of])}, Ink ${show(ink[of])}`,
    figure: `${digits(own[of] / pi[of])}× of pi-tui`,
    target: atMost(own[of] / pi[of], most, '×'),
  });
  const mebibytes = (value: number): string => `${digits(value)} MiB`;
  return [
    row(
      '1,500 deltas in 9.5 s into 400 messages: processor time of all threads',
      'processorMs',
      duration,
      0.5,
    ),
    row('the same: peak memory', 'peakMebibytes', mebibytes, 1),
    row('the same: from a key to its echo', 'echoMs', duration, 1),
  ];
}

async function streamed(program: Started, ready: string): Promise<Streamed> {
  const shown = new PseudoTerminal(program);
  await shown.waitFor(ready);
  await sleep(1500);
  const before = shown.processorMs;
  shown.type('L');
  await sleep(100);
  shown.forget();
  shown.type('\r');
  await shown.waitFor('tower/');
  const echoes: number[] = [];
  let draft = '';
  for (let count = 0; count < KEYS; count++) {
    await sleep(150 + 7 * count);
    const key = 'QXZ'.charAt(count % 3);
    draft += key;
    shown.forget();
    const began = performance.now();
    shown.type(key);
    await shown.waitFor(draft);
    echoes.push(performance.now() - began);
  }
  await shown.waitFor('That is the whole list.');
  await sleep(1000);
  const { processorMs, peakMebibytes } = shown;
  await shown.close();
  return { processorMs: processorMs - before, peakMebibytes, echoMs: median(echoes) };
}
