/** Policies that can be requested by name, in display order. */
export const POLICY_NAMES = ['none', 'built_in', 'codex', 'claude_like', 'seed', 'baton'] as const;
export type PolicyName = (typeof POLICY_NAMES)[number];

/**
 * Short names for configuration files in comparisons: the end of each path that distinguishes it from the others and from the
 * policies, since columns are narrow and paths begin alike.
 * @param files each once
 */
export function nameFiles(files: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    files.map((file) => {
      const parts = file.split('/');
      const tails = parts.map((_, at) => parts.slice(parts.length - 1 - at).join('/'));
      const isOwn = (tail: string): boolean =>
        tail !== '' &&
        !isPolicy(tail) &&
        files.every((other) => other === file || (other !== tail && !other.endsWith(`/${tail}`)));
      return [file, tails.find(isOwn) ?? (isPolicy(file) ? `./${file}` : file)];
    }),
  );
}

function isPolicy(name: string): boolean {
  return POLICY_NAMES.some((each) => each === name);
}
