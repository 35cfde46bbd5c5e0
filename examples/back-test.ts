// Replays a recorded session under two policies: npx tsx examples/back-test.ts [FILE]
// It uses top-level await: a copy elsewhere needs "type": "module" in package.json, or a name that ends in .mts.

import { fileURLToPath } from 'node:url';
import { approximateTokens, DEFAULT_CONFIG, loadSession, openSource } from 'baton-agent/engine';
import type { Config, LogRecord } from 'baton-agent/engine';
import { FactsFold, Replay, resolvePolicy, signalSettings, WatcherPlayer } from 'baton-agent/watcher';
import type { PolicyChoice } from 'baton-agent/watcher';

const BUNDLED = fileURLToPath(new URL('sessions/tally.jsonl', import.meta.url));

/** A small window, so that a short session fills it; a long session in a large window shows the same. */
const WINDOW = 40_000;

/** The watcher under a configuration. */
function watcher(name: string, config: Config): PolicyChoice {
  const policy = resolvePolicy(config);
  return {
    name,
    signals: signalSettings(config),
    makePlayer: (world) => new WatcherPlayer({ name, policy, config }, world),
  };
}

const { rawrAutoCompaction } = DEFAULT_CONFIG;
const patient: Config = {
  ...DEFAULT_CONFIG,
  // A commit is the only good moment.
  rawrAutoCompaction: {
    ...rawrAutoCompaction,
    trigger: { ...rawrAutoCompaction.trigger, autoRequiresAnyBoundary: ['commit'] },
  },
};
const policies = [watcher('as shipped', DEFAULT_CONFIG), watcher('commits only', patient)];

const records: LogRecord[] = [];
const source = await openSource(process.argv[2] ?? BUNDLED, process.stdin);
await loadSession(source, (record) => void records.push(record)).finally(() => source.close());

const facts = new FactsFold((item) => approximateTokens(JSON.stringify(item)), approximateTokens);
for (const record of records) facts.add(record);
const replay = new Replay(facts.facts(), {
  recording: { estimate: DEFAULT_CONFIG.compact, safetyMultiplier: 1, window: WINDOW },
  policies,
});
for (const record of records) replay.add(record);
replay.end();

for (const { policy, compactions, peak } of replay.result().policies) {
  console.log(`${policy}: ${compactions.length} compactions, at most ${peak} tokens`);
  for (const { turn, place, preTokens, postTokens, why } of compactions) {
    console.log(`  turn ${turn}, ${place}: ${preTokens} -> ${postTokens} tokens. ${why}`);
  }
}
