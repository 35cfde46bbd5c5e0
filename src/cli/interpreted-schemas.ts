// A command checks few values against each schema, so that compiling a function for each takes longer than interpreting it: 8 % of a
// turn. Zod asks when a schema is made, so this comes before all others. @source docs/decisions/exec.md

import * as z from 'zod';

z.config({ jitless: true });
