// Everything that a crash, a copy, an editor or ill will does to a session file, as functions from bytes to bytes.

import type { JsonObject } from '../../src/protocol/item.ts';
import type { AgentFormat } from '../../src/vocabulary.ts';

/** One kind of damage. */
export interface Sabotage {
  readonly name: string;
  readonly apply: (file: Buffer) => Buffer;
}

/** Damage that any file of lines may suffer. */
export const SABOTAGES: readonly Sabotage[] = [
  {
    name: 'neighbouring lines swapped',
    apply: onLines((lines) => lines.map((_, at) => lines[at ^ 1] ?? lines[at] ?? '')),
  },
  { name: 'all lines in reverse', apply: onLines((lines) => lines.toReversed()) },
  { name: 'every line twice', apply: onLines((lines) => lines.flatMap((line) => [line, line])) },
  {
    name: 'lines glued in pairs',
    apply: onLines((lines) =>
      lines.flatMap((line, at) => (at % 2 === 0 ? [line + (lines[at + 1] ?? '')] : [])),
    ),
  },
  { name: 'all lines glued', apply: onLines((lines) => [lines.join('')]) },
  {
    name: 'a torn line glued to the next',
    apply: onLines((lines) => [
      ...lines.slice(0, 4),
      `${(lines[4] ?? '').slice(0, 90)}${lines[5] ?? ''}`,
      ...lines.slice(6),
    ]),
  },
  {
    name: 'every third line cut',
    apply: onLines((lines) => lines.map((l, at) => (at % 3 === 2 ? l.slice(0, 60) : l))),
  },
  { name: 'the first line gone', apply: onLines((lines) => lines.slice(1)) },
  { name: 'only the last lines left', apply: onLines((lines) => lines.slice(-7)) },
  {
    name: 'every result line gone',
    apply: onLines((lines) => lines.filter((l) => !/_output"|"tool_result"/.test(l))),
  },
  {
    name: 'every call line gone',
    apply: onLines((lines) => lines.filter((l) => !/function_call"|"tool_use"/.test(l))),
  },
  { name: 'blank lines', apply: onLines((lines) => lines.flatMap((line) => [line, '', '  \t'])) },
  { name: 'CRLF', apply: onLines((lines) => lines.map((line) => `${line}\r`)) },
  { name: 'a BOM', apply: (file) => Buffer.concat([Buffer.from('\uFEFF'), file]) },
  { name: 'a BOM on every line', apply: onLines((lines) => lines.map((line) => `\uFEFF${line}`)) },
  { name: 'no last line feed', apply: (file) => file.subarray(0, -1) },
  { name: 'NULs inside of lines', apply: (file) => inserted(file, Buffer.alloc(3), 997) },
  { name: 'NULs as padding', apply: (file) => Buffer.concat([file, Buffer.alloc(4096)]) },
  { name: 'a line of NULs', apply: (file) => betweenLines(file, Buffer.alloc(512)) },
  { name: 'invalid UTF-8', apply: (file) => inserted(file, Buffer.from([0xed, 0xa0, 0xbd]), 1009) },
  { name: 'lone surrogates, escaped', apply: onText((text) => text.replaceAll('é', '\\ud83d')) },
  { name: 'lone low surrogates, escaped', apply: onText((text) => text.replaceAll('𝄞', '\\udd1e')) },
  {
    name: 'lines that are no objects',
    apply: onLines((lines) => lines.flatMap((l) => [l, '[1]', 'null', '7', '""'])),
  },
  {
    name: 'lines that are no JSON',
    apply: onLines((lines) => lines.flatMap((line) => [line, 'oops {"type":'])),
  },
  { name: 'null for every text', apply: onText((text) => text.replaceAll(/"text":"[^"]*"/g, '"text":null')) },
  {
    name: 'numbers for ids',
    apply: onText((text) => text.replaceAll(/"(call_id|uuid|id)":"[^"]*"/g, '"$1":7')),
  },
  {
    name: 'objects for ids',
    apply: onText((text) => text.replaceAll(/"(call_id|uuid|id)":"[^"]*"/g, '"$1":{"a":[]}')),
  },
  {
    name: 'one id for all',
    apply: onText((text) => text.replaceAll(/"(call_id|uuid|id)":"[^"]*"/g, '"$1":"same"')),
  },
  {
    name: 'a list for every payload and message',
    apply: onText((text) => text.replaceAll(/"(payload|message)":\{/g, '"$1":[],"was":{')),
  },
  {
    name: 'times that are none',
    apply: onText((text) => text.replaceAll(/"timestamp":"[^"]*"/g, '"timestamp":"yesterday"')),
  },
  { name: 'impossible usage', apply: onText((text) => text.replaceAll(/(_tokens"):\d+/g, '$1:-1e308')) },
  {
    name: 'keys of Object.prototype',
    apply: onText((text) => text.replaceAll('"type":', '"__proto__":{"x":1},"constructor":1,"type":')),
  },
  {
    name: 'deeply nested values',
    apply: onText((text) =>
      text
        .replaceAll('"arguments":', `"deep":${nest(5000)},"arguments":`)
        .replaceAll('"input":{', `"input":{"deep":${nest(5000)},`),
    ),
  },
  {
    name: 'unknown kinds',
    apply: onText((text) =>
      text.replaceAll('"function_call"', '"novel_call"').replaceAll('"tool_use"', '"novel_use"'),
    ),
  },
];

/** Damage to the links of a Claude Code session. */
export const LINK_SABOTAGES: readonly Sabotage[] = [
  {
    name: 'every line its own parent',
    apply: onObjects((line) => ({ ...line, parentUuid: line['uuid'] ?? null })),
  },
  {
    name: 'a cycle through all lines',
    apply: onObjects((line, at, all) => ({
      ...line,
      parentUuid: (all[(at + all.length - 1) % all.length] ?? {})['uuid'] ?? null,
    })),
  },
  { name: 'every parent missing', apply: onObjects((line) => ({ ...line, parentUuid: 'nowhere' })) },
  {
    name: 'parents after their children',
    apply: onObjects((line, at, all) => ({ ...line, parentUuid: (all[at + 1] ?? {})['uuid'] ?? null })),
  },
  {
    name: 'one uuid for two lines',
    apply: onObjects((line, at) => (at % 2 === 0 ? line : { ...line, uuid: `uuid-${at}` })),
  },
  { name: 'all lines roots', apply: onObjects((line) => ({ ...line, parentUuid: null })) },
  { name: 'all lines side lines', apply: onObjects((line) => ({ ...line, isSidechain: true })) },
];

/** What can be done to a file of a format. */
export function sabotagesFor(format: AgentFormat): readonly Sabotage[] {
  return format === 'codex' ? SABOTAGES : [...SABOTAGES, ...LINK_SABOTAGES];
}

function nest(depth: number): string {
  return `${'['.repeat(depth)}${']'.repeat(depth)}`;
}

function onText(change: (text: string) => string): Sabotage['apply'] {
  return (file) => Buffer.from(change(file.toString('utf8')));
}

function onLines(change: (lines: readonly string[]) => readonly string[]): Sabotage['apply'] {
  return onText((text) => `${change(text.split('\n').slice(0, -1)).join('\n')}\n`);
}

function onObjects(
  change: (line: JsonObject, at: number, all: readonly JsonObject[]) => JsonObject,
): Sabotage['apply'] {
  return onLines((lines) => {
    const objects = lines.map((line) => JSON.parse(line) as JsonObject);
    return objects.map((line, at) => JSON.stringify(change(line, at, objects)));
  });
}

/** Puts bytes in every `distance` bytes. */
function inserted(file: Buffer, bytes: Buffer, distance: number): Buffer {
  const pieces: Buffer[] = [];
  for (let at = 0; at < file.length; at += distance) {
    pieces.push(file.subarray(at, at + distance), bytes);
  }
  return Buffer.concat(pieces);
}

function betweenLines(file: Buffer, bytes: Buffer): Buffer {
  const after = file.indexOf(0x0a, file.length >> 1) + 1;
  return Buffer.concat([file.subarray(0, after), bytes, Buffer.from('\n'), file.subarray(after)]);
}
