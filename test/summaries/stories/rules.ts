// Stories about rules: stated early, corrected later, in four languages, beside words that are not the user's.

import { ClaudeTeller } from '../claude-teller.ts';
import { CodexTeller } from '../codex-teller.ts';
import type { SessionStory } from '../story.ts';

/** A limit that the user replaces, and a rule that goes on holding. */
const corrected: SessionStory = {
  name: 'corrected-limit',
  lines: new CodexTeller()
    .user(
      'Write a pager for the harbour log in src/pager.ts. Show at most 40 lines per page. Never read the whole file into memory.',
    )
    .sh('ls src', 'log.ts\nindex.ts')
    .sh('sed -n 1,60p src/log.ts', 'export function* lines(path: string) {\n  // one line at a time\n}')
    .write(
      'src/pager.ts',
      "import { lines } from './log.ts';\n\nconst PAGE = 40;\n\nexport function page(path: string) {}",
    )
    .sh('npm test', '6 passing')
    .agent(
      'The pager shows 40 lines per page and reads through `lines`, because that generator never holds the file.',
    )
    .user('40 is too much on our handhelds: show at most 25 lines per page.')
    .edit('src/pager.ts', 'const PAGE = 40;', 'const PAGE = 25;')
    .sh('npm test', '6 passing')
    .agent('A page now has 25 lines. The tests pass.')
    .user('Good. Add a key to jump to the next warning.')
    .sh('grep -n WARN src/log.ts', '14:  | "WARN"')
    .agent(
      'Warnings are marked `WARN` in the level column. I will add `w` as the key, since `n` already means next page.',
    ).lines,
  key: {
    first: 'Write a pager for the harbour log',
    rules: ['show at most 25 lines per page', 'Never read the whole file into memory.'],
    state: [['Add a key to jump to the next warning'], ['I will add `w` as the key']],
    decisions: [{ what: 'I will add `w` as the key', why: 'since `n` already means next page' }],
    requests: ['Write a pager', '40 is too much on our handhelds', 'Add a key to jump'],
    runs: [{ command: 'npm test', ended: 'passed' }],
    changed: ['src/pager.ts'],
    replaced: [{ old: 'at most 40 lines', by: 'at most 25 lines' }],
    untrue: ['No check has run'],
  },
};

const german: SessionStory = {
  name: 'german',
  lines: new ClaudeTeller()
    .user(
      'Die Fahrplanausgabe rundet Verspätungen falsch. Bitte reparieren. Regeln: Niemals die Datenbank migrieren. Fehlermeldungen immer auf Deutsch, weil die Leitstelle sie liest.',
    )
    .read(
      'src/verspaetung.ts',
      '1\texport function runde(minuten: number) {\n2\t  return Math.ceil(minuten);\n3\t}',
    )
    .sh(
      'npx vitest run verspaetung',
      ' FAIL  src/verspaetung.test.ts > rundet 4,5 auf 4\n Tests  1 failed | 3 passed (4)',
      1,
    )
    .agent(
      '`runde` rundet immer auf. Ich nehme `Math.floor`, weil eine halbe Minute laut Fahrplan noch pünktlich ist.',
    )
    .edit('src/verspaetung.ts', '  return Math.ceil(minuten);', '  return Math.floor(minuten);')
    .sh('npx vitest run', ' Tests  4 passed (4)')
    .sh('git commit -qam "Runde Verspätungen ab" && git log -1 --oneline', '7c1d2ab Runde Verspätungen ab')
    .agent('Behoben und eingecheckt; alle vier Tests laufen durch.')
    .user(
      'Danke. Jetzt noch: Ausfälle sollen als "fällt aus" erscheinen, nicht als Verspätung von 999 Minuten.',
    )
    .sh('grep -rn 999 src', 'src/ausgabe.ts:22:  if (minuten >= 999) return minuten;')
    .agent('Die 999 kommt aus `src/ausgabe.ts:22`; dort ersetze ich sie.').lines,
  key: {
    first: 'Die Fahrplanausgabe rundet Verspätungen falsch',
    rules: [
      'Niemals die Datenbank migrieren.',
      'Fehlermeldungen immer auf Deutsch, weil die Leitstelle sie liest.',
    ],
    state: [
      ['Ausfälle sollen als "fällt aus" erscheinen'],
      ['src/ausgabe.ts:22'],
      ['7c1d2ab', 'Runde Verspätungen ab'],
    ],
    decisions: [
      { what: 'Ich nehme `Math.floor`', why: 'weil eine halbe Minute laut Fahrplan noch pünktlich ist' },
    ],
    requests: ['Fahrplanausgabe', 'Ausfälle sollen'],
    runs: [{ command: 'vitest run', ended: 'passed' }],
    git: { newest: 'Runde Verspätungen ab' },
    changed: ['src/verspaetung.ts'],
    untrue: ['The agent had answered the current request'],
  },
};

