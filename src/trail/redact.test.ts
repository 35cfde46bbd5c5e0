import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { countRedactions, redact } from './redact.ts';

/** Made up here, in pieces, so that no scanner takes this file for a leak. */
const body = 'Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4z';
const secrets: readonly (readonly [kind: string, text: string, secret: string])[] = [
  ['jwt', 'token ', `ey${'J'}hbGciOiJIUzI1NiJ9.${body}.${body}`],
  ['api_key', 'key=', `sk${'-'}${body}`],
  ['api_key', 'key: ', `sk${'-ant-'}api03-${body}`],
  ['github_token', 'GH_TOKEN=', `gh${'p_'}${body}${body.slice(0, 4)}`],
  ['github_token', 'pat ', `github${'_pat_'}${body}`],
  ['aws_key', 'id ', `AK${'IA'}IOSFODNN7EXAMPLE`],
  ['slack_token', 'slack ', `xox${'b-'}123456789012-${body}`],
  ['bearer_token', 'Authorization: Bearer ', body],
  [
    'private_key',
    '',
    `-----BEGIN RSA ${'PRIVATE'} KEY-----\n${body}\n${body}\n-----END RSA PRIVATE KEY-----`,
  ],
];

for (const [kind, before, secret] of secrets) {
  test(`a secret of kind ${kind} after "${before}" is replaced and counted`, () => {
    const redacted = redact(`see ${before}${secret} there`);
    assert.ok(!redacted.includes(body.slice(0, 20)), redacted);
    assert.ok(redacted.startsWith('see ') && redacted.endsWith(' there'));
    assert.deepEqual(countRedactions(redacted), { [kind]: 1 });
    assert.equal(redact(redacted), redacted);
  });
}

test('the password of an address goes, its user and host stay', () => {
  assert.equal(
    redact('postgres://ada:hunter2@db.example.org/orbit'),
    'postgres://ada:[redacted url_password]@db.example.org/orbit',
  );
});

test('a key that was cut off takes everything after it along', () => {
  assert.equal(redact(`a -----BEGIN ${'PRIVATE'} KEY-----\n${body}`), 'a [redacted private_key]');
});

for (const harmless of [
  'commit 3f2a91c0d4e5b6a7988f7e6d5c4b3a2918070605',
  'id 550e8400-e29b-41d4-a716-446655440000',
  'https://example.org:8080/a@b',
  'a risk-free sk-learn model, the bearer of news',
  '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----',
]) {
  test(`stays: ${harmless.slice(0, 40)}`, () => assert.equal(redact(harmless), harmless));
}

test('any text survives a second pass unchanged', () => {
  const piece = fc.oneof(fc.constantFrom(...secrets.map(([, , secret]) => secret)), fc.string());
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 6 }), (pieces) => {
      const once = redact(pieces.join(' '));
      assert.equal(redact(once), once);
    }),
    { seed: 7, numRuns: 300 },
  );
});
