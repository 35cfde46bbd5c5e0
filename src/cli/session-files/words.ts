// Words about sessions that the command line needs before it loads a command.

/** Agents whose sessions Baton finds. */
export const AGENTS = ['baton', 'codex', 'claude', 'pi', 'opencode', 'gemini', 'copilot'] as const;
export type Agent = (typeof AGENTS)[number];

/** The orders of a list of sessions, highest or newest first. */
export const SESSION_ORDERS = ['time', 'size', 'tokens', 'cost'] as const;
export type SessionOrder = (typeof SESSION_ORDERS)[number];
