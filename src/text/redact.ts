// Replaces secrets of known shapes and names with a mark that names their kind. Never goes by entropy, because a summary needs
// its hashes and ids.

/** Kinds of secrets recognised by their shape or by the name before them. */
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

declare const REDACTED: unique symbol;
/** A text that `redact` has processed as a whole: writers of outgoing text require it, and only this file creates it. */
export type Redacted = string & { readonly [REDACTED]: true };

function mark(kind: SecretKind): string {
  return `[redacted ${kind}]`;
}

/**
 * Token prefixes of services, and what follows. Each is tried where `TOKEN_BEGIN` matches; every repetition is bounded.
 * @source the rules of gitleaks 8 for prefixes, lengths and alphabets; docs/decisions/redaction.md
 */
const TOKENS: readonly (readonly [kind: SecretKind, pattern: RegExp])[] = [
  ['jwt', /eyJ[\w-]{8,4096}\.[\w-]{8,8192}\.[\w-]{8,2048}/y],
  ['api_key', /sk-[\w-]{20,420}/y],
  ['api_key', /(?:gsk_|xai-|pplx-|r8_|nvapi-|tgp_v1_|fw_)(?=[A-Za-z_-]{0,60}\d)[\w-]{20,200}/y],
  ['api_key', /hf_[A-Za-z0-9]{30,60}/y],
  ['github_token', /gh[pousr]_[A-Za-z0-9]{30,255}|github_pat_\w{30,255}/y],
  ['gitlab_token', /gl(?:pat|dt|rt|ptt|cbt|agent|ft|imt|oas|soat|ffct)-[\w.-]{20,300}|GR1348941[\w-]{20}/y],
  ['aws_key', /A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{16}(?![A-Za-z0-9])|ABSK[A-Za-z0-9+/]{100,270}={0,2}/y],
  ['google_key', /AIza[\w-]{35}|GOCSPX-[\w-]{20,60}|ya29\.[\w.-]{20,2000}/y],
  ['slack_token', /xox[a-z](?:\.xox[bp])?-[A-Za-z0-9-]{10,250}|xapp-\d-[A-Za-z0-9-]{10,250}/y],
  // A base64-encoded key, as in a kubeconfig: "-----BEGIN PRIVATE", or with RSA, EC or OPENSSH before PRIVATE.
  [
    'private_key',
    /LS0tLS1CRUdJTi(?:BQUklWQVRF|BSU0EgUFJJVkFURS|BFQyBQUklWQVRF|BPUEVOU1NIIFBSSVZBVE)[A-Za-z0-9+/]{40,20000}={0,2}/y,
  ],
  ['service_token', /(?:sk|rk)_(?:live|test|prod)_[A-Za-z0-9]{10,200}|whsec_[A-Za-z0-9+/=]{20,100}/y],
  ['service_token', /npm_[A-Za-z0-9]{36}|pypi-[\w-]{50,1000}|rubygems_[0-9a-f]{48}/y],
  ['service_token', /dckr_(?:pat|oat)_[\w-]{20,60}|do[opr]_v1_[0-9a-f]{64}|hv[sbr]\.[\w-]{24,300}/y],
  ['service_token', /dp\.(?:pt|st|ct|sa|scim|audit)\.[\w.-]{40,100}/y],
  // A Discord bot token, which starts with its base64 id.
  ['service_token', /[MNO][A-Za-z\d]{23,27}\.[\w-]{6}\.[\w-]{27,40}(?![\w-])/y],
  ['service_token', /SG\.[\w-]{16,32}\.[\w-]{30,64}|SK[0-9a-f]{32}(?!\w)/y],
  ['service_token', /key-[0-9a-f]{32}(?!\w)|xkeysib-[0-9a-f]{64}-\w{16}/y],
  ['service_token', /lin_(?:api|oauth)_[A-Za-z0-9]{32,64}|ntn_[A-Za-z0-9]{40,50}/y],
  ['service_token', /secret_[A-Za-z0-9]{43}(?!\w)|AGE-SECRET-KEY-1[A-Z0-9]{50,60}/y],
  ['service_token', /shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}|sntry[su]_[\w+/=]{40,500}/y],
  ['service_token', /glc_[\w+/=]{32,400}|glsa_\w{40,60}|dapi[0-9a-f]{32}(?!\w)/y],
  ['service_token', /pscale_(?:tkn|oauth|pw)_[\w=.-]{32,64}|PMAK-[0-9a-f]{24}-[0-9a-f]{34}/y],
  ['service_token', /NRAK-[A-Z0-9]{27}|pul-[0-9a-f]{40}(?!\w)|sbp_[0-9a-f]{40}|figd_[\w-]{40,60}/y],
  ['service_token', /sq0(?:atp|csp)-[\w-]{22,60}|ATATT3[\w=-]{150,250}|v1\.0-[0-9a-f]{24}-[0-9a-f]{146}/y],
  ['service_token', /EZ[AT]K[A-Za-z0-9]{54}|AKCp[A-Za-z0-9]{69}|ops_eyJ[A-Za-z0-9+/=]{200,1500}/y],
];

