// How people and other programs spell modes.

import * as z from 'zod';
import { modeName } from '../../vocabulary.ts';

/**
 * One of Codex's modes, spelled as Codex does (`read-only`) or as Baton does (`read_only`); returned in Baton's
 * spelling.
 * @source Codex, `sandbox_mode` and `approval_policy` of config.toml
 */
export function modeOf<Name extends string>(names: readonly Name[]) {
  const spellings = names.flatMap((name) => [...new Set([name, name.replaceAll('_', '-')])]);
  return z.enum(spellings).transform((spelling) => modeName(spelling) as Name);
}
