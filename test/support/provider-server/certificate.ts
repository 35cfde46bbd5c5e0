// A certificate for a server of the tests, made on the spot: no key lies about in the repository, and none expires.

import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';

/** A key and its certificate, in PEM. The certificate is its own authority. */
export interface Certificate {
  readonly key: string;
  readonly cert: string;
}

/** What a certificate says. */
export interface CertificateClaims {
  /** The one name that it is good for: an IPv4 address, or the name of a host. */
  readonly host: string;
  readonly notAfter?: Date;
}

const DAY_MS = 86_400_000;

/** Signs a certificate with a key of its own. It began two days ago and ends tomorrow, unless told otherwise. */
export function makeCertificate({
  host,
  notAfter = new Date(Date.now() + DAY_MS),
}: CertificateClaims): Certificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const algorithm = sequence(oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02)); // ecdsa-with-SHA256
  const name = sequence(der(0x31, sequence(oid(0x55, 0x04, 0x03), der(0x0c, Buffer.from(host))))); // commonName
  const validity = sequence(time(new Date(Date.now() - 2 * DAY_MS)), time(notAfter));
  const isAddress = /^[\d.]+$/.test(host);
  const alternative = isAddress
    ? der(0x87, Buffer.from(host.split('.').map(Number)))
    : der(0x82, Buffer.from(host));
  const extensions = sequence(
    sequence(oid(0x55, 0x1d, 0x11), der(0x04, sequence(alternative))), // subjectAltName
    sequence(oid(0x55, 0x1d, 0x13), der(0x04, sequence(der(0x01, Buffer.of(0xff))))), // basicConstraints: CA
  );
  const body = sequence(
    der(0xa0, der(0x02, Buffer.of(2))), // version 3
    der(0x02, Buffer.concat([Buffer.of(1), randomBytes(8)])), // serial number, positive
    algorithm,
    name,
    validity,
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, extensions),
  );
  const signature = sign('sha256', body, privateKey);
  const whole = sequence(body, algorithm, der(0x03, Buffer.concat([Buffer.of(0), signature])));
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${whole.toString('base64').replaceAll(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`,
  };
}

/** A value with its tag and length. @source X.690, distinguished encoding rules */
function der(tag: number, ...contents: readonly Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  const bytes =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.of(tag, ...bytes), content]);
}

function sequence(...contents: readonly Buffer[]): Buffer {
  return der(0x30, ...contents);
}

function oid(...bytes: readonly number[]): Buffer {
  return der(0x06, Buffer.of(...bytes));
}

/** @param at before 2050, as UTCTime ends then */
function time(at: Date): Buffer {
  const digits = at.toISOString().replaceAll(/\D/g, '');
  return der(0x17, Buffer.from(`${digits.slice(2, 14)}Z`));
}
