// Generated from schema.ts by `npm run generate`; do not edit. Here so that commands need no schema to start.

import type { Config } from './schema.ts';

/** The configuration when nothing is configured. */
export const DEFAULT_CONFIG: Config = {
  features: {
    microCompact: true,
  },
  compact: {
    enabled: true,
    autoCompactEnabled: true,
    freeSpaceBuffer: 13000,
    warningThreshold: 20000,
    microCompactMinTokensToSave: 20000,
    microCompactKeepLastNTools: 3,
    restoreMaxFiles: 5,
    restoreTokensPerFile: 5000,
    restoreTotalFileBudget: 50000,
    restoreTodos: true,
    restorePlan: true,
    tokenSafetyMultiplier: 1.33,
    approxBytesPerToken: 4,
    tokensPerImage: 2000,
    userMessageMaxTokens: 20000,
  },
};
