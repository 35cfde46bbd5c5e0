import { fileURLToPath } from 'node:url';

/** The session that Baton records and ships. This file and the bundle `dist/cli` are equally deep, so that one path serves both. */
export const BUNDLED_SESSION = fileURLToPath(new URL('../../examples/sessions/tally.jsonl', import.meta.url));
