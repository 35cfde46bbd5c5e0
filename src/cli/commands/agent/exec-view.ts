// What `baton exec` prints while it works: one short line per event of the thread. Pure.

import { COMPACTED_NOTICE } from '../../../compaction/completed.ts';
import type { SessionEvent } from '../../../protocol/wire/event.ts';
import type { FileChangeView, PlanStepState, ToolEvent } from '../../../protocol/tool.ts';
import type { Look } from '../../io.ts';
import { arrow, formatNumber, paint, plural, printable } from '../../style.ts';
import type { Tone } from '../../style.ts';

/** Longest command to print, in characters, so that it fits on a line. */
const MAX_COMMAND = 160;

type EventOf<Type extends SessionEvent['type']> = Extract<SessionEvent, { type: Type }>;

/** Turns events into lines for standard error. */
export class ProgressLines {
  readonly #look: Look;
  readonly #showsConversation: boolean;
  readonly #commands = new Map<string, string>();
  /** The agent's latest message. It may be the last one, which goes to standard output. */
  #said: string | undefined;
  #spending: EventOf<'spending'> | undefined;

  /** @param showsConversation prints each user and agent message in shortened form as it arrives */
  constructor(look: Look, showsConversation = false) {
    this.#look = look;
    this.#showsConversation = showsConversation;
  }

  /** The lines for an event, without line feeds. An agent message is printed once the agent says or does more. */
  linesOf(event: SessionEvent): readonly string[] {
    if (this.#showsConversation && isSaid(event)) return this.#describeSaid(event);
    if (event.type === 'agent_message' && event.author === 'agent') {
      const before = this.#takeSaid();
      this.#said = event.message;
      return before;
    }
    if (event.type === 'turn_complete') this.#said = undefined;
    const lines = this.#describe(event);
    return lines.length === 0 ? lines : [...this.#takeSaid(), ...lines];
  }

  #describeSaid(event: EventOf<'agent_message' | 'user_message'>): readonly string[] {
    const text = oneLine(event.message);
    if (event.author === 'agent') return text === '' ? [] : [`  ${text}`];
    if (event.author === 'user') return [`${this.#paint('strong', '>')} ${text}`];
    const step = event.steps.map((each) => each.replaceAll('_', ' ')).join(', ');
    return step === '' ? [] : [`${this.#paint('accent', step)}: ${text}`];
  }

  #takeSaid(): readonly string[] {
    const said = this.#said;
    this.#said = undefined;
    return said === undefined || said.trim() === '' ? [] : said.trim().split('\n').map(printable);
  }

  #describe(event: SessionEvent): readonly string[] {
    switch (event.type) {
      case 'session_configured':
        return [this.#describeSession(event)];
      case 'exec_command_begin':
        this.#commands.set(event.call_id, event.command);
        return [];
      case 'exec_command_end':
        return [this.#describeCommand(event)];
      case 'tool_call_end':
        return event.changes.map((change) => this.#describeChange(change));
      case 'plan_update':
        return [this.#describePlan(event.kind, event.steps)];
      case 'phase_completed':
        return [`${this.#paint('good', 'phase done:')} ${oneLine(event.summary)}`];
      case 'warning':
        return [`${this.#paint('warning', 'warning:')} ${printable(event.message)}`];
      case 'background_event':
        // A status belongs on a line that is redrawn, and the line with the sizes follows the notice.
        return event.surface === 'status' || event.message === COMPACTED_NOTICE
          ? []
          : [this.#paint('faint', printable(event.message))];
      case 'stream_error':
        return [this.#paint('faint', printable(event.message))];
      case 'compact_completed':
        return [
          this.#describeCompaction(event.pre_compact_tokens, event.post_compact_tokens, event.strategy),
        ];
      case 'micro_compact_completed':
        return [
          `${this.#paint('accent', 'compacted:')} ${formatNumber(event.pre_compact_tokens)} ${arrow(this.#look)} ` +
            `${formatNumber(event.post_compact_tokens)} tokens, ${plural(event.tools_compacted, 'old tool result')} cleared`,
        ];
      case 'spending':
        this.#spending = event;
        return [];
      case 'shutdown_complete':
        return this.#spending === undefined ? [] : [this.#describeSpending(this.#spending)];
      case 'compact_failed':
        return [`${this.#paint('warning', 'warning:')} not compacted: ${printable(event.error_message)}`];
      default:
        return [];
    }
  }

  #describeSession(event: EventOf<'session_configured'>): string {
    const model = `${event.provider}/${event.model}`;
    const rules = `${event.sandbox_mode}, ${event.approval_policy}`;
    return this.#paint('faint', printable(`session ${event.session_id}, ${model}, ${rules}`));
  }

  #describeCommand({ call_id: id, outcome, exit_code: code, duration_ms: ms }: ToolEnd): string {
    const command = oneLine(this.#commands.get(id) ?? '');
    this.#commands.delete(id);
    const isGood = code === 0;
    const how = outcome === 'exited' ? `exit ${code ?? '?'}` : outcome.replaceAll('_', ' ');
    const end = `${this.#paint(isGood ? 'good' : 'bad', how)}, ${(ms / 1000).toFixed(1)} s`;
    return `$ ${command} ${arrow(this.#look)} ${end}`;
  }

  #describeChange({ action, path, to, added_lines: added, removed_lines: removed }: FileChangeView): string {
    const name = to === undefined ? path : `${path} ${arrow(this.#look)} ${to}`;
    return `${this.#paint('accent', action)} ${printable(name)} (+${added} -${removed})`;
  }

  #describePlan(kind: 'plan' | 'todo', steps: readonly PlanStepState[]): string {
    const done = steps.filter(({ status }) => status === 'completed').length;
    const current = steps.find(({ status }) => status === 'in_progress');
    const now = current === undefined ? '' : `: ${oneLine(current.step)}`;
    return `${this.#paint('accent', kind)} ${done} of ${steps.length} done${now}`;
  }

  #describeCompaction(before: number, after: number, strategy: string): string {
    const sizes = `${formatNumber(before)} ${arrow(this.#look)} ${formatNumber(after)} tokens`;
    return `${this.#paint('accent', 'compacted:')} ${sizes} (${strategy})`;
  }

  #describeSpending({ session, by_kind: kinds }: EventOf<'spending'>): string {
    const parts = kinds.map((kind) => `${kind.kind} ${spentWords(kind)}`).join('; ');
    const all = kinds.length === 1 ? '' : ` (${parts})`;
    return this.#paint('faint', `session so far: ${spentWords(session)}${all}`);
  }

  #paint(tone: Tone, text: string): string {
    return paint(this.#look, tone, text);
  }
}

function spentWords(spent: EventOf<'spending'>['session']): string {
  const { requests, tokens, dollars, unpriced_requests: unpriced } = spent;
  const price = unpriced === requests ? 'price unknown' : `about $${dollars.toFixed(2)}`;
  const rest = unpriced === 0 || unpriced === requests ? '' : `, ${formatNumber(unpriced)} of them unpriced`;
  return `${plural(requests, 'request')}${rest}, ${formatNumber(tokens)} tokens, ${price}`;
}

function isSaid(event: SessionEvent): event is EventOf<'agent_message' | 'user_message'> {
  return event.type === 'agent_message' || event.type === 'user_message';
}

type ToolEnd = Extract<ToolEvent, { type: 'exec_command_end' }>;

function oneLine(text: string): string {
  const line = printable(text.trim().replaceAll(/\s+/g, ' '));
  return line.length <= MAX_COMMAND ? line : `${line.slice(0, MAX_COMMAND)}…`;
}
