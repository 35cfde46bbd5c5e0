// The state of the screen, folded from events alone. Pure.

import type { SessionEvent } from '../../protocol/wire/event.ts';
import { append, EMPTY_STREAM, unfinished } from '../lines/markdown/stream.ts';
import type { Op } from '../../protocol/wire/op.ts';
import type { EventNamed } from '../channel.ts';
import type { AgentCell, CallCell, Cell, UserCell } from './cell.ts';
import { isFinished } from './cell.ts';
import { awaitsMore, foldCells, isLooking } from './fold.ts';
import { momentOf } from './moment.ts';

/** A request that waits for the user. */
export type Request = EventNamed<'exec_approval_request' | 'patch_approval_request' | 'question'>;

/** The turn that runs. */
export interface TurnUnderWay {
  readonly id: string;
  readonly kind: EventNamed<'turn_started'>['task_kind'];
  readonly isWatchers: boolean;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
}

/** What the screen knows. */
export interface Chat {
  readonly settings: EventNamed<'session_configured'> | undefined;
  /** Cells in order, from the oldest that may still change. */
  readonly cells: readonly Cell[];
  readonly turn: TurnUnderWay | undefined;
  /** Since when Baton compacts; undefined: it does not. */
  readonly compactingSince: number | undefined;
  readonly isIdle: boolean;
  /** The status line: what happens now, in one sentence. */
  readonly activity: string;
  /** Requests that wait for the user, oldest first. */
  readonly requests: readonly Request[];
  readonly queue: EventNamed<'queue_changed'>['messages'];
  /** Messages for the running turn that the agent has not received. */
  readonly steered: readonly { readonly id: string; readonly text: string }[];
  readonly plans: ReadonlyMap<'plan' | 'todo', EventNamed<'plan_update'>['steps']>;
  readonly pins: EventNamed<'pins_changed'>['pins'];
  readonly gauge: EventNamed<'token_count'> | undefined;
  /** The context at the ends of the user's turns since the newest compaction, oldest first. */
  readonly filling: readonly number[];
  readonly spending: EventNamed<'spending'>['session'] | undefined;
  readonly status: EventNamed<'status'> | undefined;
  readonly watcher: EventNamed<'watcher_state'> | undefined;
  /** When `watcher` arrived: its deadline counts from here. */
  readonly watcherSince: number;
  readonly decision: EventNamed<'watcher_decision'> | undefined;
  /** The newest message in the user role asks the agent for a packet. */
  readonly isPacketAsked: boolean;
}

export const EMPTY_CHAT: Chat = {
  settings: undefined,
  cells: [],
  turn: undefined,
  compactingSince: undefined,
  isIdle: true,
  activity: '',
  requests: [],
  queue: [],
  steered: [],
  plans: new Map(),
  pins: [],
  gauge: undefined,
  filling: [],
  spending: undefined,
  status: undefined,
  watcher: undefined,
  watcherSince: 0,
  decision: undefined,
  isPacketAsked: false,
};

/** Characters of a running command's output to keep: what the largest screen shows many times over. */
const MOST_OUTPUT = 200_000;

/** Turns from which the forecast is made: the newest say most about the next. */
const MOST_FILLING = 8;

/**
 * Takes the next event.
 * @param now milliseconds since 1970; undefined for an entry of a resumed transcript
 */
