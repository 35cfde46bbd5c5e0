// The moments of a session when work could be interrupted, detected in one place: a fold over the log that every client
// of the watcher uses. Structured evidence first (commands, plans, turns), language last.

import { authorOf, callOf, resultCallId, textOfOutput, textOfParts } from '../../protocol/item.ts';
import type { CallView, Item, JsonObject, MessageItem, ToolOutputItem } from '../../protocol/item.ts';
import type { LogRecord } from '../../protocol/record.ts';
import type { Evidence, Signal } from '../../protocol/signal.ts';
import { isUserMessage } from '../../history/filter.ts';
import { baseName, meaningOf, shellScriptOf } from '../../trail/calls/calls.ts';
import type { PlanChange } from '../../trail/calls/calls.ts';
import { WatcherRequests } from '../../trail/watcher-request.ts';
import { commitsIn } from '../../trail/outputs/git-output.ts';
import { looksFailed, outcomeOf, stripAnsi } from '../../trail/outputs/outputs.ts';
import { redact } from '../../text/redact.ts';
import { clip, detached, oneLine } from '../../text/sentences.ts';
import { DEFAULT_CONFIG } from '../../config/defaults.ts';
import type { Config } from '../../config/schema.ts';
import type { Boundary } from '../../vocabulary.ts';
import { reachedCheckpoints } from './checkpoints.ts';
import type { CheckpointSettings } from './checkpoints.ts';
import { commandFates } from './fates.ts';
import type { CommandOutcome } from './fates.ts';
import { phraseLists, PhraseReader } from './phrases.ts';
import type { PhraseLists } from './phrases.ts';
import { PlanFollower } from './progress.ts';

/** What counts as a signal. */
export interface SignalSettings extends CheckpointSettings {
  readonly phrases: PhraseLists;
}

/** @source spec 3-watcher §2; `ci` is the alias of the git book. */
const COMMIT_VERBS = ['commit', 'ci'] as const;

/** The signal settings of a configuration. */
export function signalSettings(config: Config): SignalSettings {
  return {
    commitVerbs: COMMIT_VERBS,
    pushIsPrCheckpoint: config.rawrAutoCompaction.pushIsPrCheckpoint,
    phrases: phraseLists(config),
  };
}

/** The signal settings without any configuration. */
export const DEFAULT_SIGNAL_SETTINGS: SignalSettings = signalSettings(DEFAULT_CONFIG);

interface LogPosition {
  readonly position: number;
  readonly line: number | undefined;
}

/** A call whose result will show whether a boundary was reached. */
type DueCall =
  | { readonly type: 'script'; readonly script: string; output: string }
  | { readonly type: 'plan'; readonly change: PlanChange }
  | { readonly type: 'phase'; readonly summary: string }
  /** Writes to, or waits for, a running command. */
  | { readonly type: 'process'; readonly processId: string };

type DueScript = DueCall & { readonly type: 'script' };

const MAX_DUE_CALLS = 200;
const MAX_RUNNING = 20;
/** Known calls and turns, to detect repetitions: a log that repeats itself repeats recent records. */
const MAX_KNOWN = 4_000;
/** Characters kept of a running command's output, from its end, where git reports. */
const MAX_RUNNING_OUTPUT = 24_000;
const KNOWN_LENGTH = 300;
const EVIDENCE_LENGTH = 160;

/** The tool with which an agent declares a phase complete. @source spec 3-watcher §2 */
const PHASE_TOOL = 'phase_checkpoint';

/** The kind of the notes with which the user declares a phase complete. @source spec 4-session §1, `phase_completed` */
export const PHASE_NOTE = 'phase_completed';

/**
 * Finds the signals in a log, one record at a time. Items that Baton injected produce none, nor do the agent's answers
 * to its requests, summaries, subagents and abandoned branches. Records that repeat an event (the same call, result or
 * turn again) add nothing, if they repeat one of the newest thousands. Memory does not grow with the log.
 */
