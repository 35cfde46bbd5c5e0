// Waits between two attempts or two recorded moments.

import type { CancelSignal } from '../ports.ts';

/**
 * Waits for a number of milliseconds, or until the signal fires. Leaves neither a timer nor a listener behind.
 * @param stopped creates the error with which a stopped wait rejects
 */
export function wait(ms: number, signal: CancelSignal, stopped: () => Error): Promise<void> {
  return new Promise((resolve, reject) => {
    const onCancel = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onCancel);
      reject(stopped());
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', onCancel);
      resolve();
    }, ms);
    if (signal.aborted) onCancel();
    else signal.addEventListener('abort', onCancel);
  });
}
