import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Story } from '../../../test/support/story.ts';
import { trailOf } from '../../../test/support/trail.ts';
import { observationOf, templatedTask, textActionOf, rejectionReason } from './actions.ts';
import type { Trail } from '../trail.ts';
import { writeSummary } from '../../summary/write.ts';

const FENCE = '```';

function fenced(script: string, language = ''): string {
  return `${FENCE}${language}\n${script}\n${FENCE}`;
}

function shellStory(): Story {
  return Story.in('/barn').record({ type: 'session_meta', textActions: 'shell' });
}

function editorStory(): Story {
  return Story.in('/barn').record({ type: 'session_meta', textActions: 'editor' });
}

function summaryOf(trail: Trail, budget: number): string {
  return writeSummary(trail, { budgetTokens: budget, count: (words) => Math.ceil(words.length / 4) }).text;
}

const answered = (code: number, output: string): string =>
  `<returncode>${code}</returncode>\n<output>\n${output}\n</output>`;
const foot = (file: string): string => `\n\n(Open file: ${file})\n(Current directory: /barn)\nbash-$`;

const TASK =
  '<pr_description>\nConsider the following PR description:\nThe gate in gate.py never closes.\nNever touch hinge.py.\n</pr_description>\n<instructions>\n' +
  'You must answer with exactly one block of shell.\nNever use an interactive editor for this work.\n</instructions>';

test('the command of an answer is taken apart from what is said around it', () => {
  const shell = textActionOf(`THOUGHT: I look first.\n\n${fenced('ls\ncat a', 'bash')}\nThen more.`, 'shell');
  assert.deepEqual(shell, {
    text: 'I look first.\n\n\nThen more.',
    script: 'ls\ncat a',
    isSubmission: false,
  });
  const sketch = `Like so:\n${fenced('gate = 1', 'python')}\n${fenced('ls', 'bash')}`;
  assert.equal(textActionOf(sketch, 'shell').script, 'ls');
  assert.equal(textActionOf(`${fenced('ls', 'bash')}\n${fenced('pwd', 'bash')}`, 'shell').script, undefined);
  assert.equal(
    textActionOf(`${fenced('x = 1', 'python')}\n${fenced('open a.py')}`, 'editor').script,
    'open a.py',
  );
  assert.deepEqual(textActionOf(`Done.\n${fenced('submit')}`, 'editor'), {
    text: 'Done.',
    script: undefined,
    isSubmission: true,
  });
});

test('what a harness answers is taken apart: status, output, where the editor stands', () => {
  assert.deepEqual(observationOf(answered(2, 'no gate')), { text: 'no gate', exitCode: 2, editor: {} });
  const long =
    '<returncode>0</returncode>\n<warning>\nToo long.\n</warning><output_head>\na\n</output_head>\n<elided_chars>\n900 characters elided\n</elided_chars>\n<output_tail>\nz\n</output_tail>';
  assert.equal(observationOf(long).text.replaceAll(/\s+/g, ' '), 'a … z');
  assert.deepEqual(observationOf(`2 found${foot('/barn/gate.py')}`), {
    text: '2 found',
    exitCode: undefined,
    editor: { file: '/barn/gate.py', directory: '/barn' },
  });
  assert.deepEqual(observationOf(`none${foot('n/a')}`).editor, { directory: '/barn' });
});

test('the task is parted from the template around it; a message of another kind is a task as a whole', () => {
  const { task, template } = templatedTask(TASK);
  assert.equal(task, 'The gate in gate.py never closes.\nNever touch hinge.py.');
  assert.ok(template.includes('exactly one block') && !template.includes('gate.py'), template);
  const issue = templatedTask(
    'We work on this:\nISSUE:\nThe hens escape.\n\nINSTRUCTIONS:\nEnter one command.',
  );
  assert.equal(issue.task, 'The hens escape.');
  assert.equal(templatedTask('Close the gate.').task, 'Close the gate.');
});

test('commands of an agent without tools are calls, and what the harness answers their results', () => {
  const trail = trailOf(
    shellStory()
      .user(TASK)
      .agent(`THOUGHT: I write the gate.\n\n${fenced("cat <<'EOF' > gate.py\nclosed = True\nEOF", 'bash')}`)
      .harness(answered(0, ''))
      .agent(`THOUGHT: I mend the yard.\n\n${fenced("sed -i 's/open/shut/' yard.py", 'bash')}`)
      .harness(answered(0, ''))
      .agent(`THOUGHT: I run the checks.\n\n${fenced('pytest tests/test_gate.py', 'bash')}`)
      .harness(answered(1, 'E   AssertionError: the gate is open\n1 failed, 3 passed')),
  );
  assert.deepEqual(
    trail.files.map(({ path, state }) => [path, state]),
    [
      ['yard.py', 'edited'],
      ['gate.py', 'created'],
    ],
  );
  assert.deepEqual(
    trail.failures.map(({ command, outcome }) => [command, outcome]),
    [['pytest tests/test_gate.py', 'open']],
  );
  assert.equal(trail.current.isAgentDone, false);
  assert.equal(trail.current.newestReply?.text, 'I run the checks.');
  assert.deepEqual(
    trail.current.unread.map(({ call }) => call),
    ['pytest tests/test_gate.py'],
  );
  const text = summaryOf(trail, 2_000);
  assert.match(text, /1 failed, 3 passed/);
  assert.match(text, /Under way: go on/);
});