export class SignalDetector {
  readonly #settings: SignalSettings;
  readonly #phrases: PhraseReader;
  readonly #plan = new PlanFollower();
  readonly #watcherRequests = new WatcherRequests();
  readonly #due = new Map<string, DueCall>();
  /** Processed calls by id, with the start of what they ran: an id that another command reuses is another call. */
  readonly #known = new Map<string, string>();
  readonly #running = new Map<string, DueScript>();
  readonly #endedTurns = new Set<string>();
  /** Verbs without which no command is a checkpoint. */
  readonly #verbs: RegExp;
  #place: LogPosition = { position: -1, line: undefined };
  #turn = 0;
  #hasAgentSpoken = true;
  /** Whether the log records the ends of turns. If not, the user's next message ends a turn. */
  #recordsTurns = false;
  #open = newTurn();

  constructor(settings: SignalSettings = DEFAULT_SIGNAL_SETTINGS) {
    this.#settings = settings;
    this.#phrases = new PhraseReader(settings.phrases);
    const verbs = settings.commitVerbs
      .map((verb) => verb.replace(/[^\w-]/g, ''))
      .filter((verb) => verb !== '');
    this.#verbs = new RegExp(
      `(?:${[...verbs, 'push', 'pr', 'submit', 'ss', 'create', 'review', 'land'].join('|')})\\b`,
    );
  }

  /** Adds the next record. @returns the boundaries that it reached, in order */
  add(record: LogRecord): readonly Signal[] {
    this.#watcherRequests.add(record);
    switch (record.type) {
      case 'turn_started':
        this.#recordsTurns = true;
        this.#open = newTurn();
        return [];
      case 'turn_complete':
        this.#recordsTurns = true;
        return this.#endTurn(record.turnId);
      case 'turn_aborted':
        this.#open = newTurn();
        return [];
      case 'compacted':
        this.#forgetSummary(record.summary);
        return [];
      case 'item':
        return this.#addItem(record.item, record.line);
      case 'note':
        return record.kind === PHASE_NOTE ? this.#signals([['phase_completed', phaseOf(record.value)]]) : [];
      default:
        return [];
    }
  }

  /**
   * Reports the end of the log. If the agent spoke last, its turn is over: few formats record the end of the last turn.
   * @returns the signals of that turn's end
   */
  end(): readonly Signal[] {
    return this.#open.closing.length === 0 ? [] : this.#endTurn(undefined);
  }

  #addItem(item: Item, line: number | undefined): readonly Signal[] {
    // Without records of turns, a turn ends where the next begins, but its end is the agent's last item.
    const before = isUserMessage(item) && !this.#recordsTurns ? this.#endTurn(undefined) : [];
    this.#place = { position: this.#place.position + 1, line };
    if (item.type === 'message') this.#addMessage(item);
    else if (authorOf(item) === 'agent') this.#noteAgent();
    const call = callOf(item);
    if (call !== undefined) this.#addCall(call);
    const callId = call === undefined ? resultCallId(item) : undefined;
    return callId === undefined ? before : [...before, ...this.#addResult(callId, item)];
  }

  #noteAgent(): void {
    this.#hasAgentSpoken = true;
    this.#open.hasActed = true;
    this.#open.place = this.#place;
  }

  #addMessage(message: MessageItem): void {
    const author = authorOf(message);
    if (author === 'synthetic') this.#addInjected(message);
    else if (author === 'agent') this.#addAnswer(message);
    else if (isUserMessage(message)) {
      if (this.#hasAgentSpoken) this.#turn++;
      this.#hasAgentSpoken = false;
      this.#prompt(true);
    }
  }

  #addAnswer(message: MessageItem): void {
    if (message.isApiErrorMessage === true || message.model === '<synthetic>') return;
    this.#noteAgent();
    const text = textOfParts(message.content);
    // Two: if the newest proves to be a summary, the message before it counts.
    if (text.trim() !== '') this.#open.closing = [...this.#open.closing.slice(-1), text];
  }

  /** The answer to Baton's request belongs to Baton. */
  #addInjected({ role, origin }: MessageItem): void {
    if (role !== 'assistant' && origin?.step !== 'packet') this.#prompt(!this.#watcherRequests.isAnswering);
  }

  #prompt(isForWork: boolean): void {
    this.#open.isPrompted = isForWork;
    this.#open.isMuted = !isForWork;
    this.#open.closing = [];
  }

  /** Some logs store the answer to a compaction prompt like any other message of the agent. */
  #forgetSummary(summary: string | undefined): void {
    const last = this.#open.closing.at(-1);
    if (summary !== undefined && last?.trim() === summary.trim()) this.#open.closing.pop();
  }

  #addCall(call: CallView): void {
    this.#open.closing = [];
    if (this.#open.isMuted || call.callId === undefined) return;
    const due = this.#dueCall(call);
    if (due === undefined) return;
    const beginning = detached(call.input.slice(0, KNOWN_LENGTH));
    if (this.#known.get(call.callId) === beginning) return;
    this.#due.set(call.callId, due);
    this.#known.set(call.callId, beginning);
    forgetOldest(this.#known, MAX_KNOWN);
    forgetOldest(this.#due, MAX_DUE_CALLS);
  }

  #dueCall(call: CallView): DueCall | undefined {
    const name = baseName(call.name);
    if (name === PHASE_TOOL) return { type: 'phase', summary: shown(meaningOf(call).text) };
    if (/plan|todo|task/.test(name)) {
      const change = meaningOf(call).plan;
      // A plan in prose has no steps to complete.
      return change === undefined || change.type === 'presented' ? undefined : { type: 'plan', change };
    }
    if (this.#running.size > 0 && name === 'write_stdin') {
      const { processId } = meaningOf(call);
      return processId === undefined ? undefined : { type: 'process', processId };
    }
    // Most commands are not checkpoints, and parsing them all would cost more than everything else here.
    const mayBeOne = /g(?:it|h|t)(?:\.exe)?\b/i.test(call.input) && this.#verbs.test(call.input);
    if (!mayBeOne && !/\bgit(?:\.exe)? /.test(call.input)) return undefined;
    const script = shellScriptOf(call);
    return script === undefined ? undefined : { type: 'script', script, output: '' };
  }

  #addResult(callId: string, item: Item): readonly Signal[] {
    const hasFailed = 'success' in item && item.success === false;
    if (!hasFailed || 'exit_code' in item) this.#open.hasWorked = true;
    const due = this.#due.get(callId);
    if (
      due === undefined ||
      (item.type !== 'function_call_output' && item.type !== 'custom_tool_call_output')
    ) {
      return [];
    }
    this.#due.delete(callId);
    if (due.type === 'script') return this.#finishScript(due, item);
    if (due.type === 'process') return this.#finishProcess(due.processId, item);
    const output = textOfOutput(item.output);
    if (hasFailed || (item.success === undefined && looksFailed(output))) return [];
    if (due.type === 'phase') return this.#signals([['phase_completed', due]]);
    const progress = this.#plan.add(due.change, output);
    const evidence = { type: 'plan', ...progress, completed: progress.completed.map(shown) } as const;
    return this.#signals([
      ...(progress.completed.length === 0 ? [] : [['plan_checkpoint', evidence] as const]),
      ['plan_update', evidence],
    ]);
  }

  #finishProcess(processId: string, item: ToolOutputItem): readonly Signal[] {
    const started = this.#running.get(processId);
    if (started === undefined) return [];
    this.#running.delete(processId);
    return this.#finishScript(started, item, processId);
  }

  #finishScript(due: DueScript, item: ToolOutputItem, processId?: string): readonly Signal[] {
    const result = textOfOutput(item.output);
    const told = outcomeOf(result);
    const output = `${due.output}${told.text}`;
    const exitStatus = item.exit_code ?? told.exitCode;
    const runsOnAs = told.processId ?? (exitStatus === undefined ? processId : undefined);
    if (runsOnAs !== undefined) {
      this.#running.set(runsOnAs, { ...due, output: detached(output.slice(-MAX_RUNNING_OUTPUT)) });
      forgetOldest(this.#running, MAX_RUNNING);
      return [];
    }
    // Without a verb that commits, only git's report can make a command a commit; parsing them all would cost too much.
    if (!this.#verbs.test(due.script) && commitsIn(stripAnsi(output)).length === 0) return [];
    const exit = outcome(exitStatus, RUNS_IN_BACKGROUND.test(result) ? undefined : item.success);
    const reached = reachedCheckpoints(
      { fates: commandFates(due.script, exit), exit, isExitExact: exitStatus !== undefined, output },
      this.#settings,
    );
    return this.#signals(
      reached.map(({ checkpoint, words, toldBy, hash }) => [
        checkpoint,
        { type: 'command', command: shown(words.join(' ')), exitStatus, toldBy, hash },
      ]),
    );
  }

  #endTurn(turnId: string | undefined): readonly Signal[] {
    const { isMuted, isPrompted, hasActed, hasWorked, closing, place } = this.#open;
    this.#open = newTurn();
    // A requested compaction has its own turn, without a prompt and without work.
    if (isMuted || !hasActed || !(isPrompted || hasWorked)) return [];
    if (turnId !== undefined && this.#endedTurns.has(turnId)) return [];
    if (turnId !== undefined) this.#endedTurns.add(turnId);
    forgetOldest(this.#endedTurns, MAX_KNOWN);
    const spoken = this.#phrases
      .read(closing.at(-1) ?? '')
      .filter(({ boundary }) => boundary !== 'agent_done' || hasWorked)
      .map(
        ({ boundary, phrase, sentence }) =>
          [boundary, { type: 'phrase', phrase, sentence: shown(sentence) }] as const,
      );
    return this.#signals([...spoken, ['turn_complete', { type: 'turn', turnId }]], place);
  }

  #signals(
    reached: readonly (readonly [boundary: Boundary, evidence: Evidence])[],
    { position, line }: LogPosition = this.#place,
  ): readonly Signal[] {
    return reached.map(([boundary, evidence], index) => ({
      id: `${boundary}@${position}${index === 0 ? '' : `.${index}`}`,
      boundary,
      evidence,
      turn: this.#turn,
      position,
      ...(line === undefined ? {} : { line }),
    }));
  }
}

