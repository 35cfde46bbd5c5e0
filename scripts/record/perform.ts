// Plays a screenplay in a workspace and records it.

import { createHash } from 'node:crypto';
import type { Item, MessageItem } from '../../src/protocol/item.ts';
import type { Rollout } from './rollout.ts';
import type { Call, Sampling, Scene } from './screenplay.ts';
import { SHOWN_DIRECTORY } from './workspace.ts';
import type { Workspace } from './workspace.ts';

/** What came out of the play besides the rollout. */
export interface Outcome {
  readonly turns: number;
  readonly commands: number;
  /** Where the context was to be compacted: the number of lines and of tokens before it. */
  readonly compactionPlace: { readonly lines: number; readonly tokens: number } | undefined;
}

/**
 * Plays the scenes. Every command is run; one that ends with another status than the screenplay expects would make the
 * agent's next words untrue.
 * @param openings what the harness says before the first message of the user
 * @throws Error naming the command that ended otherwise than expected
 */
export async function perform(
  scenes: readonly Scene[],
  workspace: Workspace,
  rollout: Rollout,
  openings: readonly MessageItem[],
): Promise<Outcome> {
  let turns = 0;
  let calls = 0;
  let commands = 0;
  let compactionPlace: Outcome['compactionPlace'];
  for (const scene of scenes) {
    if (scene.type === 'compaction') {
      // The place for Baton's own compaction of what was recorded so far.
      compactionPlace = { lines: rollout.lineCount, tokens: rollout.contextTokens };
    } else if (scene.type === 'user') {
      rollout.wait(scene.afterSeconds);
      rollout.startTurn();
      if (turns === 0) for (const opening of openings) rollout.input(opening);
      rollout.input(textMessage('user', scene.text));
      turns++;
    } else {
      await playSampling(scene, calls, workspace, rollout);
      calls += scene.calls.length;
      commands += scene.calls.filter(({ tool }) => tool === 'exec_command').length;
    }
  }
  return { turns, commands, compactionPlace };
}

async function playSampling(
  scene: Sampling,
  callsBefore: number,
  workspace: Workspace,
  rollout: Rollout,
): Promise<void> {
  const say = scene.say === undefined ? undefined : await fillIn(scene.say, workspace);
  if (scene.think !== undefined) {
    rollout.output({
      type: 'reasoning',
      summary: [{ type: 'summary_text', text: scene.think }],
      encrypted_content: null,
    });
  }
  if (say !== undefined) rollout.output(textMessage('assistant', say));
  const called = scene.calls.map((call, index) => ({ call, id: callId(callsBefore + index) }));
  for (const { call, id } of called) rollout.output(callItem(call, id));
  const usage = rollout.measure();
  for (const { call, id } of called) rollout.input(await carryOut(call, id, workspace, rollout));
  rollout.tokenCount(usage);
  if (called.length === 0) rollout.completeTurn(say ?? '');
}

/** Puts the hash of the newest commit where the agent names it. */
async function fillIn(text: string, workspace: Workspace): Promise<string> {
  if (!text.includes('{head}')) return text;
  const { output } = await workspace.run('git rev-parse --short HEAD', 0);
  return text.replaceAll('{head}', output.trim());
}

/** A message of one text. */
export function textMessage(role: MessageItem['role'], text: string): MessageItem {
  return {
    type: 'message',
    role,
    content: [{ type: role === 'assistant' ? 'output_text' : 'input_text', text }],
  };
}

function callId(index: number): string {
  return `call_${digest(`call ${index}`).slice(0, 24)}`;
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function callItem(call: Call, id: string): Item {
  switch (call.tool) {
    case 'exec_command':
      return functionCall(call.tool, { cmd: call.command, workdir: SHOWN_DIRECTORY }, id);
    case 'update_plan':
      return functionCall(call.tool, { plan: call.steps }, id);
    case 'apply_patch':
      return { type: 'custom_tool_call', name: call.tool, input: call.patch, call_id: id };
  }
}

function functionCall(name: string, args: object, id: string): Item {
  return { type: 'function_call', name, arguments: JSON.stringify(args), call_id: id };
}

async function carryOut(call: Call, id: string, workspace: Workspace, rollout: Rollout): Promise<Item> {
  switch (call.tool) {
    case 'update_plan':
      return { type: 'function_call_output', call_id: id, output: 'Plan updated' };
    case 'apply_patch': {
      rollout.wait(0.1);
      const output = `Exit code: 0\nWall time: 0 seconds\nOutput:\n${workspace.patch(call.patch)}`;
      return { type: 'custom_tool_call_output', call_id: id, output };
    }
    case 'exec_command': {
      const output = await runCommand(call, id, workspace, rollout);
      return { type: 'function_call_output', call_id: id, output };
    }
  }
}

async function runCommand(
  call: Call & { readonly tool: 'exec_command' },
  id: string,
  workspace: Workspace,
  rollout: Rollout,
): Promise<string> {
  const { exitCode, output } = await workspace.run(call.command, rollout.epochSeconds);
  if (exitCode !== call.expectedExit) {
    throw new Error(`Ended with ${exitCode} instead of ${call.expectedExit}: ${call.command}\n${output}`);
  }
  const seconds = scriptedSeconds(call.command, id);
  rollout.wait(seconds);
  return [
    `Chunk ID: ${digest(id).slice(0, 6)}`,
    `Wall time: ${seconds.toFixed(4)} seconds`,
    `Process exited with code ${exitCode}`,
    'Output:',
    output,
  ].join('\n');
}

/** How long a command seems to take: measured times would differ from recording to recording. */
function scriptedSeconds(command: string, id: string): number {
  const share = Number.parseInt(digest(id).slice(0, 4), 16) / 0xffff;
  const base = command.includes('node --test') ? 0.4 : command.includes('node ') ? 0.08 : 0.02;
  return base * (1 + share);
}
