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

const hex = '0123456789abcdef'.repeat(10);
const long = body.repeat(8);

/** Kinds of secrets, as they stand in texts; what must go is between `‹` and `›`, which is put together here. */
const WRITTEN: Readonly<Record<string, string>> = {
  'AWS, temporary': `id ‹AS${'IA'}IOSFODNN7EXAMPL2›`,
  'AWS, secret key': `aws_secret_access_key = ‹${long.slice(0, 40)}›`,
  'AWS, JSON': `"SecretAccessKey": "‹${long.slice(0, 40)}›"`,
  GitLab: `‹gl${'pat-'}${long.slice(0, 20)}›`,
  'Slack, app': `‹xap${'p-1-'}A0123-456-${hex.slice(0, 64)}›`,
  'Slack, webhook': `https://hooks.slack.com/services/‹T00/B00/${long.slice(0, 24)}›`,
  'Discord, webhook': `https://discord.com/api/webhooks/‹123456789012345678/${long.slice(0, 60)}›`,
  'Discord, bot': `‹M${long.slice(0, 23)}.${long.slice(0, 6)}.${long.slice(0, 27)}›`,
  'an at sign in an address': 'postgres://ada:‹p@ss›@db.example.org/x',
  'an address without a user': 'redis://:‹hunter22›@cache:6379/0',
  npm: `‹np${'m_'}${long.slice(0, 36)}›`,
  '.npmrc': `//registry.npmjs.org/:_authToken=‹${long.slice(0, 36)}›`,
  Google: `‹AI${'za'}${long.slice(0, 35)}›`,
  'Google, client': `‹GOC${'SPX-'}${long.slice(0, 28)}›`,
  'Google, access': `‹ya${'29.'}${long.slice(0, 60)}›`,
  'GCP, service account': `"private_key": "‹-----BEGIN ${'PRIVATE'} KEY-----\\n${long.slice(0, 64)}\\n-----END PRIVATE KEY-----›\\n"`,
  Stripe: `‹sk${'_live_'}${long.slice(0, 24)}›`,
  'Stripe, webhook': `‹wh${'sec_'}${long.slice(0, 32)}›`,
  'Azure, storage': `AccountKey=‹${long.slice(0, 86)}==›;EndpointSuffix=x`,
  'Azure, client': `‹abc8${'Q~'}${long.slice(0, 34)}›`,
  'Azure, SAS': `?sv=2022&sig=‹${long.slice(0, 43)}%3D›&se=1`,
  SendGrid: `‹S${'G.'}${long.slice(0, 22)}.${long.slice(0, 43)}›`,
  Twilio: `‹S${'K'}${hex.slice(0, 32)}›`,
  'Hugging Face': `‹h${'f_'}${long.slice(0, 34)}›`,
  Telegram: `‹123456789:A${long.slice(0, 34)}›`,
  Vault: `‹hv${'s.'}${long.slice(0, 90)}›`,
  Doppler: `‹dp${'.pt.'}${long.slice(0, 43)}›`,
  PyPI: `‹pyp${'i-'}AgEIcHlwaS5vcmc${long.slice(0, 60)}›`,
  DigitalOcean: `‹do${'p_v1_'}${hex.slice(0, 64)}›`,
  Mailgun: `‹ke${'y-'}${hex.slice(0, 32)}›`,
  Linear: `‹li${'n_api_'}${long.slice(0, 40)}›`,
  Datadog: `DD_API_KEY=‹${hex.slice(0, 32)}›`,
  Cloudflare: `CLOUDFLARE_API_TOKEN: ‹${long.slice(0, 40)}›`,
  age: `‹AGE-SECRET-KEY-${'1'}${long.slice(0, 58).toUpperCase()}›`,
  PuTTY: `Private-Lines: 2\n‹${long.slice(0, 60)}\n${long.slice(0, 20)}›\nPrivate-MAC: 1`,
  'a password': 'password=‹hunter2›',
  'a password without digits': 'DB_PASSWORD=‹letmein›',
  'a password in JSON': '{"password":"‹correcthorse›"}',
  'a password in JSON within JSON': '{\\"password\\": \\"‹hunter2›\\"}',
  'a password in YAML': 'password: ‹hunter2›',
  'a password in PHP': `'password' => '‹hunter2›'`,
  'a password in an escape': 'x%26password%3D‹hunter2›',
  'a password of ADO': 'Server=x;User Id=a;Password=‹Hunter2!›;',
  'a key in code': `const apiKey = '‹${long.slice(0, 24)}›'`,
  'a key in a subscript': `os.environ["API_KEY"] = "‹${long.slice(0, 24)}›"`,
  'a key in a diff': `+API_KEY=‹${long.slice(0, 24)}›`,
  'a client': '"clientSecret": "‹abCD1234efGH5678›"',
  'a query': `https://h/x?token=‹${long.slice(0, 24)}›&y=1`,
  'after an escape': `{\\"a\\":\\"x\\n‹gh${'p_'}${long.slice(0, 36)}›\\"}`,
  'in a percent escape': `token%3D‹gh${'p_'}${long.slice(0, 36)}›`,
  'in the name of a file': `backup-‹gh${'p_'}${long.slice(0, 36)}›.txt`,
  Basic: 'Authorization: Basic ‹YWRhOmh1bnRlcjI=›',
  'a cookie': `Set-Cookie: session=‹${long.slice(0, 30)}; HttpOnly›`,
  curl: 'curl -u ada:‹hunter2› https://h',
  sshpass: 'sshpass -p ‹hunter2› ssh h',
  mysql: 'mysql -uroot -p‹hunter2› db',
  'mysql, with more before': 'mysqldump --host=h -u root -p‹hunter2› db',
  'an option': 'x --password ‹hunter2›',
  'an option in the middle of a name': 'x --db-pass=‹hunter2› -y',
  'curl, continued': 'curl https://h \\\n  -u ada:‹hunter2›',
  'a token broken by a backslash': `x ‹gh${'p_'}${long.slice(0, 20)}\\\n${long.slice(20, 36)}› y`,
  'a token broken by the terminal': `${'x'.repeat(59)} ‹gh${'p_'}${long.slice(0, 16)}\n${long.slice(16, 36)}› y`,
  'a key without its beginning': `see:\n‹${long.slice(0, 64)}\n${long.slice(8, 72)}\n${long.slice(0, 20)}==\n-----END ${'PRIVATE'} KEY-----›\nthere`,
  'a key without its beginning, in JSON': `{"a":"see:\\n‹${long.slice(0, 64)}\\n${long.slice(0, 20)}==\\n-----END RSA ${'PRIVATE'} KEY-----›\\n"}`,
  'a key in base64': `client-key-data: ‹LS0tLS1CRUdJTiBSU0EgUFJJVkFURS${long.slice(0, 80)}==›`,
  'a slash in an address': 'postgres://ada:‹p/ss/w0rd›@db.example.org/x',
  'a slash in an address of the web': 'https://ada:‹p/ss›@h.example.org/x',
  'an address in a percent escape': 'url=postgres%3A%2F%2Fada%3A‹hunter%2F2›%40db.example.org%2Fx',
  'Basic alone': `-H 'Basic ‹YWRhOmh1bnRlcjI=›'`,
  'Basic in a percent escape': 'Authorization%3A%20Basic%20‹YWRhOmh1bnRlcjI%3D›',
  'Basic, lower case': 'basic ‹YWRhOmh1bnRlcjI=›',
  netrc: 'machine h.example.org login ada password ‹hunter2›',
  'netrc, in lines': 'machine h.example.org\n  login ada\n  password ‹letmein›\n',
  pgpass: 'db.example.org:5432:orbit:ada:‹letmein›',
  'npmrc, a pair': '//registry.example.org/:_auth=‹YWRhOmh1bnRlcjI=›',
  'npmrc, a password': '//registry.example.org/:_password="‹aHVudGVyMg==›"',
  docker: `{"auths":{"h.example.org":{"auth": "‹YWRhOmh1bnRlcjI=›"}}}`,
  'docker, in JSON': `{\\"auth\\": \\"‹YWRhOmh1bnRlcjI=›\\"}`,
  kubeconfig: `    token: ‹${long.slice(0, 40)}›`,
  'GitHub Actions': `echo "::add-mask::‹hunter2›"`,
};

