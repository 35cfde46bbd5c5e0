import assert from 'node:assert/strict';
import { test } from 'node:test';
import { constraintsOf, isIdle, isLasting, unwrap } from './constraints.ts';

for (const rule of [
  'Never touch the vendored folder.',
  "Please don't add dependencies.",
  'Use tabs, not spaces.',
  'Only run the unit tests.',
  'The limit must stay at 40 requests per minute.',
  'Prefer composition over inheritance.',
  'No, that is the wrong file.',
  'Bitte keine neuen Abhängigkeiten.',
  'Benutze immer die alte Schnittstelle.',
  'Log each step as each bay is painted.',
  'Test it and be sure to store all of the results.',
  "N'utilise jamais le cache.",
  'Il faut garder les noms.',
  'Nunca borres las migraciones.',
  'Usa siempre la rama principal.',
  '不要修改测试文件。',
  '必须使用中文注释。',
  'テストは変更しないでください。',
  '必ず型を付けて。',
]) {
  test(`a rule: ${rule}`, () => assert.deepEqual(constraintsOf(rule), [rule]));
}

for (const none of [
  'Add a button to the toolbar.',
  'Why is it never called?',
  'Bau bitte die Tabelle um.',
  'Ajoute un bouton.',
  'Añade un botón.',
  '加一个按钮。',
  'ボタンを追加して。',
  'ImportError: cannot import name Foo from bar',
]) {
  test(`no rule: ${none}`, () => assert.deepEqual(constraintsOf(none), []));
}

test('a rule is the whole sentence, verbatim, and code is no sentence', () => {
  const message =
    'Build the page. It must load in e.g. 2 s, not more. Thanks!\n```\nnever()\n```\n- always log it';
  assert.deepEqual(constraintsOf(message), ['It must load in e.g. 2 s, not more.', 'always log it']);
});

test('what is listed below a heading about rules binds, whatever its words; other lists do not', () => {
  const message =
    'Ground rules:\n- keep every function short\n2. tabs for indentation\n\nSteps:\n- add a lamp\n- paint the door';
  assert.deepEqual(constraintsOf(message), ['keep every function short', 'tabs for indentation']);
});

/** Rules in many words and languages. The tables were widened on two thirds of them; of the last 36 they knew 23 before. */
const RULES = [
  'Keep in mind that for night runs we have the whole log.',
  'I want tabs everywhere.',
  "I didn't mean that, never spin it twice.",
  'Can you make sure to never spin it twice.',
  'Keep every function under 30 lines.',
  'No new dependencies.',
  'Leave the migrations folder alone.',
  'The public API has to stay as it is.',
  'You may not push to main.',
  'Limit the batch size to 50.',
  'Max 3 retries per request.',
  'Responses need to come back within 200 ms.',
  'Ask me before you delete anything.',
  'Refrain from reformatting untouched files.',
  'Stay away from the billing module.',
  'Under no circumstances edit the lockfile by hand.',
  'We want British spelling everywhere.',
  'All log lines shall be JSON.',
  'dont touch the config',
  'Every endpoint requires a token.',
  'Hands off the generated code.',
  'Snake case for columns, please, not camel case.',
  'Stick with the standard library.',
  'The timeout is fixed at 30 seconds, keep it that way.',
  'Nothing may be written outside of /var/data.',
  'Commit messages in imperative mood.',
  "I'd rather you didn't rename the package.",
  'Please hold on to the old endpoint until June.',
  'Don’t run the full suite, it takes an hour.',
  'Target Node 20 and up.',
  'Run the linter before every commit.',
  "It's crucial that the order stays stable.",
  'Nobody but the admin can see that page.',
  'Treat warnings as errors.',
  'Use four spaces for indentation.',
  'Use pnpm.',
  'Tests go next to the source file.',
  'Make it work offline as well; no network calls.',
  'Skip the e2e tests for now.',
  "We can't ship anything GPL.",
  "Let's not introduce another state library.",
  'Whatever you do, keep the tests green.',
  'Names have to be in English.',
  "I don't want any default exports.",
  'Bitte ohne neue Pakete auskommen.',
  'Die Tests dürfen nicht geändert werden.',
  'Funktionen sollen kürzer als 30 Zeilen sein.',
  'Höchstens drei Versuche.',
  'Finger weg von der Datenbank.',
  'Verwende Leerzeichen statt Tabs.',
  'Pas de nouvelles dépendances.',
  'Les noms doivent rester en anglais.',
  'Au plus trois essais.',
  'Sin dependencias nuevas.',
  'Los nombres tienen que estar en inglés.',
  'Como máximo tres intentos.',
  'Não altere os testes.',
  'Use sempre aspas simples.',
  'Sem novas dependências.',
  'Non modificare i test.',
  'Usa sempre gli apici singoli.',
  'Senza nuove dipendenze.',
  'Wijzig de tests niet.',
  'Gebruik altijd enkele aanhalingstekens.',
  'Никогда не меняй тесты.',
  'Используй только стандартную библиотеку.',
  'Без новых зависимостей.',
  '테스트는 수정하지 마세요.',
  '항상 작은따옴표를 사용하세요.',
  '새 의존성 없이 해 주세요.',
  '最多重试三次。',
  '函数不要超过30行。',
  '仅使用标准库。',
  '関数は30行以内にしてください。',
  '新しい依存関係は追加禁止です。',
  'Nie zmieniaj testów.',
  'Testleri asla değiştirme.',
  'Please keep the bundle below 200 kB.',
  'We are not allowed to call the vendor at night.',
  'Do nothing to the seed data.',
  'I need the old URLs to keep working.',
  'Only touch files in packages/web.',
  'Anything that writes to disk goes through the vault module.',
  'Prices are always integers, in cents.',
  'The script must be idempotent.',
  "Don't bother me with questions until you are through.",
  'At no point should the token be logged.',
  'Wait for my OK before you push.',
  'Functions longer than 40 lines are not accepted.',
  'Prefix all branches with ada/.',
  'Stay compatible with Python 3.9.',
  'Please no emojis in the output.',
  "I'd like you to avoid regexes here.",
  'The rate is capped at 10 requests per second.',
  'Colours come from the theme, not from literals.',
  'Write the comments in English.',
  "It's forbidden to use eval.",
  'Bitte nichts an der Anmeldung ändern.',
  'Alle Texte auf Deutsch.',
  'Die Antwort darf maximal zwei Sekunden dauern.',
  'Ne touche pas aux fixtures.',
  'Chaque fonction doit avoir un test.',
  'No uses librerías externas.',
  'Mantén las funciones cortas.',
  'Evite bibliotecas externas.',
  'Non toccare il file di configurazione.',
  'Gebruik geen externe bibliotheken.',
  'Не используй внешние библиотеки.',
  '외부 라이브러리를 사용하지 마세요.',
  '不要引入新的依赖。',
  '变量名必须用英文。',
  '外部ライブラリは使わないでください。',
  'コメントは英語で書くこと。',
];

