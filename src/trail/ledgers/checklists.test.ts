import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Story } from '../../../test/support/story.ts';
import { approximateTokens } from '../../tokens/estimate.ts';
import { TrailCollector } from '../collect.ts';
import { writeSummary } from '../../summary/write.ts';

const home = '/home/ada/orbit';
const tasks = `${home}/tasks.md`;
const list = [
  '# Tasks',
  '- [x] Seal the hatch',
  '  - with the blue tape',
  '- [ ] Change the lamp in the tower',
  '* [ ] Sweep',
  '- [ ] Lock up',
].join('\n');

function checklistLine({ records }: Story): string | undefined {
  const collector = new TrailCollector();
  for (const record of records) collector.add(record);
  const { text } = writeSummary(collector.trail(), { budgetTokens: 2_000, count: approximateTokens });
  return text.split('\n').find((row) => row.includes('boxes ticked'));
}

const begun = (): Story => Story.in(home).user('Do the first unchecked task of tasks.md.').read(tasks, list);

test('a checklist is told with how far it is and what comes first', () => {
  const told =
    '- tasks.md: 1 of 4 boxes ticked; the first open: "Change the lamp in the tower", then "Sweep", then "Lock up"';
  assert.equal(checklistLine(begun()), told);
  const numbered = list.split('\n').map((row, at) => `${String(at + 1).padStart(6)}→${row}`);
  assert.equal(checklistLine(Story.in(home).user('Go.').read(tasks, numbered.join('\n'))), told, 'numbered');
});

test('a box is ticked by an edit of its row, of its beginning or of several rows', () => {
  const sweeping = '- tasks.md: 2 of 4 boxes ticked; the first open: "Sweep", then "Lock up"';
  const lamp = 'Change the lamp in the tower';
  assert.equal(checklistLine(begun().edit(tasks, `- [ ] ${lamp}`, `- [x] ${lamp}`)), sweeping);
  assert.equal(checklistLine(begun().edit(tasks, '- [ ] Change the', '- [x] Change the')), sweeping);
  const added = begun().edit(tasks, `- [ ] ${lamp}`, `- [x] ${lamp}\n- [ ] Buy a lamp`);
  assert.match(checklistLine(added) ?? '', /2 of 5 boxes ticked; the first open: "Buy a lamp", then "Sweep"/);
  const done = begun().edit(tasks, list, list.replaceAll('[ ]', '[x]'));
  assert.equal(checklistLine(done), '- tasks.md: 4 of 4 boxes ticked');
});

test('a part of the file that is read again changes what it shows only', () => {
  const part = '- [x] Change the lamp in the tower\n* [x] Sweep';
  assert.equal(
    checklistLine(begun().read(tasks, part)),
    '- tasks.md: 3 of 4 boxes ticked; the first open: "Lock up"',
  );
});

test('a form, a list of another request and one that was changed nobody knows how are not told', () => {
  const form = list.replaceAll('[x]', '[ ]');
  assert.equal(
    checklistLine(Story.in(home).user('Look.').read(tasks, form)),
    undefined,
    'nobody ticked a box',
  );
  assert.equal(checklistLine(begun().user('Now paint.')), undefined);
  assert.equal(checklistLine(begun().sh("sed -i 's/\\[ \\] Sweep/[x] Sweep/' tasks.md", '')), undefined);
  assert.equal(checklistLine(begun().sh('rm tasks.md', '')), undefined);
  const written = Story.in(home).user('Plan it.').call('Write', { file_path: tasks, content: form }, 'ok');
  assert.match(
    checklistLine(written) ?? '',
    /^- tasks\.md: 0 of 4 boxes ticked; the first open: "Seal the hatch"/,
  );
});
