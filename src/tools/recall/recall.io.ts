// The tool `recall`: returns what compaction removed from the context, from the log of the thread.

import * as z from 'zod';
import type { CancelSignal } from '../../ports.ts';
import type { ToolResult } from '../../protocol/tool.ts';
import { DEFAULT_ESTIMATE, utf8Length } from '../../tokens/estimate.ts';
import { RESULT_TOKENS } from '../cap.ts';
import { defineTool, done, failed } from '../tool.ts';
import type { Tool } from '../tool.ts';
import type { ToolWorld } from '../world.ts';
import { excerptOf, queryWords, RecallSearch } from './search.ts';
import type { RecallQuery, Remembered } from './search.ts';

/** Room for lines in a result, in bytes; the rest is for the note about the next page. */
const PAGE_BYTES = RESULT_TOKENS * DEFAULT_ESTIMATE.approxBytesPerToken - 600;

interface RecallInput {
  readonly id?: string | undefined;
  readonly query?: string | undefined;
  readonly from_line: number;
}

/** Finds earlier messages and results of this thread. */
export function createRecallTool(world: ToolWorld): Tool<RecallInput> {
  return defineTool({
    name: 'recall',
    kind: 'read',
    description:
      'Returns what is no longer in the context: earlier messages, calls and results of this session, including cleared ones. With query: the places where the words occur, each with an id. With id (of a place or a call): the complete text.',
    arguments: {
      id: z.string().min(1).max(200).optional().describe('The id of a place, such as #12, or of a call.'),
      query: z.string().min(1).max(500).optional().describe('Words, or "phrases" in quotes.'),
      from_line: z
        .int()
        .min(1)
        .max(1_000_000_000)
        .default(1)
        .describe('With id: the line where a long text continues.'),
    },
    run: (input, _context, signal) => recall(input, world, signal),
  });
}

async function recall(input: RecallInput, world: ToolWorld, signal: CancelSignal): Promise<ToolResult> {
  const query = queryOf(input);
  if (typeof query === 'string') return failed(query);
  const search = new RecallSearch(query);
  for await (const record of world.log()) {
    if (signal.aborted) return failed('The user stopped the search.');
    search.add(record);
  }
  const found = search.found();
  if (found.length === 0) {
    return failed(
      query.type === 'id'
        ? `This session has nothing with the id ${query.id}.`
        : 'Nothing was found. Try other words, or fewer.',
    );
  }
  return done(query.type === 'id' ? showWhole(found, input.from_line) : showPlaces(found, query.words));
}

function queryOf({ id, query }: RecallInput): RecallQuery | string {
  if ((id === undefined) === (query === undefined)) return 'Pass either id or query. Nothing was searched.';
  if (id !== undefined) return { type: 'id', id };
  const words = queryWords(query ?? '');
  return words.length === 0
    ? 'The query contains no word of two characters or more.'
    : { type: 'words', words };
}

function showPlaces(found: readonly Remembered[], words: readonly string[]): string {
  const places = found.map(
    ({ id, who, turn, text }) =>
      `${id} (turn ${turn}, ${who}, ${text.length} characters): ${excerptOf(text, words)}`,
  );
  return `${places.join('\n')}\n[Call recall with an id for the complete text.]`;
}

/** Indents headings in a recalled text, so that it cannot imitate another entry with words that the user never said. */
function withoutHeadings(text: string): string {
  return text.replaceAll(/^(?=#\d+ \(turn )/gm, ' ');
}

function showWhole(found: readonly Remembered[], fromLine: number): string {
  const whole = found
    .map(({ id, who, turn, text }) => `${id} (turn ${turn}, ${who}):\n${withoutHeadings(text)}`)
    .join('\n\n');
  const lines = whole.split('\n');
  if (fromLine > lines.length) return `It has only ${lines.length} lines.`;
  let bytes = 0;
  let end = fromLine - 1;
  while (end < lines.length) {
    bytes += utf8Length(lines[end] ?? '') + 1;
    if (bytes > PAGE_BYTES && end >= fromLine) break;
    end++;
  }
  const page = lines.slice(fromLine - 1, end).join('\n');
  if (end === lines.length) return page;
  return `${page}\n[Lines ${fromLine} to ${end} of ${lines.length}; continue with from_line ${end + 1}.]`;
}
