// Secrets of known shapes, replaced by a mark that names their kind. Never by entropy: hashes and ids are what a summary
// is for.

/** Kinds of secrets that are known by their shape. */
export const SECRET_KINDS = [
  'private_key',
  'jwt',
  'api_key',
  'github_token',
  'aws_key',
  'slack_token',
  'bearer_token',
  'url_password',
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

/** Every repetition is bounded or over a class that its neighbours do not share: no pattern can backtrack far. */
const SHAPES: readonly Shape[] = [
  { kind: 'jwt', sign: /eyJ/, pattern: /\beyJ[\w-]{8,4096}\.[\w-]{8,8192}\.[\w-]{8,2048}/g },
  { kind: 'api_key', sign: /sk-/, pattern: /\bsk-(?:ant-|proj-|svcacct-|or-v1-)?[A-Za-z0-9_-]{20,400}/g },
  { kind: 'github_token', sign: /gh[pousr]_/, pattern: /\bgh[pousr]_[A-Za-z0-9]{30,255}/g },
  { kind: 'github_token', sign: /github_pat_/, pattern: /\bgithub_pat_\w{30,255}/g },
  { kind: 'aws_key', sign: /AKIA/, pattern: /\bAKIA[A-Z0-9]{16}(?![A-Z0-9])/g },
  { kind: 'slack_token', sign: /xox/, pattern: /\bxox[abeprs]-[A-Za-z0-9-]{10,250}/g },
  {
    kind: 'bearer_token',
    sign: /earer /,
    pattern: /\b([Bb]earer) (?=[^\s"']{0,400}\d)[A-Za-z0-9._~+/=-]{16,4096}/g,
    replacement: `$1 ${mark('bearer_token')}`,
  },
  {
    kind: 'url_password',
    sign: /:\/\//,
    pattern: /(\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:/@"'<>[\]]{0,100}):[^\s/@"'<>[\]]{1,200}@/g,
    replacement: `$1:${mark('url_password')}@`,
  },
];

/** What a text holds if it holds any secret. One look at most texts, which are short lines without any. */
const MAY_HOLD = new RegExp(['BEGIN ', ...SHAPES.map(({ sign }) => sign.source)].join('|'));

/** Replaces every secret of a known shape by `[redacted KIND]`. Linear; a text without any comes back as it is. */
export function redact(text: string): string {
  if (!MAY_HOLD.test(text)) return text;
  let result = redactPrivateKeys(text);
  for (const { kind, sign, pattern, replacement } of SHAPES) {
    if (sign.test(result)) result = result.replace(pattern, replacement ?? mark(kind));
  }
  return result;
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
