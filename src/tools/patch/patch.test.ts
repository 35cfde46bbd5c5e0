// The patch format: how it is read, where its parts go, and that a patch which does not fit changes nothing.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { finished } from '../../../test/support/finished.ts';
import { applyPatch } from './apply.ts';
import { parsePatch } from './parse.ts';
import { LineIndex, Steps } from './placing.ts';

const SEED = { seed: 7, numRuns: 400 };

type Files = Readonly<Record<string, string>>;

/** The files after a patch, or `! complaint`. */
function patched(files: Files, body: string): Files | string {
  const parsed = parsePatch(`*** Begin Patch\n${body}\n*** End Patch`);
  if (parsed.type === 'complaint') return `! ${parsed.text}`;
  const applied = finished(applyPatch(parsed.actions, (path) => files[path]));
  if (applied.type === 'complaint') return `! ${applied.text}`;
  const after: Record<string, string> = { ...files };
  for (const { path, after: text } of applied.changes) {
    if (text === undefined) delete after[path];
    else after[path] = text;
  }
  return after;
}

/** An update of the file `f`. */
function update(text: string, ...lines: readonly string[]): string {
  const result = patched({ f: text }, ['*** Update File: f', ...lines].join('\n'));
  return typeof result === 'string' ? result : (result['f'] ?? '(gone)');
}

describe('an update', () => {
  it('changes one place', () => {
    assert.equal(update('a\nb\nc\n', '@@', ' a', '-b', '+B', ' c'), 'a\nB\nc\n');
  });

  it('needs no @@ before its first part', () => {
    assert.equal(update('a\nb\n', ' a', '+x'), 'a\nx\nb\n');
  });

  it('goes below the line of its anchor', () => {
    const text = 'one() {\n  x\n}\ntwo() {\n  x\n}\n';
    assert.equal(update(text, '@@ two() {', '-  x', '+  y'), 'one() {\n  x\n}\ntwo() {\n  y\n}\n');
  });

  it('takes several anchors, each below the one before', () => {
    const text = 'class A\n run\n  x\nclass B\n run\n  x\n';
    assert.equal(
      update(text, '@@ class B', '@@  run', '-  x', '+  y'),
      'class A\n run\n  x\nclass B\n run\n  y\n',
    );
  });

  it('takes the header of a unified diff, and does not believe its numbers', () => {
    assert.equal(update('a\nb\n', '@@ -90,2 +91,2 @@', ' a', '-b', '+c'), 'a\nc\n');
  });

  it('takes an empty line as an empty line of context', () => {
    assert.equal(update('a\n\nb\n', '@@', ' a', '', '-b', '+c'), 'a\n\nc\n');
  });

  it('adds at the end without context, and below an anchor with one', () => {
    assert.equal(update('a\nb\n', '@@', '+c'), 'a\nb\nc\n');
    assert.equal(update('a\nb\n', '@@ a', '+c'), 'a\nc\nb\n');
  });

  it('is held to the end of the file where it says so', () => {
    assert.equal(update('x\ny\nx\n', '@@', '-x', '+z', '*** End of File'), 'x\ny\nz\n');
    assert.match(update('x\ny\n', '@@', '-x', '+z', '*** End of File'), /^! .*end of the file/);
  });

  it('keeps a file without a line feed at its end like that', () => {
    assert.equal(update('a\nb', '@@', '-b', '+c'), 'a\nc');
    assert.equal(update('a\nb', '@@', ' b', '+c'), 'a\nb\nc');
  });

  it('keeps line endings and the byte order mark', () => {
    assert.equal(update('\uFEFFa\r\nb\r\nc\n', '@@', ' a', '-b', '+B', '+x'), '\uFEFFa\r\nB\r\nx\r\nc\n');
  });

  it('passes over blanks where nothing fits exactly, and leaves context as it is', () => {
    assert.equal(update('if x:  \n\ty\nz\n', '@@', ' if x:', '-  y', '+\tw'), 'if x:  \n\tw\nz\n');
  });

  it('prefers the place that fits exactly', () => {
    assert.equal(update('  x\nx\n', '@@', '-x', '+y'), '  x\ny\n');
  });

  it('takes several parts in the order of the file', () => {
    assert.equal(update('a\nx\nb\nx\n', '@@', ' a', '-x', '+1', '@@', ' b', '-x', '+2'), 'a\n1\nb\n2\n');
  });

  const complaints: readonly (readonly [string, string, readonly string[], RegExp])[] = [
    ['fits at two places', 'x\ny\nx\n', ['@@', '-x', '+z'], /fits at 2 places \(lines 1, 3\)/],
    ['fits nowhere', 'a\nb\n', ['@@', ' a', '-c', '+d'], /from line 1 on its first 1 lines match.*"b"/],
    ['has no line that is there', 'a\n', ['@@', '-q', '+d'], /the line "q" is not in the file/],
    ['has an anchor that is not there', 'a\n', ['@@ nowhere', '-a', '+d'], /"nowhere"/],
    [
      'has its parts in another order',
      'a\nb\n',
      ['@@', '-b', '+x', '@@', '-a', '+y'],
      /above the previous part/,
    ],
    ['changes nothing', 'a\n', ['@@', ' a'], /changes nothing/],
    ['has no parts', 'a\n', [], /changes nothing/],
    ['has a line without a sign', 'a\n', ['@@', '-a', 'b'], /must begin with a space, - or \+/],
  ];
  for (const [name, text, lines, pattern] of complaints) {
    it(`complains when a part ${name}`, () => assert.match(update(text, ...lines), pattern));
  }
});

