/**
 * The version of ops and events, which `session_configured` reports. New ops, event types and event fields do not
 * change it, because readers ignore what they do not know; every other change raises it.
 */
export const PROTOCOL_VERSION = 2;
