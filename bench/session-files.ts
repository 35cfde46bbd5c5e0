// Session files as the agents write them, made up: the shapes of the lines are theirs, every text is ours.

import { once } from 'node:events';
import { createWriteStream, existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Format } from '../src/vocabulary.ts';
import { generateSteps } from './histories.ts';
import type { Step } from './histories.ts';
import { CopilotWriter, GeminiWriter, OpenHandsWriter, PiWriter } from './writers/agents.ts';
import { ClaudeWriter } from './writers/claude-code.ts';
import { CodexWriter } from './writers/codex.ts';
import {
  MINI_OPEN,
  MiniWriter,
  OPENCODE_OPEN,
  OpencodeWriter,
  SweHistoryWriter,
  SweStepWriter,
} from './writers/documents.ts';
import { AnthropicWriter, ChatWriter, ResponsesWriter } from './writers/messages.ts';
import type { SessionWriter } from './writers/writer.ts';

/** The root of the repository. The bundle of the benchmark lies in `bench/dist`. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Runs `use` with a private folder that is gone afterwards. */
export async function withFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'baton-bench-'));
  try {
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** How a format is kept: as lines that grow, or as one document of lists that the same steps fill. */
type Layout =
  | { readonly type: 'lines'; readonly writer: () => SessionWriter }
  | { readonly type: 'document'; readonly lists: readonly DocumentList[]; readonly close: string };

interface DocumentList {
  /** The text before the first value. */
  readonly open: string;
  readonly writer: () => SessionWriter;
}

const LAYOUTS: Readonly<Record<Format, Layout>> = {
  codex: { type: 'lines', writer: () => new CodexWriter() },
  'claude-code': { type: 'lines', writer: () => new ClaudeWriter() },
  responses: { type: 'lines', writer: () => new ResponsesWriter() },
  anthropic: { type: 'lines', writer: () => new AnthropicWriter() },
  chat: { type: 'lines', writer: () => new ChatWriter() },
  pi: { type: 'lines', writer: () => new PiWriter() },
  gemini: { type: 'lines', writer: () => new GeminiWriter() },
  copilot: { type: 'lines', writer: () => new CopilotWriter() },
  openhands: { type: 'lines', writer: () => new OpenHandsWriter() },
  opencode: {
    type: 'document',
    lists: [{ open: OPENCODE_OPEN, writer: () => new OpencodeWriter() }],
    close: '\n]\n}\n',
  },
  'swe-agent': {
    type: 'document',
    lists: [
      { open: '{\n"environment": "swe_main",\n"trajectory": [\n', writer: () => new SweStepWriter() },
      { open: '\n],\n"history": [\n', writer: () => new SweHistoryWriter() },
    ],
    close: '\n],\n"info": {"exit_status": "submitted", "submission": ""}\n}\n',
  },
  'mini-swe-agent': {
    type: 'document',
    lists: [{ open: MINI_OPEN, writer: () => new MiniWriter() }],
    close: '\n],\n"trajectory_format": "mini-swe-agent-1",\n"instance_id": "ledger-1"\n}\n',
  },
};

/** Whether a format is one JSON document, which is read whole, instead of lines, which are read as a stream. */
export function isDocument(format: Format): boolean {
  return LAYOUTS[format].type === 'document';
}

/**
 * Writes a session and returns its path: lines of at least `bytes` bytes, or a document of at most as many. An agent that
 * compacts does so every now and then.
 */
export async function writeSession(folder: string, format: Format, bytes: number): Promise<string> {
  const layout = LAYOUTS[format];
  const path = join(folder, `${format}-${bytes}.${layout.type === 'lines' ? 'jsonl' : 'json'}`);
  const out = createWriteStream(path);
  for (const text of layout.type === 'lines' ? linesOf(layout.writer(), bytes) : documentOf(layout, bytes)) {
    if (!out.write(text)) await once(out, 'drain');
  }
  out.end();
  await once(out, 'close');
  return path;
}

function* linesOf(writer: SessionWriter, bytes: number): Generator<string> {
  let written = 0;
  for (const values of endlessSession(writer)) {
    for (const value of values) {
      const text = `${JSON.stringify(value)}\n`;
      yield text;
      written += Buffer.byteLength(text);
    }
    if (written >= bytes) return;
  }
}

function* documentOf({ lists, close }: Layout & { type: 'document' }, bytes: number): Generator<string> {
  const steps = stepsThatFit(lists, bytes - close.length);
  for (const { open, writer } of lists) {
    yield open;
    let isFirst = true;
    let step = 0;
    for (const values of endlessSession(writer())) {
      if (step++ === steps) break;
      for (const value of values) {
        yield documentValue(value, isFirst);
        isFirst = false;
      }
    }
  }
  yield close;
}

/** As programs print documents for people, which most of the agents do. */
function documentValue(value: object, isFirst: boolean): string {
  return `${isFirst ? '' : ',\n'}${JSON.stringify(value, undefined, 2)}`;
}

function stepsThatFit(lists: readonly DocumentList[], bytes: number): number {
  const sessions = lists.map(({ writer }) => endlessSession(writer()));
  let room = lists.reduce((left, { open }) => left - Buffer.byteLength(open), bytes);
  for (let steps = 0; ; steps++) {
    for (const session of sessions) {
      for (const value of session.next().value ?? []) room -= Buffer.byteLength(documentValue(value, false));
    }
    if (room < 0) return steps;
  }
}

/** The lines of the file in which Codex keeps these steps. */
export function codexLines(steps: readonly Step[]): readonly string[] {
  const writer = new CodexWriter();
  return [...writer.head(), ...steps.flatMap((step) => writer.step(step))].map((line) =>
    JSON.stringify(line),
  );
}

/** The values of the head, then those of each step and each compaction. */
function* endlessSession(writer: SessionWriter): Generator<readonly object[], undefined> {
  const steps = generateSteps(STEPS_PER_WINDOW);
  yield writer.head();
  for (let round = 0; ; round++) {
    for (const step of steps) yield writer.step(inRound(step, round));
    yield writer.compaction();
  }
}

/** The steps repeat in a long file, the ids of their calls must not. */
function inRound(step: Step, round: number): Step {
  if (step.type === 'result') return { ...step, callId: `${step.callId}_${round}` };
  if (step.type === 'request' || step.call === undefined) return step;
  return { ...step, call: { ...step.call, id: `${step.call.id}_${round}` } };
}

/** Steps between two compactions: about 190,000 tokens, what a window of 200,000 holds. */
const STEPS_PER_WINDOW = 400;

/** Sessions recorded by real agents, largest first: from the folder beside the repository, where it is at hand. */
export function recordedSessions(format: Format): readonly string[] {
  const folder = join(ROOT, '..', 'shared', 'sessions', format);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => join(folder, name))
    .toSorted((a, b) => statSync(b).size - statSync(a).size || (a < b ? -1 : 1));
}
