/** What the documentation says about a setting besides its type, range and default. */
export interface About extends Marks {
  /** One sentence that says what the setting does. */
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
  /** Maturity: an `experimental` feature may still change or disappear. */
  readonly stage?: 'stable' | 'experimental';
  /** The source of the key and its default. */
  readonly source: string;
  /** What applies while a setting without a default is unset. */
  readonly whenUnset?: string;
  /** The allowed values where type and range do not say it; reads after "must be". */
  readonly allowed?: string;
  /** An example value for a setting without a default. */
  readonly examples?: readonly [
    | string
    | number
    | boolean
    | readonly string[]
    | readonly Readonly<Record<string, string | number | readonly string[]>>[],
  ];
}

/** How Baton treats a setting or a whole table. */
export interface Marks {
  /** A project's file may not set it, for the reasons in docs/decisions/configuration.md. */
  readonly userOnly?: true;
  /** Documentation and starter file omit it: no test of the whole program shows its effect. */
  readonly isUndocumented?: true;
  /** People paste keys into it by mistake, so messages never repeat its value. */
  readonly mayHoldSecret?: true;
}

/** The facts in the form that the schema library takes. */
export function about(facts: About | Marks): Record<string, unknown> {
  return { ...facts };
}
