// What the provider signs and encrypts, so that it knows its own when it comes back.

import { createHash } from 'node:crypto';
import type { Reply } from './script.ts';

function mac(text: string): string {
  return createHash('sha256').update(`loopback provider\n${text}`).digest('base64url').slice(0, 32);
}

/** The signature of a thinking block. */
export function signThinking(thinking: string): string {
  return `sig_${mac(thinking)}`;
}

/** A text that only this provider can read: reasoning, redacted thinking, a compaction. */
export function seal(text: string): string {
  return `${Buffer.from(text, 'utf8').toString('base64url')}.${mac(text)}`;
}

/** The state that a reply's compaction leaves. */
export function stateOf({ stateBytes = 0 }: Pick<Reply, 'stateBytes'>, text: string): string {
  return seal(text.padEnd(stateBytes, '.'));
}

/** Whether a sealed text is this provider's own, unchanged. */
export function isSealed(sealed: string): boolean {
  const [body = '', code] = sealed.split('.');
  return code === mac(Buffer.from(body, 'base64url').toString('utf8'));
}
