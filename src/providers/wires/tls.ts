// Explains why a provider's certificate is rejected: certificates are a matter of settings, not of the network, so retries do not
// help.

/** A fault of the secure connection to a provider. */
export interface TlsTrouble {
  /** Completes "The connection to PROVIDER is not secure: …". */
  readonly why: string;
  readonly cure: string;
}

const UNKNOWN_AUTHORITY: TlsTrouble = {
  why: 'its certificate is not signed by an authority that Node trusts',
  cure: 'Name the file with the certificate of that authority, such as that of your company, in NODE_EXTRA_CA_CERTS.',
};
const OTHER_HOST: TlsTrouble = {
  why: 'its certificate is for another host',
  cure: 'Write the host that the certificate names in `base_url` of the provider.',
};
const WRONG_TIME: TlsTrouble = {
  why: 'its certificate is not valid today',
  cure: 'Check the clock of this machine; if it is right, the server needs another certificate.',
};
const NO_TLS: TlsTrouble = {
  why: 'the server does not speak a TLS version that Node supports',
  cure: 'If the server does not use TLS, begin `base_url` of the provider with http://.',
};

/** @source Node's documentation, tls, "X509 certificate error codes"; seen with Node 20 */
const TROUBLES: Readonly<Record<string, TlsTrouble>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: UNKNOWN_AUTHORITY,
  SELF_SIGNED_CERT_IN_CHAIN: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_AUTHORITY,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN_AUTHORITY,
  CERT_UNTRUSTED: UNKNOWN_AUTHORITY,
  ERR_TLS_CERT_ALTNAME_INVALID: OTHER_HOST,
  HOSTNAME_MISMATCH: OTHER_HOST,
  CERT_HAS_EXPIRED: WRONG_TIME,
  CERT_NOT_YET_VALID: WRONG_TIME,
  EPROTO: NO_TLS,
};

/** @param code the error code of the connection, as Node names it */
export function tlsTrouble(code: string): TlsTrouble | undefined {
  return Object.hasOwn(TROUBLES, code) ? TROUBLES[code] : undefined;
}
