// Where the real tools are.

import { fileURLToPath } from 'node:url';

const at = (path: string): string => fileURLToPath(new URL(`node_modules/${path}`, import.meta.url));

/**
 * The launchers of the real tools: scripts for `process.execPath`. They find the native binary of the platform
 * themselves, and unlike the files in `.bin` they do not need the packages' install scripts to have run.
 */
export const LAUNCHERS = {
  codex: at('@openai/codex/bin/codex.js'),
  claude: at('@anthropic-ai/claude-code/cli-wrapper.cjs'),
} as const;