for (const [name, written] of Object.entries(WRITTEN)) {
  test(`${name} is replaced, and nothing beside it`, () => {
    const [before = '', secret = '', after = ''] = written.split(/[‹›]/);
    const redacted = redact(before + secret + after);
    assert.ok(!redacted.includes(secret), redacted);
    assert.match(redacted, /\[redacted \w+\]/);
    assert.equal(redacted.slice(0, 1), (before === '' ? '[' : before).slice(0, 1));
    assert.ok(redacted.startsWith(before) && redacted.endsWith(after), redacted);
    assert.equal(redact(redacted), redacted, 'a second time');
  });
}

for (const harmless of [
  'password: string; password?: string | undefined',
  'token_count=5 TOKEN_LIMIT=120000 max_tokens=4096 input_tokens=12345678',
  'password = os.environ["DB_PASSWORD"]; password=os.getenv("X1"); password = process.env.PASSWORD',
  'password: <password>, api_key: "your-api-key", password=xxxx, token: "xxxxxxxxxxxx"',
  'token: ${TOKEN} TOKEN=$GITHUB_TOKEN secret: "{{ secrets.X1 }}" ${{ secrets.GITHUB_TOKEN }}',
  'login(user=user, password=password); const token = await getToken(); token = tokens[0]',
  'keyboard: us1, secretName: my-secret-1, primary_key=True, foreign key: user_id1, secrets: inherit',
  'unexpected token: identifier12345; the password: it must have 8 characters; pass: 3, fail: 0',
  'test_password_reset_token_v2 PASSED, --token <TOKEN> --password-file /etc/x1 PWD=/home/dev/x1',
  'curl -u "$USER:$PASS" https://h; docker run -u 1000:1000 x; curl https://user:${PASS}@host/x',
  `integrity="sha512-${long.slice(0, 86)}==" data:image/png;base64,${long}`,
  `sha256:${hex.slice(0, 64)} skip-1 sk-learn Cookie: a`,
  'Basic Authentication, basic structure: a; "auth": "required", "auth":"oauth2x1" _auth=password',
  'image docker://alpine:3.18@sha256:0a1b, http://localhost:3000/@scope/x@1, http://h:PORT/a b@c',
  'a.ts:5433:12:error:wrong',
  'src/a.ts:5433:12:error:wrong, a.ts:12:5:error:wrong; machine learning login form password field',
  'echo "::add-mask::$TOKEN"; certificate-authority-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUJB',
  `a line that ends in a name\\\nand goes on; ${'x'.repeat(40)}\n${'y'.repeat(40)}`,
  '-----END CERTIFICATE-----, the words above\n-----END PRIVATE KEY-----',
]) {
  test(`stays: ${harmless.slice(0, 60)}`, () => assert.equal(redact(harmless), harmless));
}

