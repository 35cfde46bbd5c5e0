import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Story } from '../../test/support/story.ts';
import { trailOf } from '../../test/support/trail.ts';
import { fileActionsOf } from './programs.ts';
import { simpleCommands } from './scripts.ts';

const made = (script: string): string[] =>
  simpleCommands(script)
    .flatMap(fileActionsOf)
    .filter(({ action }) => action === 'create')
    .map(({ path }) => path);

test('what a converter makes is a file that was created', () => {
  for (const script of [
    'sips -s format png moon.svg --out art/moon.png -Z 16',
    'cd art && convert ../moon.svg -resize 16x16 moon.png',
    'magick moon.svg art/moon.png',
    'ffmpeg -y -i moon.mov -vf scale=320:-1 art/moon.png',
    'rsvg-convert -w 16 moon.svg -o art/moon.png',
    'inkscape moon.svg --export-filename=art/moon.png',
    'curl -sSL https://moons.example/io -o art/moon.png',
    'wget -O art/moon.png https://moons.example/io',
  ])
    assert.deepEqual(made(script), ['art/moon.png'], script);
});

test('what goes to the screen, to a place without a name or nowhere is no file', () => {
  for (const script of [
    'pandoc notes.md',
    'convert moon.svg png:-',
    'magick -version',
    'curl https://moons.example/io.json',
    'curl -o - https://moons.example/io.json',
    'ffmpeg -i moon.mov rtmp://moons.example/live.flv',
    'grep -o moon notes.md',
    'svgo -o dist moon.svg',
  ])
    assert.deepEqual(made(script), [], script);
});

test('a file that was made stands among the files of the work', () => {
  const { files } = trailOf(
    Story.in('/w').user('Draw.').sh('sips -s format png a.svg --out a.png', '/w/a.svg'),
  );
  assert.deepEqual(
    files.map(({ path, state }) => [path, state]),
    [['a.png', 'created']],
  );
});