test('a command on its way is no answer, and an answer that was sent back is none either', () => {
  const begun = shellStory()
    .user('Close the gate.')
    .agent(`I look.\n${fenced('ls', 'bash')}`);
  assert.equal(trailOf(begun).current.isAgentDone, false);
  const sentBack = shellStory()
    .user('Close the gate.')
    .agent('I think about it.')
    .harness('Please always provide exactly one action.');
  assert.equal(trailOf(sentBack).current.isAgentDone, false);
  const done = shellStory()
    .user('Close the gate.')
    .agent(`It is closed.\n${fenced('echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && git diff', 'bash')}`)
    .harness('diff --git a/gate.py b/gate.py');
  assert.equal(trailOf(done).current.isAgentDone, true);
});

test('rules of the template are told apart from those of the task, at most at their share', () => {
  const trail = trailOf(shellStory().user(TASK));
  assert.equal(trail.requests[0]?.text, 'The gate in gate.py never closes.\nNever touch hinge.py.');
  const own = trail.constraints.filter(({ isTemplate }) => isTemplate !== true).map(({ text }) => text);
  assert.deepEqual(own, ['The gate in gate.py never closes.', 'Never touch hinge.py.']);
  const many = Array.from({ length: 40 }, (_, at) => `You must never open the gate of field number ${at}.`);
  const crowded = trailOf(shellStory().user(`${TASK}\n${many.join('\n')}`));
  const text = summaryOf(crowded, 2_000);
  const told = text.split('\n').filter((line) => line.includes('of field number')).length;
  assert.ok(told > 0 && told < 8, `${told} rules of the template`);
});

test('commands of the editor read, write and edit the file that is open; a rejected edit is a failure of it', () => {
  const edit = (body: string): string => `I mend it.\n\n${fenced(`edit 3:4\n${body}\nend_of_edit`)}`;
  const rejected = `Your proposed edit has introduced new syntax error(s).\n\nERRORS:\n- E999 IndentationError: unexpected indent\n\nThis is how it would look.${foot('/barn/src/gate.py')}`;
  const story = editorStory()
    .user('Close the gate.')
    .agent(`I make a script.\n\n${fenced('create try.py')}`)
    .harness(`[File: /barn/try.py (1 lines total)]\n1:${foot('/barn/try.py')}`)
    .agent(`Now the gate.\n\n${fenced('open src/gate.py 12')}`)
    .harness(`[File: /barn/src/gate.py (90 lines total)]\n12:def shut():${foot('/barn/src/gate.py')}`)
    .agent(edit('   shut = now'))
    .harness(rejected)
    .agent(edit('    shut = now'))
    .harness(rejected);
  const failing = trailOf(story);
  assert.deepEqual(
    failing.files.map(({ path, state }) => [path, state]),
    [
      ['src/gate.py', 'read'],
      ['try.py', 'created'],
    ],
  );
  assert.deepEqual(
    failing.failures.map(({ command, times, outcomeLines: telling, outcome }) => [
      command,
      times,
      telling[0],
      outcome,
    ]),
    [['edit src/gate.py', 2, '- E999 IndentationError: unexpected indent', 'open']],
  );
  assert.match(summaryOf(failing, 2_000), /E999 IndentationError/);
  const passed = trailOf(
    story.agent(edit('shut = soon')).harness(`12:shut = soon\nFile updated.${foot('/barn/src/gate.py')}`),
  );
  assert.deepEqual(passed.failures, [], 'nothing of it is left once it went through');
  assert.equal(passed.files.find(({ path }) => path === 'src/gate.py')?.state, 'edited');
  assert.equal(passed.files.find(({ path }) => path === 'src/gate.py')?.snippets.at(-1), 'shut = soon');
});

test('texts of other agents are left as they are', () => {
  const trail = trailOf(
    Story.in('/barn')
      .user('How do I list the hens?')
      .agent(`Like this:\n${fenced('ls hens', 'bash')}`)
      .harness('<system-reminder>Be kind.</system-reminder>'),
  );
  assert.equal(trail.current.isAgentDone, true);
  assert.equal(trail.current.calls, 0);
});

test('of a rejected edit the place is told, not the advice', () => {
  const text =
    '[Your edit has introduced new syntax error(s). Please understand the errors.]\n/orbit/src/a.tsx:22\n[This is …]';
  assert.equal(
    rejectionReason(text),
    'Your edit has introduced new syntax error(s) at /orbit/src/a.tsx:22; not applied',
  );
  assert.equal(rejectionReason('No replacement was performed.\nTry again'), 'No replacement was performed');
});

test('code of an answer that the harness sent back is not told, and that nothing ran is', () => {
  const proposed =
    'I close the gate so:\n\n```bash\nsed -i s/open/shut/ gate.py\n```\n\n```bash\ncat gate.py\n```';
  const story = shellStory()
    .harness('You watch a gate.')
    .user(TASK)
    .agent(proposed)
    .harness('Please always provide EXACTLY ONE action in triple backticks, found 2 actions.')
    .agent('One at a time.\n\n```bash\ncat gate.py\n```')
    .harness(answered(0, 'gate = "open"'));
  const { messages: said, actions } = trailOf(story).current;
  assert.deepEqual(
    said.map(({ text }) => text.includes('sed -i')),
    said.map(() => false),
  );
  assert.ok(said.some(({ text }) => text.includes('I close the gate so:')));
  assert.ok(actions.some(({ text }) => text.includes('nothing of it ran')));
});
