import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { locateKeys } from './lines.ts';

describe('locateKeys', () => {
  const text = [
    '# [compact] in a comment',
    'model = "x" # enabled = 1',
    '',
    'story = """',
    '[compact]',
    'enabled = true',
    '"""',
    'list = [',
    '  1, # [x]',
    '  2,',
    ']',
    '[ compact ]',
    '\tenabled\t= true',
    "'quoted key' = 1",
    'inline = { deep = { er = 1 } }',
    'a.b = 2',
    '[compact.sub]',
    'enabled = false',
    '[[rows]]',
    'x = 1',
    '[[rows]]',
    'y = 2',
    "poem = '''",
    'roses',
    "'''",
    'after = { # a table of several lines',
    '  last = 1,',
    '}',
    'end = 1',
  ];
  const cases: readonly (readonly [path: readonly (string | number)[], line: number | undefined])[] = [
    [['model'], 2],
    [['story'], 4],
    [['list'], 8],
    [['compact'], 12],
    [['compact', 'enabled'], 13],
    [['compact', 'quoted key'], 14],
    [['compact', 'inline', 'deep', 'er'], 15],
    [['compact', 'a'], 16],
    [['compact', 'a', 'b'], 16],
    [['compact', 'sub'], 17],
    [['compact', 'sub', 'enabled'], 18],
    [['rows'], 19],
    [['rows', 'after', 'last'], 26],
    [['rows', 'end'], 29],
    [['rows', 0, 'x'], 20],
    [['rows', 1], 21],
    [['rows', 1, 'y'], 22],
    [['rows', 0, 'y'], undefined],
    [['rows', 2], undefined],
    [['list', 0], 8],
    [['list', 2], undefined],
    [['enabled'], undefined],
    [['compact', 'missing'], undefined],
    [['constructor'], undefined],
  ];
  for (const eol of ['\n', '\r\n']) {
    for (const [path, line] of cases) {
      it(`finds ${path.join('.')} on line ${line ?? 'none'} (${JSON.stringify(eol)})`, () => {
        assert.equal(locateKeys(text.join(eol))(path), line);
      });
    }
  }

  it('is not misled by a byte order mark before a header', () => {
    const locate = locateKeys('\uFEFF[compact]\nenabled = true\n');
    assert.deepEqual([locate(['compact']), locate(['compact', 'enabled'])], [1, 2]);
  });

  it('finds a key wherever it stands among comments, blank lines and values that look like tables', () => {
    const noise = fc.array(fc.constantFrom('', '# [compact]', 'n = """\n[x]\n"""', "m = '''\n\n'''"), {
      maxLength: 5,
    });
    fc.assert(
      fc.property(noise, fc.boolean(), (before, isCrLf) => {
        const unique = before.map((line, index) => line.replace(/^[nm]/, `k${index}`));
        const lines = [...unique, '[compact]', 'enabled = true'].join('\n');
        const expected = lines.split('\n').length;
        const found = locateKeys(isCrLf ? lines.replaceAll('\n', '\r\n') : lines)(['compact', 'enabled']);
        assert.equal(found, expected);
      }),
      { seed: 8 },
    );
  });
});
