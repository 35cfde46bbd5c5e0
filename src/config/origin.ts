/** Who set a value. Lines are 1-based and absent where unknown. */
export type ValueOrigin =
  | { readonly source: 'default' }
  | { readonly source: 'user' | 'project'; readonly file: string; readonly line?: number }
  | { readonly source: 'environment'; readonly variable: string }
  | { readonly source: 'command_line'; readonly argument: string }
  | { readonly source: 'preset'; readonly name: string; readonly setBy: ValueOrigin };

/**
 * Where a value was set, for people: `FILE:LINE`, the variable or the argument. Control characters in paths and arguments are
 * replaced, because the text goes to terminals and into comments.
 */
export function describePlace(origin: ValueOrigin): string {
  return namePlace(origin).replace(/\p{Cc}/gu, '\uFFFD');
}

function namePlace(origin: ValueOrigin): string {
  switch (origin.source) {
    case 'default':
      return 'default';
    case 'user':
    case 'project':
      return origin.line === undefined ? origin.file : `${origin.file}:${origin.line}`;
    case 'environment':
      return origin.variable;
    case 'command_line':
      return `-c ${shorten(origin.argument)}`;
    case 'preset':
      return `preset ${origin.name} (${namePlace(origin.setBy)})`;
  }
}

const MAX_SHOWN_LENGTH = 60;

/** Shortens a text for a message. */
export function shorten(text: string): string {
  return text.length > MAX_SHOWN_LENGTH ? `${text.slice(0, MAX_SHOWN_LENGTH - 1)}…` : text;
}
