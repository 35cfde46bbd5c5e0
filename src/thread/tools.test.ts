// Which calls wait for which, who is asked, and what becomes of a no.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { z } from 'zod';
import { textOfOutput } from '../protocol/item.ts';
import type { Item } from '../protocol/item.ts';
import { ABORTED_RESULT } from '../session/loop.ts';
import { defineTool, done } from '../tools/tool.ts';
import type { Toolbox } from '../tools/toolbox.io.ts';
import type { Author, SandboxMode, ToolKind } from '../vocabulary.ts';
import { ThreadTools } from './tools.io.ts';
import type { ApprovalAnswer, RunnerTerms } from './tools.io.ts';

const NEVER = new AbortController().signal;

/** Tools of every kind that end when they are told to. */
class Bench {
  /** Calls that began, in order; those that still run are in `open`. */
  readonly begun: string[] = [];
  readonly open = new Map<string, () => void>();
  readonly sandboxes: SandboxMode[] = [];
  readonly tools: ThreadTools;

  constructor(changed: Partial<RunnerTerms> = {}) {
    this.tools = new ThreadTools({
      toolbox: this.#toolbox(),
      rules: () => ({ policy: 'on_request', sandbox: 'workspace_write', isPlanning: false }),
      author: () => 'user',
      ask: () => Promise.reject(new RangeError('nobody was meant to be asked')),
      beforeChange: () => Promise.resolve(),
      emit: () => undefined,
      more: [],
      ...changed,
    });
  }

  #toolbox(): Toolbox {
    const tools = (['read', 'edit', 'run', 'state'] as const).map((kind) =>
      defineTool({
        name: `${kind}_it`,
        description: 'Does it.',
        kind,
        arguments: { id: z.string() },
        actionOf: ({ id }) =>
          kind === 'edit'
            ? { kind, paths: [id] }
            : kind === 'run'
              ? { kind, command: id, leavesSandbox: id === 'escape' }
              : { kind },
        run: async ({ id }, context) => {
          this.begun.push(id);
          this.sandboxes.push(context.sandbox);
          await new Promise<void>((resolve) => this.open.set(id, resolve));
          this.open.delete(id);
          return done(`did ${id}`);
        },
      }),
    );
    return {
      tools,
      confinement: { type: 'bubblewrap', path: '/bin/bwrap', isolation: [], scratchBytes: undefined },
      root: '/work',
      shell: '/bin/sh',
      env: {},
    };
  }

  call(kind: ToolKind, id: string, signal = NEVER): Promise<string> {
    const item = {
      type: 'function_call',
      call_id: id,
      name: `${kind}_it`,
      arguments: JSON.stringify({ id }),
    } as const;
    return this.tools.run(item, signal).then(({ output }) => textOfOutput(output));
  }

  /** Lets everything go as far as it can. */
  async settle(): Promise<void> {
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => void setImmediate(resolve));
  }
}

test('what reads runs side by side, the rest alone, in the order of the calls', async () => {
  const kind = fc.constantFrom<ToolKind>('read', 'edit', 'run', 'state');
  await fc.assert(
    fc.asyncProperty(fc.array(kind, { maxLength: 8 }), fc.infiniteStream(fc.nat()), async (kinds, chance) => {
      const bench = new Bench();
      const ran = kinds.map((each, index) => bench.call(each, String(index)));
      for (;;) {
        await bench.settle();
        const running = [...bench.open.keys()].map(Number);
        if (running.length === 0) break;
        const isAlone = running.some((index) => kinds[index] !== 'read');
        assert.ok(!isAlone || running.length === 1, `${running.join()} of ${kinds.join()}`);
        const first = kinds.findIndex((_, index) => !bench.begun.includes(String(index)));
        if (first !== -1) {
          assert.ok(
            bench.begun.every((id) => Number(id) < first),
            'nobody is overtaken',
          );
          if (!isAlone) assert.notEqual(kinds[first], 'read', 'no read waits for a read');
        }
        const ended = running[chance.next().value % running.length];
        bench.open.get(String(ended))?.();
      }
      assert.deepEqual(
        await Promise.all(ran),
        kinds.map((_, index) => `did ${index}`),
      );
    }),
    { numRuns: 60, seed: 11 },
  );
});

test('idle waits for the last call', async () => {
  const bench = new Bench();
  void bench.call('read', 'a');
  void bench.call('edit', 'b');
  let isIdle = false;
  void bench.tools.idle().then(() => (isIdle = true));
  for (const id of ['a', 'b']) {
    await bench.settle();
    assert.equal(isIdle, false);
    bench.open.get(id)?.();
  }
  await bench.settle();
  assert.ok(isIdle, 'nothing runs any more');
});

test('a call that waited for its turn until the user stopped everything never begins', async () => {
  const bench = new Bench();
  const stop = new AbortController();
  const first = bench.call('edit', 'a');
  const second = bench.call('edit', 'b', stop.signal);
  await bench.settle();
  stop.abort();
  bench.open.get('a')?.();
  await first;
  assert.equal(await second, ABORTED_RESULT);
  assert.deepEqual(bench.begun, ['a']);
});

test('a tool that there is not, and arguments that cannot be used, are results', async () => {
  const bench = new Bench();
  const unknown: Item = { type: 'custom_tool_call', call_id: 'c', name: 'paint', input: 'x' };
  const result = await bench.tools.run(unknown, NEVER);
  assert.equal(result.type, 'custom_tool_call_output');
  assert.match(textOfOutput(result.output), /no tool "paint".* read_it, edit_it, run_it, state_it/);
  const wrong: Item = { type: 'function_call', call_id: 'd', name: 'read_it', arguments: '{"id": 1}' };
  const complaint = await bench.tools.run(wrong, NEVER);
  assert.equal(complaint.success, false);
  assert.match(textOfOutput(complaint.output), /arguments of read_it/);
});

describe('a call that needs a yes', () => {
  const rows: readonly (readonly [author: Author, answer: ApprovalAnswer, asked: boolean, text: RegExp])[] = [
    ['user', { type: 'approved' }, true, /^did escape$/],
    ['user', { type: 'denied', why: 'Not today.' }, true, /not run.*sandbox.*Not today\./],
    ['synthetic', { type: 'approved' }, false, /not run.*Only the user can approve/],
    ['harness', { type: 'approved' }, false, /not run.*Only the user can approve/],
  ];
  for (const [author, answer, isAsked, text] of rows) {
    test(`in a turn of ${author}, ${answer.type}`, async () => {
      let asked = 0;
      const ask: RunnerTerms['ask'] = ({ sandbox, action }) => {
        asked++;
        assert.deepEqual({ sandbox, kind: action.kind }, { sandbox: 'danger_full_access', kind: 'run' });
        return Promise.resolve(answer);
      };
      const bench = new Bench({ author: () => author, ask });
      const ran = bench.call('run', 'escape');
      await bench.settle();
      bench.open.get('escape')?.();
      assert.match(await ran, text);
      assert.equal(asked, isAsked ? 1 : 0);
      assert.deepEqual(bench.sandboxes, answer.type === 'approved' && isAsked ? ['danger_full_access'] : []);
    });
  }
});
