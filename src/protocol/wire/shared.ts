// What ops and events share. Loading zod takes half as long as starting Node, so only `parse.ts` loads these modules;
// all others take their types with `import type`, which a test enforces.

import * as z from 'zod';

/** A schema's type, made deeply read-only. */
export type Immutable<T> = { readonly [K in keyof T]: Immutable<T[K]> };

/** A count of tokens. */
export const tokens = z.int().min(0);

/** Milliseconds. Negative if the clock was set back. */
export const milliseconds = z.number();

/** The name of something, as its creator chose it. */
export const identifier = z.string().min(1).max(200);

/** The free share of the usable window. */
export const percent = z.number().min(0).max(100);
