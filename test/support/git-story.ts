// A working directory under git for stories, and what their trail tells of it.

import { TrailCollector } from '../../src/trail/collect.ts';
import type { Trail } from '../../src/trail/trail.ts';
import { Story } from './story.ts';

/** Where the stories play. */
export const HOME = '/home/ada/orbit';

/** A story of which git knows at its start that nothing is changed. */
export function begun(): Story {
  return Story.in(HOME).user('Build the dome.').sh('git status', 'On branch main\nnothing to commit');
}

/** The story with edits of files that git knows. */
export function edited(story: Story, ...paths: string[]): Story {
  for (const path of paths) story.edit(`${HOME}/${path}`, 'x', 'y');
  return story;
}

/** Two files changed, `a.ts` and `src/b.ts`. */
export function two(): Story {
  return edited(begun(), 'a.ts', 'src/b.ts');
}

/** The same two, committed. */
export function committed(): Story {
  return two().sh('git commit -am dome', made('1a2b3c4', 'dome', 2));
}

/** What `git commit` prints. */
export function made(hash: string, subject = 'dome', files = 1): string {
  return `[main ${hash}] ${subject}\n ${files} file${files > 1 ? 's' : ''} changed, 2 insertions(+)`;
}

/** The trail of a whole story. */
export function trailOf({ records }: Story): Trail {
  const collector = new TrailCollector();
  for (const record of records) collector.add(record);
  return collector.trail();
}

/** The paths that no commit holds, the oldest change first. */
export function open(story: Story): string[] {
  return trailOf(story)
    .tree.changed.map(({ path }) => path)
    .toReversed();
}

/** How the newest commit is told, and how many the remote does not have. */
export function newest(story: Story): string {
  const { tree } = trailOf(story);
  return `${tree.as} ${tree.newest?.hash ?? '-'} ${tree.newest?.subject ?? '-'}, ${tree.ahead}`;
}

/** The commits that the session made, and what became of them. */
export function commits(story: Story): string[] {
  return trailOf(story).commits.map(
    ({ hash, subject, fate }) => `${hash ?? '-'} ${subject}${fate === undefined ? '' : ` ${fate}`}`,
  );
}
