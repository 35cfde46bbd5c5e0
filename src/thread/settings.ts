// The settings of a thread that can change while it is open. Pure.

import type { Config } from '../config/schema.ts';
import type { SessionEvent } from '../protocol/wire/event.ts';
import { PROTOCOL_VERSION } from '../protocol/wire/version.ts';
import type { Rollout } from '../rollout/rollout.io.ts';
import type { ApprovalPolicy, SandboxMode, WatcherMode } from '../vocabulary.ts';
import type { ThreadRequest } from './terms.ts';

/** The present settings. */
export interface ThreadSettings {
  /** The watcher's mode. */
  readonly mode: WatcherMode | 'off';
  readonly policy: ApprovalPolicy;
  readonly sandbox: SandboxMode;
  /** The agent only plans and does not change anything. */
  readonly isPlanning: boolean;
  /** In review mode the watcher does nothing. */
  readonly isReviewing: boolean;
}

/** The settings when a thread is opened. */
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
 * A configuration as it applies to a thread's watcher.
 * @param mode the user's choice in the thread; undefined: the configuration decides
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

/** A configuration without notes: neither the agent nor the watcher writes any. */
export function withoutNotes(config: Config): Config {
  return { ...config, rawrAutoCompaction: { ...config.rawrAutoCompaction, scratchWriteEnabled: false } };
}

/** Reports the present settings of a thread. */
export function configured(
  { model }: ThreadRequest,
  { rollout, root }: { readonly rollout: Pick<Rollout, 'threadId' | 'path'>; readonly root: string },
  settings: ThreadSettings,
): Extract<SessionEvent, { type: 'session_configured' }> {
  return {
    type: 'session_configured',
    protocol_version: PROTOCOL_VERSION,
    session_id: rollout.threadId,
    rollout_path: rollout.path,
    provider: model.provider,
    model: model.name,
    model_context_window: model.window,
    cwd: root,
    approval_policy: settings.policy,
    sandbox_mode: settings.sandbox,
    mode: settings.mode,
    plan_mode: settings.isPlanning,
    review_mode: settings.isReviewing,
  };
}