export function takeEvent(chat: Chat, event: SessionEvent, now: number | undefined): Chat {
  const at = now ?? 0;
  switch (event.type) {
    case 'session_configured':
      return { ...chat, settings: event };
    case 'transcript': {
      const drawn = event.entries.reduce((state, entry) => takeEvent(state, entry, undefined), chat);
      const older =
        event.left_out === 0
          ? []
          : [note('info', `${event.left_out} older entries are not shown; the session has them.`)];
      const cells = [...older, ...drawn.cells.map(settled)];
      return { ...drawn, cells, turn: undefined, isIdle: true };
    }
    case 'thread_idle':
      return { ...chat, isIdle: true, turn: undefined, activity: '' };
    case 'turn_started': {
      const { turn_id: id, task_kind: kind, origin } = event;
      const turn = { id, kind, isWatchers: origin.type === 'watcher', startedAt: at };
      return { ...chat, turn, isIdle: false };
    }
    case 'user_message':
      return takeUserMessage(chat, event);
    case 'message_steered':
      return { ...chat, steered: [...chat.steered, { id: event.id, text: event.message }] };
    case 'agent_message_delta':
      return withAgent(chat, event.id, (cell) => grown(cell, event.delta));
    case 'agent_message':
      return takeAgentMessage(chat, event);
    case 'agent_reasoning_delta':
      return chat.activity === THINKING ? chat : { ...chat, activity: THINKING };
    case 'stream_error': {
      const kept = chat.cells.filter((cell) => cell.type !== 'agent' || cell.isDone);
      const isPrinted = chat.cells.some((cell) => cell.type === 'agent' && !cell.isDone && cell.continues);
      const rest = { ...chat, cells: kept, activity: event.message };
      // What is in the scrollback stays there.
      return isPrinted
        ? withCell(rest, note('warning', `${event.message} The answer begins again below.`))
        : rest;
    }
    case 'turn_complete':
    case 'turn_aborted':
      return endTurn(chat, event, now);
    case 'token_count':
      return takeGauge(chat, event);
    case 'tool_call_begin':
      return withCell({ ...chat, activity: '' }, newCall(event, now));
    case 'exec_command_begin':
      return withCall(chat, event.call_id, (call) => ({ ...call, command: event.command, startedAt: at }), {
        tool: 'shell',
        kind: 'shell',
      });
    case 'exec_command_output_delta':
      return withCall(chat, event.call_id, (call) => ({
        ...call,
        output: (call.output + event.delta).slice(-MOST_OUTPUT),
      }));
    case 'exec_command_end':
      return withCall(chat, event.call_id, (call) => ({
        ...call,
        exitCode: event.exit_code,
        durationMs: event.duration_ms,
        ...(call.kind === 'shell'
          ? { status: event.outcome === 'exited' ? 'completed' : 'interrupted' }
          : {}),
      }));
    case 'tool_call_end':
      return endCall(chat, event, now);
    case 'shell_line':
      return withCell(chat, {
        ...EMPTY_CALL,
        id: event.call_id,
        kind: 'shell',
        tool: 'shell',
        title: event.command,
        command: event.command,
        output: event.output,
        status: event.outcome === 'exited' ? 'completed' : 'interrupted',
        exitCode: event.exit_code,
        durationMs: event.duration_ms,
      });
    case 'exec_approval_request':
    case 'patch_approval_request':
    case 'question':
      return { ...chat, requests: [...chat.requests, event] };
    case 'plan_update':
      return takePlan(chat, event);
    case 'queue_changed':
      return { ...chat, queue: event.messages };
    case 'pins_changed':
      return takePins(chat, event);
    case 'spending':
      return { ...chat, spending: event.session };
    case 'status':
      return { ...chat, status: event, spending: event.spending.session };
    case 'watcher_state':
      return { ...chat, watcher: event, watcherSince: at };
    case 'watcher_decision':
      return { ...chat, decision: event };
    case 'background_event':
      return event.surface === 'info'
        ? withCell(chat, note('info', event.message))
        : { ...chat, activity: event.message };
    case 'item_started':
      return { ...chat, compactingSince: at };
    case 'compact_failed':
      return { ...withCell(chat, note('warning', event.error_message)), compactingSince: undefined };
    case 'compact_completed':
      return takeCompaction(chat, {
        id: event.id,
        before: event.pre_compact_tokens,
        after: event.post_compact_tokens,
        durationMs: event.duration_ms,
        how: 'summary',
        moment: now === undefined ? '' : momentOf(chat),
      });
    case 'micro_compact_completed':
      return takeCompaction(chat, {
        id: event.id,
        before: event.pre_compact_tokens,
        after: event.post_compact_tokens,
        durationMs: event.duration_ms,
        how: 'cleared',
        moment: now === undefined ? '' : momentOf(chat),
      });
    case 'undo_completed':
      return withCell(chat, note('info', undoneWords(event)));
    case 'undo_incomplete':
      return withCell(chat, note('warning', undoneWords({ ...event, what: 'turn' })));
    case 'redo_completed':
      return withCell(chat, note('info', 'The compaction is in force again.'));
    case 'phase_completed':
      return withCell(chat, note('info', `Phase complete: ${event.summary}`));
    case 'warning':
      return withCell(chat, note('warning', event.message));
    case 'error':
    case 'thread_failed':
      return withCell(chat, note('error', event.message));
    case 'thread_opened':
      return withHead(chat, event);
    default:
      return chat;
  }
}