/** Requests for one thing, in the same languages. */
const REQUESTS = [
  'Add a button to the toolbar.',
  'Fix the login bug.',
  'Can you look at the failing test?',
  "Let's build the importer next.",
  'Write a test for the parser.',
  'What does this function do?',
  'Refactor the store into two modules.',
  'The page shows a blank screen when I log in.',
  'Great, thanks!',
  'Continue.',
  'commit and push',
  'Yes, go ahead.',
  'Update the README with the new flags.',
  'Show me the diff.',
  'Deploy it to staging.',
  'I think the chart looks good now.',
  'Explain how the cache works.',
  'Rename foo to bar.',
  'It crashed again with the same error.',
  'Merge the branch.',
  'Schreib einen Test für den Parser.',
  'Zeig mir den Unterschied.',
  'Baue die Seite neu.',
  'Écris un test pour le parseur.',
  'Montre-moi la différence.',
  'Escribe una prueba para el analizador.',
  'Muéstrame la diferencia.',
  'Escreva um teste para o parser.',
  'Mostre o diff.',
  'Scrivi un test per il parser.',
  'Mostrami la differenza.',
  'Schrijf een test voor de parser.',
  'Напиши тест для парсера.',
  'Покажи разницу.',
  '파서 테스트를 작성해 줘.',
  '차이를 보여 줘.',
  '给解析器写一个测试。',
  'パーサーのテストを書いて。',
  'パーサーを直して。',
  'Now do the same for the settings page.',
  'The second test is red again.',
  'Add pagination to the list view.',
  'Try running it with a bigger file.',
  'I pushed the branch, please rebase.',
  'That worked, next one.',
  'Looks fine to me.',
  'Give me a summary of what you changed.',
  'Move the helper into its own file.',
  'There is a typo in the header.',
  'The build takes four minutes on my machine.',
  'Could you also handle empty files?',
  'ok do it',
  'Start the dev server and open the page.',
  'Füge eine Suchleiste hinzu.',
  'Ajoute une barre de recherche.',
  'Agrega una barra de búsqueda.',
  'Добавь строку поиска.',
  '検索バーを追加して。',
  '添加一个搜索框。',
  'now can you explain: the index is rebuilt only for new files',
  'can you tell me why we never close the shutter',
  'But I never saw the shutter open.',
  "I didn't see the new lamps, only the old ones.",
  '│     - 1a2b3c4 the dome must not spin twice — 1 week ago [+10 -3 (2 files)]',
  'M12 Snnn\tTurn the dome (never wait)\t—\tAll',
];

test('rules are known in many words and languages', () => {
  const missed = RULES.filter((rule) => constraintsOf(rule)[0] !== rule);
  assert.deepEqual(missed, []);
});

test('a request for one thing is no rule', () => {
  const taken = REQUESTS.filter((request) => constraintsOf(request).length > 0);
  assert.deepEqual(taken, []);
});

