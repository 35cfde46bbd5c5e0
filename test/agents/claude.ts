// The real Claude Code, offline, against a provider on 127.0.0.1.

import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startLoopback } from './loopback.ts';
import { runAgainst, type AgentRun } from './process.ts';
import { commandOf } from './tools.ts';

/** A Claude Code home of its own, and a project folder inside of it. */
export interface ClaudeHome {
  readonly path: string;
  /** The working directory of every run; Claude Code files its sessions by it. */
  readonly project: string;
  remove(): Promise<void>;
}

/** Makes an empty home below the folder for temporary files. */
export async function createClaudeHome(): Promise<ClaudeHome> {
  // Claude Code names the folder of a project after its real path.
  const path = await realpath(await mkdtemp(join(tmpdir(), 'baton-claude-')));
  const project = join(path, 'project');
  await mkdir(project);
  return { path, project, remove: () => rm(path, { recursive: true, force: true }) };
}

/**
 * Writes a session where Claude Code looks for it: `projects/<cwd, every other character than a letter or digit as
 * a hyphen>/<id>.jsonl`.
 *
 * @returns the path written.
 */
export async function placeSession(home: ClaudeHome, id: string, content: string): Promise<string> {
  const folder = join(home.path, 'config', 'projects', home.project.replaceAll(/[^a-zA-Z0-9]/g, '-'));
  await mkdir(folder, { recursive: true });
  const path = join(folder, `${id}.jsonl`);
  await writeFile(path, content, { mode: 0o600 });
  return path;
}

/** One `claude -p --resume`. */
export interface ClaudeResume {
  readonly home: ClaudeHome;
  /** The session id or the path to resume, or `undefined` to start a new session. */
  readonly id: string | undefined;
  readonly prompt: string;
  /** The text that the model answers. */
  readonly reply?: string;
  /** Milliseconds until the process is killed. */
  readonly deadlineMs?: number;
}

/** Resumes a session with one prompt and returns every request that Claude Code made. */
export async function runClaudeResume(run: ClaudeResume): Promise<AgentRun> {
  const loopback = await startLoopback(run.reply);
  try {
    const target = run.id === undefined ? [] : ['--resume', run.id];
    return await runAgainst(loopback, {
      line: [...commandOf('claude'), '-p', run.prompt, '--output-format', 'json', ...target],
      cwd: run.home.project,
      env: claudeEnvironment(run.home, loopback.origin),
      deadlineMs: run.deadlineMs ?? 120_000,
    });
  } finally {
    await loopback.close();
  }
}

/** With these switches nothing but the model is contacted. @source measured in an empty network namespace, 2.1.329. */
function claudeEnvironment(home: ClaudeHome, origin: string): Readonly<Record<string, string>> {
  return {
    HOME: home.path,
    TMPDIR: home.path,
    CLAUDE_CONFIG_DIR: join(home.path, 'config'),
    ANTHROPIC_BASE_URL: origin,
    ANTHROPIC_API_KEY: 'dummy',
    DISABLE_TELEMETRY: '1',
    DISABLE_ERROR_REPORTING: '1',
    DISABLE_AUTOUPDATER: '1',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  };
}
