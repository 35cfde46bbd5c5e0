// What of a thread may be changed while it is open. Pure.

import type { Config } from '../config/schema.ts';
import type { ApprovalPolicy, SandboxMode, WatcherMode } from '../vocabulary.ts';

/** Settings as they are now. */
export interface ThreadSettings {
  /** Of the watcher. */
  readonly mode: WatcherMode | 'off';
  readonly policy: ApprovalPolicy;
  readonly sandbox: SandboxMode;
  /** The agent plans and changes nothing. */
  readonly isPlanning: boolean;
  /** In a review the watcher does nothing. */
  readonly isReviewing: boolean;
}

/** Those with which a thread is opened. */
export function initialSettings({ features, rawrAutoCompaction, ...config }: Config): ThreadSettings {
  return {
    mode: features.rawrAutoCompaction ? rawrAutoCompaction.mode : 'off',
    policy: config.approvalPolicy,
    sandbox: config.sandboxMode,
    isPlanning: false,
    isReviewing: false,
  };
}

/**
 * A configuration as it counts for the watcher of a thread.
 * @param mode what the user chose in the thread; undefined: what the configuration says
 */
export function withMode(config: Config, mode: ThreadSettings['mode'] | undefined): Config {
  if (mode === undefined) return config;
  const features = { ...config.features, rawrAutoCompaction: mode !== 'off' };
  if (mode === 'off') return { ...config, features };
  return { ...config, features, rawrAutoCompaction: { ...config.rawrAutoCompaction, mode } };
}

/** Whether the agent of a thread may change files. */
export function mayWrite({ sandbox, isPlanning }: Pick<ThreadSettings, 'sandbox' | 'isPlanning'>): boolean {
  return sandbox !== 'read_only' && !isPlanning;
}

/** A configuration with which nobody writes notes: neither the agent nor the watcher in its name. */
export function withoutNotes(config: Config): Config {
  return { ...config, rawrAutoCompaction: { ...config.rawrAutoCompaction, scratchWriteEnabled: false } };
}
