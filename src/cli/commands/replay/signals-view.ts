import type { Evidence } from '../../../protocol/signal.ts';

/** The evidence of a boundary for people; one line. */
export function renderEvidence(evidence: Evidence): string {
  switch (evidence.type) {
    case 'command':
      return `${evidence.command}${evidence.hash === undefined ? '' : ` (${evidence.hash})`}`;
    case 'plan':
      return evidence.completed.length === 0
        ? `${evidence.done} of ${evidence.steps} steps done`
        : `done: ${evidence.completed.join('; ')} (${evidence.done} of ${evidence.steps})`;
    case 'phase':
      return evidence.summary;
    case 'phrase':
      return `"${evidence.phrase}" in: ${evidence.sentence}`;
    case 'turn':
      return 'the agent ended its turn';
  }
}
