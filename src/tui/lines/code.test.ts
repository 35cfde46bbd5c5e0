import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { codeLines } from './code.ts';
import { languageNamed, languageOfPath } from './languages.ts';
import type { Line } from './line.ts';

/** A line with its hues: `<keyword:let>`. */
function hued(spans: Line): string {
  return spans.map(({ text, hue }) => (hue === undefined ? text : `<${hue}:${text}>`)).join('');
}

const CASES: readonly [language: string, source: string, shown: readonly string[]][] = [
  ['ts', 'const a = "x"; // y', ['<keyword:const> a = <string:"x">; <comment:// y>']],
  ['js', 'a = `one ${b}\ntwo`;\nc', ['a = <string:`one >${b}', '<string:two`>;', 'c']],
  ['json', '{"a": [1, true]}', ['{<name:"a">: [<number:1>, <keyword:true>]}']],
  [
    'python',
    'def f(a,\n    b):\n  """x\n  y"""',
    ['<keyword:def> <name:f>(a,', '    b):', '  <string:"""x>', '<string:  y""">'],
  ],
  ['c', '/* a\nint b;\n*/\nint c;', ['<comment:/* a>', '<comment:int b;>', '<comment:*/>', '<name:int> c;']],
  ['html', '<p class="a">b</p>', ['<<name:p> <name:class>=<string:"a">>b</<name:p>>']],
  [
    'html',
    '<script>\nlet a;\n</script>\nb',
    ['<<name:script>>', '<keyword:let> a;', '</<name:script>>', 'b'],
  ],
  ['bash', 'echo "$a" # b', ['<name:echo> <string:">$a<string:"> <comment:# b>']],
  ['diff', '+a\n-b', ['<good:+a>', '<bad:-b>']],
  ['yaml', 'a: 1\n\nb: x', ['<name:a:> <number:1>', '', '<name:b:> <string:x>']],
  ['sql', 'SELECT 1', ['<keyword:SELECT> <number:1>']],
  ['nonsense', 'let a;', ['let a;']],
  ['', 'let a;\r\nb', ['let a;', 'b']],
  ['constructor', 'let a;', ['let a;']],
];

for (const [language, source, shown] of CASES) {
  test(`highlights ${language}: ${JSON.stringify(source)}`, () => {
    assert.deepEqual(codeLines(source, language).map(hued), shown);
  });
}

test('every language can be used', () => {
  const names =
    'bash c cpp cs css diff dockerfile go toml java js json kotlin lua make md php py rb rs sql swift ts html yaml';
  for (const name of names.split(' ')) {
    assert.ok(languageNamed(name), name);
    const shown = codeLines('# "a" <b> /* 1 */\n+ 1\nif (x) { return "y" } // z\n', name);
    assert.ok(
      shown.some((row) => row.some(({ hue }) => hue !== undefined)),
      name,
    );
  }
});

test('a language has many names, and a file has one', () => {
  const named: [string, string | undefined][] = [
    ['TypeScript', 'typescript'],
    ['js {1,3}', 'javascript'],
    ['{.python .x}', 'python'],
    ['c++', 'cpp'],
    ['C#', 'csharp'],
    ['sh', 'bash'],
    ['text', undefined],
    ['', undefined],
  ];
  for (const [name, language] of named) assert.equal(languageNamed(name), language, name);
  const files: [string, string | undefined][] = [
    ['src/a.test.ts', 'typescript'],
    ['Makefile', 'makefile'],
    ['docker/Dockerfile.dev', 'dockerfile'],
    ['.bashrc', 'bash'],
    ['C:\\x\\a.PY', 'python'],
    ['notes', undefined],
    ['a/__proto__', undefined],
  ];
  for (const [path, language] of files) assert.equal(languageOfPath(path), language, path);
});

test('long code and long lines are plain from there on', () => {
  const rows = codeLines('let a;\n'.repeat(4_000), 'js');
  assert.equal(hued(rows[100] ?? []), '<keyword:let> a;');
  assert.equal(hued(rows[3_500] ?? []), 'let a;');
  const long = `let ${'a'.repeat(3_000)};`;
  assert.equal(hued(codeLines(long, 'js')[0] ?? []), long);
});

test('no character is lost, and each line depends on those before it only', () => {
  const fragment = fc.constantFrom(
    ...'let /* */ " \' ` ${ } { ( ) // # """ <p> </p> <script> <<EOF EOF \\ & - : \n \n 1 a=b'.split(' '),
    ' ',
  );
  const language = fc.constantFrom('ts', 'python', 'html', 'bash', 'ruby', 'yaml', 'md', 'dockerfile', 'php');
  fc.assert(
    fc.property(fc.array(fragment, { maxLength: 40 }), language, (parts, name) => {
      const lines = parts.join('').split('\n');
      if (lines.at(-1) === '') return;
      const rows = codeLines(lines.join('\n'), name);
      assert.deepEqual(
        rows.map((row) => row.map(({ text }) => text).join('')),
        lines,
      );
      const half = Math.ceil(lines.length / 2);
      if (lines[half - 1] === '') return;
      assert.deepEqual(codeLines(lines.slice(0, half).join('\n'), name), rows.slice(0, half));
    }),
    { numRuns: 150 },
  );
});
