// The help: keys and commands as their tables have them. Pure.

import { COMMANDS } from './commands.ts';
import { KEY_GROUPS, KEYS } from './keys.ts';

/** A heading, with keys or commands and what each does. */
interface HelpGroup {
  readonly heading: string;
  readonly entries: readonly { readonly name: string; readonly does: string }[];
}

/** Keys by group, then the commands. */
export function helpSections(): readonly HelpGroup[] {
  const keys = KEY_GROUPS.map((heading) => ({
    heading,
    entries: KEYS.filter(({ group, words }) => group === heading && words !== '').map(
      ({ keys: names, words }) => ({
        name: names.map(keyName).join(', '),
        does: words,
      }),
    ),
  }));
  const commands = COMMANDS.map(({ name, aliases = [], hint, words }) => ({
    name: `${[name, ...aliases].map((each) => `/${each}`).join(', ')}${hint === '' ? '' : ` ${hint}`}`,
    does: words,
  }));
  return [...keys, { heading: 'Commands', entries: commands }];
}

/** A key as keyboards name it: `Ctrl+R`, `Esc`. */
function keyName(key: string): string {
  if (key === 'escape') return 'Esc';
  return key
    .split('+')
    .map((part) => part.slice(0, 1).toUpperCase() + part.slice(1))
    .join('+');
}
