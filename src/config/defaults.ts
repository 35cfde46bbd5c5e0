// Generated from schema.ts by `npm run generate`; do not edit. Commands that read these need not load the schema to start.

import type { Config } from './schema.ts';

/** The configuration when nothing is configured. */
export const DEFAULT_CONFIG: Config = {
  compactPrompt: "",
  approvalPolicy: "on_request",
  sandboxMode: "workspace_write",
  shellEnvironment: {
  },
  features: {
    microCompact: true,
    rawrAutoCompaction: true,
    compactV2: true,
    remoteCompaction: false,
    ghostSnapshots: true,
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
  limits: {
    turnRequests: 500,
    turnTokens: 60000000,
    turnDollars: 50,
    sessionRequests: 2000,
    sessionTokens: 200000000,
    sessionDollars: 150,
    repeatedCalls: 10,
  },
  rawrAutoCompaction: {
    mode: "auto",
    turnBasedHandoff: true,
    packetAuthor: "agent",
    combineRequests: true,
    scratchWriteEnabled: true,
    scratchFileTemplate: ".scratch/agent-{agentName}.scratch.md",
    packetMaxTokens: 4000,
    tailMaxItems: 8,
    summaryWithPacket: "embedded",
    midTurn: "golden",
    cooldownTurns: 2,
    cooldownSeconds: 120,
    turnCompleteSufficesBelow: 40,
    judgmentDeadlineSeconds: 30,
    scratchDeadlineSeconds: 120,
    packetDeadlineSeconds: 180,
    compactionDeadlineSeconds: 300,
    handoffDeadlineSeconds: 30,
    pushIsPrCheckpoint: true,
    infoLines: "all",
    trigger: {
    },
    policy: {
      early: {
        planBoundariesRequireSemanticBreak: true,
      },
      ready: {
        planBoundariesRequireSemanticBreak: true,
      },
      asap: {
        planBoundariesRequireSemanticBreak: false,
      },
      emergency: {
      },
    },
    semanticSignals: {
      agentDonePhrases: ["done","completed","finished","shipped","pushed"],
      agentDoneNegativePhrases: ["not done","not completed","not finished"],
      topicShiftPhrases: ["moving on","switching to","next,","next:","next up","now, let's","now let's","we'll now"],
      concludingThoughtPhrases: ["in summary","to summarize","to wrap up","wrapping up","conclusion","concluding","final thoughts","next steps"],
    },
  },
  hooks: {
  },
  modelProviders: {
  },
};
