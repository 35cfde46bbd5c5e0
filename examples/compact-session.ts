// Compacts a session file into another one: npx tsx examples/compact-session.ts [FILE [OUT]]
// It awaits at the top level: copied elsewhere, it needs "type": "module" in package.json, or a name that ends in .mts.

import { fileURLToPath } from 'node:url';
import { compactSession } from 'baton-agent';

const BUNDLED = fileURLToPath(new URL('sessions/tally.jsonl', import.meta.url));

const [, , file = BUNDLED, out] = process.argv;
const compaction = await compactSession(file, {
  targetTokens: 4000,
  // Without a place for it, the result has the session as text.
  ...(out === undefined ? {} : { out }),
});
if (compaction.isCompacted) {
  const { tokensBefore, tokensAfter, fixedTokens, kept, removed, summary } = compaction;
  console.log(`${tokensBefore} -> ${tokensAfter} tokens, ${fixedTokens} of them instructions and tools`);
  console.log(`${kept.items} items kept, ${removed.items} removed`);
  console.log(summary);
} else console.log(`${compaction.why}. ${compaction.cure}`);
