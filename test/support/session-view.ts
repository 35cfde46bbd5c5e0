// A small client of `baton serve`: a session as a frame of text, drawn from events alone. It shows sentences and decides nothing
// by them, as a terminal or an editor would be built.

import type { SessionEvent } from '../../src/protocol/wire/event.ts';
import type { Op } from '../../src/protocol/wire/op.ts';

type Of<Type extends SessionEvent['type']> = Extract<SessionEvent, { type: Type }>;
type Message = Of<'user_message' | 'agent_message'>;
type Change = Of<'tool_call_end'>['changes'][number];

/** What stands in the transcript; the key finds it again when more of it is told. */
interface Cell {
  readonly key: string;
  readonly lines: readonly string[];
}

/** Signs of lines that hold a sentence of Baton's, which nothing depends on. */
const SENTENCES = /^( *[i!] ).*$/gm;

/** A frame without its sentences: what must be the same whatever they say. */
export function structureOf(frame: string): string {
  return frame.replaceAll(SENTENCES, '$1…');
}

/** Draws a session. */
export class SessionView {
  readonly #cells: Cell[] = [];
  readonly #deltas = new Map<string, string>();
  readonly #commands = new Map<string, string>();
  #title = '';
  #gauge = '';
  #plans = new Map<string, readonly string[]>();
  #queue: readonly string[] = [];
  #steered = new Map<string, string>();
  #pending = new Map<string, readonly string[]>();
  #watcher: readonly string[] = [];
  #isIdle = true;
  #left = 0;

  /** Takes the next event. */
  take(event: SessionEvent): void {
    switch (event.type) {
      case 'session_configured':
        this.#title = `${event.provider}/${event.model}, ${event.approval_policy}, ${event.mode}`;
        return;
      case 'transcript':
        this.#left = event.left_out;
        for (const entry of event.entries) this.take(entry);
        this.#isIdle = true;
        return;
      case 'turn_started':
        this.#isIdle = false;
        return this.#draw(event.turn_id, [
          `-- ${event.turn_id}, ${event.task_kind}, of the ${event.origin.type}`,
        ]);
      case 'turn_complete':
        return this.#endTurn(event, event.stop_reason ?? 'no model');
      case 'turn_aborted':
        return this.#endTurn(event, event.error_code ?? event.reason);
      case 'thread_idle':
        this.#isIdle = true;
        return;
      case 'agent_message_delta': {
        const text = (this.#deltas.get(event.id) ?? '') + event.delta;
        this.#deltas.set(event.id, text);
        return this.#draw(event.id, said('*', text));
      }
      case 'user_message':
      case 'agent_message':
        return this.#takeMessage(event);
      case 'message_steered':
        this.#steered.set(event.id, event.message);
        return;
      case 'tool_call_begin': {
        const { call_id: id, kind, tool, locations } = event;
        const where = locations.map(({ path, line }) => (line === undefined ? path : `${path}:${line}`));
        const head = [`[${kind}]`, tool, ...where].join(' ');
        this.#commands.set(id, head);
        return this.#draw(id, [`${head} …`]);
      }
      case 'exec_command_output_delta': {
        const text = (this.#deltas.get(event.call_id) ?? '') + event.delta;
        this.#deltas.set(event.call_id, text);
        return this.#draw(event.call_id, [`${this.#headOf(event.call_id)} …`, ...folded(text)]);
      }
      case 'tool_call_end':
        return this.#endCall(event);
      case 'exec_approval_request':
        this.#pending.set(event.call_id, [
          `ask ${this.#headOf(event.call_id)}`,
          `    $ ${event.command.split('\n')[0]}`,
        ]);
        return;
      case 'patch_approval_request':
        this.#pending.set(event.call_id, [
          `ask ${this.#headOf(event.call_id)}`,
          ...event.changes.flatMap(diffLines),
        ]);
        return;
      case 'question':
        this.#pending.set(event.question_id, [
          `ask ${event.question}`,
          ...event.options.map(({ label }) => `    ( ) ${label}`),
        ]);
        return;
      case 'queue_changed':
        this.#queue = event.messages.map(({ text }) => text);
        return;
      case 'plan_update':
        this.#plans.set(
          event.kind,
          event.steps.map(({ step, status }) => `  ${event.kind} [${status}] ${step}`),
        );
        return;
      case 'token_count':
        this.#gauge = `${event.tier ?? 'no tier'}, ${event.pressure ?? 'unknown'}`;
        return;
      case 'watcher_decision':
        if (event.should_compact) {
          const evidence = event.signals.map(
            ({ boundary, evidence: shown }) => `${boundary} by ${shown.type}`,
          );
          this.#draw(event.id, [`decided: compact, ${event.tier}, ${event.reason}, ${evidence.join(', ')}`]);
        }
        return;
      case 'watcher_state':
        this.#watcher = blockOf(event);
        if (event.outcome !== null) this.#draw(`outcome ${this.#cells.length}`, [`path ${event.outcome}`]);
        return;
      case 'compact_completed':
        return this.#draw(event.id, [
          `compacted: ${event.strategy}, ${event.post_compact_tokens < event.pre_compact_tokens ? 'smaller' : 'larger'}`,
        ]);
      case 'micro_compact_completed':
        return this.#draw(event.id, [`cleared ${event.tools_compacted}`]);
      case 'background_event':
        if (event.surface === 'info') this.#draw(`line ${this.#cells.length}`, [`i ${event.message}`]);
        return;
      case 'warning':
      case 'error':
        return this.#draw(`line ${this.#cells.length}`, [`! ${event.message}`]);
      default:
        return;
    }
  }

  /** The whole frame: the transcript, and below it what changes. */
  frame(): string {
    const older = this.#left === 0 ? [] : [`(${this.#left} older)`];
    const steered = [...this.#steered.values()].map((text) => `  steering: ${text}`);
    const queue = this.#queue.map((text) => `  queued: ${text}`);
    return [
      `== ${this.#title}`,
      ...older,
      ...this.#cells.flatMap(({ lines }) => lines),
      `== ${this.#isIdle ? 'idle' : 'working'}; ${this.#gauge}`,
      ...[...this.#plans.values()].flat(),
      ...[...this.#pending.values()].flat(),
      ...this.#watcher,
      ...steered,
      ...queue,
    ]
      .map((line) => line.trimEnd())
      .join('\n');
  }

  #draw(key: string, lines: readonly string[]): void {
    const at = this.#cells.findIndex((cell) => cell.key === key);
    if (at < 0) this.#cells.push({ key, lines });
    else this.#cells[at] = { key, lines };
  }

  #headOf(callId: string): string {
    return this.#commands.get(callId) ?? callId;
  }

  #takeMessage(event: Message): void {
    const { id, author, steps, message } = event;
    if (author === 'harness') return;
    this.#steered.delete(id);
    if (author === 'synthetic') return this.#draw(id, [`auto ${steps.join(' + ')}`]);
    this.#draw(id, said(event.type === 'user_message' ? '>' : '*', message));
  }

  #endCall(event: Of<'tool_call_end'>): void {
    const { call_id: id, status, exit_code: code, output, changes } = event;
    this.#pending.delete(id);
    const how = code === null ? status : `${status}, exit ${code}`;
    const shown = changes.length > 0 ? changes.flatMap(diffLines) : folded(output);
    this.#draw(id, [`${this.#headOf(id)} → ${how}`, ...shown]);
  }

  #endTurn(event: Of<'turn_complete' | 'turn_aborted'>, why: string): void {
    const { turn_id: id, answers } = event;
    this.#pending.clear();
    const answered = answers.length === 0 ? '' : `; answers ${answers.length}`;
    this.#draw(`end of ${id}`, [`-- ${id}: ${why}${answered}`]);
  }
}

