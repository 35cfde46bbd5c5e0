import assert from 'node:assert/strict';

const VOID = new Set(['meta', 'br', 'hr', 'input']);

/** Asserts that elements close in the order in which they opened, and that text and attributes hold no bare markup. */
export function assertWellFormed(html: string): void {
  const open: string[] = [];
  const body = html.replace(/<style>[^<]*<\/style>/, '');
  let last = 0;
  for (const match of body.matchAll(
    /<(!doctype html|\/?[a-z][a-z0-9]*)((?:\s+[\w-]+(?:="[^"<>]*")?)*)\s*(\/?)>/gi,
  )) {
    assert.doesNotMatch(body.slice(last, match.index), /[<>]/, `bare markup before ${match[0]}`);
    last = match.index + match[0].length;
    const name = (match[1] ?? '').toLowerCase();
    if (name.startsWith('!') || VOID.has(name) || match[3] === '/') continue;
    if (!name.startsWith('/')) open.push(name);
    else assert.equal(open.pop(), name.slice(1), `${match[0]} closes another element`);
  }
  assert.doesNotMatch(body.slice(last), /[<>]/, 'bare markup at the end');
  assert.deepEqual(open, [], 'every element is closed');
}
