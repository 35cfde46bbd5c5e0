// The cold start of the command line against the bare runtime, and one turn of the agent against Codex's, as a user feels
// them: whole processes.

import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { codexConfig } from '../../test/agents/codex.ts';
import { CODEX } from '../codex.ts';
import { median, passingTime, race } from '../measure.ts';
import { atMost, digits, duration } from '../report.ts';
import type { Row } from '../report.ts';
import { startServer } from '../server.ts';
import { ROOT, withFolder, writeSession } from '../session-files.ts';
import type { Effort } from './suite.ts';

/** The built command line. */
export const PROGRAM = join(ROOT, 'dist', 'cli', 'main.js');

/** The cold start rows. */
export async function* starting({ rounds }: Effort): AsyncGenerator<Row> {
  yield* await withFolder(async (folder) => {
    const session = await writeSession(folder, 'codex', 100_000);
    const times = await race(
      {
        node: { run: () => runNode(['-e', '0']) },
        version: { run: () => runNode([PROGRAM, '--version']) },
        inspect: { run: () => runNode([PROGRAM, 'inspect', session]) },
      },
      rounds * 3,
      passingTime,
    );
    const against = `\`node -e 0\` ${duration(times.node)}`;
    const row = (what: string, milliseconds: number, most: number): Row => ({
      topic: 'Cold start of the command line',
      what,
      baton: duration(milliseconds),
      against,
      figure: `${digits(milliseconds / times.node)}× its time`,
      target: atMost(milliseconds / times.node, most, '×'),
    });
    return [
      row('`baton --version`', times.version, 1.3),
      row('`baton inspect`, a 100 KB file', times.inspect, 3),
    ];
  });
  yield* await withFolder((folder) => measureTurn(folder, rounds * 2));
}

/** A program that runs one turn, and what it is run with. */
interface Agent {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

const PROMPT = 'What are the totals?';

/** One turn from the start of the process to its end, with a model that answers at once. */
async function measureTurn(folder: string, rounds: number): Promise<readonly Row[]> {
  const { port, stop } = await startServer();
  try {
    const origin = `http://127.0.0.1:${port}`;
    const baton = batonIn(folder, origin);
    const codex = existsSync(CODEX) ? codexIn(folder, origin) : undefined;
    const other = codex ?? { args: ['-e', '0'], cwd: folder, env: {} };
    const name = codex === undefined ? '`node -e 0`' : 'Codex';
    const runs = { baton: { run: () => runTurn(baton) }, other: { run: () => runTurn(other) } };
    const times = await race(runs, rounds, passingTime);
    const [most, least] = codex === undefined ? [12, 3] : [1, 1];
    const topic = 'One turn of `exec`, with a model that answers at once';
    const timeRatio = times.baton / times.other;
    const peaks = existsSync('/proc/self/status')
      ? { baton: await peakMebibytes(baton), other: await peakMebibytes(other) }
      : undefined;
    return [
      {
        topic,
        what: 'from the start of the process to its end',
        baton: duration(times.baton),
        against: `${name} ${duration(times.other)}`,
        figure: `${digits(timeRatio)}× its time`,
        target: atMost(timeRatio, most, '×'),
      },
      ...(peaks === undefined
        ? []
        : [
            {
              topic,
              what: 'peak memory of its largest process',
              baton: `${digits(peaks.baton)} MiB`,
              against: `${name} ${digits(peaks.other)} MiB`,
              figure: `${digits(peaks.baton / peaks.other)}× its memory`,
              target: atMost(peaks.baton / peaks.other, least, '×'),
            },
          ]),
    ];
  } finally {
    stop();
  }
}

function batonIn(folder: string, origin: string): Agent {
  const home = join(folder, 'baton');
  const config = `model = "instant"
model_provider = "instant"
model_context_window = 200000
[model_providers.instant]
base_url = "${origin}/v1"
wire_api = "responses"
`;
  const env = { BATON_HOME: prepared(home, config) };
  return { args: [PROGRAM, 'exec', '--json', PROMPT], cwd: projectIn(folder), env };
}

function codexIn(folder: string, origin: string): Agent {
  const env = {
    CODEX_HOME: prepared(join(folder, 'codex'), codexConfig(origin)),
    LOOPBACK_KEY: 'none',
    CODEX_API_KEY: 'none',
  };
  const args = [CODEX, 'exec', '--json', '--skip-git-repo-check', PROMPT];
  return { args, cwd: projectIn(folder), env };
}

function prepared(home: string, config: string): string {
  mkdirSync(home);
  writeFileSync(join(home, 'config.toml'), config);
  return home;
}

function projectIn(folder: string): string {
  const project = join(folder, 'project');
  mkdirSync(project, { recursive: true });
  spawnSync('git', ['init', '-q'], { cwd: project });
  return project;
}

function environmentOf({ cwd, env }: Agent): Record<string, string> {
  return { PATH: process.env['PATH'] ?? '', HOME: cwd, ...env };
}

function runTurn(agent: Agent): void {
  const { args, cwd } = agent;
  const run = spawnSync(process.execPath, args, { cwd, env: environmentOf(agent), encoding: 'utf8' });
  const isTurn = args.length > 2;
  if (run.status !== 0 || (isTurn && !run.stdout.includes('sums of cents'))) {
    throw new Error(`${args.join(' ')} failed: ${run.stderr}`);
  }
}

/** Often enough to see nearly all of what only grows until the process ends. */
const LOOK_EVERY_MS = 2;

/** Median over runs of the most memory that the process or one of its children held, as Linux tells it while they run. */
async function peakMebibytes(agent: Agent): Promise<number> {
  const peaks: number[] = [];
  for (let run = 0; run < 5; run++) peaks.push(await peakOfRun(agent));
  return median(peaks);
}

function peakOfRun(agent: Agent): Promise<number> {
  const { args, cwd } = agent;
  const child = spawn(process.execPath, args, { cwd, env: environmentOf(agent), stdio: 'ignore' });
  let most = 0;
  const look = setInterval(() => (most = Math.max(most, peakNow(child.pid ?? 0))), LOOK_EVERY_MS);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', () => {
      clearInterval(look);
      resolve(most / 1024);
    });
  });
}

/** KiB; 0 for a process that has ended. */
function peakNow(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const own = Number(/^VmHWM:\s*(\d+)/m.exec(status)?.[1] ?? 0);
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
    const others = children === '' ? [] : children.split(' ').map((child) => peakNow(Number(child)));
    return Math.max(own, ...others);
  } catch {
    return 0;
  }
}

function runNode(args: readonly string[]): void {
  const { status, stderr } = spawnSync(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  if (status !== 0) throw new Error(`${args.join(' ')} failed: ${stderr.toString()}`);
}
