// How well a line fits each format that Baton reads, and what is easily mistaken for one.

import type { Format } from '../vocabulary.ts';
import { CODEX_LOOK_ALIKES, looksLikeCodex } from './codex/detect.ts';
import type { Likeness, LookAlike } from './detect.ts';

export const LIKENESS: Readonly<Record<Format, Likeness>> = {
  codex: looksLikeCodex,
  'claude-code': (value) =>
    typeof value['sessionId'] === 'string' || 'uuid' in value || value['type'] === 'file-history-snapshot'
      ? 1
      : 0,
};

export const LOOK_ALIKES: readonly LookAlike[] = CODEX_LOOK_ALIKES;
