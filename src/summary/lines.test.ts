import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Story } from '../../test/support/story.ts';
import { trailOf } from '../../test/support/trail.ts';
import { linesOf } from './lines.ts';
import type { Lines } from './lines.ts';
import { preservedWords } from './preserved.ts';

/** Rows of a log of which each names something of its own. */
function rowsOf(count: number): string {
  return Array.from({ length: count }, (_, at) => `12:0${at % 10} gaugeOf_${at} saw stormFront_${at}`).join(
    '\n',
  );
}

function textsOf({ floors, all }: Lines): unknown {
  return [
    floors.map(({ lines }) => lines.map(({ text }) => text)),
    all.flatMap((line) => ('lines' in line ? line.lines : [line])).map(({ text }) => text),
  ];
}

test('what is written with spare room is the same whether or not it was written without it before', () => {
  const story = Story.in('/w').user('Why does the dome stop in storms?');
  for (const hour of [1, 2, 3]) story.sh(`cat night${hour}.log`, rowsOf(60));
  const trail = trailOf(story);
  assert.ok(trail.current.unread.length > 0);
  const budget = 4_000;
  const again = linesOf(trail, budget, preservedWords([]));
  const without = textsOf(again(0));
  const fresh = textsOf(linesOf(trail, budget, preservedWords([]))(800));
  assert.deepEqual(textsOf(again(800)), fresh);
  assert.deepEqual(textsOf(again(0)), without);
  assert.notDeepEqual(without, fresh, 'the spare room is used');
});

test('a quoted row of a script says that others ran with it: the output may be theirs', () => {
  const quoteOf = (script: string): string | undefined => {
    const story = Story.in('/w').user('Polish all.').sh(script, 'Polished the lens.');
    const { all } = linesOf(trailOf(story), 4_000, preservedWords([]))(0);
    const texts = all.flatMap((line) => ('lines' in line ? line.lines : [line])).map(({ text }) => text);
    return texts.find((text) => text.startsWith('- `polish comet_mirror`'));
  };
  assert.equal(quoteOf('polish comet_mirror'), '- `polish comet_mirror` (message 1) → Polished the lens.');
  assert.equal(
    quoteOf('polish nebula_lens\npolish comet_mirror'),
    '- `polish comet_mirror` (message 1, with other commands) → Polished the lens.',
  );
});
