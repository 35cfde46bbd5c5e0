// What ops and events share. Loading zod costs half of what starting Node does, so only `parse.ts` loads these modules;
// everybody else takes their types with `import type`, which a test holds.

import * as z from 'zod';

/** A type as it comes from a schema, with nothing in it that could be changed. */
export type Immutable<T> = { readonly [K in keyof T]: Immutable<T[K]> };

/** A count of tokens. */
export const tokens = z.int().min(0);

/** Milliseconds. Negative where the clock was put back. */
export const milliseconds = z.number();

/** The name of something, as whoever made it chose it. */
export const identifier = z.string().min(1).max(200);

/** Share of the usable window that is free. */
export const percent = z.number().min(0).max(100);