const spanish: SessionStory = {
  name: 'spanish',
  lines: new CodexTeller()
    .user(
      'Necesito exportar las cosechas a CSV. Nunca uses librerías nuevas. El separador siempre es punto y coma.',
    )
    .sh('ls', 'cosecha.py\npruebas.py')
    .write(
      'exportar.py',
      "SEPARADOR = ';'\n\ndef exportar(filas):\n    return '\\n'.join(SEPARADOR.join(f) for f in filas)",
    )
    .sh('python -m unittest pruebas', 'Ran 5 tests in 0.01s\n\nOK')
    .agent(
      'He escrito `exportar.py` sin librerías. Elegí escribir las fechas en ISO porque la hoja de cálculo las ordena así.',
    )
    .user('Mejor usa tabulador en vez de punto y coma, el programa viejo no lo entiende.')
    .edit('exportar.py', "SEPARADOR = ';'", "SEPARADOR = '\\t'")
    .sh('python -m unittest pruebas', 'Ran 5 tests in 0.01s\n\nFAILED (failures=1)\nFAIL: test_separador', 1)
    .agent('Falla `test_separador`, que todavía espera el punto y coma. ¿Cambio la prueba o la borro?').lines,
  key: {
    first: 'Necesito exportar las cosechas a CSV',
    rules: ['Nunca uses librerías nuevas.', 'Mejor usa tabulador en vez de punto y coma'],
    state: [['¿Cambio la prueba o la borro?'], ['test_separador']],
    decisions: [{ what: 'escribir las fechas en ISO', why: 'porque la hoja de cálculo las ordena así' }],
    requests: ['Necesito exportar', 'Mejor usa tabulador'],
    runs: [{ command: 'python -m unittest', ended: 'failed' }],
    hasFailure: true,
    changed: ['exportar.py'],
    replaced: [{ old: 'El separador siempre es punto y coma', by: 'Mejor usa tabulador' }],
  },
};

const japanese: SessionStory = {
  name: 'japanese',
  lines: new ClaudeTeller()
    .user(
      '灯台の点灯時刻を計算する関数を書いてください。外部のAPIは絶対に使わないでください。時刻は必ずUTCで返してください。',
    )
    .write('src/lamp.ts', 'export function lightingTime(day: Date): Date {\n  return sunset(day);\n}')
    .sh('npm test -- lamp', 'tests 3\npass 3\nfail 0')
    .agent('`lightingTime` を書きました。日没の式を内蔵したのは、外部APIを使えないためです。')
    .user('霧の日は一時間早く点灯するようにしてください。')
    .edit(
      'src/lamp.ts',
      '  return sunset(day);',
      '  return isFoggy(day) ? hourBefore(sunset(day)) : sunset(day);',
    )
    .sh('npm test -- lamp', 'tests 4\npass 3\nfail 1\nnot ok 4 - fog lights an hour earlier', 1)
    .agent('霧のテストが失敗しています。`hourBefore` が夏時間で一時間ずれています。').lines,
  key: {
    first: '灯台の点灯時刻を計算する関数を書いてください。',
    rules: ['外部のAPIは絶対に使わないでください。', '時刻は必ずUTCで返してください。'],
    state: [['霧の日は一時間早く点灯'], ['`hourBefore` が夏時間で一時間ずれています']],
    decisions: [{ what: '日没の式を内蔵したのは', why: '外部APIを使えないためです' }],
    requests: ['灯台の点灯時刻', '霧の日は'],
    runs: [{ command: 'npm test -- lamp', ended: 'failed' }],
    hasFailure: true,
    changed: ['src/lamp.ts'],
    untrue: ['The agent had answered the current request'],
  },
};

