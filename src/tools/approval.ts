// Decides whether a call runs, needs the user's approval, or is rejected. Pure: it does not decide how to ask.

import type { ApprovalPolicy, Author, SandboxMode } from '../vocabulary.ts';
import type { ToolAction } from './tool.ts';
import { isTrustedCommand } from './shell/trusted.ts';

/** The rules of a session and the abilities of its machine. */
export interface ApprovalTerms {
  readonly policy: ApprovalPolicy;
  readonly sandbox: SandboxMode;
  /** Whether commands can be confined here: bubblewrap is installed and works. */
  readonly canConfine: boolean;
  /** Whether the command may read through a link that leads out of the workspace; absent: no. Only `untrusted` minds. */
  readonly isLinkedOut?: boolean;
}

/** The decision about a call. `sandbox` confines it; `why` is one sentence for people and for the model. */
export type ApprovalDecision =
  | { readonly type: 'run'; readonly sandbox: SandboxMode }
  | { readonly type: 'ask'; readonly sandbox: SandboxMode; readonly why: string }
  | { readonly type: 'refuse'; readonly why: string };

/**
 * Decides about one call.
 *
 * Only a user's turn may request approval: in every other turn (heads-up, packet, handoff, messages injected by a product), calls
 * that need approval are rejected. Such turns may still run what the policy allows without approval.
 * @param origin the author of the message that the turn answers
 * @source spec 4-session §5; agent-peers.md, pain 12: a synthetic "continue" was taken for consent
 */
export function decideApproval(action: ToolAction, terms: ApprovalTerms, origin: Author): ApprovalDecision {
  const decision = decideForUser(action, terms);
  if (decision.type !== 'ask' || origin === 'user') return decision;
  return {
    type: 'refuse',
    why: `${decision.why} Only the user can approve that, and this turn is not the user's: leave it for the user's next turn.`,
  };
}

/** Whether a message of this author may approve a call. Messages that the product or the agent writes never do. */
export function canApprove(origin: Author): boolean {
  return origin === 'user';
}

function decideForUser(action: ToolAction, terms: ApprovalTerms): ApprovalDecision {
  switch (action.kind) {
    case 'read':
    case 'state':
      return { type: 'run', sandbox: terms.sandbox };
    case 'edit':
      return decideEdit(terms);
    case 'run':
      return decideCommand(action, terms);
  }
}

function decideEdit({ policy, sandbox }: ApprovalTerms): ApprovalDecision {
  if (sandbox === 'read_only') {
    const why = 'The sandbox is read_only, and this call changes files.';
    return policy === 'never' ? { type: 'refuse', why } : { type: 'ask', sandbox: 'workspace_write', why };
  }
  return policy === 'untrusted'
    ? { type: 'ask', sandbox, why: 'The policy is untrusted: every change of files needs approval.' }
    : { type: 'run', sandbox };
}

function decideCommand(
  { command, leavesSandbox }: ToolAction & { readonly kind: 'run' },
  { policy, sandbox, canConfine, isLinkedOut = false }: ApprovalTerms,
): ApprovalDecision {
  if (sandbox !== 'danger_full_access') {
    if (leavesSandbox) return askToLeave(policy, 'The command requests to run outside the sandbox.');
    if (!canConfine) {
      return askToLeave(
        policy,
        `Bubblewrap is not available here, so a command cannot be confined to ${sandbox}.`,
      );
    }
  }
  if (policy !== 'untrusted') return { type: 'run', sandbox };
  const isTrusted = isTrustedCommand(command, sandbox);
  if (isTrusted && !isLinkedOut) return { type: 'run', sandbox };
  const doubt = isTrusted
    ? 'may read through a link that leads out of the workspace'
    : 'is not known to only read';
  return { type: 'ask', sandbox, why: `The policy is untrusted, and this command ${doubt}.` };
}

function askToLeave(policy: ApprovalPolicy, why: string): ApprovalDecision {
  if (policy !== 'never') return { type: 'ask', sandbox: 'danger_full_access', why };
  return { type: 'refuse', why: `${why} The policy is never: Baton does not ask.` };
}