/** What this client's user says to what is asked: yes, and the first option. */
export function answerTo(event: SessionEvent): Op | undefined {
  switch (event.type) {
    case 'patch_approval_request':
      return { type: 'patch_approval', call_id: event.call_id, decision: 'approved' };
    case 'exec_approval_request':
      return { type: 'exec_approval', call_id: event.call_id, decision: 'approved' };
    case 'question': {
      const answer = event.options[0]?.label ?? 'Yes.';
      return { type: 'answer_question', question_id: event.question_id, answer };
    }
    default:
      return undefined;
  }
}

function said(sign: string, text: string): readonly string[] {
  const [first = '', ...rest] = text.trim().split('\n');
  return [`${sign} ${first}${rest.length === 0 ? '' : ` (+${rest.length} lines)`}`];
}

/** A call folds to the size of its output. */
function folded(output: string): readonly string[] {
  const lines = output.split('\n').length;
  return [`    ${lines < 100 ? 'short' : 'long'} output`];
}

function diffLines({
  action,
  path,
  added_lines: added,
  removed_lines: removed,
  diff,
}: Change): readonly string[] {
  const changed = diff.split('\n').filter((line) => /^[-+](?![-+]{2} )/.test(line));
  return [`    ${action} ${path} (+${added} -${removed})`, ...changed.map((line) => `    ${line}`)];
}

function blockOf(event: Of<'watcher_state'>): readonly string[] {
  if (event.steps.length === 0) return [];
  const { stage, tier, place, awaits, awaited_steps: steps, deadline } = event;
  const until =
    deadline === null
      ? 'without end'
      : `within ${deadline.quiet_ms <= deadline.at_most_ms ? 'a deadline' : '?'}`;
  return [
    `  golden path: ${stage}, ${tier}, ${place}; awaits ${[awaits, ...steps].join(' ')} ${until}`,
    `    ${event.steps.map(({ step, status }) => `${MARKS[status]} ${step}`).join('  ')}`,
  ];
}

const MARKS = { pending: '○', running: '◐', done: '●', replaced: '◌', skipped: '–' } as const;
