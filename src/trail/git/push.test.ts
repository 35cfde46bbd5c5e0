import assert from 'node:assert/strict';
import { test } from 'node:test';
import { committed, trailOf } from '../../../test/support/git-story.ts';
import type { Story } from '../../../test/support/story.ts';

test('commits count as not pushed until a push of their branch goes well', () => {
  const ahead = (story: Story): string => {
    const { tree } = trailOf(story);
    return `${tree.ahead}${tree.isExact ? '' : '+'} ${tree.refusal ?? ''}`.trim();
  };
  assert.equal(ahead(committed()), '1');
  assert.equal(ahead(committed().sh('git push')), '0');
  assert.equal(ahead(committed().sh('git push origin v1', ' * [new tag]         v1 -> v1')), '1');
  assert.equal(ahead(committed().sh('git push origin dome', ' * [new branch]      dome -> dome')), '1');
  const refused = committed().sh(
    'git push',
    ' ! [rejected]        main -> main (fetch first)\nerror: failed',
    1,
  );
  assert.equal(ahead(refused), '1 fetch first');
  assert.equal(ahead(refused.sh('git push -f', ' + 1a2b3c4...5d6e7f8 main -> main (forced update)')), '0');
  assert.equal(ahead(committed().sh('git status -sb', '## main...origin/main [ahead 3]')), '3', 'git tells');
  assert.equal(
    ahead(committed().sh('git merge dome', "Merge made by the 'ort' strategy.")),
    '2+',
    'and what it brought',
  );
  assert.equal(ahead(committed().sh('git switch -c lens', "Switched to a new branch 'lens'")), '1');
});
