// [[hooks.EVENT]] from outside: texts in, configuration or complaint out.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BatonError } from '../errors.ts';
import { configJson, renderConfig, renderReference } from './explain.ts';
import { resolveConfig } from './resolve.ts';
import type { ConfigProblem, ConfigSources } from './resolve.ts';

const NOTHING: ConfigSources = { overrides: [], variables: {}, files: [] };

function resolveText(text: string, source: 'user' | 'project' = 'user') {
  return resolveConfig({ ...NOTHING, files: [{ source, file: '/c.toml', text }] });
}

function messagesOf(action: () => unknown): readonly string[] {
  try {
    action();
  } catch (error) {
    assert.ok(error instanceof BatonError, String(error));
    return (error.data['problems'] as readonly ConfigProblem[]).map(({ message }) => message);
  }
  return [];
}

const TWO = `
[[hooks.pre_compact]]
command = "~/bin/save.sh"

[[hooks.pre_compact]]
command = ["node", "/h/check.mjs"]
timeout_seconds = 5
matcher = "auto"

[[hooks.session_start]]
command = "git log -3"
matcher = "resume|compact"
`;

describe('[[hooks.EVENT]]', () => {
  it('is read in its order, with its defaults, as code takes it', () => {
    const { config, origins, warnings } = resolveText(TWO);
    assert.deepEqual(config.hooks, {
      preCompact: [
        { command: '~/bin/save.sh', timeoutSeconds: 60 },
        { command: ['node', '/h/check.mjs'], timeoutSeconds: 5, matcher: 'auto' },
      ],
      sessionStart: [{ command: 'git log -3', timeoutSeconds: 60, matcher: 'resume|compact' }],
    });
    assert.deepEqual(warnings, []);
    assert.deepEqual(origins.get('hooks.pre_compact'), { source: 'user', file: '/c.toml', line: 2 });
    assert.deepEqual(resolveText('').config.hooks, {});
  });

  it('is set, and switched off, by -c and by a variable', () => {
    const files = [{ source: 'user', file: '/c.toml', text: TWO } as const];
    const off = resolveConfig({ ...NOTHING, files, overrides: ['hooks.pre_compact=[]'] });
    assert.deepEqual(off.config.hooks.preCompact, []);
    assert.equal(off.config.hooks.sessionStart?.length, 1);
    const variables = { BATON_HOOKS__POST_COMPACT: '[{ command = "x" }]' };
    const set = resolveConfig({ ...NOTHING, files, variables });
    assert.deepEqual(set.config.hooks.postCompact, [{ command: 'x', timeoutSeconds: 60 }]);
  });

  it('is refused in the file of a project, whatever it holds', () => {
    for (const text of [TWO, 'hooks.pre_compact = []', '[hooks]', '[[hooks.pre_compact]]\ncommand = 5']) {
      const messages = messagesOf(() => resolveText(text, 'project'));
      assert.equal(messages.length, 1, text);
      assert.match(messages[0] ?? '', /^\/c\.toml:\d+: hooks may not be set by a project/);
    }
  });

  it('is shown under the keys of the file', () => {
    const { config, origins } = resolveText(TWO);
    const shown = renderConfig(config, origins, 'all');
    assert.match(shown, /^session_start = \[\{ command = "git log -3", .*\}\] +# \/c\.toml:10$/m);
    assert.deepEqual(resolveText(shown).config, config);
    assert.deepEqual((configJson(config) as { readonly hooks: unknown }).hooks, {
      pre_compact: [
        { command: '~/bin/save.sh', timeout_seconds: 60 },
        { command: ['node', '/h/check.mjs'], timeout_seconds: 5, matcher: 'auto' },
      ],
      session_start: [{ command: 'git log -3', timeout_seconds: 60, matcher: 'resume|compact' }],
    });
  });

  it('is explained with all that a hook may hold', () => {
    const row = renderReference()
      .split('\n')
      .find((line) => line.startsWith('| `session_start`'));
    for (const part of ['`command` (', 'from 1 to 3600; not set: 60', '"startup", "resume", "compact"']) {
      assert.ok(row?.includes(part), `${part} is not in ${row}`);
    }
    // Six columns, whatever a cell holds.
    assert.equal(row?.split(/(?<!\\)\|/).length, 8);
  });

  const FIRST = '[[hooks.pre_compact]]\ncommand = "x"\ntimeout_seconds = 9\n';
  const mistakes: readonly (readonly [text: string, ...messages: readonly RegExp[]])[] = [
    [
      `${FIRST}[[hooks.pre_compact]]\ncommand = "y"\ntimeout_seconds = 0`,
      /^\/c\.toml:6: hooks\.pre_compact\.timeout_seconds is 0, but must be a whole number from 1 to 3600\.$/,
    ],
    [
      `${FIRST}[[hooks.pre_compact]]\ntimeout_seconds = 5`,
      /^\/c\.toml:4: hooks\.pre_compact\.command is nothing, but must be a non-empty string in quotes/,
    ],
    [
      'hooks.pre_compact = [\n  { command = "x" },\n  { command = [] },\n]',
      /^\/c\.toml:1: hooks\.pre_compact\.command is \[\], but must be/,
    ],
    ['[[hooks.pre_compact]]\ncommand = " "', /:2: hooks\.pre_compact\.command is " ", but must be/],
    ['[[hooks.pre_compact]]\ncommand = ["x", 1]', /:2: hooks\.pre_compact\.command is \["x",1\], but/],
    [
      '[[hooks.pre_compact]]\ncommand = "x"\nmatcher = "startup"',
      /:3: hooks\.pre_compact\.matcher is "startup", but must be any of "manual", "auto", joined by "\|"\.$/,
    ],
    ['[[hooks.session_start]]\ncommand = "x"\nmatcher = ""', /:3: hooks\.session_start\.matcher is "", but/],
    [
      `${FIRST}[[hooks.pre_compact]]\ncommand = "y"\ntimeout = 5`,
      /^\/c\.toml:6: unknown key hooks\.pre_compact\.timeout; known there: command, timeout_seconds, matcher\.$/,
    ],
    [
      '[[hooks.precompact]]\ncommand = "x"',
      /:1: unknown key hooks\.precompact; the nearest known one is hooks\.pre_compact\.$/,
    ],
    ['[[hooks.turn_begun]]\ncommand = "x"', /:1: unknown key hooks\.turn_begun/],
    ['[[hooks.turn_complete]]\ncommand = "x"\nmatcher = "auto"', /unknown key hooks\.turn_complete\.matcher/],
    [
      '[hooks]\npre_compact = "x"',
      /:2: hooks\.pre_compact is "x", but must be a list of tables with `command`/,
    ],
    ['[hooks.pre_compact]\ncommand = "x"', /:1: hooks\.pre_compact is \{"command":"x"\}, but must be a list/],
    ['[[hooks]]\ncommand = "x"', /:1: hooks is \[\{"command":"x"\}\], but must be a table\.$/],
    [
      '[[hooks.post_compact]]\nmatcher = "x"',
      /:1: hooks\.post_compact\.command is nothing/,
      /:2: hooks\.post_compact\.matcher is "x"/,
    ],
  ];
  for (const [text, ...patterns] of mistakes) {
    it(`says where ${JSON.stringify(text.slice(-60))} is wrong`, () => {
      const messages = messagesOf(() => resolveText(text));
      assert.equal(messages.length, patterns.length, messages.join('\n'));
      patterns.forEach((pattern, index) => assert.match(messages[index] ?? '', pattern));
    });
  }
});
