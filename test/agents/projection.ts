// What a tool must send of a session, by what Baton's own reader says of it.

import { loadSession } from '../../src/formats/session-file.io.ts';
import { openSource } from '../../src/formats/source.io.ts';
import { WHOLE_ITEMS } from '../../src/history/clear.ts';
import { HistoryFold } from '../../src/history/project.ts';
import type { Item, Part } from '../../src/protocol/item.ts';
import type { Format } from '../../src/vocabulary.ts';
import type { SentItem } from './sent.ts';

/** The history of a session and what goes beside it, as the tool of its format sends them. */
export interface Projection {
  readonly items: readonly SentItem[];
  /** Texts of attachments, which Claude Code puts around the history. */
  readonly context: readonly string[];
}

/** Reads a session as Baton does, and tells what the tool must make of it. */
export async function projectionOf(path: string): Promise<Projection> {
  const source = await openSource(path, noInput());
  try {
    const fold = new HistoryFold(WHOLE_ITEMS);
    const { format } = await loadSession(source, (record) => void fold.add(record));
    const items = fold.entries.map(({ value }) => value);
    return {
      items: items.flatMap((item) => sentItems(item, format)),
      context: format === 'codex' ? [] : items.flatMap(contextTexts),
    };
  } finally {
    await source.close();
  }
}

async function* noInput(): AsyncGenerator<Buffer> {}

function contextTexts(item: Item): readonly string[] {
  return item.type === 'attachment' ? [item.text] : [];
}

function sentItems(item: Item, format: Format): readonly SentItem[] {
  switch (item.type) {
    case 'message': {
      const role = item.role === 'system' ? 'developer' : item.role;
      const texts = format === 'codex' ? [textOf(item.content)] : item.content.map((part) => textOf([part]));
      return texts.map((text) => ({ role, text }));
    }
    case 'attachment':
      return format === 'codex' ? [{ role: 'user', text: item.text.trimEnd() }] : [];
    case 'function_call':
      return [{ role: 'tool_call', text: `${item.name} ${item.arguments}` }];
    case 'custom_tool_call':
      return [{ role: 'tool_call', text: `${item.name} ${item.input}` }];
    case 'function_call_output':
    case 'custom_tool_call_output':
      return [
        {
          role: 'tool_result',
          text: typeof item.output === 'string' ? item.output.trimEnd() : textOf(item.output),
        },
      ];
    case 'compaction':
      return [{ role: 'other', text: item.type }];
    default:
      return [];
  }
}

function textOf(parts: readonly Part[]): string {
  return parts
    .map((part) => ('text' in part ? part.text : part.type))
    .join('\n')
    .trimEnd();
}
