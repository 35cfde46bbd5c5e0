// Secrets of known shapes and names, replaced by a mark that names their kind. Never by entropy: hashes and ids are what a
// summary is for.

/** Kinds of secrets that are known by their shape, or by the name that stands before them. */
export const SECRET_KINDS = [
  'private_key',
  'jwt',
  'api_key',
  'github_token',
  'gitlab_token',
  'aws_key',
  'azure_key',
  'google_key',
  'slack_token',
  'service_token',
  'webhook_url',
  'bearer_token',
  'basic_auth',
  'cookie',
  'url_password',
  'password',
  'named_secret',
] as const;
export type SecretKind = (typeof SECRET_KINDS)[number];

interface Shape {
  readonly kind: SecretKind;
  /** What a text must hold for the pattern to be tried. */
  readonly sign: RegExp;
  readonly pattern: RegExp;
  /** What stands in for the match; by default the mark alone. */
  readonly replacement?: string;
}

function mark(kind: SecretKind): string {
  return `[redacted ${kind}]`;
}

/**
 * What services begin their tokens with, and what follows; each is tried where a long word begins. Every repetition is
 * bounded.
 * @source the rules of gitleaks 8 for prefixes, lengths and alphabets; docs/decisions/redaction.md
 */
const TOKENS: readonly (readonly [kind: SecretKind, pattern: string])[] = [
  ['jwt', String.raw`eyJ[\w-]{8,4096}\.[\w-]{8,8192}\.[\w-]{8,2048}`],
  ['api_key', String.raw`sk-(?:ant-|proj-|svcacct-|or-v1-)?[\w-]{20,400}`],
  ['api_key', String.raw`(?:gsk_|xai-|pplx-|r8_|nvapi-|tgp_v1_|fw_)(?=[A-Za-z_-]{0,60}\d)[\w-]{20,200}`],
  ['api_key', String.raw`hf_[A-Za-z0-9]{30,60}`],
  ['github_token', String.raw`gh[pousr]_[A-Za-z0-9]{30,255}|github_pat_\w{30,255}`],
  [
    'gitlab_token',
    String.raw`gl(?:pat|dt|rt|ptt|cbt|agent|ft|imt|oas|soat|ffct)-[\w.-]{20,300}|GR1348941[\w-]{20}`,
  ],
  ['aws_key', String.raw`A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{16}(?![A-Za-z0-9])|ABSK[A-Za-z0-9+/]{100,270}={0,2}`],
  ['google_key', String.raw`AIza[\w-]{35}|GOCSPX-[\w-]{20,60}|ya29\.[\w.-]{20,2000}`],
  ['slack_token', String.raw`xox[a-z](?:\.xox[bp])?-[A-Za-z0-9-]{10,250}|xapp-\d-[A-Za-z0-9-]{10,250}`],
  [
    'service_token',
    String.raw`(?:sk|rk)_(?:live|test|prod)_[A-Za-z0-9]{10,200}|whsec_[A-Za-z0-9+/=]{20,100}`,
  ],
  [
    'service_token',
    String.raw`npm_[A-Za-z0-9]{36}|pypi-[\w-]{50,1000}|rubygems_[0-9a-f]{48}|dckr_(?:pat|oat)_[\w-]{20,60}`,
  ],
  [
    'service_token',
    String.raw`do[opr]_v1_[0-9a-f]{64}|hv[sbr]\.[\w-]{24,300}|dp\.(?:pt|st|ct|sa|scim|audit)\.[\w.-]{40,100}`,
  ],
  [
    'service_token',
    String.raw`SG\.[\w-]{16,32}\.[\w-]{30,64}|SK[0-9a-f]{32}(?!\w)|key-[0-9a-f]{32}(?!\w)|xkeysib-[0-9a-f]{64}-\w{16}`,
  ],
  [
    'service_token',
    String.raw`lin_(?:api|oauth)_[A-Za-z0-9]{32,64}|ntn_[A-Za-z0-9]{40,50}|secret_[A-Za-z0-9]{43}(?!\w)`,
  ],
  [
    'service_token',
    String.raw`AGE-SECRET-KEY-1[A-Z0-9]{50,60}|shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}|sntry[su]_[\w+/=]{40,500}`,
  ],
  [
    'service_token',
    String.raw`glc_[\w+/=]{32,400}|glsa_\w{40,60}|dapi[0-9a-f]{32}(?!\w)|pscale_(?:tkn|oauth|pw)_[\w=.-]{32,64}`,
  ],
  [
    'service_token',
    String.raw`PMAK-[0-9a-f]{24}-[0-9a-f]{34}|NRAK-[A-Z0-9]{27}|pul-[0-9a-f]{40}(?!\w)|sbp_[0-9a-f]{40}|figd_[\w-]{40,60}`,
  ],
  [
    'service_token',
    String.raw`sq0(?:atp|csp)-[\w-]{22,60}|ATATT3[\w=-]{150,250}|v1\.0-[0-9a-f]{24}-[0-9a-f]{146}`,
  ],
  ['service_token', String.raw`EZ[AT]K[A-Za-z0-9]{54}|AKCp[A-Za-z0-9]{69}|ops_eyJ[A-Za-z0-9+/=]{200,1500}`],
];

