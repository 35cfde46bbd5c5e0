import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { fileActionsOf } from './programs.ts';
import { searchedOf } from './searches.ts';
import { scriptRows } from './script-rows.ts';
import { simpleCommands } from './scripts.ts';

/** One phrase per file action: `read a.ts 1-9`. */
function tell(script: string): string[] {
  return simpleCommands(script)
    .flatMap(fileActionsOf)
    .map(({ action, path, to, range, content }) =>
      [
        action,
        path,
        ...(to === undefined ? [] : [`→ ${to}`]),
        ...(range === undefined ? [] : [`${range.from}-${range.to ?? ''}`]),
        ...(content === undefined ? [] : [JSON.stringify(content)]),
      ].join(' '),
    );
}

const table: readonly (readonly [script: string, told: readonly string[]])[] = [
  ['cat src/a.ts', ['read src/a.ts']],
  ["sed -n '10,80p' src/a.ts | head -5", ['read src/a.ts 10-80']],
  ["sed -n '7p' a.ts", ['read a.ts 7-7']],
  ["sed -n '30,$p' a.ts", ['read a.ts 30-']],
  ["sed -i 's/a/b/' x.ts y.ts", ['edit x.ts', 'edit y.ts']],
  ["sed -i '' -e 's/a/b/' x.ts", ['edit x.ts']],
  ['head -n 20 a.md && nl -ba b.md', ['read a.md 1-20', 'read b.md']],
  ['rg -n "foo bar" src/a.ts docs; wc -l src/a.ts', []],
  ["awk -F , '{print $1}' hens.csv", ['read hens.csv']],
  ['jq -r .gate.name farm.json', ['read farm.json']],
  ["cat > out/x.txt <<'EOF'\nhello\nEOF", ['create out/x.txt "hello\\n"']],
  ['echo 1 >> log.txt 2>/dev/null', ['edit log.txt "1"']],
  ["cat >> out/x.txt <<'EOF'\nmore\nEOF", ['edit out/x.txt "more\\n"']],
  ["tee out/x.txt <<'EOF'\nhello\nEOF", ['create out/x.txt "hello\\n"']],
  ["perl -0pi.bak -e 's/a/b/' x.ts y.ts", ['edit x.ts', 'edit y.ts']],
  ["ruby -i -pe 'gsub(1, 2)' x.rb", ['edit x.rb']],
  ["perl -ne 'print if /a/' x.ts", []],
  ["cd lib && python3 - <<'EOF'\np = Path('a.py')\np.write_text(p.read_text())\nEOF", ['edit lib/a.py']],
  ["python - <<'EOF'\nwith open('a.py', mode='w') as f:\n  f.write(text)\nEOF", ['edit a.py']],
  ["python3 -c \"print(open('a.py').read(), 'w')\"", []],
  ['node -e "fs.writeFileSync(\'a.json\', text)"', ['edit a.json']],
  ['make 2>&1 | tee build.log', ['create build.log']],
  ['make | tee -a build.log', ['edit build.log']],
  ['git checkout main', []],
  ['git checkout -- src other/a', ['restore src', 'restore other/a']],
  ['cd lib && git restore .', ['restore lib/.']],
  ['git -C lib mv a.ts b.ts', ['move lib/a.ts → lib/b.ts']],
  ['mv a.ts b.ts', ['move a.ts → b.ts']],
  ['git mv a.ts b.ts lib/', ['move a.ts → lib/a.ts', 'move b.ts → lib/b.ts']],
  ['rm -rf dist && git rm old.ts', ['delete dist', 'delete old.ts']],
  ['cd pkg && cat a.ts && cd sub && cat b.ts', ['read pkg/a.ts', 'read pkg/sub/b.ts']],
  ['(cd pkg; cat a.ts); cat b.ts', ['read pkg/a.ts', 'read b.ts']],
  ['bash -lc "cd /w && cat a.ts"', ['read /w/a.ts']],
  ['sudo env A=1 timeout 5 cat a.ts', ['read a.ts']],
  ['X=1 Y=2 cat "my file.txt"', ['read my file.txt']],
  ['for f in *.ts; do cat $f; done; if true; then cat c.ts; fi', ['read c.ts']],
  ["jq '.title, .body' issue.json", ['read issue.json']],
  ['cat *.ts | wc -l', []],
  ['git commit -m "rm a.ts > b"', []],
  ['rg -q gate src/a.ts || echo gate >> src/a.ts', []],
  ['grep -rlE "gate" a.ts; rg -c gate b.ts; grep --quiet gate c.ts; jq -c .gate d.json', ['read d.json']],
  ['[ -d lib ] || { cd lib; touch b.ts; }; cat a.ts 2>/dev/null || true', ['read a.ts']],
  ['test -f a.ts || rm b.ts && cat c.ts', ['read c.ts']],
];

