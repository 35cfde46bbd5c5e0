// Documents name what exists: links lead to files and headings, and paths exist.

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { ROOT } from '../../scripts/generate.ts';

const DOCUMENTS: readonly string[] = [
  'README.md',
  'AGENTS.md',
  'ARCHITECTURE.md',
  'CHANGELOG.md',
  ...filesIn('docs').filter((path) => path.endsWith('.md')),
];
const CODE: readonly string[] = ['src', 'test', 'scripts', 'bench', 'examples'].flatMap(filesIn);
const ROOMS = new Set(readdirSync(join(ROOT, 'src')));

function filesIn(folder: string): readonly string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.includes('node_modules'))
    .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length).replace(/^\//, ''));
}

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

/** The anchors of a page, as GitHub makes them from its headings. */
function anchorsOf(path: string): ReadonlySet<string> {
  const headings = read(path).matchAll(/^#+ (.+)$/gm);
  return new Set(
    [...headings].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}

function isBroken(document: string, link: string): boolean {
  const [file = '', anchor] = link.split('#');
  const target = file === '' ? document : join(dirname(document), file);
  if (!existsSync(join(ROOT, target))) return true;
  return anchor !== undefined && !anchorsOf(target).has(anchor);
}

/** Whether something of the code has this path, whole or from some folder on, with or without its ending. */
function isInCode(path: string): boolean {
  if (existsSync(join(ROOT, path)) || existsSync(join(ROOT, 'src', path))) return true;
  return ['', '.ts', '.io.ts', '.test.ts'].some((ending) =>
    CODE.some((file) => `/${file}`.endsWith(`/${path}${ending}`)),
  );
}

test('relative links lead to a file and, if they name one, to a heading in it', () => {
  const broken: string[] = [];
  let count = 0;
  for (const document of DOCUMENTS) {
    for (const [, link = ''] of read(document).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^https?:/.test(link)) continue;
      count += 1;
      if (isBroken(document, link)) broken.push(`${document}: ${link}`);
    }
  }
  assert.ok(count > 100, `${count} links`);
  assert.deepEqual(broken, []);
});

test('paths of the source, the tests and the scripts exist', () => {
  const missing: string[] = [];
  let count = 0;
  for (const document of DOCUMENTS) {
    for (const [path] of read(document).matchAll(
      /(?<![\w/.~-])(?:src|test|scripts|bench|examples|docs|schema|prompts)\/[\w./-]*\w/g,
    )) {
      count += 1;
      if (!existsSync(join(ROOT, path))) missing.push(`${document}: ${path}`);
    }
  }
  assert.ok(count > 50, `${count} paths`);
  assert.deepEqual(missing, []);
});

test('abbreviated names of code exist: `summary/write`, `all-paths.test.ts`', () => {
  const missing: string[] = [];
  let count = 0;
  for (const document of DOCUMENTS) {
    for (const [, path = ''] of read(document).matchAll(/`([a-z][\w.-]*(?:\/[\w.-]+)*)`/g)) {
      const isShort = path.includes('/') && ROOMS.has(path.split('/')[0] ?? '');
      if (!isShort && !path.endsWith('.ts')) continue;
      count += 1;
      if (!isInCode(path)) missing.push(`${document}: ${path}`);
    }
  }
  assert.ok(count > 50, `${count} names`);
  assert.deepEqual(missing, []);
});