const THINKING = 'Thinking';

const EMPTY_CALL: CallCell = {
  type: 'call',
  id: '',
  kind: 'other',
  tool: '',
  title: '',
  command: undefined,
  output: '',
  status: 'running',
  exitCode: null,
  changes: [],
  startedAt: undefined,
  durationMs: undefined,
  decided: '',
  more: [],
};

function note(tone: 'info' | 'warning' | 'error', text: string): Cell {
  return { type: 'note', tone, text };
}

/** A transcript has ended, whatever it lacks. */
function settled(cell: Cell): Cell {
  if (cell.type === 'call' && cell.status === 'running') return { ...cell, status: 'interrupted' };
  return cell.type === 'agent' && !cell.isDone ? ended(cell) : cell;
}

function withCell(chat: Chat, cell: Cell): Chat {
  return { ...chat, cells: [...chat.cells, cell] };
}

function withAgent(chat: Chat, id: string, change: (cell: AgentCell) => AgentCell): Chat {
  const at = chat.cells.findLastIndex((cell) => cell.type === 'agent' && cell.id === id && !cell.isDone);
  const found = chat.cells[at];
  const fresh: AgentCell = {
    type: 'agent',
    id,
    blocks: [],
    stream: EMPTY_STREAM,
    continues: false,
    // Deltas do not say what they belong to; the whole message does.
    packetBy: chat.isPacketAsked ? 'agent' : undefined,
    isDone: false,
  };
  if (found?.type !== 'agent') return withCell({ ...chat, activity: '' }, change(fresh));
  return { ...chat, cells: chat.cells.with(at, change(found)) };
}

function withCall(
  chat: Chat,
  id: string,
  change: (call: CallCell) => CallCell,
  fresh?: Pick<CallCell, 'tool' | 'kind'>,
): Chat {
  const at = chat.cells.findLastIndex((cell) => cell.type === 'call' && cell.id === id);
  const found = chat.cells[at];
  if (found?.type === 'call') return { ...chat, cells: chat.cells.with(at, change(found)) };
  return fresh === undefined ? chat : withCell(chat, change({ ...EMPTY_CALL, ...fresh, id }));
}

function newCall(event: EventNamed<'tool_call_begin'>, now: number | undefined): CallCell {
  const { call_id: id, kind, tool, title } = event;
  return { ...EMPTY_CALL, id, kind, tool, title, startedAt: now };
}

function takeUserMessage(chat: Chat, event: EventNamed<'user_message'>): Chat {
  const { id, author, steps, message } = event;
  const steered = chat.steered.filter((each) => each.id !== id);
  if (author === 'harness') return { ...chat, steered };
  const cell: UserCell = { type: 'user', id, text: message, steps, isAuto: author === 'synthetic' };
  return withCell({ ...chat, steered, isPacketAsked: cell.isAuto && steps.includes('packet_request') }, cell);
}

function takeAgentMessage(chat: Chat, event: EventNamed<'agent_message'>): Chat {
  const { id, author, message, steps } = event;
  if (author === 'harness') return chat;
  const isAgents = chat.isPacketAsked && PACKET_HEADING.test(message);
  const packetBy = steps.includes('packet') ? 'Baton' : isAgents ? 'agent' : undefined;
  const streamed = chat.cells.some((cell) => cell.type === 'agent' && cell.id === id && !cell.isDone);
  // Its parts were drawn as they came, and the last one ends with it.
  if (streamed) return withAgent(chat, id, (cell) => ({ ...ended(cell), packetBy }));
  if (message.trim() === '') return chat;
  return withAgent(chat, id, (cell) => ({ ...ended(grown(cell, message)), packetBy }));
}

