// Figures that several documents share.
// No command loads this: tests validate the commands' output against it, and schema/ is generated from it.

import * as z from 'zod';
import { CATEGORIES } from '../../vocabulary.ts';

/** A number of tokens. */
export const tokens = z.int().min(0).meta({ description: 'tokens' });

/** Tokens by category. */
export const byCategory = z.partialRecord(z.enum(CATEGORIES), tokens);

/** A share, from 0 to 1. */
export const share = z.number().min(0).max(1);
