/** What the documentation of a setting says beside its type, range and default. */
export interface About {
  /** One sentence on what the setting does. */
  readonly description: string;
  readonly unit?:
    | 'tokens'
    | 'percent'
    | 'files'
    | 'tool results'
    | 'bytes'
    | 'factor'
    | 'turns'
    | 'seconds'
    | 'characters'
    | 'activities';
  /** Where key and default come from. */
  readonly source: string;
  /** What holds while a setting without a default is not set. */
  readonly whenUnset?: string;
  /** What the setting may hold, to be read after "must be", where its type does not tell. */
  readonly allowed?: string;
  /** A value to show for a setting without a default. */
  readonly examples?: readonly [
    | string
    | number
    | boolean
    | readonly string[]
    | readonly Readonly<Record<string, string | number | readonly string[]>>[],
  ];
}

/** The facts as the schema library takes them. */
export function about(facts: About): Record<string, unknown> {
  return { ...facts };
}
