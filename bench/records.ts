// Sessions as records, and how much text there is in them.

import { loadSession } from '../src/formats/session-file.io.ts';
import { openSource } from '../src/formats/source.io.ts';
import type { LogRecord } from '../src/protocol/record.ts';
import { utf8Length } from '../src/tokens/estimate.ts';
import type { Format } from '../src/vocabulary.ts';
import { recordedSessions } from './session-files.ts';

/** The records of each session recorded by real agents, where they are at hand. */
export async function recordedRecords(format: Format): Promise<readonly (readonly LogRecord[])[]> {
  const sessions: LogRecord[][] = [];
  for (const path of recordedSessions(format)) {
    const records: LogRecord[] = [];
    const source = await openSource(path, process.stdin);
    await loadSession(source, (record) => records.push(record));
    await source.close();
    sessions.push(records);
  }
  return sessions;
}

/** UTF-8 bytes of the readable strings of an item; encrypted content and images are not read by anybody. */
export function textBytes(record: LogRecord): number {
  if (record.type !== 'item') return 0;
  const { item } = record;
  switch (item.type) {
    case 'message':
      return item.content.reduce((sum, part) => sum + ('text' in part ? utf8Length(part.text) : 0), 0);
    case 'reasoning':
      return utf8Length(item.text ?? '');
    case 'function_call':
      return utf8Length(item.arguments);
    case 'custom_tool_call':
      return utf8Length(item.input);
    case 'attachment':
      return utf8Length(item.text);
    case 'function_call_output':
    case 'custom_tool_call_output':
      return typeof item.output === 'string'
        ? utf8Length(item.output)
        : item.output.reduce((sum, part) => sum + ('text' in part ? utf8Length(part.text) : 0), 0);
    default:
      return 0;
  }
}
