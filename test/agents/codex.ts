// The real Codex, offline, against a provider on 127.0.0.1.

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { startLoopback } from './loopback.ts';
import { runAgainst, type AgentRun } from './process.ts';
import { commandOf } from './tools.ts';

/** A Codex home of its own, below the folder for temporary files. */
export interface CodexHome {
  readonly path: string;
  /** The working directory of every run. */
  readonly project: string;
  remove(): Promise<void>;
}

/** Makes an empty home; the config is written at each run, because it names the port. */
export async function createCodexHome(): Promise<CodexHome> {
  const path = await mkdtemp(join(tmpdir(), 'baton-codex-'));
  const project = join(path, 'project');
  await mkdir(project);
  return { path, project, remove: () => rm(path, { recursive: true, force: true }) };
}

/**
 * Writes a rollout where Codex looks for it, under the name that it would give it:
 * `sessions/YYYY/MM/DD/rollout-<timestamp>-<id>.jsonl`.
 *
 * @param id the thread id, as in the first line of the rollout.
 * @returns the path written.
 */
export async function placeRollout(home: CodexHome, id: string, content: string): Promise<string> {
  const path = join(home.path, 'sessions', '2026', '01', '02', `rollout-2026-01-02T03-04-05-${id}.jsonl`);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content, { mode: 0o600 });
  return path;
}

/** One `codex exec resume`. */
export interface CodexResume {
  readonly home: CodexHome;
  /** The thread id to resume, or `undefined` to start a new thread. */
  readonly id: string | undefined;
  readonly prompt: string;
  /** The provider that the thread was recorded with: Codex refuses to resume it with another. Default `loopback`. */
  readonly provider?: string;
  /** The text that the model answers. */
  readonly reply?: string;
  /** Milliseconds until the process is killed. */
  readonly deadlineMs?: number;
}

/** Resumes a thread with one prompt and returns every request that Codex made. */
export async function runCodexResume(run: CodexResume): Promise<AgentRun> {
  const loopback = await startLoopback(run.reply);
  try {
    await writeFile(join(run.home.path, 'config.toml'), codexConfig(loopback.origin, run.provider), {
      mode: 0o600,
    });
    const target = run.id === undefined ? [] : ['resume', run.id];
    return await runAgainst(loopback, {
      line: [...commandOf('codex'), 'exec', '--json', '--skip-git-repo-check', ...target, run.prompt],
      cwd: run.home.project,
      env: {
        HOME: run.home.path,
        TMPDIR: run.home.path,
        CODEX_HOME: run.home.path,
        LOOPBACK_KEY: 'none',
        CODEX_API_KEY: 'none',
      },
      deadlineMs: run.deadlineMs ?? 120_000,
    });
  } finally {
    await loopback.close();
  }
}

/** A `config.toml`. Every switch here silences a connection that Codex otherwise tries to make. @source measured with strace, 0.169.0. */
export function codexConfig(origin: string, provider = 'loopback'): string {
  return `model = "loopback"
model_provider = ${JSON.stringify(provider)}
approval_policy = "never"
sandbox_mode = "read-only"
check_for_update_on_startup = false
web_search = "disabled"
${provider === 'openai' ? `openai_base_url = "${origin}/v1"` : ''}
cli_auth_credentials_store = "file"

${providerToml(origin, provider)}
[analytics]
enabled = false
[feedback]
enabled = false
[otel]
exporter = "none"
metrics_exporter = "none"
trace_exporter = "none"

[features]
plugins = false
apps = false
remote_plugin = false
plugin_sharing = false
tool_suggest = false
skill_search = false
enable_request_compression = false
shell_snapshot = false
goals = false
daemon_auto_start = false
workspace_dependencies = false
image_generation = false
`;
}

function providerToml(origin: string, provider: string): string {
  if (provider === 'openai') return '';
  return `[model_providers.${JSON.stringify(provider)}]
name = "Loopback"
base_url = "${origin}/v1"
env_key = "LOOPBACK_KEY"
wire_api = "responses"
requires_openai_auth = false
supports_websockets = false
request_max_retries = 0
stream_max_retries = 0
stream_idle_timeout_ms = 10000
`;
}