/** The first heading of a packet, however it is marked. @source spec 3-watcher §4, variant A */
const PACKET_HEADING = /(?:^|\n)[#* ]{0,8}overarching goal/i;

function grown(cell: AgentCell, delta: string): AgentCell {
  const { stream, finished } = append(cell.stream, delta);
  return { ...cell, stream, blocks: finished.length === 0 ? cell.blocks : [...cell.blocks, ...finished] };
}

function ended(cell: AgentCell): AgentCell {
  return {
    ...cell,
    blocks: [...cell.blocks, ...unfinished(cell.stream)],
    stream: EMPTY_STREAM,
    isDone: true,
  };
}

function takePlan(chat: Chat, event: EventNamed<'plan_update'>): Chat {
  const { kind, steps, call_id: callId } = event;
  const plans = new Map(chat.plans).set(kind, steps);
  const known = { ...chat, plans };
  return callId === null ? known : withCell(known, { type: 'plan', kind, steps });
}

function isPinned(pins: Chat['pins'], wanted: string): boolean {
  return pins.some(({ id }) => id === wanted);
}

/** Nothing else answers `/pin` and `/unpin`. */
function takePins(chat: Chat, { pins }: EventNamed<'pins_changed'>): Chat {
  const notes = [
    ...pins.filter(({ id }) => !isPinned(chat.pins, id)).map(({ text }) => note('info', `Pinned: ${text}`)),
    ...chat.pins
      .filter(({ id }) => !isPinned(pins, id))
      .map(({ text }) => note('info', `No longer pinned: ${text}`)),
  ];
  return { ...chat, pins, cells: [...chat.cells, ...notes] };
}

function takeGauge(chat: Chat, event: EventNamed<'token_count'>): Chat {
  const isBetweenTurns = chat.turn === undefined;
  const filling =
    isBetweenTurns && chat.filling.at(-1) !== event.used
      ? [...chat.filling, event.used].slice(-MOST_FILLING)
      : chat.filling;
  return { ...chat, gauge: event, filling };
}

function takeCompaction(chat: Chat, compaction: Omit<Extract<Cell, { type: 'compaction' }>, 'type'>): Chat {
  const known = withCell(chat, { type: 'compaction', ...compaction });
  return { ...known, compactingSince: undefined, filling: [], activity: '' };
}

function endCall(chat: Chat, event: EventNamed<'tool_call_end'>, now: number | undefined): Chat {
  const { call_id: id, status, output, exit_code: exitCode, changes } = event;
  const isAsked = (request: Request): boolean => 'call_id' in request && request.call_id === id;
  const requests = chat.requests.filter((request) => !isAsked(request));
  return withCall({ ...chat, requests }, id, (call) => ({
    ...call,
    status,
    // What a command printed is better than what the agent was given of it.
    output: call.command !== undefined && call.output !== '' ? call.output : output,
    exitCode,
    changes,
    durationMs:
      call.durationMs ??
      (now === undefined || call.startedAt === undefined ? undefined : now - call.startedAt),
  }));
}

function endTurn(
  chat: Chat,
  event: EventNamed<'turn_complete' | 'turn_aborted'>,
  now: number | undefined,
): Chat {
  const { turn } = chat;
  const durationMs =
    now === undefined || turn === undefined || turn.startedAt === 0 ? undefined : now - turn.startedAt;
  const ending =
    event.type === 'turn_complete' ? 'complete' : event.reason === 'failed' ? 'failed' : 'interrupted';
  const cells = chat.cells.map(settled);
  const isUsers = event.origin.type === 'user' && event.task_kind === 'regular';
  const end: readonly Cell[] = isUsers ? [{ type: 'turn', ending, durationMs }] : [];
  return {
    ...chat,
    cells: [...cells, ...end],
    turn: undefined,
    compactingSince: undefined,
    requests: [],
    steered: [],
    activity: '',
  };
}

function undoneWords({
  what,
  paths,
  left,
}: {
  readonly what: 'compaction' | 'turn';
  readonly paths: readonly string[];
  readonly left: readonly { readonly path: string; readonly why: string }[];
}): string {
  const head = what === 'compaction' ? 'The compaction is undone.' : 'The turn is undone.';
  const files = paths.length === 0 ? '' : ` Restored: ${paths.join(', ')}.`;
  const rest = left.map(({ path, why }) => ` ${path} is ${why}.`).join('');
  return `${head}${files}${rest}`;
}

/** Takes what cannot change any more, up to the first thing that can: whole cells, then the finished blocks of a growing answer. */
export function takeFinished(chat: Chat): { readonly chat: Chat; readonly finished: readonly Cell[] } {
  const end = chat.cells.findIndex((cell) => !isFinished(cell));
  let count = end < 0 ? chat.cells.length : end;
  const growing = chat.cells[count];
  const mayGrow =
    growing === undefined ? isBusy(chat) : isLooking(growing) && isLooking(chat.cells[count - 1]);
  if (mayGrow) while (awaitsMore(chat.cells[count - 1])) count--;
  const finished = foldCells(chat.cells.slice(0, count));
  if (growing?.type === 'agent' && growing.blocks.length > 0 && growing.packetBy === undefined) {
    const rest: AgentCell = { ...growing, blocks: [], continues: true };
    const part: AgentCell = { ...growing, stream: EMPTY_STREAM, isDone: true };
    return {
      chat: { ...chat, cells: [rest, ...chat.cells.slice(count + 1)] },
      finished: [...finished, part],
    };
  }
  return count === 0 ? { chat, finished } : { chat: { ...chat, cells: chat.cells.slice(count) }, finished };
}

/** Whether anything is under way that Esc can stop. */
export function isBusy({ turn, compactingSince, watcher }: Chat): boolean {
  return (
    turn !== undefined || compactingSince !== undefined || (watcher !== undefined && watcher.stage !== 'idle')
  );
}

/** The prompts of the thread that the screen has seen, newest first, for the way back. */
export function promptsOf(cells: readonly Cell[]): readonly string[] {
  const own = cells.slice(cells.findLastIndex(({ type }) => type === 'head') + 1);
  return own.flatMap((cell) => (cell.type === 'user' && !cell.isAuto ? [cell.text] : [])).toReversed();
}

/** Takes the user's answer to a request, which no event repeats. */
export function withAnswer(chat: Chat, op: Op): Chat {
  const id = op.type === 'answer_question' ? op.question_id : 'call_id' in op ? op.call_id : undefined;
  if (id === undefined) return chat;
  const requests = chat.requests.filter((request) => requestId(request) !== id);
  const answered = { ...chat, requests };
  if (op.type !== 'exec_approval' && op.type !== 'patch_approval') return answered;
  const decided = decisionWords(op);
  return withCall(answered, id, (call) => ({ ...call, decided }));
}

/** What the answer to a request names. */
export function requestId(request: Request): string {
  return 'call_id' in request ? request.call_id : request.question_id;
}

function decisionWords({
  decision,
  message = '',
}: Extract<Op, { readonly type: 'exec_approval' | 'patch_approval' }>): string {
  switch (decision) {
    case 'approved':
      return 'you allowed it';
    case 'approved_for_session':
      return 'you allowed it for this session';
    case 'denied':
      return message === '' ? 'you refused it' : `you refused it: ${message}`;
    case 'abort':
      return 'you stopped the turn';
  }
}

const OPENED: Readonly<Record<EventNamed<'thread_opened'>['how'], string>> = {
  new: 'New session',
  resumed: 'Resumed session',
  forked: 'Fork of the session',
  handed_off: 'New session with the handoff',
};

/** The head goes above what the thread has brought along. */
function withHead(chat: Chat, { how }: EventNamed<'thread_opened'>): Chat {
  const { settings } = chat;
  const about = settings === undefined ? [] : [settings.model, settings.session_id];
  return { ...chat, cells: [{ type: 'head', title: OPENED[how], about }, ...chat.cells] };
}

/** Adds a sentence of the terminal's own. */
export function withNote(chat: Chat, tone: 'info' | 'warning' | 'error', text: string): Chat {
  return withCell(chat, note(tone, text));
}
