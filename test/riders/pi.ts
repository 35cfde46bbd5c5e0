// The real pi, offline, against a scripted model on 127.0.0.1.

import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startLoopback } from '../agents/loopback.ts';
import type { ChatModel } from '../agents/loopback.ts';
import { runAgainst } from '../agents/process.ts';
import type { JsonObject } from '../../src/protocol/item.ts';

const pathOf = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));

/** pi needs a newer Node than Baton. */
export const NODE = pathOf('node_modules/node/bin/node');
const LAUNCHER = pathOf('node_modules/@earendil-works/pi-coding-agent/dist/bundle/cli.js');

/** The window of the scripted model, in tokens; pi compacts by itself from 83,616 on. */
export const WINDOW = 100_000;

/** A home with pi's files, and a project. */
export interface PiHome {
  readonly path: string;
  /** pi's own folder. */
  readonly agent: string;
  readonly project: string;
  remove(): Promise<void>;
}

/** Makes an empty home below the folder for temporary files. */
export async function createPiHome(): Promise<PiHome> {
  const path = await realpath(await mkdtemp(join(tmpdir(), 'baton-pi-')));
  const agent = join(path, '.pi', 'agent');
  const project = join(path, 'project');
  await mkdir(agent, { recursive: true });
  await mkdir(project);
  return { path, agent, project, remove: () => rm(path, { recursive: true, force: true }) };
}

/** One message as it was sent. */
export interface SentMessage {
  readonly role: string;
  readonly text: string;
  readonly calls: number;
}

/** What a run of pi did. */
export interface PiRun {
  /** The messages of each request, without the system's. */
  readonly requests: readonly (readonly SentMessage[])[];
  /** Requests without tools: those for a summary. */
  readonly summaries: number;
  /** What pi said, in order. */
  readonly events: readonly JsonObject[];
}

/** How to run it. */
export interface PiPlay {
  readonly home: PiHome;
  readonly model: ChatModel;
  readonly commands: readonly JsonObject[];
  /** Continues the newest session. */
  readonly isResumed?: boolean;
}

/** Runs pi to the end of the commands. */
export async function playPi({ home, model, commands, isResumed = false }: PiPlay): Promise<PiRun> {
  const loopback = await startLoopback(undefined, model);
  try {
    await writeFile(join(home.agent, 'models.json'), JSON.stringify(modelsFile(loopback.origin)));
    const list = join(home.path, 'commands.json');
    await writeFile(list, JSON.stringify(commands));
    const run = await runAgainst(loopback, {
      line: [
        NODE,
        pathOf('drive-pi.mjs'),
        LAUNCHER,
        list,
        '--offline',
        '--provider',
        'loopback',
        '--model',
        'scripted',
        ...(isResumed ? ['--continue'] : []),
      ],
      cwd: home.project,
      env: { HOME: home.path, TMPDIR: home.path, PI_OFFLINE: '1' },
      deadlineMs: 120_000,
    });
    if (run.timedOut || run.exitCode !== 0) {
      throw new Error(`pi did not end well (${run.exitCode})\n${run.stdout.slice(-2000)}\n${run.stderr}`);
    }
    const bodies = run.requests.filter(({ method }) => method === 'POST').map(({ body }) => body);
    return {
      requests: bodies.map(messagesOf),
      summaries: bodies.filter((body) => !Array.isArray(body['tools'])).length,
      events: run.stdout
        .split('\n')
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line) as JsonObject),
    };
  } finally {
    await loopback.close();
  }
}

/** The one session file of a home, as its lines. */
export async function sessionOf(
  home: PiHome,
): Promise<{ readonly path: string; readonly lines: readonly JsonObject[] }> {
  const folder = join(home.agent, 'sessions');
  const files = await readdir(folder, { recursive: true });
  const name = files.find((each) => each.endsWith('.jsonl')) ?? '';
  const path = join(folder, name);
  const text = await readFile(path, 'utf8');
  const lines = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as JsonObject);
  return { path, lines };
}

function modelsFile(origin: string): JsonObject {
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  const model = {
    id: 'scripted',
    name: 'scripted',
    contextWindow: WINDOW,
    maxTokens: 4000,
    reasoning: false,
    input: ['text'],
    cost,
  };
  const provider = {
    baseUrl: `${origin}/v1`,
    api: 'openai-completions',
    apiKey: 'dummy',
    models: [model],
  };
  return { providers: { loopback: provider } };
}

function messagesOf(body: JsonObject): readonly SentMessage[] {
  const messages = body['messages'];
  if (!Array.isArray(messages)) throw new TypeError('a request without messages');
  return messages
    .map((message) => message as JsonObject)
    .filter(({ role }) => role !== 'system')
    .map(({ role, content, tool_calls: calls }) => ({
      role: String(role),
      text: textOf(content),
      calls: Array.isArray(calls) ? calls.length : 0,
    }));
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part) => String((part as JsonObject)['text'] ?? '[image]')).join('\n');
}
