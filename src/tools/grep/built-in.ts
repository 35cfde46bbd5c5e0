// Compiles patterns where ripgrep is not installed.

export type Compiled =
  | { readonly type: 'pattern'; readonly source: string; readonly flags: string }
  /** Completes "the pattern cannot be used: …". */
  | { readonly type: 'complaint'; readonly text: string };

/** Compiles a pattern for JavaScript. Of ripgrep's inline flags, it supports `(?i)` at the start. */
export function compilePattern(
  pattern: string,
  { isLiteral, ignoresCase }: { readonly isLiteral: boolean; readonly ignoresCase: boolean },
): Compiled {
  const inline = isLiteral ? null : /^\(\?i\)/.exec(pattern);
  const source = isLiteral
    ? pattern.replace(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)
    : pattern.slice(inline?.[0].length ?? 0);
  const flags = ignoresCase || inline !== null ? 'i' : '';
  // With `u`, some escapes that ripgrep accepts (`\-`) are errors; without it, `.` matches half of some characters.
  for (const unicode of ['u', '']) {
    const failure = whyNot(source, flags + unicode);
    if (failure === undefined) return { type: 'pattern', source, flags: flags + unicode };
    if (unicode === '') return { type: 'complaint', text: failure };
  }
  throw new TypeError('unreachable');
}

function whyNot(source: string, flags: string): string | undefined {
  try {
    void new RegExp(source, flags);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