/** All of them at once, one group each. */
const TOKEN = new RegExp(TOKENS.map(([, pattern]) => `(${pattern})`).join('|'), 'y');

/**
 * Where a token may begin: at a word, or after an escape, as the `\n` of a JSON text or the `%3D` of an address. Trying the
 * whole of `TOKEN` at each word instead takes three times as long.
 */
const TOKEN_BEGIN =
  /(?:\b|\\[nrt]|%[\dA-F]{2})(?:eyJ|sk[-_]|rk_|gsk_|xai-|pplx-|r8_|nvapi-|tgp_|fw_|hf_|gh[pousr]_|github_pat|gl[a-z]{2,5}-|GR1|A[KSBCT]|AIza|AGE-|GOC|ya29|xox|xapp|whsec|npm_|pypi|ruby|dckr|do[opr]_|hv[sbr]\.|dp\.|S[GK]|key-|xkey|lin_|ntn_|secret_|shp|sntry|gl[cs]|dapi|psc|PMAK|NRAK|pul-|sbp|figd|sq0|v1|EZ|ops_)[\w.-]{10}/g;

/** Replaces tokens that begin as those of a service do. */
function redactTokens(text: string): string {
  let kept = '';
  let done = 0;
  TOKEN_BEGIN.lastIndex = 0;
  for (let begin = TOKEN_BEGIN.exec(text); begin !== null; begin = TOKEN_BEGIN.exec(text)) {
    const at = begin.index + escapeLength(begin[0]);
    TOKEN.lastIndex = at;
    const found = TOKEN.exec(text);
    // What begins like a token and is none may hold one further on.
    TOKEN_BEGIN.lastIndex = found === null ? at + 1 : at + found[0].length;
    if (found === null) continue;
    const which = found.findIndex((group, index) => index > 0 && group !== undefined);
    kept += text.slice(done, at) + mark(TOKENS[which - 1]?.[0] ?? 'service_token');
    done = at + found[0].length;
  }
  return done === 0 ? text : kept + text.slice(done);
}

function escapeLength(begin: string): number {
  if (begin.startsWith('%')) return 3;
  return begin.startsWith('\\') ? 2 : 0;
}

