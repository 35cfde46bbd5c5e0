// What the real Claude Code makes of sessions in the layouts that Baton writes. The findings are in docs/real-tools.md.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import {
  assistantLine,
  attachmentLine,
  boundaryLine,
  fillerLine,
  lastPromptLine,
  sessionText,
  SUMMARY,
  summaryLine,
  TIDES,
  TIDES_NAMES,
  TIDES_SENT,
  toolResult,
  toolUse,
  userLine,
  type SessionLine,
} from './claude-sessions.ts';
import { assertClaudeSends, resumeInClaude } from './contract.ts';
import type { SentItem } from './sent.ts';
import { isCompactedByBaton, listSessions } from './recorded-sessions.ts';
import { skipReason } from './tools.ts';

const skip = await skipReason();

/** From this size on Claude Code skips what stands before a boundary without preserved messages. 5 MiB, measured. */
const LARGE_BYTES = 6_000_000;

const SUMMARY_SENT: SentItem = { role: 'user', text: SUMMARY };
const LAST_SENT: SentItem = { role: 'assistant', text: 'Heights are in metres now.' };

/** A compaction that keeps nothing but its summary, and one that keeps the last answer after it. */
const SUMMARY_ALONE = [
  boundaryLine('boundary', { anchor: 'summary', names: [] }),
  summaryLine({ name: 'summary', after: 'boundary' }),
];
const SUMMARY_AND_LAST = [
  boundaryLine('boundary', { anchor: 'summary', names: ['done'] }),
  summaryLine({ name: 'summary', after: 'boundary' }),
];
/** A line with nothing but what Claude Code needs to link it and to send it. */
function bareLine({ type, uuid, parentUuid, timestamp, message }: SessionLine): SessionLine {
  return { type, uuid, parentUuid, timestamp, message };
}

const UNDO_ALL = boundaryLine('undo', { anchor: 'undo', names: TIDES_NAMES });

