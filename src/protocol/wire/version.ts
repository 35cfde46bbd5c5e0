/**
 * The version of ops and events, told by `session_configured`. A new op, a new type of event and a new field of an event
 * leave it as it is, since readers pass over what they do not know; whatever else changes raises it.
 */
export const PROTOCOL_VERSION = 2;