/** What stands in a context that tells it. */
const SHAPES: readonly Shape[] = [
  // A refresh token of Google, a bot of Telegram with its id before the key, one of Discord with its id in base64.
  { kind: 'google_key', sign: /\b1\/\/0/, pattern: /\b1\/\/0[\w-]{30,200}/g },
  { kind: 'service_token', sign: /:A[\w-]{34}/, pattern: /\b\d{8,10}:A[\w-]{34}(?![\w-])/g },
  {
    kind: 'service_token',
    sign: /\.[\w-]{6}\.[\w-]{27}/,
    pattern: /\b[MNO][A-Za-z\d]{23,27}\.[\w-]{6}\.[\w-]{27,40}(?![\w-])/g,
  },
  { kind: 'azure_key', sign: /Q~/, pattern: /(?<![\w~.])[\w~.]{3}\dQ~[\w~.-]{31,34}(?![\w~-])/g },
  {
    kind: 'azure_key',
    sign: /sig=|sig%3[dD]/,
    pattern: /\b(sig(?:=|%3[dD]))[\w%+/=-]{30,200}/g,
    replacement: `$1${mark('azure_key')}`,
  },
  {
    kind: 'webhook_url',
    sign: /hooks?[./]/,
    pattern:
      /\b(hooks\.slack\.com\/(?:services|workflows|triggers)\/|discord(?:app)?\.com\/api\/webhooks\/|webhook\.office\.com\/webhookb2\/)[\w/@.-]{20,300}/g,
    replacement: `$1${mark('webhook_url')}`,
  },
  {
    kind: 'bearer_token',
    sign: /earer /,
    pattern: /\b([Bb]earer) (?=[^\s"']{0,400}\d)[A-Za-z0-9._~+/=-]{16,4096}/g,
    replacement: `$1 ${mark('bearer_token')}`,
  },
  {
    kind: 'basic_auth',
    sign: /uthorization|UTHORIZATION/,
    pattern:
      /(\bauthorization\\?["']?\s?[:=]\s?\\?["']?(?:basic|token|apikey|digest)\s)(?=[^\s"']{0,40}[\d=+/])[\w.~+/=:-]{8,4096}/gi,
    replacement: `$1${mark('basic_auth')}`,
  },
  {
    kind: 'cookie',
    sign: /ookie\\?["']?: |COOKIE: /,
    pattern: /(\b(?:set-)?cookie\\?["']?: \\?["']?[\w.-]{1,60}=)(?![\s$<{[])[^\r\n"'\\]{8,4000}/gi,
    replacement: `$1${mark('cookie')}`,
  },
  {
    kind: 'url_password',
    sign: /:\/\//,
    pattern:
      /(\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:/@"'<>[\]]{0,100}):(?!\$[\w{]|\{|%[A-Z])[^\s/"'<>[\]`]{1,200}@(?=[\w[])/g,
    replacement: `$1:${mark('url_password')}@`,
  },
  {
    kind: 'password',
    sign: /curl |sshpass /,
    pattern:
      /(\s(?:-u|--user|--proxy-user)[ =]?["']?[\w.@%+-]{1,64}:|\bsshpass -p ?["']?)(?![$<{[\s"']|\d{1,9}(?:\s|$))[^\s"'`]{3,200}/g,
    replacement: `$1${mark('password')}`,
  },
  {
    kind: 'password',
    sign: /mysql|mariadb/,
    pattern: /(\b(?:mysql|mariadb)[a-z-]{0,12} (?:[^\n|;&]{0,100} )?-p)(?![$<{[\s"'])[^\s"'`]{3,200}/g,
    replacement: `$1${mark('password')}`,
  },
  {
    kind: 'password',
    sign: /-(?:pass|token|api|secret)/,
    pattern:
      /(\s--?(?:[a-z]{1,20}-)?(?:password|passwd|passphrase|pass|token|api-?key|secret)(?: {1,3}|=)["']?)(?=[^\s"']{0,200}[\d!#%&*+?@^])(?![-$<{/.]|\d{1,7}(?:\s|$)|https?:)[^\s"'`<>[\]{}()|;,]{4,400}/g,
    replacement: `$1${mark('password')}`,
  },
];

/** A name that says what its value is, the rest of the name, what separates them, a quote, the value. */
const NAMED =
  /(pass(?:word|wd|phrase)|pwd|secret|token|(?:api|access|account|private|signing|encryption|shared|master|auth|app|application|service|client|subscription|license|deploy|session|webhook)[_.-]?(?:access[_-]?)?key|credentials?|authtoken|auth[_-]pass)([\w-]{0,24})((?:\\{0,3}["']|%22)?\]?[ \t]{0,3}(?:=>|:=|==?|:|%3[DdAa])[ \t]{0,3})(?:((?:\\{1,3})?["'`]|%22)([^"'`\\\r\n%]{1,400})(?=["'`\\%])|([^\s"'`,;&<>(){}[\]|\\]{4,400})(?![([{<]))/gi;
/** The same for a look before, in which case is spelled out: that takes half as long. */
const NAMED_SIGN =
  /(?:[Pp]ass(?:word|wd|phrase)|PASS(?:WORD|WD|PHRASE)|[Pp]wd|PWD|[Ss]ecret|SECRET|[Tt]oken|TOKEN|[Kk]ey|KEY|[Cc]redential|CREDENTIAL|auth[_-]pass)[\w-]{0,24}(?:\\{0,3}["']|%22)?\]?[ \t]{0,3}(?:[:=]|%3)/;

/** What may stand in a name after its word, e.g. `SECRET_KEY`, `token2`; in others it is a count, a limit or a path. */
const NAME_REST =
  /^(?:|s|[_-]?(?:\d{1,3}|key|value|access[_-]?key|token|plain|text|string|base64|b64|old|new|prod|production|dev|test|staging|live|live_key|admin|root|user|db))$/i;

/** Words that stand where a secret would: types, nothing, and what documentation writes. */
const PLACEHOLDER =
  /^(?:string|str|text|varchar|bool(?:ean)?|number|int|any|unknown|object|null|nil|none|undefined|true|false|required|optional|empty|missing|invalid|valid|hidden|masked|redacted|removed|secret|password|passwd|token|key|value|test|tests|example|placeholder|changeme|todo|env|default|input|prompt|your[\w-]*|my[_-]?\w*|the[_-]?\w*|some[_-]?\w*|dummy\w*|fake\w*|sample\w*|x{3,}|\*{3,}|\.{3,}|-{3,}|_{3,}|0+|1234?)$/i;

/** Code that names a value: a path of names, a variable, a call. */
const REFERENCE =
  /^(?:[$%@&!#]|\{\{|<|\[|process\.|os\.|env\.|self\.|this\.|config\.|args?\.|f["'])|^[A-Za-z_$][\w$]*(?:(?:\.|::|->|\?\.)[A-Za-z_$][\w$]*)+$|…|\.\.\.|\[redacted/;

function redactNamed(text: string): string {
  return text.replace(NAMED, (match: string, ...groups: readonly string[]) => {
    const [word = '', rest = '', separator = '', quote = '', quoted, bare] = groups;
    const value = quoted ?? bare ?? '';
    if (!NAME_REST.test(rest) || !isSecretValue(word, value, { isQuoted: quoted !== undefined, separator }))
      return match;
    const kind: SecretKind = /^(?:pass|pwd)/i.test(word) ? 'password' : 'named_secret';
    return `${word}${rest}${separator}${quote}${mark(kind)}`;
  });
}

/** Whether a value is one, and not a type, a reference, a word or a count. Where it is not quoted, more has to speak for it. */
function isSecretValue(
  word: string,
  value: string,
  { isQuoted, separator }: { readonly isQuoted: boolean; readonly separator: string },
): boolean {
  if (PLACEHOLDER.test(value) || REFERENCE.test(value)) return false;
  const isPassword = /^(?:pass|pwd)/i.test(word);
  const hasDigit = /\d/.test(value);
  if (isPassword) {
    if (isQuoted) return value.length >= 4 && (hasDigit || !/\s/.test(value)) && !/^\w+ \w+ /.test(value);
    // `PASSWORD=letmein` in a shell or a file, not `password=password` in a call; a path is not a password.
    if (/^[~./]/.test(value) || /^\d{1,3}$/.test(value)) return false;
    return (hasDigit && /[A-Za-z!-/]/.test(value)) || (word === word.toUpperCase() && separator === '=');
  }
  // "unexpected token: identifier1" is prose.
  if (!isQuoted && /:\s/.test(separator) && value.length < 16) return false;
  if (value.length < 12 || /\s/.test(value) || /^[~./]|^https?:/.test(value)) return false;
  return hasDigit && /[A-Za-z]/.test(value) && /^[\w.~+/=:!@#$%^&*-]+$/.test(value);
}

/** Replaces every secret of a known shape or name by `[redacted KIND]`. Linear; a text without any comes back as it is. */
export function redact(text: string): string {
  let result = redactTokens(redactPrivateKeys(text));
  for (const { kind, sign, pattern, replacement } of SHAPES) {
    if (sign.test(result)) result = result.replace(pattern, replacement ?? mark(kind));
  }
  return NAMED_SIGN.test(result) ? redactNamed(result) : result;
}

/** The marks in a text by kind; kinds without any are absent. */
export function countRedactions(text: string): Partial<Record<SecretKind, number>> {
  const counts: Partial<Record<SecretKind, number>> = {};
  for (const kind of SECRET_KINDS) {
    const count = text.split(mark(kind)).length - 1;
    if (count > 0) counts[kind] = count;
  }
  return counts;
}

const BEGIN = '-----BEGIN ';
/** A part of it that a search finds faster: texts have many a dash and few of these letters. */
const BEGIN_WORD = 'BEGIN ';
const END = '-----END ';

/**
 * Replaces private keys only, the one secret that has many lines: a line of it alone looks like a path. A key without its
 * end was cut off: everything after its beginning goes.
 */
export function redactPrivateKeys(text: string): string {
  return redactPem(text.includes('Private-Lines: ') ? redactPutty(text) : text);
}

/** PuTTY keeps the private part between two fields. */
function redactPutty(text: string): string {
  return text.replace(
    /(Private-Lines: \d{1,4})\r?\n(?:[\w+/=]{1,80}(?:\r?\n|$)){1,200}/g,
    `$1\n${mark('private_key')}\n`,
  );
}

function redactPem(text: string): string {
  if (!text.includes(BEGIN_WORD)) return text;
  let from = text.indexOf(BEGIN);
  if (from < 0) return text;
  let kept = '';
  let done = 0;
  while (from >= 0) {
    const label = text.slice(from, from + 60);
    const isPrivate = /^-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY/.test(label);
    if (!isPrivate) {
      from = text.indexOf(BEGIN, from + BEGIN.length);
      continue;
    }
    kept += text.slice(done, from) + mark('private_key');
    const end = text.indexOf(END, from);
    const close = end < 0 ? -1 : text.indexOf('-----', end + END.length);
    done = close < 0 ? text.length : close + 5;
    from = text.indexOf(BEGIN, done);
  }
  return kept + text.slice(done);
}
