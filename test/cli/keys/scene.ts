// A short session of `baton exec --json` and `--resume`, played once without a configuration key and once with it.

import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { SessionEvent } from '../../../src/protocol/wire/event.ts';
import type { JsonObject } from '../../../src/protocol/item.ts';
import type { Receipt } from '../../../src/protocol/receipt.ts';
import type { LogRecord } from '../../../src/protocol/record.ts';
import { SUMMARY_SECTIONS } from '../../../src/vocabulary.ts';
import { ExecFixture, eventsOf, EXEC_KEY, messagesOf } from '../../support/exec.ts';
import { temporaryDirectory } from '../../support/program.ts';
import type { Reply, ScriptedCall } from '../../support/provider-server/script.ts';
import { startProviderServer } from '../../support/provider-server/server.ts';
import type { Recorded } from '../../support/provider-server/server.ts';
import { readSessionFile } from '../../support/read-format.ts';

/** What is the same with the key and without it. */
export interface Scene {
  /** What the provider answers, over all processes. */
  readonly replies: readonly Reply[];
  /** What the user says: one process for each message, all but the first with `--resume last`. One message by default. */
  readonly says?: readonly string[];
  /** Settings for `-c`. */
  readonly set?: readonly string[];
  /** Files of the workspace. */
  readonly files?: Readonly<Record<string, string>>;
  /** Files of Baton's home. */
  readonly home?: Readonly<Record<string, string>>;
  /** With which status each process ends; 0 by default. */
  readonly exits?: readonly number[];
  /** Called before each `--resume`. */
  readonly between?: (fixture: ExecFixture) => void;
}

/** What was played. */
export interface Played {
  readonly requests: readonly Recorded[];
  /** Of the rollout. */
  readonly records: readonly LogRecord[];
  /** Of all processes. */
  readonly events: readonly SessionEvent[];
  readonly fixture: ExecFixture;
}

/** A key, a value for it, and what it changes. */
export interface KeyCase {
  /** With dots. */
  readonly key: string;
  /** A value of TOML. */
  readonly value: string;
  readonly scene: Scene;
  /** What the provider answers where the key changes what it is asked; else as in the scene. */
  readonly replies?: readonly Reply[];
  /** What is looked at: of the requests and of the rollout, and of the events where neither shows it. */
  readonly seen: (played: Played) => unknown;
  /** What is seen by default, and what with the key. */
  readonly without: unknown;
  readonly with: unknown;
}

const IDENTITY = {
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@localhost',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@localhost',
};

const root = temporaryDirectory();

/** Plays a scene with further settings. Each has a provider of its own, so that several may be played at once. */
export async function play(scene: Scene, more: readonly string[] = []): Promise<Played> {
  const { replies, says = ['Light the lamp.'], set = [], files, home = {}, between, exits = [] } = scene;
  const server = await startProviderServer({ key: EXEC_KEY, replies });
  try {
    const fixture = new ExecFixture(root, server.baseUrl, files);
    for (const [path, text] of Object.entries(home)) {
      const place = join(fixture.home, '.baton', path);
      mkdirSync(dirname(place), { recursive: true });
      writeFileSync(place, text);
    }
    const settings = [...set, ...more].flatMap((line) => ['-c', line]);
    const events: SessionEvent[] = [];
    for (const [index, text] of says.entries()) {
      const resume = index === 0 ? [] : ['--resume', 'last'];
      if (index > 0) between?.(fixture);
      const ended = await fixture.exec('responses', ['--json', ...settings, ...resume, text], {
        env: IDENTITY,
      });
      assert.equal(ended.status, exits[index] ?? 0, ended.stderr + ended.stdout);
      events.push(...eventsOf(ended));
    }
    for (const { invalid } of server.requests) assert.equal(invalid, undefined);
    const { records } = await readSessionFile(fixture.rollouts()[0] ?? '');
    return { requests: server.requests, records, events, fixture };
  } finally {
    await server.close();
  }
}

const played = new Map<Scene, Promise<Played>>();

/** A scene as it is without any further key; played once. */
export function playedOnce(scene: Scene): Promise<Played> {
  const known = played.get(scene) ?? play(scene);
  played.set(scene, known);
  return known;
}

/** Puts an item into the thread, as another program could. */
export function appendItem(fixture: ExecFixture, item: JsonObject): void {
  const line = { timestamp: new Date().toISOString(), type: 'response_item', payload: item };
  appendFileSync(fixture.rollouts()[0] ?? '', `${JSON.stringify(line)}\n`);
}

/** A call of the shell. */
export function shell(command: string): ScriptedCall {
  return { name: 'shell', arguments: { command } };
}

/** A plan with an open step. */
export const PLAN: ScriptedCall = {
  name: 'update_plan',
  arguments: { plan: [{ step: 'Oil the horn', status: 'in_progress' }] },
};

/** No watcher, whose packets would be requests of their own. */
export const ALONE = 'features.rawr_auto_compaction=false';

/** Compactions in the rollout, by what made them. */
export function compactions({ records }: Played): readonly string[] {
  return records.flatMap((record) => {
    if (record.type === 'micro_compacted') return ['micro'];
    return record.type === 'compacted' ? [record.receipt?.implementation ?? 'none'] : [];
  });
}

/** The receipt of the first compaction in the rollout. */
export function receiptOf({ records }: Played): Receipt {
  const receipt = records.flatMap((record) =>
    record.type === 'compacted' && record.receipt !== undefined ? [record.receipt] : [],
  )[0];
  assert.ok(receipt, 'there was no compaction');
  return receipt;
}

/** What the last request says in words. */
export function lastSent({ requests }: Played): string {
  const last = requests.at(-1);
  assert.ok(last, 'there was no request');
  return textOf(last);
}

/** What a request says in words, message by message. */
export function textOf(sent: Recorded): string {
  return messagesOf(sent)
    .flatMap(({ content }) => (Array.isArray(content) ? (content as readonly { text?: string }[]) : []))
    .map(({ text = '' }) => text)
    .join('\n');
}

/** What the last message of each request asks for, in the words of the harness's own marker; `-` for anything else. */
export function asked({ requests }: Played): readonly string[] {
  return requests.map((sent) => {
    const last = messagesOf(sent).at(-1);
    return /"\[baton:([a-z_+]+)/.exec(JSON.stringify(last?.['content'] ?? ''))?.[1] ?? '-';
  });
}

/** What the watcher decided, of the notes in the rollout: tier and reason. */
export function decisions({ records }: Played): readonly string[] {
  return records.flatMap((record) => {
    if (record.type !== 'note' || record.kind !== 'decision') return [];
    const { tier, reason, signals } = record.value as {
      tier?: string;
      reason: string;
      signals: readonly { boundary: string }[];
    };
    return [[tier ?? '-', reason, ...signals.map(({ boundary }) => boundary)].join(' ')];
  });
}

/** A summary that is accepted. */
export const SUMMARY = [
  '<analysis>Lamps.</analysis>\n<summary>',
  ...SUMMARY_SECTIONS.map((title, at) => `${at + 1}. ${title}:\nThe lamps are counted, part ${at}.`),
  '</summary>',
].join('\n');
