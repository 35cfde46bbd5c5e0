import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { Story } from '../../../test/support/story.ts';
import { TrailCollector } from '../../trail/collect.ts';
import {
  DEFAULT_SCRATCH_TEMPLATE,
  hasGrown,
  isInsideWorkspace,
  scratchAgentName,
  scratchPath,
  scratchText,
} from './scratch.ts';

const names: readonly (readonly [
  subagent: string | undefined,
  threadId: string | undefined,
  name: string,
])[] = [
  ['review', 't1', 'review'],
  ['subagent_review', 't1', 'review'],
  ['thread_spawn_0199-ABCD_d2', 't1', 'thread-spawn-0199-abcd-d2'],
  ['Größe & Maß', 't1', 'gr-e-ma'],
  ['../../etc/passwd', 't1', 'etc-passwd'],
  [undefined, undefined, 'codex'],
  ['日本語', '', 'codex'],
];

for (const [subagent, threadId, name] of names) {
  test(`the agent ${subagent ?? '-'} of thread ${threadId ?? '-'} is called ${name}`, () => {
    assert.equal(scratchAgentName({ subagent, threadId }), name);
  });
}

test('a thread without a name has one of the list, the same each time and in lower case', () => {
  const name = scratchAgentName({ threadId: '019ed99c-d00d-7613-b2e7-d2f512f78afd' });
  assert.equal(name, scratchAgentName({ threadId: '019ed99c-d00d-7613-b2e7-d2f512f78afd' }));
  // Written down: another hash would give every running thread a second file.
  assert.equal(name, 'milo');
  const many = new Set(
    Array.from({ length: 200 }, (_, at) => scratchAgentName({ threadId: `thread-${at}` })),
  );
  assert.ok(many.size > 20, `${many.size} of 24 names are used`);
});

const paths: readonly (readonly [template: string, path: string])[] = [
  [DEFAULT_SCRATCH_TEMPLATE, '.scratch/agent-review.scratch.md'],
  ['notes/{agent_name}-{threadId}.md', 'notes/review-t-1.md'],
  ['notes/{unknown}.md', 'notes/{unknown}.md'],
  ['/tmp/{agentName}.md', '.scratch/agent-review.scratch.md'],
  ['../{agentName}.md', '.scratch/agent-review.scratch.md'],
  ['a/../../{agentName}.md', '.scratch/agent-review.scratch.md'],
  ['./{agentName}.md', '.scratch/agent-review.scratch.md'],
  ['a//{agentName}.md', '.scratch/agent-review.scratch.md'],
  ['C:\\notes\\{agentName}.md', '.scratch/agent-review.scratch.md'],
  ['.git/hooks/{agentName}', '.scratch/agent-review.scratch.md'],
  ['notes/', '.scratch/agent-review.scratch.md'],
  ['', '.scratch/agent-review.scratch.md'],
];

for (const [template, path] of paths) {
  test(`the template ${JSON.stringify(template)} gives ${path}`, () => {
    assert.equal(scratchPath(template, { subagent: 'review', threadId: 'T/1' }), path);
  });
}

test('no template and no owner lead out of the workspace', () => {
  const piece = fc.oneof(
    fc.string(),
    fc.constantFrom('..', '/', '{threadId}', '{agentName}', '.', '\\', '\0'),
  );
  fc.assert(
    fc.property(fc.array(piece), fc.string(), fc.string(), (template, subagent, threadId) => {
      const path = scratchPath(template.join(''), { subagent, threadId });
      assert.equal(isInsideWorkspace(path), true);
      assert.doesNotMatch(path, /^\/|(?:^|\/)\.\.?(?:\/|$)/);
    }),
    { seed: 20_261_121 },
  );
});

test('a file has grown when it is longer, or new and not empty', () => {
  assert.equal(hasGrown(undefined, 10), true);
  assert.equal(hasGrown(undefined, 0), false);
  assert.equal(hasGrown(undefined, undefined), false);
  assert.equal(hasGrown(10, 10), false);
  assert.equal(hasGrown(10, 4), false);
  assert.equal(hasGrown(10, 11), true);
});

test('what the watcher writes itself is the last work, verbatim, bounded and without secrets', () => {
  const collector = new TrailCollector();
  const story = Story.in('/work/app').user('Fix the parser').sh('npm test', '2 failing: parse, print', 1);
  for (const record of story.records) collector.add(record);
  const key = `sk-${'a1'.repeat(20)}`;
  const text = scratchText(collector.trail(), {
    sequenceId: 's7',
    lastAgentMessage: `${'long '.repeat(4_000)} The key is ${key}. The parser trips over tabs.`,
  });
  assert.match(text, /sequence s7/);
  assert.match(text, /npm test → failed \(exit 1\)/);
  assert.match(text, /The parser trips over tabs\./);
  assert.doesNotMatch(text, /sk-a1/);
  assert.ok(text.length < 16_000, `${text.length} characters`);
});
