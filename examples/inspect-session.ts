// Shows what fills the context of a session file: npx tsx examples/inspect-session.ts [FILE]
// It awaits at the top level: copied elsewhere, it needs "type": "module" in package.json, or a name that ends in .mts.

import { fileURLToPath } from 'node:url';
import { inspectSession } from 'baton-agent';

const BUNDLED = fileURLToPath(new URL('sessions/tally.jsonl', import.meta.url));

const session = await inspectSession(process.argv[2] ?? BUNDLED, { top: 3 });
console.log(`${session.usedTokens} of ${session.window.usable} tokens, ${session.percentRemaining} % left`);
for (const { kind, tokens } of session.parts) console.log(`  ${kind}: ${tokens}`);
console.log('Largest results:');
for (const { tool, subject, tokens } of session.top.results) console.log(`  ${tokens}: ${tool} ${subject}`);
