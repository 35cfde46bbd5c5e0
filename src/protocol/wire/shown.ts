// How much of a thread events show. @source docs/decisions/protocol.md, "How much is shown"

/** Characters of a call's output: the limit of Baton's own tools, `RESULT_TOKENS` at 4 bytes each. */
export const LONGEST_OUTPUT = 40_000;

/** Characters of the diffs of one call, all files together. */
export const LONGEST_DIFF = 40_000;

/** Entries of the transcript of a resumed thread. */
export const MOST_ENTRIES = 400;

/** Characters of that transcript, as JSON. */
export const MOST_TRANSCRIPT_CHARACTERS = 1_000_000;
