// Where a rollout lies: `sessions/YYYY/MM/DD/rollout-<time>-<thread id>.jsonl`, as Codex sorts its own.

/** The folder below a home in which all rollouts are. */
export const SESSIONS_FOLDER = 'sessions';

const NAME = /^rollout-.*-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl$/;
const THREAD_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Whether a text can be the id of a thread. */
export function isThreadId(text: string): boolean {
  return THREAD_ID.test(text);
}

/** The thread that a file belongs to by its name, or undefined. */
export function threadOfName(name: string): string | undefined {
  return NAME.exec(name)?.[1];
}

/**
 * Where a new rollout goes, from the home on.
 * @param at ISO 8601, UTC
 */
export function placeOfRollout(at: string, threadId: string): readonly [...folders: string[], name: string] {
  const [year = '', month = '', day = ''] = at.slice(0, 10).split('-');
  const time = at.slice(0, 19).replaceAll(':', '-');
  return [SESSIONS_FOLDER, year, month, day, `rollout-${time}-${threadId}.jsonl`];
}
