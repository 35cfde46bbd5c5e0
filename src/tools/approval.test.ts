import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { APPROVAL_POLICIES, AUTHORS, SANDBOX_MODES } from '../vocabulary.ts';
import type { ApprovalPolicy, SandboxMode } from '../vocabulary.ts';
import { canApprove, decideApproval } from './approval.ts';
import type { ToolAction } from './tool.ts';

const ACTIONS = {
  read: { kind: 'read' },
  state: { kind: 'state' },
  edit: { kind: 'edit', paths: ['a'] },
  run: { kind: 'run', command: 'npm test', leavesSandbox: false },
  look: { kind: 'run', command: 'git status', leavesSandbox: false },
  leave: { kind: 'run', command: 'npm install', leavesSandbox: true },
} as const satisfies Readonly<Record<string, ToolAction>>;

type Name = keyof typeof ACTIONS;

function decided(name: Name, policy: ApprovalPolicy, sandbox: SandboxMode, canConfine = true): string {
  const decision = decideApproval(ACTIONS[name], { policy, sandbox, canConfine }, 'user');
  return decision.type === 'refuse' ? 'refuse' : `${decision.type} ${decision.sandbox}`;
}

describe('the decision about a call', () => {
  // Columns: read_only, workspace_write, danger_full_access.
  const rows: readonly (readonly [ApprovalPolicy, Name, string, string, string])[] = [
    ['untrusted', 'edit', 'ask workspace_write', 'ask workspace_write', 'ask danger_full_access'],
    ['untrusted', 'run', 'ask read_only', 'ask workspace_write', 'ask danger_full_access'],
    ['untrusted', 'look', 'run read_only', 'run workspace_write', 'ask danger_full_access'],
    ['untrusted', 'leave', 'ask danger_full_access', 'ask danger_full_access', 'ask danger_full_access'],
    ['on_request', 'edit', 'ask workspace_write', 'run workspace_write', 'run danger_full_access'],
    ['on_request', 'run', 'run read_only', 'run workspace_write', 'run danger_full_access'],
    ['on_request', 'leave', 'ask danger_full_access', 'ask danger_full_access', 'run danger_full_access'],
    ['never', 'edit', 'refuse', 'run workspace_write', 'run danger_full_access'],
    ['never', 'run', 'run read_only', 'run workspace_write', 'run danger_full_access'],
    ['never', 'leave', 'refuse', 'refuse', 'run danger_full_access'],
  ];
  for (const [policy, name, ...expected] of rows) {
    it(`${policy}: ${name}`, () => {
      assert.deepEqual(
        SANDBOX_MODES.map((sandbox) => decided(name, policy, sandbox)),
        expected,
      );
    });
  }

  it('without bubblewrap, no command runs unasked unless everything is allowed', () => {
    for (const name of ['run', 'look', 'leave'] as const) {
      for (const sandbox of ['read_only', 'workspace_write'] as const) {
        assert.equal(decided(name, 'untrusted', sandbox, false), 'ask danger_full_access');
        assert.equal(decided(name, 'on_request', sandbox, false), 'ask danger_full_access');
        assert.equal(decided(name, 'never', sandbox, false), 'refuse');
      }
      assert.equal(decided(name, 'never', 'danger_full_access', false), 'run danger_full_access');
    }
  });

  it('says that nothing confines a command where nothing does', () => {
    const terms = { policy: 'on_request', sandbox: 'workspace_write', canConfine: false } as const;
    const decision = decideApproval(ACTIONS.run, terms, 'user');
    assert.ok(decision.type === 'ask', decision.type);
    assert.match(decision.why, /[Bb]ubblewrap is not available/);
  });
});

describe('laws of decisions', () => {
  const cases = APPROVAL_POLICIES.flatMap((policy) =>
    SANDBOX_MODES.flatMap((sandbox) =>
      [true, false].flatMap((canConfine) =>
        Object.values<ToolAction>(ACTIONS).map((action) => ({
          action,
          terms: { policy, sandbox, canConfine },
        })),
      ),
    ),
  );

  it('only a turn of the user may ask; every other turn is refused what it would have asked for', () => {
    let asked = 0;
    for (const { action, terms } of cases) {
      const user = decideApproval(action, terms, 'user');
      if (user.type === 'ask') asked++;
      for (const author of AUTHORS.filter((one) => one !== 'user')) {
        const other = decideApproval(action, terms, author);
        assert.equal(other.type, user.type === 'ask' ? 'refuse' : user.type);
      }
    }
    assert.ok(asked > 10, 'some ask');
  });

  it('never asks under the policy never, and never looser than the sandbox without asking', () => {
    for (const { action, terms } of cases) {
      const decision = decideApproval(action, terms, 'user');
      if (terms.policy === 'never') assert.notEqual(decision.type, 'ask');
      if (decision.type === 'run') assert.equal(decision.sandbox, terms.sandbox);
      if (action.kind === 'read' || action.kind === 'state') assert.equal(decision.type, 'run');
    }
  });

  it('nobody but the user approves', () => {
    assert.deepEqual(
      AUTHORS.filter((author) => canApprove(author)),
      ['user'],
    );
  });
});