/** Where a token may begin: at a word, or after an escape such as the `\n` of a JSON text or the `%3D` of an address. */
const TOKEN_BEGIN =
  /(?:\b|\\[nrt]|%[\dA-F]{2})(?:eyJ|sk[-_]|rk_|gsk_|xai-|pplx-|r8_|nvapi-|tgp_|fw_|hf_|gh[pousr]_|github_pat|gl[a-z]{2,5}-|GR1|A[KSBCT]|AIza|AGE-|GOC|ya29|xox|xapp|LS0tLS1C|whsec|npm_|pypi|ruby|dckr|do[opr]_|hv[sbr]\.|dp\.|S[GK]|key-|xkey|lin_|ntn_|secret_|shp|sntry|gl[cs]|dapi|psc|PMAK|NRAK|pul-|sbp|figd|sq0|v1|EZ|ops_|[MNO][A-Za-z\d]{23})[\w.-]{10}/g;

/** Length of a run that every token contains: the shortest prefixes plus ten characters. */
const LEAST_RUN = 14;

/** 1 for the character codes that such a run consists of. */
const IN_RUN = Uint8Array.from({ length: 128 }, (_, code) =>
  /[\w.-]/.test(String.fromCharCode(code)) ? 1 : 0,
);

interface TextSpan {
  readonly start: number;
  readonly end: number;
}

interface Token extends TextSpan {
  readonly kind: SecretKind;
}

function tokenAt(text: string, at: number): Token | undefined {
  for (const [kind, pattern] of TOKENS) {
    pattern.lastIndex = at;
    if (pattern.test(text)) return { kind, start: at, end: pattern.lastIndex };
  }
  return undefined;
}

/** Replaces tokens with a service's prefix. It samples characters at intervals to find long runs. */
function redactTokens(text: string): string {
  const pieces: string[] = [];
  let done = 0;
  let low = 0;
  for (let at = LEAST_RUN - 1; at < text.length; at += LEAST_RUN) {
    if (IN_RUN[text.charCodeAt(at)] !== 1) continue;
    let start = at;
    while (start > low && IN_RUN[text.charCodeAt(start - 1)] === 1) start--;
    let end = at + 1;
    while (end < text.length && IN_RUN[text.charCodeAt(end)] === 1) end++;
    low = end;
    at = end;
    if (end - start < LEAST_RUN) continue;
    // The previous character may belong to an escape.
    for (const token of tokensIn(text, Math.max(done, start - 1), end)) {
      pieces.push(text.slice(done, token.start), mark(token.kind));
      done = token.end;
      low = Math.max(low, done);
      at = Math.max(at, done);
    }
  }
  return done === 0 ? text : pieces.join('') + text.slice(done);
}

