// Words about sessions that the command line itself needs before any command is loaded.

/** Agents whose sessions Baton finds. */
export const AGENTS = ['baton', 'codex', 'claude', 'pi', 'opencode', 'gemini', 'copilot'] as const;
export type Agent = (typeof AGENTS)[number];

/** By what a list of sessions can be sorted, highest or newest first. */
export const SESSION_ORDERS = ['time', 'size', 'tokens', 'cost'] as const;
export type SessionOrder = (typeof SESSION_ORDERS)[number];
