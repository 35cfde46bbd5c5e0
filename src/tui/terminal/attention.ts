// How the window says what Baton does while the user looks elsewhere: its title, the state that some terminals show, and a bell. Pure.

import { printable } from '../../text/terminal-text.ts';

/** What a glance at the window should tell. */
export type Attention = 'idle' | 'working' | 'blocked';

const ESC = '\u001B';

/** The title of the window: `project`, `* project` while Baton works, `! project` while it waits for the user. */
export function titleOf(attention: Attention, folder: string): string {
  const name = printable(folder);
  if (attention === 'working') return `* ${name} - baton`;
  return attention === 'blocked' ? `! ${name} - baton` : `${name} - baton`;
}

/** The state for terminals that list their windows. @source reference: OSC 7501, as Codex sends it */
export function stateSequence(attention: Attention | 'clear'): string {
  const state = attention === 'clear' ? 'clear' : `state=${attention}:app=baton`;
  return `${ESC}]7501;${state}${ESC}\\`;
}

/** Whether to ring: the user looks elsewhere, and Baton has just begun to wait for them. */
export function shouldRing(before: Attention, now: Attention, hasFocus: boolean): boolean {
  return !hasFocus && before !== now && (now === 'blocked' || (before === 'working' && now === 'idle'));
}
