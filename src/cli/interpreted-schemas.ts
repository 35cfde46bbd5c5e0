// A command checks few values against each schema, so compiling a function for each takes longer than interpreting it: 8 % of a
// turn. Zod reads this setting when a schema is created, so this module comes before all others. @source docs/decisions/exec.md

import * as z from 'zod';

z.config({ jitless: true });
