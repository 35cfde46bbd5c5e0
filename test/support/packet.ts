// What an agent answers that writes its packet as it was asked to.

/** A packet that is taken as it is. */
export const PACKET = `## Overarching goal
Light the lamp of the tower.
## Just completed
The wick is trimmed and committed (src/wick.ts).
## Current state
The oil is low, the door is open.
## Invariants
Never touch the glass.
## Next step
Fill the oil in src/oil.ts.
## Verbatim snippet
{{RAWR_VERBATIM_CONTINUATION_SNIPPET}}`;
