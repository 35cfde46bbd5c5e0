// A provider over TLS, as a stranger's machine sees it: with an authority of its own, and with certificates that are no good.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { NOT_BUILT } from '../support/built.ts';
import { ExecFixture, EXEC_KEY } from '../support/exec.ts';
import { assertFailed } from '../support/explained.ts';
import { temporaryDirectory } from '../support/program.ts';
import { makeCertificate } from '../support/provider-server/certificate.ts';
import { startProviderServer } from '../support/provider-server/server.ts';
import type { ProviderServer } from '../support/provider-server/server.ts';

const root = temporaryDirectory();
const GOOD = makeCertificate({ host: '127.0.0.1' });
const OTHER = makeCertificate({ host: 'lighthouse.example' });
const EXPIRED = makeCertificate({ host: '127.0.0.1', notAfter: new Date(Date.now() - 3_600_000) });

before(() => assert.equal(NOT_BUILT, false, String(NOT_BUILT)));

async function start(tls?: typeof GOOD): Promise<ProviderServer> {
  const server = await startProviderServer(
    { key: EXEC_KEY, replies: [{ text: 'The lamp is lit.' }] },
    0,
    tls,
  );
  after(() => server.close());
  return server;
}

/** Runs the agent with an authority that the user has named, and with all patience for what may pass. */
async function exec(baseUrl: string, { cert }: typeof GOOD) {
  const fixture = new ExecFixture(root, baseUrl);
  writeFileSync(join(fixture.home, 'authority.pem'), cert);
  const patience = ['-c', 'model_providers.lab-responses.request_max_retries=4'];
  return fixture.exec('responses', [...patience, 'hello'], {
    env: { LAB_KEY: EXEC_KEY, NODE_EXTRA_CA_CERTS: join(fixture.home, 'authority.pem') },
  });
}

test('a provider is reached whose authority is named in NODE_EXTRA_CA_CERTS', async () => {
  const { baseUrl } = await start(GOOD);
  assert.match(baseUrl, /^https:/);
  const ended = await exec(baseUrl, GOOD);
  assert.equal(ended.status, 0, ended.stderr);
  assert.equal(ended.stdout, 'The lamp is lit.\n');
});

const TROUBLES: readonly (readonly [
  name: string,
  served: typeof GOOD | undefined,
  named: typeof GOOD,
  told: RegExp,
])[] = [
  [
    'nobody knows',
    GOOD,
    OTHER,
    /not signed by an authority that Node trusts \(DEPTH_ZERO_SELF_SIGNED_CERT\)\. Name the file .* NODE_EXTRA_CA_CERTS\./,
  ],
  [
    'is for another host',
    OTHER,
    OTHER,
    /is for another host \(ERR_TLS_CERT_ALTNAME_INVALID\)\. Write the host .*`base_url`/,
  ],
  ['has expired', EXPIRED, EXPIRED, /is not valid today \(CERT_HAS_EXPIRED\)\. Check the clock/],
  [
    'is none at all',
    undefined,
    GOOD,
    /does not speak a TLS version that Node supports \(EPROTO\)\. .* begin `base_url` of the provider with http:/,
  ],
];

for (const [name, served, named, told] of TROUBLES) {
  test(`a certificate that ${name} is reported at once, and no key is sent`, async () => {
    const server = await start(served);
    const ended = await exec(server.baseUrl.replace(/^http:/, 'https:'), named);
    assertFailed(ended, 'model_network');
    assert.match(ended.stderr, told);
    assert.doesNotMatch(ended.stderr, /Reconnecting/);
    assert.deepEqual(server.requests, []);
  });
}
