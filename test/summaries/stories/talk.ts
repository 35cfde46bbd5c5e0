// Stories about talk: queued messages, refusals, questions, changes of mind, images, secrets, and work that is not code.

import { ClaudeTeller } from '../claude-teller.ts';
import { CodexTeller } from '../codex-teller.ts';
import type { SessionStory } from '../story.ts';

/** Messages that were queued and have no record of their own. */
const queued: SessionStory = {
  name: 'queued-messages',
  lines: new ClaudeTeller()
    .user('Draw the coast line from shore.geojson.')
    .read('shore.geojson', '1\t{"type":"FeatureCollection","features":[]}')
    .queued('Use dark blue for the water, never black.')
    .write('draw.py', "WATER = '#003366'")
    .queued('And also draw the lighthouses as yellow dots.')
    .sh('python draw.py', 'wrote coast.svg')
    .agent('The coast is drawn with dark blue water. The lighthouses are missing still.').lines,
  key: {
    first: 'Draw the coast line from shore.geojson',
    rules: ['Use dark blue for the water, never black.'],
    state: [['The lighthouses are missing still'], ['draw the lighthouses as yellow dots']],
    decisions: [],
    requests: ['Draw the coast line', 'Use dark blue for the water', 'draw the lighthouses as yellow dots'],
    changed: ['draw.py'],
    untrue: ['The agent had answered the current request'],
  },
};

const refused: SessionStory = {
  name: 'refused-approval',
  lines: new ClaudeTeller()
    .user('Clean up the old charts.')
    .sh('ls charts', '1998.pdf\n2004.pdf\n2025.pdf')
    .refused('rm charts/1998.pdf charts/2004.pdf', 'Do not delete charts, move them to archive/ instead.')
    .sh('mkdir -p archive && mv charts/1998.pdf charts/2004.pdf archive/')
    .agent('Both old charts are in `archive/`; `charts/2025.pdf` stays, because it is the current one.')
    .lines,
  key: {
    first: 'Clean up the old charts',
    rules: ['Do not delete charts, move them to archive/ instead.'],
    state: [['Both old charts are in `archive/`']],
    decisions: [{ what: '`charts/2025.pdf` stays', why: 'because it is the current one' }],
    requests: ['Clean up the old charts'],
    untrue: ['charts/1998.pdf (deleted)', '2004.pdf (deleted)', 'deleted charts/1998.pdf'],
  },
};

/** A list of proposals, of which the user chooses by number. */
const chosen: SessionStory = {
  name: 'plan-and-choice',
  lines: new ClaudeTeller()
    .user('What could make the timetable page faster? Propose, do not change anything yet.')
    .sh('wc -c public/*.js', '812000 public/app.js')
    .agent(
      'Three ways:\n1. Split app.js by route, which halves the first load.\n2. Cache the timetable for a minute, since it changes hourly.\n3. Render the first page on the server.\n\nI would begin with 2, because it is the smallest change.',
    )
    .user('Do 2 and 3, not 1.')
    .todo('now: Cache the timetable for a minute', 'todo: Render the first page on the server')
    .edit('server.ts', 'send(timetable());', 'send(cached(timetable, 60));')
    .sh('npm test', '17 passing')
    .todo('done: Cache the timetable for a minute', 'now: Render the first page on the server')
    .agent('The cache is in place. On 3: the page needs the router without `window` first.').lines,
  key: {
    first: 'What could make the timetable page faster?',
    rules: [],
    state: [
      ['Do 2 and 3, not 1.'],
      ['Render the first page on the server'],
      ['the page needs the router without `window` first'],
    ],
    decisions: [{ what: 'Cache the timetable for a minute', why: 'since it changes hourly' }],
    requests: ['timetable page faster', 'Do 2 and 3'],
    runs: [{ command: 'npm test', ended: 'passed' }],
    changed: ['server.ts'],
    replaced: [{ old: 'do not change anything yet', by: 'Do 2 and 3' }],
  },
};

const secrets: SessionStory = {
  name: 'secrets',
  lines: new CodexTeller()
    .user(`The upload fails. The key is sk-proj-${'Ab3dEf6hIj9k'.repeat(4)}; do not write it into any file.`)
    .sh('node upload.mjs', 'HTTP 403: wrong bucket "harbour-old"', 1)
    .edit('upload.mjs', "bucket: 'harbour-old'", "bucket: 'harbour'")
    .sh('node upload.mjs', 'uploaded 4 files to harbour')
    .agent(
      'The upload works. The key was right; the bucket was the old one, because the example still names it.',
    ).lines,
  key: {
    first: 'The upload fails',
    rules: ['do not write it into any file'],
    state: [['The upload works']],
    decisions: [{ what: 'the bucket was the old one', why: 'because the example still names it' }],
    requests: ['The upload fails'],
    runs: [{ command: 'node upload.mjs', ended: 'passed' }],
    changed: ['upload.mjs'],
    untrue: ['Ab3dEf6hIj9kAb3d'],
  },
};

