/** What the documentation of a setting says beside its type, range and default. */
export interface About extends Marks {
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
    | 'milliseconds'
    | 'retries'
    | 'characters'
    | 'activities'
    | 'requests'
    | 'US dollars'
    | 'times';
  /** How far a feature is: `experimental` may still change or go. */
  readonly stage?: 'stable' | 'experimental';
  /** Where key and default come from. */
  readonly source: string;
  /** What holds while a setting without a default is not set. */
  readonly whenUnset?: string;
  /** What it may hold, where type and range do not say it; to be read after "must be". */
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

/** How a setting, or a whole table, is to be treated. */
export interface Marks {
  /** A project's file may not set it, for the reasons in docs/decisions/configuration.md. */
  readonly userOnly?: true;
  /** Documentation and starter leave it out: no test of the whole program shows that it does something. */
  readonly isUndocumented?: true;
  /** People paste keys into it by mistake, so no message repeats what it holds. */
  readonly mayHoldSecret?: true;
}

/** The facts as the schema library takes them. */
export function about(facts: About | Marks): Record<string, unknown> {
  return { ...facts };
}
