// What the transcript consists of. A cell is live until nothing about it can change; then it enters the scrollback.

import type { Block } from '../lines/markdown/blocks.ts';
import type { MarkdownStream } from '../lines/markdown/stream.ts';
import type { EventNamed } from '../channel.ts';

export type ShownChange = EventNamed<'tool_call_end'>['changes'][number];

/** A message in the user role. */
export interface UserCell {
  readonly type: 'user';
  readonly id: string;
  readonly text: string;
  /** What a message of the watcher contains; empty for the user's own. */
  readonly steps: EventNamed<'user_message'>['steps'];
  readonly isAuto: boolean;
}

/** What the agent says, or the next part of it: earlier parts of a long answer enter the scrollback while it still speaks. */
export interface AgentCell {
  readonly type: 'agent';
  readonly id: string;
  /** What is finished of it and not yet in the scrollback. */
  readonly blocks: readonly Block[];
  /** The rest of a message that still grows. */
  readonly stream: MarkdownStream;
  /** Whether earlier parts are in the scrollback. */
  readonly continues: boolean;
  /** Who wrote it, if it is the packet of a handover, which folds; undefined: it is an answer. */
  readonly packetBy: 'agent' | 'Baton' | undefined;
  readonly isDone: boolean;
}

/** A call of a tool, or a command line of the user's. */
export interface CallCell {
  readonly type: 'call';
  readonly id: string;
  readonly kind: EventNamed<'tool_call_begin'>['kind'] | 'shell';
  readonly tool: string;
  readonly title: string;
  /** Of a command. */
  readonly command: string | undefined;
  /** So far, or all of it; the end of a long one. */
  readonly output: string;
  readonly status: 'running' | 'completed' | 'failed' | 'refused' | 'interrupted';
  readonly exitCode: number | null;
  readonly changes: readonly ShownChange[];
  /** Milliseconds since 1970; undefined in a resumed transcript. */
  readonly startedAt: number | undefined;
  readonly durationMs: number | undefined;
  /** What the user decided about it, in words; empty: nobody was asked. */
  readonly decided: string;
  /** Other looks that are shown in the same row, oldest first. */
  readonly more: readonly Pick<CallCell, 'kind' | 'tool' | 'title'>[];
}

/** A sentence of Baton's. */
export interface NoteCell {
  readonly type: 'note';
  readonly tone: 'info' | 'warning' | 'error';
  readonly text: string;
}

/** A compaction that happened. */
export interface CompactionCell {
  readonly type: 'compaction';
  readonly id: string;
  readonly before: number;
  readonly after: number;
  readonly durationMs: number;
  /** `summary`: a summary replaced the history; `cleared`: only old tool results went. */
  readonly how: 'summary' | 'cleared';
  /** Words for the moment: `at commit c4a690d`; empty if unknown. */
  readonly moment: string;
}

/** A list of steps as it was at this point. */
export interface PlanCell {
  readonly type: 'plan';
  readonly kind: 'plan' | 'todo';
  readonly steps: EventNamed<'plan_update'>['steps'];
}

/** The end of a turn of the user's. */
export interface TurnCell {
  readonly type: 'turn';
  readonly ending: 'complete' | 'interrupted' | 'failed';
  /** Undefined in a resumed transcript. */
  readonly durationMs: number | undefined;
}

/** Where the transcript of another thread begins. */
export interface HeadCell {
  readonly type: 'head';
  /** `Forked session`. */
  readonly title: string;
  /** What tells the thread from others, one part each. */
  readonly about: readonly string[];
}

export type Cell =
  UserCell | AgentCell | CallCell | NoteCell | CompactionCell | PlanCell | TurnCell | HeadCell;

/** Whether nothing about a cell can change any more. */
export function isFinished(cell: Cell): boolean {
  switch (cell.type) {
    case 'agent':
      return cell.isDone;
    case 'call':
      return cell.status !== 'running';
    default:
      return true;
  }
}
