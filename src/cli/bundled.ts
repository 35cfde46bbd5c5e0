import { fileURLToPath } from 'node:url';

/** The session that this project recorded and comes with, two folders above the bundle's. */
export const BUNDLED_SESSION = fileURLToPath(new URL('../../examples/sessions/tally.jsonl', import.meta.url));