describe('claude resumes', { skip, concurrency: 2 }, () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'baton-sessions-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  async function write(text: string): Promise<string> {
    const path = join(folder, `${randomUUID()}.jsonl`);
    await writeFile(path, text);
    return path;
  }

  it('an unchanged session, under another id than its lines carry', async () => {
    await assertClaudeSends({ path: await write(sessionText(...TIDES)), items: TIDES_SENT });
  });

  // What differs in a large file is how its beginning is read, so that one second prompt is enough for all of them.
  for (const [size, filler, times] of [
    ['small', [], 2],
    ['large', [fillerLine(LARGE_BYTES)], 1],
  ] as const) {
    const session = [...filler, ...TIDES];

    it(`a ${size} session with a compaction appended`, async () => {
      const path = await write(sessionText(...session, ...SUMMARY_ALONE));
      await assertClaudeSends({ path, items: [SUMMARY_SENT] });
    });

    it(`a ${size} session with a compaction that keeps old lines by their uuid`, async () => {
      const path = await write(sessionText(...session, ...SUMMARY_AND_LAST));
      await assertClaudeSends({ path, items: [SUMMARY_SENT, LAST_SENT], times });
    });

    it(`a ${size} session whose compaction a boundary undoes by listing the old lines`, async () => {
      const path = await write(sessionText(...session, ...SUMMARY_ALONE, UNDO_ALL));
      await assertClaudeSends({ path, items: TIDES_SENT, times });
    });

    it(`a ${size} session undone with the lines that were recorded since`, async () => {
      const since = userLine({ name: 'since', after: 'done' }, 'Add the moon phase.');
      const undo = boundaryLine('undo', { anchor: 'undo', names: [...TIDES_NAMES, 'since'] });
      const path = await write(sessionText(...session, ...SUMMARY_AND_LAST, since, undo));
      await assertClaudeSends({
        path,
        items: [...TIDES_SENT, { role: 'user', text: 'Add the moon phase.' }],
        times,
      });
    });

    it(`a ${size} session with two compactions undone one after the other`, async () => {
      const second = [
        boundaryLine('boundary 2', { anchor: 'summary 2', names: [] }),
        summaryLine({ name: 'summary 2', after: 'boundary 2' }),
      ];
      const undoSecond = boundaryLine('undo 2', { anchor: 'undo 2', names: ['summary', 'done'] });
      const compactedTwice = sessionText(...session, ...SUMMARY_AND_LAST, ...second, undoSecond);
      await assertClaudeSends({
        path: await write(compactedTwice),
        items: [SUMMARY_SENT, LAST_SENT],
        times: 1,
      });
      await assertClaudeSends({
        path: await write(compactedTwice + sessionText(UNDO_ALL)),
        items: TIDES_SENT,
        times,
      });
    });

    it(`a ${size} session with a cleared tool result, and with the result back`, async () => {
      const cleared = userLine({ name: 'cleared', after: 'call' }, [
        toolResult('toolu_1', '[Old tool result content cleared]'),
      ]);
      const names = TIDES_NAMES.map((name) => (name === 'result' ? 'cleared' : name));
      const micro = sessionText(...session, cleared, boundaryLine('micro', { anchor: 'micro', names }));
      const items = TIDES_SENT.map((item) =>
        item.role === 'tool_result' ? { ...item, text: '[Old tool result content cleared]' } : item,
      );
      await assertClaudeSends({ path: await write(micro), items, times });
      await assertClaudeSends({
        path: await write(micro + sessionText(UNDO_ALL)),
        items: TIDES_SENT,
        times: 1,
      });
    });
  }

  it('a pruned session: the compaction, a kept message and the last answer', async () => {
    const path = await write(
      sessionText(
        ...SUMMARY_ALONE,
        userLine({ name: 'kept', after: 'summary' }, 'Use metres, not feet.'),
        assistantLine({ name: 'last', after: 'kept' }, { type: 'text', text: 'Heights are in metres now.' }),
      ),
    );
    const kept: SentItem = { role: 'user', text: 'Use metres, not feet.' };
    await assertClaudeSends({ path, items: [SUMMARY_SENT, kept, LAST_SENT] });
  });

  it('a compaction with a file and a packet attached to it', async () => {
    const file = attachmentLine(
      { name: 'file', after: 'summary' },
      {
        type: 'file',
        filename: '/home/dev/tides/tides.py',
        displayPath: 'tides.py',
        content: {
          type: 'text',
          file: {
            filePath: '/home/dev/tides/tides.py',
            content: 'print("high water")',
            numLines: 1,
            startLine: 1,
            totalLines: 1,
          },
        },
      },
    );
    const packet = attachmentLine(
      { name: 'packet', after: 'file' },
      {
        type: 'hook_additional_context',
        content: ['Next: the moon phase.'],
        hookName: 'SessionStart',
        toolUseID: 'SessionStart',
        hookEvent: 'SessionStart',
      },
    );
    const path = await write(sessionText(...TIDES, ...SUMMARY_ALONE, file, packet));
    const context = ['print("high water")', 'Next: the moon phase.'];
    await assertClaudeSends({ path, items: [SUMMARY_SENT], context });
  });

  it('a session converted from another agent, with tools that it does not have', async () => {
    const lines = [
      userLine({ name: 'ask' }, 'List the files.'),
      assistantLine({ name: 'call', after: 'ask' }, toolUse('call_1', 'exec_command', { cmd: 'ls' })),
      userLine({ name: 'result', after: 'call' }, [toolResult('call_1', 'tides.py')]),
      assistantLine({ name: 'done', after: 'result' }, { type: 'text', text: 'One file.' }),
    ];
    await assertClaudeSends({
      path: await write(sessionText(...lines.map(bareLine))),
      items: [
        { role: 'user', text: 'List the files.' },
        { role: 'tool_call', text: 'exec_command {"cmd":"ls"}' },
        { role: 'tool_result', text: 'tides.py' },
        { role: 'assistant', text: 'One file.' },
      ],
    });
  });

  it('the branch of the last `last-prompt`, else the branch of the last line', async () => {
    const text = sessionText(
      ...TIDES,
      assistantLine({ name: 'one', after: 'again' }, { type: 'text', text: 'Branch one.' }),
      assistantLine({ name: 'two', after: 'again' }, { type: 'text', text: 'Branch two.' }),
    );
    const common = TIDES_SENT.slice(0, -1);
    await assertClaudeSends({
      path: await write(text),
      items: [...common, { role: 'assistant', text: 'Branch two.' }],
      times: 1,
    });
    await assertClaudeSends({
      path: await write(text + sessionText(lastPromptLine('one'))),
      items: [...common, { role: 'assistant', text: 'Branch one.' }],
    });
  });

  describe('other layouts wrongly, which is why Baton does not write them', () => {
    const bareCompaction = [boundaryLine('boundary'), summaryLine({ name: 'summary', after: 'boundary' })];

    it('a boundary without preserved messages cannot be undone by a list in a large file', async () => {
      const path = await write(sessionText(fillerLine(LARGE_BYTES), ...TIDES, ...bareCompaction, UNDO_ALL));
      await assertClaudeSends({ path, items: [SUMMARY_SENT], times: 1 });
    });

    it('but it can by copies of the old lines', async () => {
      const copies = [
        boundaryLine('undo'),
        userLine({ name: 'copy 1', after: 'undo' }, 'Use metres, not feet.'),
        assistantLine(
          { name: 'copy 2', after: 'copy 1' },
          { type: 'text', text: 'Heights are in metres now.' },
        ),
      ];
      const path = await write(sessionText(fillerLine(LARGE_BYTES), ...TIDES, ...bareCompaction, ...copies));
      await assertClaudeSends({
        path,
        items: [{ role: 'user', text: 'Use metres, not feet.' }, LAST_SENT],
        times: 1,
      });
    });

    it('a `last-prompt` with the old leaf undoes nothing in a large file', async () => {
      const lines = [fillerLine(LARGE_BYTES), ...TIDES, ...bareCompaction, lastPromptLine('done')];
      await assertClaudeSends({ path: await write(sessionText(...lines)), items: [SUMMARY_SENT], times: 1 });
    });

    it('nor where the compaction kept that leaf', async () => {
      const path = await write(sessionText(...TIDES, ...SUMMARY_AND_LAST, lastPromptLine('done')));
      await assertClaudeSends({ path, items: [SUMMARY_SENT, LAST_SENT], times: 1 });
    });

    it('a microcompact_boundary clears nothing', async () => {
      const line = {
        ...boundaryLine('micro'),
        parentUuid: TIDES.at(-1)?.uuid,
        subtype: 'microcompact_boundary',
        compactMetadata: undefined,
        microcompactMetadata: {
          trigger: 'auto',
          preTokens: 900,
          tokensSaved: 800,
          compactedToolIds: ['toolu_1'],
          clearedAttachmentUUIDs: [],
        },
      };
      await assertClaudeSends({
        path: await write(sessionText(...TIDES, line)),
        items: TIDES_SENT,
        times: 1,
      });
    });
  });

  it('fails the contract when the history is not the expected one', async () => {
    const path = await write(sessionText(...TIDES, ...SUMMARY_ALONE));
    await assert.rejects(assertClaudeSends({ path, items: TIDES_SENT, times: 1 }), assert.AssertionError);
  });
});

const recorded = await listSessions('claude-code', 'claude-code-2.1.329');

describe(
  'claude resumes real sessions that Baton does not compact in other tests',
  { skip: skip || recorded.skip, concurrency: 2 },
  () => {
    for (const { name, path } of recorded.files.filter((file) => !isCompactedByBaton(file))) {
      it(name, async () => {
        const folder = await mkdtemp(join(tmpdir(), 'baton-sessions-'));
        try {
          const copy = join(folder, `${randomUUID()}.jsonl`);
          const text = (await readFile(path, 'utf8')).trimEnd();
          await writeFile(copy, `${text}\n${sessionText(...SUMMARY_ALONE)}`);
          assert.deepEqual((await resumeInClaude(copy, 1)).items, [SUMMARY_SENT]);
        } finally {
          await rm(folder, { recursive: true, force: true });
        }
      });
    }
  },
);
