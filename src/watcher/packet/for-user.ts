// Whether an agent's mid-turn message after a packet request answers the user instead.

import { waitsForUser } from './waiting.ts';
import { acceptPacket, isExcuse } from './accept.ts';
import type { AcceptSettings } from './accept.ts';
import { namesNothingNext } from './messages.ts';

/** Words of an answer that is about the request. When in doubt the agent is reminded, which does not end the turn. */
const ABOUT_REQUEST =
  /\b(?:packets?|heads[ -]?up|hand-?(?:off|over)s?|scratch\w*|compact(?:ion|ed|ing)?|paus(?:e|ed|ing)|stand(?:ing)? by|notes?)\b/i;

/** How an agent acknowledges or postpones a request. */
const ACKNOWLEDGED =
  /^\W{0,5}(?:(?:ok(?:ay)?|sure|understood|got it|noted|acknowledged|alright|all right|will do|roger|yes|no|nope|ready|right)\b|i(?:['’]d| would) rather\b|not now\b)/i;

/** Maximum length in characters of a mere acknowledgement. */
const MOST_ACKNOWLEDGEMENT = 200;

/**
 * Whether an answer without calls ends the agent's work for the user and is not a packet: it asks the user something,
 * or reports the result of the work. Without the request the turn would have ended with it.
 */
export function isForUser(answer: string, settings: AcceptSettings): boolean {
  const text = answer.trim();
  if (text === '') return false;
  const accepted = acceptPacket(answer, settings);
  if (accepted.type === 'packet') {
    const { sections, nextStep = '' } = accepted;
    const isReport = sections.every((section) => REPORTED.has(section));
    return isReport && (namesNothingNext(nextStep) || waitsForUser(nextStep));
  }
  if (accepted.reason === 'echo' || isExcuse(text) || ABOUT_REQUEST.test(text)) return false;
  return waitsForUser(text) || !(ACKNOWLEDGED.test(text) && text.length <= MOST_ACKNOWLEDGEMENT);
}

/** Parts that reports also have; the watcher adds the snippet. */
const REPORTED: ReadonlySet<string> = new Set(['completed', 'state', 'next_step', 'snippet']);
