// What is collected of a story, and what its summary says.

import { approximateTokens } from '../../src/tokens/estimate.ts';
import { TrailCollector } from '../../src/trail/collect.ts';
import { writeSummary } from '../../src/summary/write.ts';
import type { Trail } from '../../src/trail/trail.ts';
import type { Story } from './story.ts';

export function trailOf({ records }: Story): Trail {
  const collector = new TrailCollector();
  for (const record of records) collector.add(record);
  return collector.trail();
}

export function summaryOf(story: Story, budgetTokens = 4_000): string {
  return writeSummary(trailOf(story), { budgetTokens, count: approximateTokens }).text;
}
