import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isTrustedCommand } from './trusted.ts';

describe('a command that is known to only read', () => {
  for (const script of [
    'ls',
    'ls -la src',
    'cat a.txt b/c.txt',
    'git status --short',
    'git log --oneline -5 && git diff --stat',
    'grep -rn "two words" src | head -20',
    'cd src; wc -l *.ts',
    "grep -n 'a/.*b' src/*.ts",
    "sed -n '1,20p' README.md",
    'rg -n TODO src',
    'find . -name "*.ts"',
    'grep -rn --include="*.ts" x src',
    'find src* -name "a"',
    'rg x ./*.ts',
    'git show HEAD',
    'echo done',
    'grep x a..b',
  ]) {
    it(script, () => assert.equal(isTrustedCommand(script, 'workspace_write'), true));
  }
});

describe('a command that is not', () => {
  for (const script of [
    '',
    'rm -rf src',
    'npm test',
    'cat a > b',
    'cat < /etc/passwd',
    'ls; rm a',
    'ls | sh',
    'ls & rm a',
    'ls &',
    'echo $(rm a)',
    'echo `rm a`',
    'echo "$(rm a)"',
    'echo $HOME',
    'cat <(rm a)',
    'X=1 ls',
    'sudo ls',
    'env ls',
    'bash -c ls',
    '(ls; rm a)',
    'ls() { rm a; }; ls',
    'if ls; then rm a; fi',
    'cat /etc/passwd',
    'grep -R key .',
    'grep -nR key .',
    'grep --dereference-recursive key .',
    'grep key *',
    'find -L . -name key',
    'find . -follow',
    'find -files0-from list',
    'cat ~/.ssh/id_rsa',
    'cat ../other/secret',
    'cat a/../../b',
    'grep -f/etc/passwd x',
    'grep --file=/etc/passwd x',
    'cd /; cat etc/passwd',
    'cd -',
    'cd',
    'find . -delete',
    'find . -exec rm {} +',
    'find . -fprintf x y',
    'sed -n 1p',
    'sed -n 1p -i a',
    "sed -n 1p -e '1e touch b' a",
    'sed -n 1p *.txt',
    'find * -name a',
    'git diff *',
    'cat .?/secret',
    'cat a/.*/secret',
    "sed -n '1w out' a",
    "sed -i 's/a/b/' a",
    'git commit -m x',
    'git -c core.pager=x log',
    'git diff --output=x',
    'git diff --ext-diff',
    'git log --exec=x',
    'git branch new',
    'rg --pre ./x y',
    'rg -z x',
    'ls \n rm a',
    './ls',
    '/bin/ls',
    '"ls" "$(x)"',
    'ls {a,b}',
    // A repository may hold files that are named `-exec`, `-delete` or `--pre=./x`.
    'find . -e* id ";"',
    'find . -e[x]ec id ";"',
    'find . -?elete',
    'find ""*',
    "sed -n 1p ''*",
    'rg x ""*',
    'rg x \\-*',
    `cat "".*/secret`,
    "cat '.'?/secret",
    'cat \\..?/secret',
  ]) {
    it(JSON.stringify(script), () => assert.equal(isTrustedCommand(script, 'workspace_write'), false));
  }
});

it('is never one of git where nothing confines what the repository names', () => {
  assert.equal(isTrustedCommand('ls && git status', 'danger_full_access'), false);
  assert.equal(isTrustedCommand('ls && cat a', 'danger_full_access'), true);
});