const HEADINGS: readonly (readonly [text: string, rules: readonly string[]])[] = [
  ['Please follow these rules when you write code:\n- short functions\n- tabs', ['short functions', 'tabs']],
  ['Style:\nshort functions\ntabs for indentation\n\nBuild it.', ['short functions', 'tabs for indentation']],
  ['## Code style\n\n* short functions\n* tabs\n\n## Task\n* paint', ['short functions', 'tabs']],
  ['**Requirements**\n1) short functions', ['short functions']],
  ['Requirements:\n\n- short functions\n\n- tabs\nGo.\n- paint', ['short functions', 'tabs']],
  ['Règles à suivre :\n- fonctions courtes', ['fonctions courtes']],
  ['Não esqueça as regras:\n- funções curtas', ['funções curtas']],
  ['Правила:\n- короткие функции', ['короткие функции']],
  ['규칙:\n- 짧은 함수', ['짧은 함수']],
  ['请遵守以下规则：\n1. 函数短\n2. 用制表符', ['函数短', '用制表符']],
  ['以下のルール：\n・関数は短く', ['関数は短く']],
];

for (const [text, rules] of HEADINGS) {
  test(`rules below "${text.split('\n')[0] ?? ''}"`, () => assert.deepEqual(constraintsOf(text), rules));
}

test('most rules last, what one request should do or be does not', () => {
  const passing = RULES.filter((rule) => !isLasting(rule));
  assert.ok(
    passing.length < RULES.length / 20,
    `${passing.length} are taken to pass: ${passing.join(' | ')}`,
  );
  const done = [
    'The lens should be dimmer.',
    'No, the tube has to be shorter.',
    'I think every mirror here is upside down.',
    'Actually, it is the roof that does not move.',
    'skip 5 and 7, do the rest',
    'Can you make sure the lamp works without the relay.',
    'Maybe we should move everything under the dome.',
  ];
  assert.deepEqual(done.filter(isLasting), []);
});

test('a rule that points back brings the sentence before it along', () => {
  assert.deepEqual(constraintsOf('Does the dome know of rain? If not it should. Paint the roof.'), [
    'Does the dome know of rain? If not it should.',
  ]);
  assert.deepEqual(constraintsOf('The dome opens at dusk. It must never open before that. Thanks.'), [
    'The dome opens at dusk. It must never open before that.',
  ]);
  assert.deepEqual(constraintsOf('Never open the dome. Do not do this in rain.'), [
    'Never open the dome. Do not do this in rain.',
  ]);
  assert.deepEqual(constraintsOf('Always log it'), ['Always log it']);
});

test('an order about some words of a text passes, what a user insists on lasts', () => {
  assert.ok(!isLasting('remove this "Never paint the dome before the'), 'the quoted words bind nobody');
  assert.ok(isLasting('What I said was run `lamp add && lamp light` so I only have to approve it once.'));
});

test('a title is no rule', () => {
  assert.deepEqual(constraintsOf('Important Discoveries\n\nThe lamp burns.'), []);
  assert.deepEqual(constraintsOf('Important: no lamps'), ['Important: no lamps']);
});

test('lines that a program broke are copied, those of who types without capitals are not', () => {
  const copied =
    'A lamp should light one room of the house and no other\nroom, so that the night stays dark.';
  assert.deepEqual(unwrap(copied).wrapped, [copied.replace('\n', ' ')]);
  assert.deepEqual(constraintsOf(unwrap(copied).text), [copied.replace('\n', ' ')], 'one rule, whole');
  const hyphenated =
    'The lamps that hang in the northern tower... should be self-\nlike, and never be turned by hand before the evening is\n$LAMP_TIME.';
  assert.deepEqual(constraintsOf(unwrap(hyphenated).text), [
    'The lamps that hang in the northern tower... should be self-like, and never be turned by hand before the evening is $LAMP_TIME.',
  ]);
  const typed = 'paint the north door and the south door before noon\nalso never the roof';
  assert.deepEqual(unwrap(typed), { text: typed, wrapped: [] });
});

test('who thinks aloud, introduces a list or speaks of words in a text sets no rule', () => {
  const idle = (text: string): boolean => isIdle({ text, isPasted: false });
  for (const text of [
    'maybe we should only paint the dome',
    'also I thought we no longer use two lenses, we just use one',
    'should we rather keep the north door',
    'A telescope should also have:',
    'Here is a list of every door that should be painted.',
    'remove this "Never paint the dome."',
  ])
    assert.ok(idle(text), text);
  for (const text of [
    'Never do these:',
    'Only use what is listed here:',
    'I think the dome must never be painted',
    "maybe we should keep it, but please don't paint the dome",
    'I think let us keep one lens, let’s not add others',
    'The dome should be blue.',
  ])
    assert.ok(!idle(text), text);
  assert.ok(!isIdle({ text: 'A telescope should also have:', isPasted: true }), 'may bind or not');
});