describe('a patch', () => {
  it('adds, deletes and moves', () => {
    const body = [
      '*** Add File: new',
      '+one',
      '+',
      '*** Delete File: old',
      '*** Update File: from',
      '*** Move to: to',
      '@@',
      '-a',
      '+b',
    ];
    assert.deepEqual(patched({ old: 'x', from: 'a\n' }, body.join('\n')), { new: 'one\n\n', to: 'b\n' });
  });

  it('may rename alone', () => {
    assert.deepEqual(patched({ a: 'x' }, '*** Update File: a\n*** Move to: b'), { b: 'x' });
  });

  it('may touch a file again', () => {
    const body = '*** Delete File: a\n*** Add File: a\n+new\n*** Update File: a\n@@\n-new\n+newer';
    assert.deepEqual(patched({ a: 'old\n' }, body), { a: 'newer\n' });
  });

  for (const [name, files, body, pattern] of [
    ['adds what exists', { a: '' }, '*** Add File: a\n+x', /already exists/],
    ['updates what is not there', {}, '*** Update File: a\n@@\n-x\n+y', /does not exist/],
    ['deletes what is not there', {}, '*** Delete File: a', /does not exist/],
    ['moves over a file', { a: '', b: '' }, '*** Update File: a\n*** Move to: b', /already exists/],
    ['names no path', {}, '*** Add File:  \n+x', /path is missing/],
    ['is empty', {}, '', /patch is empty/],
    ['holds another line', {}, 'hello', /neither/],
  ] as const) {
    it(`complains when it ${name}`, () => {
      const result = patched(files, body);
      assert.ok(typeof result === 'string', 'complains');
      assert.match(result, pattern);
    });
  }

  it('is taken out of a heredoc', () => {
    const text = `apply_patch <<'EOF'\n*** Begin Patch\n*** Delete File: a\n*** End Patch\nEOF\n`;
    assert.equal(parsePatch(text).type, 'patch');
  });

  it('is refused without its end, and with a second one behind it', () => {
    assert.equal(parsePatch('*** Begin Patch\n*** Delete File: a').type, 'complaint');
    const twice = '*** Begin Patch\n*** Delete File: a\n*** End Patch\n';
    assert.equal(parsePatch(twice + twice).type, 'complaint');
  });

  it('that is nonsense is a complaint, never a failure', () => {
    const piece = fc.constantFrom(
      '*** Update File: f',
      '@@',
      '@@ a',
      ' a',
      '-a',
      '+b',
      '',
      '*** End of File',
      '*** Move to: g',
      '*** Add File: f',
      '*** Delete File: f',
      'x',
      '\u0000',
      '*** End Patch',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (lines) => {
        const result = patched({ f: 'a\nb\na\n' }, lines.join('\n'));
        assert.ok(typeof result === 'object' || result.startsWith('! '), 'told');
      }),
      SEED,
    );
  });
});

/** A change of one line of a text: kept, or replaced by some. */
const anyEdit = fc.array(fc.constantFrom('p', 'q', '', '  r'), { maxLength: 2 });

/** A text before and after, of lines that are all different, with the signs between them. */
const anyChange = fc
  .tuple(
    fc.array(fc.tuple(fc.boolean(), anyEdit), { minLength: 1, maxLength: 12 }),
    fc.constantFrom('\n', '\r\n'),
    fc.boolean(),
  )
  .map(([steps, ending, isClosed]) => {
    const lines = steps.flatMap(([isKept, added], index) => {
      const line = `line ${index}`;
      if (isKept) return [` ${line}`];
      return [`-${line}`, ...added.map((text, at) => `+${text}${index}.${at}`)];
    });
    const side = (sign: '-' | '+'): string =>
      lines.flatMap((line) => (line[0] === ' ' || line[0] === sign ? [line.slice(1)] : [])).join(ending) +
      (isClosed && lines.some((line) => line[0] === ' ' || line[0] === sign) ? ending : '');
    return { lines, before: side('-'), after: side('+') };
  })
  // A single line does not tell by what lines end, and what is all context is no patch.
  .filter(
    ({ lines, before, after }) =>
      [before, after].every((text) => text.trimEnd().includes('\n')) && lines.some((line) => line[0] !== ' '),
  );

