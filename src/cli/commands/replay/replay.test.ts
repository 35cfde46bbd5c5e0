import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import * as z from 'zod';
import {
  call,
  head,
  message,
  output,
  taskComplete,
  taskStarted,
  tokenCount,
  windowIn,
} from '../../../../test/support/codex-lines.ts';
import { baton, temporaryDirectory } from '../../../../test/support/program.ts';
import { assertWellFormed } from '../../../../test/support/markup.ts';
import { ReplayDocument } from '../../documents/replay.ts';
import { CATEGORIES } from '../../../vocabulary.ts';
import { POLICY_NAMES } from './policy-names.ts';

const home = temporaryDirectory();
const long = join(home, 'long.jsonl');
const short = join(home, 'short.jsonl');
const damaged = join(home, 'damaged.jsonl');
const folder = join(home, 'folder');

/** Text of a transcript that must come out escaped, and a secret that must not come out at all. */
const HOSTILE = '<script>alert("x")</script> & <b>';
const SECRET = `ghp_${'a1B2c3D4e5'.repeat(4)}`;

function writeSession(path: string, calls: number): void {
  const builder = head('0.140');
  const text = `turn the shaft_of_gear_12 by a quarter ${'and once more '.repeat(140)}`;
  const window = windowIn('0.140');
  let used = 12_000;
  const report = (): void => {
    builder.event(tokenCount({ input: used - 40, output: 40, spent: used, window }));
  };
  for (let turn = 0; turn < 4; turn++) {
    taskStarted(builder, '0.140', `turn-${turn}`);
    builder.item(message('user', `Build part ${turn} of the lathe. ${HOSTILE}`));
    for (let at = 0; at < calls; at++) {
      const id = `c${turn}_${at}`;
      builder.item(call(id, `cat src/part-${turn}-${at}.ts`));
      builder.item(output(id, `${text} part_${turn}_${at}`));
      used += 520;
      report();
    }
    const id = `commit${turn}`;
    builder.item(call(id, `git commit -m "Part ${turn} ${HOSTILE} ${SECRET}"`));
    builder.item(
      output(id, `Process exited with code 0\nOutput:\n[main 1a2b3c${turn}] Part\n 1 file changed`),
    );
    used += 100;
    report();
    const earlier = Array.from({ length: 20 }, (_, at) => `part_${Math.max(0, turn - 1)}_${at}`);
    builder.item(message('assistant', `Part ${turn} follows ${earlier.join(', ')}, as you asked.`));
    taskComplete(builder, '0.140', `turn-${turn}`);
  }
  writeFileSync(path, builder.lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
}

/** What a report is made of: none of it runs, fetches or leads anywhere. */
const PASSIVE_ELEMENTS = new Set(
  'html head meta title style body main nav section a h1 h2 h3 p span i b em strong div figure figcaption details summary table thead tbody tr th td ul ol li dl dt dd br hr code small svg g rect line path circle text polyline polygon tspan'.split(
    ' ',
  ),
);
const PASSIVE_ATTRIBUTES = new Set(
  'id class lang charset name content scope colspan role aria-label aria-hidden viewBox preserveAspectRatio cx cy r d x y dx x1 x2 y1 y2 width height href'.split(
    ' ',
  ),
);

type Document = z.infer<typeof ReplayDocument>;
type Session = Extract<Document['sessions'][number], { format: string }>;

function sessionOf(document: Document): Session {
  const [session] = document.sessions;
  assert.ok(session !== undefined && 'format' in session, 'a session was played');
  return session;
}

function withoutRecall({ policies }: Session) {
  return policies.map(({ compactions, ...rest }) => ({
    ...rest,
    compactions: compactions.map((each) => ({ ...each, recall: null })),
  }));
}

async function documentOf(args: readonly string[]): Promise<Document> {
  const ran = await baton(home, ['replay', ...args, '--json']);
  assert.equal(ran.status, 0, ran.stderr);
  const parsed = ReplayDocument.safeParse(JSON.parse(ran.stdout));
  assert.ok(parsed.success, parsed.success ? '' : z.prettifyError(parsed.error));
  return parsed.data;
}

describe('baton replay', () => {
  before(() => {
    writeSession(long, 120);
    writeSession(short, 3);
    const lines = readFileSync(short, 'utf8').split('\n');
    writeFileSync(damaged, [...lines.slice(0, 6), '{"torn', ...lines.slice(6)].join('\n'));
    mkdirSync(join(folder, 'deep'), { recursive: true });
    writeSession(join(folder, 'a.jsonl'), 3);
    writeSession(join(folder, 'deep', 'b.jsonl'), 3);
    writeFileSync(join(folder, 'package.json'), '{"name": "no session"}');
    writeFileSync(join(folder, 'notes.md'), 'no session either');
  });

  it('prints a document of its schema, the same bytes whenever', async () => {
    const first = await baton(home, ['replay', long, '--json']);
    const second = await baton(home, ['replay', long, '--json'], { clock: { now: () => Math.PI } });
    assert.equal(first.status, 0, first.stderr);
    assert.equal(first.stdout, second.stdout);
    const document = await documentOf([long]);
    assert.deepEqual(document.policies, [...POLICY_NAMES]);
    const session = sessionOf(document);
    assert.equal(session.turns, 4);
    assert.equal(session.requests, 4 * 122);
    assert.ok(
      session.policies.some(({ policy, compactions }) => policy === 'baton' && compactions.length > 0),
      'Baton compacts',
    );
  });

  it('plays the same without measuring recall, from a stream', async () => {
    const measured = sessionOf(await documentOf([long]));
    const streamed = sessionOf(await documentOf([long, '--no-recall']));
    assert.deepEqual(withoutRecall(streamed), withoutRecall(measured));
    assert.ok(
      measured.policies.some(({ compactions }) => compactions.some(({ recall }) => recall !== null)),
      'recall is measured without the option',
    );
  });

  it('plays only the policies asked for', async () => {
    const { policies } = await documentOf([long, '--policy', 'codex', '--policy', 'none']);
    assert.deepEqual(policies, ['none', 'codex']);
    const ran = await baton(home, ['replay', long, '--policy', 'best']);
    assert.equal(ran.status, 2);
    assert.match(String(ran.error?.['message']), /Allowed choices are none, built_in/);
  });

  it('compares configurations', async () => {
    const early = join(home, 'early.toml');
    const off = join(home, 'off.toml');
    writeFileSync(early, '[compact]\nauto_compact_pct_override = 50\n');
    writeFileSync(off, '[compact]\nauto_compact_enabled = false\n');
    const document = await documentOf([long, '--config', early, '--config', off]);
    assert.deepEqual(document.policies.slice(-2), ['early.toml', 'off.toml']);
    const { policies } = sessionOf(document);
    assert.deepEqual(policies.at(-1)?.compactions, [], 'switched off, nothing compacts');
    const ran = await baton(home, ['replay', long, '--config', join(home, 'absent.toml')]);
    assert.equal(ran.status, 1);
  });

  it('goes by the frontmatter of the packet request, and says what is wrong with it', async () => {
    const prompts = join(home, '.baton', 'auto-compact');
    const decided = async (frontmatter: string) => {
      mkdirSync(prompts, { recursive: true });
      writeFileSync(join(prompts, 'auto-compact.md'), `---\n${frontmatter}\n---\nWrite a packet.\n`);
      const ran = await baton(home, ['replay', long, '--json', '--no-recall', '--policy', 'baton']);
      rmSync(prompts, { recursive: true });
      return { ran, whys: JSON.stringify(sessionOf(ReplayDocument.parse(JSON.parse(ran.stdout))).policies) };
    };
    const { ran, whys } = await decided('trigger:\n  early_percent_remaining_lt: 61');
    assert.equal(ran.stderr, '');
    assert.match(whys, /below the 61 % of early|the first tier begins below 61 %/);
    const broken = await decided('triger: 1');
    assert.match(broken.ran.stderr, /warning: .*auto-compact\.md:2:1: unknown key triger/);
    assert.doesNotMatch(broken.whys, /61 %/);
  });

  it('shows gauges, policies and every decision', async () => {
    const look = { hasColor: false, seal: '', hasUnicode: true, width: 80 };
    const { stdout, status } = await baton(home, ['replay', long, '--turns'], { look });
    assert.equal(status, 0);
    assert.match(stdout, /4 turns, 488 requests; usage\s+as reported/);
    for (const name of ['as recorded', ...POLICY_NAMES]) {
      assert.match(stdout, new RegExp(`^${name} +\\S*[▁-█]`, 'm'), name);
      if (name !== 'as recorded') assert.match(stdout, new RegExp(`^${name}( +[\\d.,%$kM<-]+)+`, 'm'), name);
    }
    assert.match(stdout, /turn \d+, line \d+ {2}\d+ % left, \w+: compact, boundary/);
    assert.match(stdout, /commit: git commit/);
    assert.ok(!stdout.includes(SECRET), 'no secret is shown');
    for (const line of stdout.split('\n'))
      assert.ok(line.length <= 80, `no wider than the terminal: ${line}`);
  });

  it('colours its gauges by how full they are', async () => {
    const look = { hasColor: true, seal: 'f0', hasUnicode: true, width: 80 };
    const { stdout } = await baton(home, ['replay', long, '--policy', 'baton', '--no-recall'], { look });
    const gauge = stdout.split('\n').find((line) => line.startsWith('baton '));
    // oxlint-disable-next-line no-control-regex
    assert.match(gauge ?? '', /\u001Bf0\[(?:32|33|31)m[▁▂▃▄▅▆▇█]+\u001Bf0\[39m/);
  });

  it('can be read without Unicode and in a narrow terminal', async () => {
    const look = { hasColor: false, seal: '', hasUnicode: false, width: 46 };
    const { stdout } = await baton(home, ['replay', long, '--policy', 'baton'], { look });
    // oxlint-disable-next-line no-control-regex
    assert.match(stdout, /^[\u0000-\u007F]*$/);
    assert.match(stdout, /baton: B \d+, W \d+, E \d+, peak/);
  });

  it('plays the sessions of a directory and passes over the rest', async () => {
    const { sessions, skipped_files: skipped } = await documentOf([folder]);
    assert.deepEqual(
      sessions.map(({ path }) => path),
      [join(folder, 'a.jsonl'), join(folder, 'deep', 'b.jsonl')],
    );
    assert.equal(skipped, 1);
    const empty = join(home, 'empty');
    mkdirSync(empty);
    const ran = await baton(home, ['replay', empty]);
    assert.equal(ran.status, 1);
    assert.equal(ran.error?.['code'], 'session_empty');
  });

  it('explains what it cannot play, and plays the rest', async () => {
    const alone = await baton(home, ['replay', join(home, 'absent.jsonl')]);
    assert.equal(alone.error?.['code'], 'file_not_found');
    const ran = await baton(home, ['replay', short, join(home, 'absent.jsonl'), '--json']);
    assert.equal(ran.status, 1);
    assert.match(ran.stderr, /file_not_found/);
    const { sessions } = ReplayDocument.parse(JSON.parse(ran.stdout));
    assert.equal(sessions.length, 2);
  });

  it('says that a line is damaged', async () => {
    const ran = await baton(home, ['replay', damaged, '--json']);
    assert.match(ran.stderr, /damaged\.jsonl: 1 damaged line skipped, the first is line 7/);
    assert.equal(sessionOf(ReplayDocument.parse(JSON.parse(ran.stdout))).damaged_lines, 1);
  });

  it('stops when it is told to, and leaves nothing behind', async () => {
    const stopping = new AbortController();
    stopping.abort();
    const out = join(home, 'stopped.html');
    const ran = await baton(home, ['replay', long, '--html', out], { signal: stopping.signal });
    assert.equal(ran.error?.['code'], 'interrupted');
    assert.ok(!existsSync(out), 'no report was written');
  });
});

describe('the report of baton replay', () => {
  const out = join(home, 'report.html');

  it('gives each part of a context the share that inspect gives it', async () => {
    const report = join(home, 'shares.html');
    await baton(home, ['replay', long, '--no-recall', '--policy', 'none', '--html', report]);
    const { stdout } = await baton(home, ['inspect', long]);
    const rows = [
      ...readFileSync(report, 'utf8').matchAll(
        /<\/i>([^<]+)<\/th>\s*<td[^>]*>([\d,-]+)<\/td>\s*<td[^>]*>([^<]+)<\/td>/g,
      ),
    ];
    assert.ok(rows.length > 3, `${rows.length} rows`);
    for (const [, label, tokens, share] of rows) {
      const row = `^  ${label} +${tokens} +${share?.replace('&lt;', '<')} `;
      assert.match(stdout, new RegExp(row, 'm'));
    }
  });

  it('is one well-formed file that needs nothing else', async () => {
    const ran = await baton(home, ['replay', long, short, '--html', out]);
    assert.equal(ran.status, 0, ran.stderr);
    const html = readFileSync(out, 'utf8');
    assertWellFormed(html);
    const reaching =
      /<script|<link|<img|<iframe|@import|url\(|src=|href=(?!"#)|javascript:|\son\w+=|https?:/i;
    assert.equal(reaching.exec(html)?.[0], undefined, 'nothing is fetched or run');
    assert.equal(html.match(/<figure>/g)?.length, html.match(/<details>/g)?.length, 'a table for each chart');
    assert.equal(html.match(/<div class="chart" role="img" aria-label="[^"]+">/g)?.length, 3 + 2 * 2);
    assert.ok(html.includes('prefers-color-scheme:dark'), 'both colour schemes');
  });

  it('leads to every session by its first prompt, and names its path beside it', () => {
    const html = readFileSync(out, 'utf8');
    const links = [
      ...html.matchAll(/<li><a href="#(session-\d+)">([^<]*)<\/a> <span class="faint">([^<]*)</g),
    ];
    assert.equal(links.length, 2);
    for (const [, id, title = '', facts = ''] of links) {
      assert.ok(html.includes(`<section id="${id}"><h2>${title}</h2>`));
      assert.match(title, /^Build part 0 of the lathe\. &lt;script&gt;/);
      assert.match(facts, /^4 turns · \d+ requests · ~\/\w+\.jsonl$/);
    }
  });

  it('has no text that shrinks with the page, and no curve that leaves its panel', () => {
    const html = readFileSync(out, 'utf8');
    for (const [svg, all = ''] of html.matchAll(/<svg([^>]*)>(?:(?!<svg|<\/svg>)[^])*<text/g))
      assert.doesNotMatch(all, /viewBox/, svg.slice(0, 200));
    const curves = [...html.matchAll(/<path class="line" d="([^"]+)"/g)];
    assert.ok(curves.length > 10);
    for (const [, d = ''] of curves) {
      for (const [, x, y] of d.matchAll(/[ML](-?[\d.]+) (-?[\d.]+)/g)) {
        assert.ok(Number(x) >= 0 && Number(x) <= 1000 && Number(y) >= 0 && Number(y) <= 56, `${x} ${y}`);
      }
    }
    // A session that never compacts fills more than its window: the scale holds that as well.
    assert.match(html, /the window is full/);
    assert.match(html, /a boundary of the work/);
    assert.match(html, /Up: share of the window in use\. Right: requests/);
    assert.match(html, /<span>0<\/span><span>[\d,]+ tokens<\/span>/, 'the end of an axis stands by itself');
  });

  it('gives each kind of content a colour of its own, in both schemes', () => {
    const html = readFileSync(out, 'utf8');
    const classes = [...html.matchAll(/\.fill\.(\w+)\{--fill:var\(--(\w+)\)\}/g)];
    assert.deepEqual(classes.map(([, name]) => name).toSorted(), [...CATEGORIES, 'fixed'].toSorted());
    for (const scheme of html.matchAll(/:root\{([^}]*)\}/g)) {
      const colours = classes.map(([, , name]) => new RegExp(`--${name}:(#\\w+)`).exec(scheme[1] ?? '')?.[1]);
      assert.ok(colours.every((colour) => colour !== undefined));
      assert.equal(new Set(colours).size, colours.length, colours.join());
    }
    for (const [, name = ''] of html.matchAll(/class="(?:box )?fill (\w+)"/g))
      assert.ok(html.includes(`.fill.${name}{--fill:`), name);
  });

  it('escapes what the transcript says and tells no secret', () => {
    const html = readFileSync(out, 'utf8');
    assert.ok(!html.includes(SECRET), 'no secret');
    assert.ok(!html.includes('<b>'), 'no markup of the transcript');
    assert.ok(html.includes('&lt;script&gt;'), 'markup of the transcript is shown as text');
    assert.ok(!html.includes('and once more and once more'), 'no content of the session');
  });

  it('holds nothing active, whatever a session and its name say', async () => {
    const named = join(home, `"><img src=x onerror=alert(1)>' onload='y.jsonl`);
    const attacked = join(home, 'attacked.html');
    const attack = `"'><svg onload=alert(1)><a href="javascript:alert(2)">x</a><!-- ]]> \`\${1}`;
    const fileName = `src/"onmouseover="alert(3)' x='.ts`;
    writeSession(short, 3);
    const text = readFileSync(short, 'utf8').replaceAll(
      JSON.stringify(HOSTILE).slice(1, -1),
      JSON.stringify(`${attack} ${HOSTILE}`).slice(1, -1),
    );
    const renamed = text
      .replaceAll(/src\/part-\d-\d\.ts/g, JSON.stringify(fileName).slice(1, -1))
      .replaceAll(/"model":"[^"]*"/g, `"model":${JSON.stringify(attack)}`);
    assert.ok(
      renamed.includes('onmouseover') && renamed.includes('<svg onload'),
      'the attack is in the session',
    );
    writeFileSync(named, renamed);
    const ran = await baton(home, ['replay', named, '--html', attacked]);
    assert.equal(ran.status, 0, ran.stderr);
    const html = readFileSync(attacked, 'utf8');
    assertWellFormed(html);
    assert.ok(html.includes('&lt;img src=x'), 'the name of the file is shown as text');
    // What is well-formed holds no markup but these tags.
    const attributes = new Set<string>();
    for (const [, name = '', all = ''] of html.matchAll(
      /<([a-z][a-z0-9]*)((?:\s+[\w-]+(?:="[^"<>]*")?)*)\s*\/?>/gi,
    )) {
      assert.ok(PASSIVE_ELEMENTS.has(name), `<${name}>`);
      for (const [, key = ''] of all.matchAll(/\s([\w-]+)(?==|\s|$)(?:="[^"]*")?/g)) attributes.add(key);
    }
    const active = [...attributes].filter((key) => !PASSIVE_ATTRIBUTES.has(key));
    assert.deepEqual(active, [], 'attributes that run or fetch something');
    assert.doesNotMatch(html, /href="(?!#session-\d+")/, 'links stay in the page');
    assert.doesNotMatch(/<style>([^<]*)<\/style>/.exec(html)?.[1] ?? '', /url\(|@import|expression/);
  });

  it('has the same bytes again, and replaces no file unless told to', async () => {
    const first = readFileSync(out, 'utf8');
    const refused = await baton(home, ['replay', long, short, '--html', out]);
    assert.equal(refused.error?.['code'], 'output_exists');
    assert.equal(refused.stdout, '', 'it is refused before anything is played');
    const forced = await baton(home, ['replay', long, short, '--html', out, '--force']);
    assert.equal(forced.status, 0, forced.stderr);
    assert.equal(readFileSync(out, 'utf8'), first);
  });

  it('never takes the place of a session', async () => {
    const ran = await baton(home, ['replay', short, '--html', short, '--force']);
    assert.equal(ran.error?.['code'], 'output_exists');
    assert.match(readFileSync(short, 'utf8'), /^\{"timestamp/);
    assert.ok(
      readdirSync(home).every((name) => !name.includes('.tmp')),
      'nothing is left behind',
    );
  });
});
