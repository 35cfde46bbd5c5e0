// Letting time pass, for whoever waits between two attempts or two recorded moments.

import type { CancelSignal } from '../ports.ts';

/**
 * Waits so many milliseconds, or until the signal says to stop. Leaves neither a timer nor a listener behind.
 * @param stopped makes the failure with which a wait that is stopped rejects
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
