// What a thread that is terminated from outside leaves behind: process groups and unfinished files. The owner of the thread
// listens, and cleans up whatever was not settled.

import { channel } from 'node:diagnostics_channel';

/** Something that a terminated thread leaves behind. */
export type Remains =
  /** A process group, by its leader's process id. */
  | { readonly type: 'group'; readonly pid: number }
  /** A temporary file, by its absolute path. */
  | { readonly type: 'file'; readonly path: string }
  /** A session that can be resumed; `cure` is the sentence that says how. */
  | { readonly type: 'session'; readonly cure: string };

/** One announcement: between `begun` and `settled` the remains would be left behind. */
export interface Announcement {
  readonly state: 'begun' | 'settled';
  readonly remains: Remains;
}

const announcements = channel('baton.remains');

/** Announces remains. Without a listener it does nothing. */
export function announceRemains(state: Announcement['state'], remains: Remains): void {
  const announcement: Announcement = { state, remains };
  announcements.publish(announcement);
}

/** Listens to every announcement of this thread, synchronously and in order. */
export function onRemains(listener: (announcement: Announcement) => void): void {
  announcements.subscribe((message) => listener(message as Announcement));
}
