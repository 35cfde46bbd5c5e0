// The path of a rollout: `sessions/YYYY/MM/DD/rollout-<time>-<thread id>.jsonl`, the layout of Codex.

/** The folder below a home that contains all rollouts. */
export const SESSIONS_FOLDER = 'sessions';

const NAME = /^rollout-.*-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl$/;
const THREAD_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Whether a text is a valid thread id. */
export function isThreadId(text: string): boolean {
  return THREAD_ID.test(text);
}

/** The thread of a file, from its name, or undefined. */
export function threadOfName(name: string): string | undefined {
  return NAME.exec(name)?.[1];
}

/**
 * The path of a new rollout, relative to the home.
 * @param at ISO 8601, UTC
 */
export function placeOfRollout(at: string, threadId: string): readonly [...folders: string[], name: string] {
  const [year = '', month = '', day = ''] = at.slice(0, 10).split('-');
  const time = at.slice(0, 19).replaceAll(':', '-');
  return [SESSIONS_FOLDER, year, month, day, `rollout-${time}-${threadId}.jsonl`];
}