function tokensIn(text: string, from: number, end: number): readonly Token[] {
  const run = text.slice(from, end);
  TOKEN_BEGIN.lastIndex = 0;
  let begin = TOKEN_BEGIN.exec(run);
  if (begin === null) return NO_TOKENS;
  const tokens: Token[] = [];
  let failed = 0;
  for (; begin !== null; begin = TOKEN_BEGIN.exec(run)) {
    const at = begin.index + escapeLength(begin[0]);
    const isJwt = run.startsWith('eyJ', at);
    if (isJwt && at < failed) {
      TOKEN_BEGIN.lastIndex = at + 1;
      continue;
    }
    const token = tokenAt(text, from + at);
    // Up to the next dot, all candidates fail alike: trying each would take time in proportion to the run's length.
    if (isJwt && token === undefined) failed = run.indexOf('.', at) < 0 ? run.length : run.indexOf('.', at);
    // A false start may contain a token further on.
    TOKEN_BEGIN.lastIndex = token === undefined ? at + 1 : token.end - from;
    if (token !== undefined) tokens.push(token);
  }
  return tokens;
}

const NO_TOKENS: readonly Token[] = [];

function escapeLength(begin: string): number {
  if (begin.startsWith('%')) return 3;
  return begin.startsWith('\\') ? 2 : 0;
}

/** Widths at which terminals wrap lines: those of a VT100 and of a Windows console, in columns. */
const COLUMNS: ReadonlySet<number> = new Set([80, 120, 132]);
/** Characters of a token that are searched on each side of a break. */
const WRAPPED_LENGTH = 400;
/** The end of the line before a break, and the beginning of the one after it. */
const BEFORE_BREAK = /(?<![\w.-])[\w.-]{1,400}$/;
const AFTER_BREAK = /[\w.-]{1,400}/y;

/** Replaces tokens split over two lines by a `\` or the edge of a terminal. */
function redactWrapped(text: string): string {
  let kept = '';
  let done = 0;
  let line = 0;
  for (let feed = text.indexOf('\n'); feed >= 0; feed = text.indexOf('\n', line)) {
    const end = text.charCodeAt(feed - 1) === 92 ? feed - 1 : feed;
    if (end < feed || COLUMNS.has(feed - line)) {
      const token = wrappedToken(text, {
        from: Math.max(done, line, end - WRAPPED_LENGTH),
        end,
        next: feed + 1,
      });
      if (token !== undefined) {
        kept += text.slice(done, token.start) + mark(token.kind);
        done = token.end;
      }
    }
    line = feed + 1;
  }
  return done === 0 ? text : kept + text.slice(done);
}

function wrappedToken(
  text: string,
  { from, end, next }: { readonly from: number; readonly end: number; readonly next: number },
): Token | undefined {
  AFTER_BREAK.lastIndex = next;
  const after = AFTER_BREAK.exec(text)?.[0];
  if (after === undefined) return undefined;
  const before = BEFORE_BREAK.exec(text.slice(from, end))?.[0];
  if (before === undefined) return undefined;
  const whole = before + after;
  TOKEN_BEGIN.lastIndex = 0;
  const begin = TOKEN_BEGIN.exec(whole);
  if (begin === null) return undefined;
  const at = begin.index;
  const token = tokenAt(whole, at);
  if (token === undefined || at >= before.length || token.end <= before.length) return undefined;
  return { kind: token.kind, start: end - before.length + at, end: next + token.end - before.length };
}

interface Shape {
  readonly kind: SecretKind;
  /** Occurs in every text for which the pattern is tried. */
  readonly sign: RegExp;
  readonly pattern: RegExp;
  /** Replaces the match; by default the mark alone. */
  readonly replacement?: string;
}

/** Checked once per text; most texts contain no sign of `SHAPES`, a command or base64. */
const ANY_SIGN =
  /1\/\/0|:A[\w-]{34}|Q~|sig[=%]|hooks?[./]|earer |thoriz|THORIZ|kie|KIE|-mask|machine |:(?:543\d|6432|\*):|%2[Ff]|curl |shpass |mysql|mariadb|asic(?: |%20)|"auth|_auth/;

