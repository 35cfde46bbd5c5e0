/** Who set a value. Lines are 1-based and absent where they cannot be told. */
export type ValueOrigin =
  | { readonly source: 'default' }
  | { readonly source: 'user' | 'project'; readonly file: string; readonly line?: number }
  | { readonly source: 'environment'; readonly variable: string }
  | { readonly source: 'command_line'; readonly argument: string }
  | { readonly source: 'preset'; readonly name: string; readonly setBy: ValueOrigin };

/**
 * Where a value was set, for people: `FILE:LINE`, the variable or the argument. Control characters, which paths and
 * arguments may hold, are replaced: the text goes to terminals and into comments, and must not end either.
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

/** A text for a message: the start of it where it is long. */
export function shorten(text: string): string {
  return text.length > MAX_SHOWN_LENGTH ? `${text.slice(0, MAX_SHOWN_LENGTH - 1)}…` : text;
}