const images: SessionStory = {
  name: 'images',
  lines: new ClaudeTeller()
    .user('Look at screenshots/dock.png: the label overlaps the crane. Repair the style.')
    .picture('screenshots/dock.png')
    .agent('The label overlaps by about ten pixels, because its container has no padding.')
    .edit('dock.css', 'padding: 0', 'padding: 12px')
    .sh('node shoot.mjs screenshots/dock-after.png')
    .picture('screenshots/dock-after.png').lines,
  key: {
    first: 'Look at screenshots/dock.png: the label overlaps the crane',
    rules: [],
    state: [['dock.css'], ['dock-after.png']],
    decisions: [
      { what: 'The label overlaps by about ten pixels', why: 'because its container has no padding' },
    ],
    requests: ['the label overlaps the crane'],
    changed: ['dock.css'],
    images: ['screenshots/dock.png', 'screenshots/dock-after.png'],
  },
};

/** Only talk. */
const talkOnly: SessionStory = {
  name: 'no-commands',
  lines: new ClaudeTeller()
    .user('Help me to name a magazine about canals. No puns, please.')
    .agent(
      'Three names: "Towpath", "Slow Water", "The Lock Keeper". "Towpath" is the shortest, and everybody on a canal knows the word.',
    )
    .user('"Slow Water" I like best. Which subtitle?')
    .agent('"Life along the canals": it says who it is for. Should the subtitle mention boats?').lines,
  key: {
    first: 'Help me to name a magazine about canals',
    rules: ['No puns, please.'],
    state: [['Should the subtitle mention boats?']],
    decisions: [{ what: '"Life along the canals"', why: 'it says who it is for' }],
    requests: ['name a magazine', '"Slow Water" I like best'],
    untrue: ['"Towpath" was chosen'],
  },
};

/** A letter, without git. */
const letter: SessionStory = {
  name: 'work-without-git',
  lines: new CodexTeller()
    .user(
      'Write a letter to the harbour office about the broken crane, one page, in letter.md. Always be polite.',
    )
    .sh('git status', 'fatal: not a git repository (or any of the parent directories: .git)', 128)
    .write('letter.md', 'Dear harbour office,\n\nthe crane at quay 4 has been out of order since Monday.')
    .sh('wc -w letter.md', '14 letter.md')
    .agent('A first draft is in `letter.md`. I left the damages out, because you have no invoice yet.')
    .user('Add that we need it by Friday.')
    .edit('letter.md', 'since Monday.', 'since Monday. We need it by Friday.')
    .agent('Added. The letter has 19 words; you wanted one page, so there is room.').lines,
  key: {
    first: 'Write a letter to the harbour office',
    rules: ['Always be polite.'],
    state: [['The letter has 19 words'], ['letter.md']],
    decisions: [{ what: 'I left the damages out', why: 'because you have no invoice yet' }],
    requests: ['Write a letter', 'Add that we need it by Friday'],
    changed: ['letter.md'],
    untrue: ['Not committed', 'No commit by the agent'],
  },
};

/** The user changes their mind twice, and a finished plan remains in the log. */
const changedMind: SessionStory = {
  name: 'changed-mind',
  lines: new CodexTeller()
    .user('Give the ticket machine a night mode. Use orange on black.')
    .plan('now: Find the colours', 'todo: Write the night style')
    .edit('style.css', 'color: black', 'color: orange')
    .plan('done: Find the colours', 'done: Write the night style')
    .agent('The night mode is orange on black.')
    .user('Hm, use white on black instead, orange looks like an alarm.')
    .edit('style.css', 'color: orange', 'color: white')
    .agent('It is white on black now.')
    .user('No, after all take green on black, as on the old machines. Only at night between 22:00 and 5:00.')
    .edit('style.css', 'color: white', 'color: green')
    .agent(
      'It is green on black. The hours are not limited yet, since the machine has no clock in its style.',
    ).lines,
  key: {
    first: 'Give the ticket machine a night mode',
    rules: ['after all take green on black', 'Only at night between 22:00 and 5:00.'],
    state: [['The hours are not limited yet'], ['green on black']],
    decisions: [
      { what: 'The hours are not limited yet', why: 'since the machine has no clock in its style' },
    ],
    requests: ['night mode', 'use white on black instead', 'take green on black'],
    changed: ['style.css'],
    replaced: [
      { old: 'Use orange on black', by: 'green on black' },
      { old: 'use white on black instead', by: 'green on black' },
    ],
    untrue: [
      'All 2 steps of the plan are done',
      'The agent had answered the current request',
      '(it may bind): "Hm, use white on black instead',
    ],
  },
};

/** The stories about talk. */
export const TALK_STORIES: readonly SessionStory[] = [
  queued,
  refused,
  chosen,
  secrets,
  images,
  talkOnly,
  letter,
  changedMind,
];