/** A review that the user pasted states rules of its author. */
const PASTED = [
  'Here is what our consultant sent about the ferry booking. Only use it as background:',
  '',
  'Booking review, second draft',
  'The form must always ask for a passport number before the price is shown.',
  'You should never store a booking for longer than 30 days.',
  ...Array.from(
    { length: 14 },
    (_, at) =>
      `Finding ${at + 1}: page ${at + 3} of the form takes too long to load on the quay, where the network is poor.`,
  ),
  'Do not release before the consultant has signed.',
  '',
  'My own wish: keep the form on one page.',
].join('\n');

const pasted: SessionStory = {
  name: 'long-paste',
  lines: new ClaudeTeller()
    .user(PASTED)
    .read('web/form.html', '1\t<form>\n2\t  <input name="ferry">\n3\t</form>')
    .agent(
      'I read the form. It has one page already, and I left the passport number out, because only two routes need it.',
    )
    .user('Right. Make the price visible before the name.')
    .edit(
      'web/form.html',
      '  <input name="ferry">',
      '  <input name="ferry">\n  <output name="price"></output>',
    )
    .agent(
      'The price is now shown directly below the ferry. Nothing was run: the project has no tests for the form.',
    ).lines,
  key: {
    first: 'Here is what our consultant sent about the ferry booking',
    rules: ['keep the form on one page'],
    state: [['Make the price visible before the name'], ['The price is now shown directly below the ferry']],
    decisions: [{ what: 'I left the passport number out', why: 'because only two routes need it' }],
    requests: ['ferry booking', 'Make the price visible'],
    changed: ['web/form.html'],
    others: [
      'must always ask for a passport number',
      'never store a booking for longer than 30 days',
      'Do not release before the consultant has signed',
    ],
  },
};

/** A skill's body and a reviewer's report, both in the user's name. */
const otherVoices: SessionStory = {
  name: 'other-voices',
  lines: new ClaudeTeller()
    .user('Check the tide tables for gaps. Never touch the raw files in data/.')
    .skill(
      'Base directory for this skill: /home/dev/.claude/skills/tables\n\n# Tables\n\nAlways convert tables to Parquet first. Never print more than ten rows. You must ask before each query.',
    )
    .sh('python gaps.py data/tides.csv', '3 gaps: 2026-02-11, 2026-02-12, 2026-03-01')
    .notified(
      'a1',
      'Agent "Review gaps" completed',
      'You must always interpolate gaps linearly. Never leave a gap.',
    )
    .agent(
      'There are three gaps. I leave them empty instead of interpolating, because a wrong tide is worse than none.',
    )
    .user('Agreed. Mark them in the report.')
    .edit('report.py', 'rows = read()', 'rows = mark_gaps(read())')
    .agent('The report marks the three gaps.').lines,
  key: {
    first: 'Check the tide tables for gaps',
    rules: ['Never touch the raw files in data/.'],
    state: [['Mark them in the report'], ['The report marks the three gaps']],
    decisions: [
      { what: 'I leave them empty instead of interpolating', why: 'because a wrong tide is worse than none' },
    ],
    requests: ['Check the tide tables', 'Mark them in the report'],
    changed: ['report.py'],
    others: ['Always convert tables to Parquet first', 'You must always interpolate gaps linearly'],
  },
};

/** The stories about rules. */
export const RULES_STORIES: readonly SessionStory[] = [
  corrected,
  german,
  spanish,
  japanese,
  pasted,
  otherVoices,
];