describe('laws of patches', () => {
  it('a patch leads from the text before to the text after', () => {
    fc.assert(
      fc.property(anyChange, ({ lines, before, after }) =>
        assert.equal(update(before, '@@', ...lines), after),
      ),
      SEED,
    );
  });

  it('its reverse leads back', () => {
    const flip: Readonly<Record<string, string>> = { ' ': ' ', '-': '+', '+': '-' };
    fc.assert(
      fc.property(anyChange, ({ lines, before, after }) => {
        const reverse = lines.map((line) => (flip[line[0] ?? ''] ?? '') + line.slice(1));
        assert.equal(update(after, '@@', ...reverse), before);
      }),
      SEED,
    );
  });

  it('one part that does not fit leaves every file as it was', () => {
    fc.assert(
      fc.property(anyChange, fc.nat(2), ({ lines, before }, position) => {
        const good = ['*** Update File: f', '@@', ...lines];
        const bad = ['*** Update File: g', '@@', '-not there', '+x'];
        const rest = ['*** Add File: h', '+x'];
        const body = [good, rest].toSpliced(position, 0, bad).flat();
        const result = patched({ f: before, g: 'there\n' }, body.join('\n'));
        assert.ok(typeof result === 'string' && result.startsWith('! g: '), 'the whole patch is refused');
      }),
      SEED,
    );
  });
});

/** Where a block stands, looked for in the plainest way: at every place, under each way of comparing lines in turn. */
function plainPlaces(lines: readonly string[], block: readonly string[], from: number): readonly number[] {
  for (const key of [String, (line: string) => line.trimEnd(), (line: string) => line.trim()]) {
    const places = lines
      .map((_, place) => place)
      .filter((place) => place >= from && place + block.length <= lines.length)
      .filter((place) => block.every((line, offset) => key(lines[place + offset] ?? '') === key(line)));
    if (places.length > 0) return places;
  }
  return [];
}

describe('the index of a file', () => {
  const anyLine = fc.constantFrom('a', 'b', 'a ', ' a', '');

  it('finds what looking at every place finds', () => {
    fc.assert(
      fc.property(
        fc.array(anyLine, { maxLength: 24 }),
        fc.array(anyLine, { minLength: 1, maxLength: 5 }),
        fc.nat(6),
        fc.boolean(),
        (lines, block, from, isFirstEnough) => {
          const index = new LineIndex(lines, new Steps());
          const expected = plainPlaces(lines, block, from);
          const found = index.places(block, from, { isFirstEnough, most: Infinity });
          if (isFirstEnough && expected[0] === from) assert.deepEqual(found, { first: [from], count: 1 });
          else assert.deepEqual(found?.first ?? [], expected);
          const [line = ''] = block;
          assert.equal(index.firstLine(line, from), plainPlaces(lines, [line], from)[0]);
        },
      ),
      { seed: 11, numRuns: 3000 },
    );
  });

  it('names the place where most of the first lines stand', () => {
    fc.assert(
      fc.property(
        fc.array(anyLine, { maxLength: 24 }),
        fc.array(anyLine, { minLength: 1, maxLength: 6 }),
        (lines, block) => {
          const { length, place } = new LineIndex(lines, new Steps()).longestStart(block);
          const standing = lines.map((_, at) => {
            const end = block.findIndex((line, offset) => line.trim() !== lines[at + offset]?.trim());
            return end === -1 ? block.length : end;
          });
          assert.equal(length, Math.max(0, ...standing));
          assert.equal(place, Math.max(0, standing.indexOf(length)));
        },
      ),
      { seed: 12, numRuns: 3000 },
    );
  });
});

describe('a large patch', () => {
  it('adds 300,000 lines to a file of 300,000', () => {
    const file = `top\n${'x\n'.repeat(300_000)}`;
    const body = `*** Update File: f\n@@\n top\n${'+y\n'.repeat(300_000)}`;
    const { f: after } = patched({ f: file }, body.trimEnd()) as Files;
    assert.equal(after, `top\n${'y\n'.repeat(300_000)}${'x\n'.repeat(300_000)}`);
  });

  it('is refused where it would change a large file again and again', () => {
    const file = `x\n${'z\n'.repeat(50_000)}`;
    const again = Array.from({ length: 2000 }, (_, at) => [
      '*** Update File: f',
      '@@',
      at === 0 ? ' x' : ` x${at}`,
      `+x${at + 1}`,
    ]);
    const result = patched({ f: file }, again.flat().join('\n'));
    assert.match(String(result), /^! f: the patch takes too long/);
  });
});
