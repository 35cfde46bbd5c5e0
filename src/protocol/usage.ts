/** What a provider, or the agent itself, reported about the size of the context at one moment. All counts in tokens. */
export interface UsageSample {
  /** `reported`: measured by the provider. `estimated`: the agent's own guess, as Codex writes after a compaction. */
  readonly source: 'reported' | 'estimated';
  /**
   * What `total` covers. `response`: request and answer (Codex). `request`: only the request (Claude Code, whose lines
   * hold the output count of an unfinished stream). `history`: everything recorded so far.
   */
  readonly covers: 'response' | 'request' | 'history';
  /** Occupancy of the context window. */
  readonly total: number;
  readonly cachedInput?: number;
  readonly output?: number;
  readonly reasoningOutput?: number;
}