/** Processor time in milliseconds, which other processes do not lengthen. */
function userMsOf(text: string): number {
  const before = process.cpuUsage();
  redact(text);
  return process.cpuUsage(before).user / 1000;
}

/** Each sign, alone and with what it announces, repeated. */
const SLOW_PIECES = [
  ['key=', 'key="', `password='x `, 'token=', 'token%3D%22', 'secret_', 'api_key', 'auth', ' --token='],
  ['://', '://a:', 'a://b:', 'a://b:c/', 'a://b:c@', '%3A%2F%2F', '%3A%2F%2Fa%3Ab', ':A', ':5432:a'],
  [' -p ', 'mysql -', 'mysql -p ', 'curl ', 'curl -u a:', ' --password ', 'machine a login ', '::add-mask::'],
  ['authorization: basic ', 'Bearer ', 'Cookie: a=', 'Basic AAAAAAAA', '"auth":"AAAAAAAAA', 'sig=', 'Q~'],
  [
    'sk-',
    'eyJ-',
    'eyJa.',
    'eyJaaaaaaaa.b',
    `eyJ${'-'.repeat(4000)}.`,
    'a-',
    'a.',
    'glpat-',
    'LS0tLS1CRUdJTi',
  ],
  ['-----BEGIN ', '-----END PRIVATE KEY-----', '-----END PRIVATE KEY-----\nAAAA\n', 'Private-Lines: 2\n'],
  ['"', "'", '\\', '\\\n', 'a\\\n', `${'x'.repeat(79)}\n`, `eyJ${'a'.repeat(77)}\n`, `${'A'.repeat(64)}\n`],
].flat();

test('texts made to be slow take time in proportion to their length', () => {
  for (const piece of SLOW_PIECES) {
    const textOf = (length: number): string => piece.repeat(Math.ceil(length / piece.length));
    userMsOf(textOf(20_000));
    // A slow one is tried again: the process may have collected the garbage of other tests meanwhile.
    let ms = userMsOf(textOf(500_000));
    for (let again = 0; ms >= 1000 && again < 2; again++) ms = Math.min(ms, userMsOf(textOf(500_000)));
    // Measured: at most 230 ms; what grows with the square takes minutes.
    assert.ok(ms < 1000, `${piece.slice(0, 30)}: ${ms.toFixed(0)} ms for 500 kB`);
  }
});