/** The state of the running turn. */
interface OpenTurn {
  /** A user, or a handoff, started it. */
  isPrompted: boolean;
  /** Baton asked for something in it: the answer is not part of the agent's work. */
  isMuted: boolean;
  hasActed: boolean;
  /** A tool has returned a result. */
  hasWorked: boolean;
  /** The agent's messages since its last call, newest last. */
  closing: string[];
  /** The agent's newest item. */
  place: LogPosition | undefined;
}

function newTurn(): OpenTurn {
  return {
    isPrompted: false,
    isMuted: false,
    hasActed: false,
    hasWorked: false,
    closing: [],
    place: undefined,
  };
}

/** Claude Code's answer to a command that it sends to the background: only the sending succeeded. */
const RUNS_IN_BACKGROUND = /^Command (?:is )?running in background/;

function outcome(exitStatus: number | undefined, success: boolean | undefined): CommandOutcome {
  if (exitStatus !== undefined) return exitStatus === 0 ? 'succeeded' : 'failed';
  if (success === undefined) return 'unknown';
  return success ? 'succeeded' : 'failed';
}

function phaseOf({ summary }: JsonObject): Evidence {
  return { type: 'phase', summary: shown(typeof summary === 'string' ? summary : '') };
}

function shown(text: string): string {
  return detached(clip(redact(oneLine(text)), EVIDENCE_LENGTH));
}

function forgetOldest(kept: Map<string, unknown> | Set<string>, limit: number): void {
  for (const key of kept.keys()) {
    if (kept.size <= limit) return;
    kept.delete(key);
  }
}