/** Secrets recognised by their context. */
const SHAPES: readonly Shape[] = [
  // A Google refresh token; a Telegram bot token with its id before the key.
  { kind: 'google_key', sign: /1\/\/0/, pattern: /\b1\/\/0[\w-]{30,200}/g },
  { kind: 'service_token', sign: /:A[\w-]{34}/, pattern: /\b\d{8,10}:A[\w-]{34}(?![\w-])/g },
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
    sign: /uthori|UTHORI/,
    pattern:
      /(\bauthorization(?:\\?["'])?(?:\s?[:=]|%3A)(?:\s|%20|\+)?(?:\\?["'])?(?:basic|token|apikey|digest)(?:\s|%20|\+))(?=[^\s"']{0,40}[\d=+/])[\w.~+/=:%-]{8,4096}/gi,
    replacement: `$1${mark('basic_auth')}`,
  },
  {
    kind: 'cookie',
    sign: /ookie\\?["']?: |COOKIE: /,
    pattern: /(\b(?:set-)?cookie\\?["']?: \\?["']?[\w.-]{1,60}=)(?![\s$<{[])[^\r\n"'\\]{8,4000}/gi,
    replacement: `$1${mark('cookie')}`,
  },
  // A GitHub Actions command that masks a value; the run's log shows that value once.
  {
    kind: 'named_secret',
    sign: /add-mask/,
    pattern: /(::add-mask::)(?![\s$<{[])[^\s"'`\\]{4,400}/g,
    replacement: `$1${mark('named_secret')}`,
  },
  // .netrc
  {
    kind: 'password',
    sign: /machine /,
    pattern:
      /(\bmachine (?:localhost|[\w-]{1,63}\.[\w.-]{1,190})\s{1,9}(?:login \S{1,100}\s{1,9})?(?:account \S{1,100}\s{1,9})?password )(?![$<{[])\S{3,200}/g,
    replacement: `$1${mark('password')}`,
  },
  // .pgpass: host, port, database, user, password. With other ports, lines of search results would match.
  {
    kind: 'password',
    sign: /:(?:543\d|6432|\*):/,
    pattern:
      /^([\w.*-]{1,253}:(?:543\d|6432|\*):(?!\d{1,6}:)[\w*-]{1,64}:[\w*-]{1,64}:)(?![$<{[\s])\S{3,200}$/gm,
    replacement: `$1${mark('password')}`,
  },
];

function redactContexts(text: string): string {
  if (!ANY_SIGN.test(text)) return text;
  let result = text;
  for (const { kind, sign, pattern, replacement } of SHAPES) {
    if (sign.test(result)) result = result.replace(pattern, replacement ?? mark(kind));
  }
  return redactEscapedAddresses(redactBase64(redactCommands(result)));
}

/** User and password of an address, matched after its `://`. */
const USERINFO = /([^\s:/@"'<>[\]]{0,100}):(?!\$[\w{]|\{|%[A-Z])[^\s/"'<>[\]`]{1,200}@(?=[\w[])(?!sha\d)/y;
/** The same with a slash in the password: no port or host may precede the slash, and a host follows. */
const SLASHED_USERINFO =
  /([^\s:/@"'<>[\].]{1,100}):(?!\d{1,5}[/?#]|\$[\w{]|\{|%[A-Z]|\/)[^\s"'<>[\]`@]{1,200}@(?=[\w.-]{1,253}(?::\d{1,5})?(?:[/?#\s"'`,;)]|$))/y;

function redactAddresses(text: string): string {
  let at = text.indexOf('://');
  if (at < 0) return text;
  let kept = '';
  let done = 0;
  for (; at >= 0; at = text.indexOf('://', Math.max(done, at + 3))) {
    if (!/[a-z][a-z0-9+.-]$/.test(text.slice(Math.max(done, at - 2), at))) continue;
    const found = matchAt(USERINFO, text, at + 3) ?? matchAt(SLASHED_USERINFO, text, at + 3);
    if (found === null || found === undefined) continue;
    const user = found[1] ?? '';
    if (user === '' && found[0].length < 3) continue;
    kept += `${text.slice(done, at + 3)}${user}:${mark('url_password')}@`;
    done = at + 3 + found[0].length;
  }
  return done === 0 ? text : kept + text.slice(done);
}

/** The escaped `://` of an address, and the characters that may follow it there. */
const ESCAPED_ADDRESS = /%3A%2F%2F/gi;
const ESCAPED_REST = /[\w.~!*%-]{1,300}/y;

/** The same for `postgres%3A%2F%2Fada%3Apassword%40host`. */
function redactEscapedAddresses(text: string): string {
  let kept = '';
  let done = 0;
  ESCAPED_ADDRESS.lastIndex = 0;
  while (ESCAPED_ADDRESS.test(text)) {
    const from = ESCAPED_ADDRESS.lastIndex;
    const rest = matchAt(ESCAPED_REST, text, from)?.[0] ?? '';
    const host = rest.search(/%40\w/);
    const colon = rest.search(/%3A/i);
    if (colon < 0 || host <= colon + 3 || /%2F%2F/i.test(rest.slice(0, host))) continue;
    kept += text.slice(done, from + colon + 3) + mark('url_password');
    done = from + host;
  }
  return done === 0 ? text : kept + text.slice(done);
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text) ?? undefined;
}

/** Programs that take a password as an option, with the rest of their command. */
const COMMAND = /\b(?:curl|sshpass|(?:mysql|mariadb)[a-z-]{0,12}) (?:[^\n\\]|\\[^]){0,2000}/g;
const COMMAND_SIGN = /curl |sshpass |mysql|mariadb/;
const CURL_PASSWORD =
  /(\s(?:-u|--user|--proxy-user)[ =]?["']?[\w.@%+-]{1,64}:)(?![$<{[\s"']|\d{1,9}(?:\s|$))[^\s"'`]{3,200}/g;
const SSHPASS_PASSWORD = /(^sshpass -p ?["']?)(?![$<{[\s"'])[^\s"'`]{3,200}/;
const MYSQL_PASSWORD = /(^[^\n|;&]{0,200} -p)(?![$<{[\s"'])[^\s"'`]{3,200}/;

function redactCommands(text: string): string {
  if (!COMMAND_SIGN.test(text)) return text;
  const replacement = `$1${mark('password')}`;
  return text.replace(COMMAND, (command) => {
    if (command.startsWith('curl')) return command.replace(CURL_PASSWORD, replacement);
    return command.replace(command.startsWith('sshpass') ? SSHPASS_PASSWORD : MYSQL_PASSWORD, replacement);
  });
}

/** `user:password` in base64, after a header or key that announces it. */
const BASE64_SIGN = /asic(?: |%20)|"auth|_auth/;
const BASE64_PAIR =
  /((?:\b[Bb]asic(?: |%20)|"auth\\?"[ \t]{0,3}:[ \t]{0,3}\\?"|_auth[ \t]{0,3}=[ \t]{0,3}"?))([A-Za-z0-9+/]{8,400})(?:={1,2}|(?:%3[Dd]){1,2})?/g;

function redactBase64(text: string): string {
  if (!BASE64_SIGN.test(text)) return text;
  return text.replace(BASE64_PAIR, (match: string, before: string, value: string) =>
    isPair(value) ? `${before}${mark('basic_auth')}` : match,
  );
}

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** Whether a base64 text decodes to a printable one with a colon. */
function isPair(value: string): boolean {
  let bits = 0;
  let count = 0;
  let hasColon = false;
  for (const char of value) {
    bits = ((bits << 6) | BASE64.indexOf(char)) & 0xffff;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    const byte = (bits >> count) & 0xff;
    if (byte < 0x20 || byte > 0x7e) return false;
    hasColon ||= byte === 0x3a;
  }
  return hasColon;
}

/** A name that announces a secret value. Ignoring case costs little; `key` alone announces nothing. */
const NAME = /pass(?:word|wd|phrase)|-pass(?=[ =])|pwd|secret|token|key|credentials?|auth[_-]pass/gi;
/** Prefixes of `key` that make it a secret one. */
const KEY_OF =
  /(?:api|access|account|private|signing|encryption|shared|master|auth|app|application|service|client|subscription|license|deploy|session|webhook)[_.-]?(?:access[_-]?)?$/i;
const REST = /[\w-]{0,24}/y;
const SEPARATOR = /(?:\\{0,3}["']|%22)?\]?[ \t]{0,3}(?:=>|:=|==?|:|%3[DdAa])[ \t]{0,3}/y;
const QUOTED = /((?:\\{1,3})?["'`]|%22)([^"'`\\\r\n%]{1,400})(?=["'`\\%])/y;
const BARE = /[^\s"'`,;&<>(){}[\]|\\]{4,400}(?![^\s"'`,;&<>(){}[\]|\\]|[([{<])/y;

/** An option of a command, up to its value; then the value. */
const OPTION = /\s--?(?:[a-z]{1,20}-)?(?:password|passwd|passphrase|pass|token|api-?key|secret)$/;
const OPTION_VALUE =
  /(?: {1,3}|=)["']?(?=[^\s"']{0,200}[\d!#%&*+?@^])(?![-$<{/.]|\d{1,7}(?:\s|$)|https?:)([^\s"'`<>[\]{}()|;,]{4,400})/y;
/** Characters before a name that are examined: they show whether it is an option, or what kind of key it is. */
const LOOK_BACK = 32;

/** What may follow the word in a name, e.g. `SECRET_KEY`, `token2`; other names are of a count, a limit or a path. */
const NAME_REST =
  /^(?:|s|[_-]?(?:\d{1,3}|key|value|access[_-]?key|token|data|plain|text|string|base64|b64|old|new|prod|production|dev|test|staging|live|live_key|admin|root|user|db))$/i;

/** Words instead of a secret: types, empty values, and placeholders in documentation. */
const PLACEHOLDER =
  /^(?:string|str|text|varchar|bool(?:ean)?|number|int|any|unknown|object|null|nil|none|undefined|true|false|required|optional|empty|missing|invalid|valid|hidden|masked|redacted|removed|secret|password|passwd|token|key|value|test|tests|example|placeholder|changeme|todo|env|default|input|prompt|your[\w-]*|my[_-]?\w*|the[_-]?\w*|some[_-]?\w*|dummy\w*|fake\w*|sample\w*|x{3,}|\*{3,}|\.{3,}|-{3,}|_{3,}|0+|1234?)$/i;

/** Code that refers to a value: a property path, a variable, a call. */
const REFERENCE =
  /^(?:[$%@&!#]|\{\{|<|\[|process\.|os\.|env\.|self\.|this\.|config\.|args?\.|f["'])|^[A-Za-z_$][\w$]*(?:(?:\.|::|->|\?\.)[A-Za-z_$][\w$]*)+$|…|\.\.\.|\[redacted/;

/** Replaces the secret values of options and names. */
function redactNamed(text: string): string {
  let kept = '';
  let done = 0;
  NAME.lastIndex = 0;
  for (let name = NAME.exec(text); name !== null; name = NAME.exec(text)) {
    const end = NAME.lastIndex;
    const value =
      optionValue(text, done, end) ?? namedValue(text, { word: name[0], at: name.index, end, done });
    if (value === undefined) continue;
    const kind: SecretKind = value.isPassword ? 'password' : 'named_secret';
    kept += text.slice(done, value.start) + mark(kind);
    done = value.end;
    NAME.lastIndex = done;
  }
  return done === 0 ? text : kept + text.slice(done);
}

interface Value extends TextSpan {
  readonly isPassword: boolean;
}

function optionValue(text: string, done: number, end: number): Value | undefined {
  const next = text.charCodeAt(end);
  if (next !== 32 && next !== 61) return undefined;
  if (!OPTION.test(text.slice(Math.max(done, end - LOOK_BACK), end))) return undefined;
  const found = matchAt(OPTION_VALUE, text, end);
  if (found === undefined) return undefined;
  const past = end + found[0].length;
  return { start: past - (found[1] ?? '').length, end: past, isPassword: true };
}

function namedValue(
  text: string,
  place: { readonly word: string; readonly at: number; readonly end: number; readonly done: number },
): Value | undefined {
  const { word, at } = place;
  const rest = matchAt(REST, text, place.end)?.[0] ?? '';
  const separated = matchAt(SEPARATOR, text, place.end + rest.length);
  if (separated === undefined || !NAME_REST.test(rest)) return undefined;
  if (/^key$/i.test(word) && !KEY_OF.test(text.slice(Math.max(place.done, at - LOOK_BACK), at)))
    return undefined;
  const separator = separated[0];
  const from = place.end + rest.length + separator.length;
  const quoted = matchAt(QUOTED, text, from);
  const value = quoted?.[2] ?? matchAt(BARE, text, from)?.[0] ?? '';
  if (value === '' || !isSecretValue(word, value, { isQuoted: quoted !== undefined, separator }))
    return undefined;
  const start = from + (quoted?.[1] ?? '').length;
  return { start, end: start + value.length, isPassword: /^(?:pass|pwd)/i.test(word) };
}

/** Whether a value is a secret, and not a type, a reference, a word or a count. Without quotes, it takes more evidence. */
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

/** Replaces every secret of a known shape or name with `[redacted KIND]`. Linear; returns a text without secrets unchanged. */
export function redact(text: string): Redacted {
  const tokens = redactTokens(redactWrapped(redactPrivateKeys(text)));
  return redactNamed(redactAddresses(redactContexts(tokens))) as Redacted;
}

/** A text without its secrets and without marks: for a search for names, which would find the marks' words. */
export function withoutSecrets(text: string): string {
  const redacted = redact(text);
  return redacted === text ? text : redacted.replace(/\[redacted \w{1,20}\]/g, '[]');
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
/** A part of it that a search finds faster: dashes are frequent in texts, these letters are rare. */
const BEGIN_WORD = 'BEGIN ';
const END = '-----END ';

/**
 * Replaces private keys only, the one secret that has many lines: a line of it alone looks like a path. A key without its
 * end was cut off: everything after its beginning goes.
 */
function redactPrivateKeys(text: string): string {
  return redactPem(text.includes('Private-Lines: ') ? redactPutty(text) : text);
}

/** PuTTY stores the private part between two fields. */
function redactPutty(text: string): string {
  return text.replace(
    /(Private-Lines: \d{1,4})\r?\n(?:[\w+/=]{1,80}(?:\r?\n|$)){1,200}/g,
    `$1\n${mark('private_key')}\n`,
  );
}

function redactPem(text: string): string {
  return redactPemEnds(redactPemBegins(text));
}

/** Most lines of a key that are searched above its end. */
const BODY_LENGTH = 10_000;
const PEM_BREAK = /\r?\n|\\r\\n|\\n/g;
const PEM_BODY = /^[ \t>|]{0,8}[A-Za-z0-9+/=]{1,80}[ \t]{0,8}$/;

/** A key whose beginning was cut off: removes the base64 lines above its end. */
function redactPemEnds(text: string): string {
  let end = text.indexOf(END);
  if (end < 0) return text;
  let kept = '';
  let done = 0;
  for (; end >= 0; end = text.indexOf(END, end + END.length)) {
    if (!/^-----END (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY/.test(text.slice(end, end + 60))) continue;
    const above = text.slice(Math.max(done, end - BODY_LENGTH), end);
    const lines = above.split(PEM_BREAK);
    let first = lines.length - 1;
    while (first > 0 && PEM_BODY.test(lines[first - 1] ?? '')) first--;
    if (first === lines.length - 1) continue;
    // Measured from the start, because breaks differ in length.
    const start = end - above.length + lengthOfLines(above, first);
    const close = text.indexOf('-----', end + END.length);
    kept += text.slice(done, start) + mark('private_key');
    done = close < 0 ? text.length : close + 5;
  }
  return done === 0 ? text : kept + text.slice(done);
}

/** Characters of this many lines at the beginning of a text, including line breaks. */
function lengthOfLines(text: string, count: number): number {
  if (count === 0) return 0;
  const { index = 0, 0: feed = '' } = [...text.matchAll(PEM_BREAK)][count - 1] ?? {};
  return index + feed.length;
}

function redactPemBegins(text: string): string {
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