for (const [script, told] of table) {
  test(`files of: ${script}`, () => assert.deepEqual(tell(script), told));
}

test('programs are named without wrappers and paths', () => {
  const words = simpleCommands('FOO=1 /usr/bin/git -C x commit -m "a && b" && npx tsc; ./run.sh').map(
    (command) => command.words,
  );
  assert.deepEqual(words, [['git', '-C', 'x', 'commit', '-m', 'a && b'], ['npx', 'tsc'], ['./run.sh']]);
});

test('nonsense never throws and never stalls', () => {
  const nonsense = ['{', '(', '$(', '`', '"', '[[', '<(', '${', 'if ', 'a|', '<<A\n', '"$('];
  for (const piece of nonsense) simpleCommands(piece.repeat(60_000));
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(...nonsense, 'a', ' ', ';', "'", '&&', '>', '\n', '}', ')')),
      (pieces) => {
        simpleCommands(pieces.join('')).flatMap(fileActionsOf);
      },
    ),
    { seed: 7, numRuns: 500 },
  );
});

test('a script is parted into its commands and the texts that they are given', () => {
  const script = [
    "cd barn && git commit -m \"$(cat <<'END'",
    'Mend the `gate`',
    "It's mended by: Ada",
    'END',
    ')" && git push',
    'python3 - <<EOF',
    'print(1)',
    'EOF',
    "echo 'one",
    "two' && make gate  # it's done",
    'bd create "x',
    'y" \\',
    '  --type=task',
    'echo $((1 << 3)) < in.txt',
  ].join('\n');
  const { commands, texts } = scriptRows(script);
  assert.deepEqual(commands.split('\n'), [
    "cd barn && git commit -m \"$(cat <<'END'",
    ' && git push',
    'python3 - <<EOF',
    "echo 'one",
    " && make gate  # it's done",
    'bd create "x',
    ' --type=task',
    'echo $((1 << 3)) < in.txt',
  ]);
  for (const row of ['Mend the `gate`', "It's mended by: Ada", 'print(1)', "two'"]) {
    assert.ok(texts.split('\n').includes(row), row);
  }
});

test('the rows of a script are read in linear time, whatever stands in it', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom("'", '"', '\\', '<<A', 'A', '\n', '#', ' ', 'x')), (pieces) => {
      const script = pieces.join('');
      const { commands, texts } = scriptRows(script);
      assert.ok(commands.length + texts.length <= script.length + 2, 'nothing is told twice');
    }),
    { seed: 7 },
  );
});

const searches: readonly (readonly [script: string, searched: readonly string[] | undefined])[] = [
  ['rg -n "foo bar" src/a.ts docs', ['src/a.ts', 'docs']],
  ['grep -A 20 "gate = make.latch" src/a.ts', ['src/a.ts']],
  ['grep -n -m 3 -e gate.py yard.py', ['yard.py']],
  ["rg -g '*.ts' --type ts gate.shut src/a.ts", ['src/a.ts']],
  ['grep -inE "quick" a.ts', ['a.ts']],
  ['rg gate', []],
  ['grep -l gate a.ts', undefined],
  ['cat a.ts', undefined],
];

for (const [script, searched] of searches) {
  test(`searched by: ${script}`, () => {
    assert.deepEqual(simpleCommands(script).map(searchedOf), [searched]);
  });
}

test('commands know how they stand behind each other, and which depend on a condition', () => {
  const joints = (script: string): string =>
    simpleCommands(script)
      .map(({ words, joint }) => `${joint} ${words.join(' ')}`)
      .join(', ');
  assert.equal(joints('a 1 && b; c | d\ne'), '; a 1, && b, ; c, | d, ; e');
  assert.equal(joints('a || b && c'), '; a, ; c', 'whether b ran is not known, so c is not bound to a');
  assert.equal(joints('if a; then b; fi; c'), 'inner a, inner b, ; c');
  assert.equal(joints('for x in 1 2; do a $x; b; done'), '; a $x, ; b');
  assert.equal(joints("sh -c 'a && b' && c"), '; a, && b, && c');
});
