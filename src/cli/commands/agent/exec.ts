// `baton exec`: one turn of Baton's own agent without a person present.

import { resolve } from 'node:path';
import type { Config } from '../../../config/schema.ts';
import { BatonError } from '../../../errors.ts';
import { announceRemains } from '../../../system/remains.io.ts';
import type { SessionEvent } from '../../../protocol/wire/event.ts';
import type { OpenedModel } from '../../../providers/open.ts';
import type { Thread, TurnOutcome } from '../../../thread/terms.ts';
import type { ApprovalRequest, AskApproval } from '../../../thread/tools.io.ts';
import type { ApprovalPolicy, SandboxMode } from '../../../vocabulary.ts';
import type { AnswerForm } from './answer-schema.ts';
import { ProgressLines } from './exec-view.ts';
import { exitStatus, explain } from '../../explain.ts';
import { OutputLost } from '../../io.ts';
import type { CommandIo, ExitStatus } from '../../io.ts';
import { checkDestination, filesAt, writeOutput } from '../../../calls/output.io.ts';
import type { Destination, Input } from '../../../calls/output.io.ts';
import { openSessionModel } from '../../../calls/models.ts';
import { rehearsalPathOf } from '../../configured/rehearsal-flag.ts';
import type { OpenedRehearsal } from './rehearsal.ts';
import { modelWorld } from '../../session-files/session.ts';
import { openThreadFor, requirePlaces } from '../../configured/thread.ts';

/** The options of the command, as the user gave them. */
export interface ExecFlags {
  readonly model?: string;
  /** Of a rehearsal: 0 for immediately, else how many times faster than recorded. */
  readonly speed?: number;
  readonly sandbox?: SandboxMode;
  readonly approval?: ApprovalPolicy;
  /** A thread id, a path, or `last`. */
  readonly resume?: string;
  readonly cd?: string;
  readonly outputLastMessage?: string;
  readonly outputSchema?: string;
  readonly json?: true;
}

/** The environment of the command, besides its options. */
export interface ExecSurroundings {
  /** The version of Baton. */
  readonly version: string;
  /** Returns a reader for the current configuration of a directory. */
  readonly configurationOf: (directory: string) => () => Promise<Config>;
  /** The file of `--config`. */
  readonly configFile: string | undefined;
}

/**
 * Runs the agent on one message, or plays a rehearsal. Reports failures itself, since with `--json` they are events like all
 * others.
 * @param prompt `-`: standard input; undefined: standard input, or for a rehearsal the recorded messages
 */
export async function exec(
  io: CommandIo,
  { version, configFile, configurationOf }: ExecSurroundings,
  prompt: string | undefined,
  flags: ExecFlags,
): Promise<ExitStatus> {
  let write = eventWriter(io, flags, false);
  let hasReportedError = false;
  const show: Show = (event) => {
    hasReportedError ||= event.type === 'error';
    if (event.type === 'turn_started') run.noteRecorded();
    write(event);
  };
  const run: ExecRun = new ExecRun(io, flags, show);
  try {
    const inPlace = resolve(io.cwd, flags.cd ?? '.');
    const form = await run.prepare(inPlace);
    const configure = configurationOf(inPlace);
    const readConfig = async (): Promise<Config> => withFlags(await configure(), flags);
    const config = await readConfig();
    const { model, rehearsal, missing } = await openWork(io, config, flags);
    if (rehearsal !== undefined) await run.keep(rehearsal.input);
    const text = await promptFor(io, prompt, { rehearsal, missing });
    if (text === undefined) write = eventWriter(io, flags, true);
    const thread = await openThreadFor(io, {
      config,
      model,
      playback: rehearsal?.rehearsal,
      resume: flags.resume,
      keepsModel: flags.model === undefined && rehearsal === undefined,
      directory: rehearsal?.directory ?? inPlace,
      configFile,
      readConfig,
      version,
      ask: rejectApprovals(config, show),
      emit: rehearsal === undefined ? show : withBanner(io, rehearsal, flags, show),
    });
    const status = await run.go(thread, text, { form, rehearsal });
    if (missing !== undefined && text !== undefined) throw missing;
    return status;
  } catch (error) {
    if (!(error instanceof BatonError)) throw error;
    const isExplained = error.code === 'interrupted' && error.cure !== '';
    const reported = io.signal.aborted && !isExplained ? interrupted('Run it again.', error) : error;
    if (io.signal.reason instanceof OutputLost) {
      io.stderr(`baton: The reader closed standard output, so the run was stopped. ${reported.cure}\n`);
      return 0;
    }
    if (!hasReportedError) {
      show({ type: 'error', code: reported.code, message: `${reported.message} ${reported.cure}`.trim() });
    }
    io.stderr(explain(reported));
    return exitStatus(reported);
  }
}

type Show = (event: SessionEvent) => void;

/** Prints one line per event on standard output, or short lines for people on standard error. */
function eventWriter(io: CommandIo, { json }: ExecFlags, showsConversation: boolean): Show {
  if (json === true) return (event) => io.stdout(`${JSON.stringify(event)}\n`);
  const progress = new ProgressLines(io.look, showsConversation);
  return (event) => {
    for (const line of progress.linesOf(event)) io.stderr(`${line}\n`);
  };
}

/** Prints, right after the first event and always on standard error, that this is a recording and not a working agent. */
function withBanner(io: CommandIo, { banner }: OpenedRehearsal, { json }: ExecFlags, show: Show): Show {
  return (event) => {
    show(event);
    if (event.type !== 'session_configured') return;
    show({ type: 'warning', message: banner });
    if (json === true) io.stderr(`baton: warning: ${banner}\n`);
  };
}

/** What does the work: a model or a rehearsal. */
interface Work {
  readonly model: OpenedModel;
  readonly rehearsal: OpenedRehearsal | undefined;
  /** Why only a rehearsal is possible although the user did not request one. */
  readonly missing: BatonError | undefined;
}

/**
 * Opens the chosen model or, when none is available, a rehearsal of the session that comes with Baton.
 * @throws BatonError as `openSessionModel` and `openRehearsal`; `usage` for `--speed` without a rehearsal
 * @source spec 4-session §4
 */
async function openWork(io: CommandIo, config: Config, flags: ExecFlags): Promise<Work> {
  const meant = rehearsalPathOf(flags.model, config);
  const { speed = 0, outputSchema } = flags;
  const play = async (file: string | undefined, missing: BatonError | undefined): Promise<Work> => {
    if (outputSchema !== undefined) {
      throw new BatonError('usage', 'A rehearsal cannot answer by a schema', {
        cure: missing?.cure ?? 'Leave --output-schema out.',
      });
    }
    const { openRehearsal } = await import('./rehearsal.ts');
    const rehearsal = await openRehearsal(io, config, { file, speed });
    return { model: rehearsal.model, rehearsal, missing };
  };
  if (meant !== undefined) return play(meant.file, undefined);
  try {
    const model = await openSessionModel(modelWorld(io), config, flags.model);
    if (flags.speed === undefined) return { model, rehearsal: undefined, missing: undefined };
  } catch (error) {
    if (!(error instanceof BatonError) || error.code !== 'model_missing') throw error;
    const missing = new BatonError(error.code, error.message, {
      cure: `${error.cure} Or rehearse without a model: --model rehearsal.`,
      data: error.data,
      cause: error,
    });
    const isAnyMeant = flags.model ?? config.model ?? config.modelProvider ?? flags.resume;
    if (isAnyMeant !== undefined) throw missing;
    return play(undefined, missing);
  }
  throw new BatonError('usage', 'Only a rehearsal has a speed', {
    cure: 'Name a recording with --model rehearsal/FILE, or omit --speed.',
  });
}

class ExecRun {
  readonly #io: CommandIo;
  readonly #flags: ExecFlags;
  readonly #show: Show;
  /** The files that are read and must not be overwritten. */
  readonly #inputs: Input[] = [];
  #cure: string | undefined;

  constructor(io: CommandIo, flags: ExecFlags, show: Show) {
    this.#io = io;
    this.#flags = flags;
    this.#show = show;
  }

  /** Finds every foreseeable failure before any request costs money. */
  async prepare(directory: string): Promise<AnswerForm | undefined> {
    const { outputSchema: schema, resume } = this.#flags;
    await checkDestination(this.#destination);
    const session = await requirePlaces(this.#io, { directory, resume });
    if (session !== undefined) await this.keep(session);
    if (schema === undefined) return undefined;
    for (const input of filesAt([resolve(this.#io.cwd, schema)])) await this.keep(input);
    const { loadAnswerForm } = await import('./answer-schema.ts');
    return loadAnswerForm(this.#io, schema);
  }

  /** @throws BatonError `output_exists` where the answer would overwrite a file that is read */
  async keep(input: Input): Promise<void> {
    this.#inputs.push(input);
    await checkDestination(this.#destination);
  }

  /** @param text undefined: everything recorded */
  async go(
    thread: Thread,
    text: string | undefined,
    { form, rehearsal }: { form: AnswerForm | undefined; rehearsal: OpenedRehearsal | undefined },
  ): Promise<ExitStatus> {
    const { signal } = this.#io;
    const cure = howToGoOn(thread, rehearsal);
    this.#cure = cure;
    const stop = (): void => thread.stop();
    signal.addEventListener('abort', stop);
    try {
      const outcome =
        text === undefined ? await this.#play(thread, rehearsal) : await this.#turns(thread, text, form);
      if (outcome.ending.type === 'aborted') throw interrupted(thread.isRecorded ? cure : 'Run it again.');
      const { ending, lastMessage } = outcome;
      // A later failure does not withdraw the answer; with a form, nothing else may be printed.
      const isLeft = ending.type !== 'complete' && form === undefined && lastMessage !== undefined;
      if (isLeft) await this.#deliver(lastMessage);
      requireAnswer(outcome, form);
      // A rehearsal that had already ended has nothing more to say.
      if (text !== undefined || outcome.lastMessage !== undefined) await this.#deliver(outcome.lastMessage);
      return 0;
    } catch (error) {
      const isSaid = error instanceof BatonError && error.code === 'interrupted';
      if (thread.isRecorded && !isSaid) this.#io.stderr(`baton: ${cure}\n`);
      throw error;
    } finally {
      signal.removeEventListener('abort', stop);
      await thread.close();
    }
  }

  /** From now on the session can be resumed, even if the process is killed. */
  noteRecorded(): void {
    if (this.#cure !== undefined) announceRemains('begun', { type: 'session', cure: this.#cure });
  }

  /** Plays all recorded turns that the thread has not played yet, one after the other. */
  async #play(thread: Thread, rehearsal: OpenedRehearsal | undefined): Promise<TurnOutcome> {
    await thread.rest();
    let outcome: TurnOutcome = { ending: { type: 'complete' }, lastMessage: undefined, failure: undefined };
    for (const turn of rehearsal?.rehearsal.turns() ?? []) {
      if (this.#io.signal.aborted) return { ...outcome, ending: { type: 'aborted' } };
      outcome = await thread.turn(turn);
      if (outcome.ending.type !== 'complete') return outcome;
    }
    if (this.#flags.json !== true)
      this.#io.stderr(`The rehearsal is over. See what filled the window: baton inspect ${thread.path}\n`);
    return outcome;
  }

  /** Runs the turn and, if its answer does not match the form, a second one that enforces the form at the provider. */
  async #turns(thread: Thread, text: string, form: AnswerForm | undefined): Promise<TurnOutcome> {
    if (this.#io.signal.aborted) throw interrupted('Run it again.');
    if (form === undefined) return thread.turn(text, { isFinal: true });
    const outcome = await thread.turn(`${text}\n\n${form.request}`, { isFinal: true });
    if (outcome.ending.type !== 'complete') return outcome;
    const complaint = form.complaintAbout(outcome.lastMessage ?? '');
    if (complaint === undefined) return outcome;
    this.#show({ type: 'warning', message: `The answer does not match the schema: ${complaint}` });
    return thread.turn(`Your last message does not match the schema. ${complaint} ${form.request}`, {
      schema: form.schema,
      isFinal: true,
    });
  }

  async #deliver(message: string | undefined): Promise<void> {
    if (message === undefined) {
      this.#show({ type: 'warning', message: 'The agent ended its turn without a message.' });
      return;
    }
    // Print first: the answer is paid for, and the disk may be full.
    if (this.#flags.json !== true) this.#io.stdout(message.endsWith('\n') ? message : `${message}\n`);
    if (this.#flags.outputLastMessage !== undefined) {
      // If nobody reads standard output, the file may be all that is wanted.
      const { ids, stdoutBytes } = this.#io;
      const { signal } = new AbortController();
      await writeOutput({ ids, stdoutBytes, signal }, this.#destination, [message]);
    }
  }

  get #destination(): Destination {
    const { outputLastMessage: file } = this.#flags;
    return {
      path: file === undefined || file === '-' ? file : resolve(this.#io.cwd, file),
      overwrites: true,
      inputs: this.#inputs,
    };
  }
}

function interrupted(cure: string, cause?: unknown): BatonError {
  return new BatonError('interrupted', 'Interrupted', { cure, cause });
}

function howToGoOn({ id }: Thread, rehearsal: OpenedRehearsal | undefined): string {
  return rehearsal === undefined
    ? `Resume with: baton exec --resume ${id} PROMPT.`
    : `Resume with: baton exec --resume ${id} --model ${rehearsal.flag}`;
}

/** @throws BatonError why there is no valid answer */
function requireAnswer({ ending, failure, lastMessage }: TurnOutcome, form: AnswerForm | undefined): void {
  if (ending.type === 'failed') throw failure ?? new BatonError('model_cut_off', ending.why);
  if (ending.type === 'context_exhausted') {
    throw new BatonError('context_exhausted', ending.why, {
      cure: 'Begin a new session, or use a model with a larger window.',
    });
  }
  if (ending.type === 'limit_reached' || ending.type === 'no_progress') {
    throw new BatonError(ending.type, ending.why, { cure: ending.cure });
  }
  const complaint = form?.complaintAbout(lastMessage ?? '');
  if (complaint === undefined) return;
  throw new BatonError('answer_invalid', `The final message does not match the schema. ${complaint}`, {
    cure: 'Ask again, simplify the schema, or use another model.',
    data: { message: lastMessage ?? null },
  });
}

function withFlags(config: Config, { sandbox, approval }: ExecFlags): Config {
  return {
    ...config,
    sandboxMode: sandbox ?? config.sandboxMode,
    approvalPolicy: approval ?? config.approvalPolicy,
  };
}

/** Rejects every approval request and names the flag that would allow it; prints each flag once. */
function rejectApprovals(config: Config, show: Show): AskApproval {
  const printed = new Set<string>();
  return (request) => {
    const flags = flagsFor(request, config);
    if (!printed.has(flags)) {
      printed.add(flags);
      const message = `A call of ${request.tool} was denied. ${request.why} exec cannot ask you; ${flags} lets such calls run.`;
      show({ type: 'warning', message });
    }
    const why = `This run cannot ask the user: do without it, or say that the user may start it with ${flags}.`;
    return Promise.resolve({ type: 'denied', why });
  };
}

function flagsFor({ sandbox }: ApprovalRequest, config: Config): string {
  return [
    ...(sandbox === config.sandboxMode ? [] : [`--sandbox ${sandbox}`]),
    ...(config.approvalPolicy === 'untrusted' ? ['--approval on_request'] : []),
  ].join(' ');
}

/**
 * The prompt; undefined: what was recorded. If the rehearsal is only a fallback, piped input is still meant for the agent.
 * @throws BatonError as `readPrompt`
 */
async function promptFor(
  io: CommandIo,
  prompt: string | undefined,
  { rehearsal, missing }: Pick<Work, 'rehearsal' | 'missing'>,
): Promise<string | undefined> {
  if (prompt !== undefined || rehearsal === undefined) return readPrompt(io, prompt);
  if (missing === undefined || isTerminal(io)) return undefined;
  const text = await readInput(io);
  return text.trim() === '' ? undefined : text;
}

function isTerminal({ stdin }: CommandIo): boolean {
  return 'isTTY' in stdin && stdin.isTTY === true;
}

/** @throws BatonError `usage` without a prompt; `interrupted` */
async function readPrompt(io: CommandIo, prompt: string | undefined): Promise<string> {
  const text = prompt === undefined || prompt === '-' ? await readInput(io) : prompt;
  if (text.trim() !== '') return text;
  throw new BatonError('usage', 'The prompt is missing', {
    cure: 'Give it as an argument, or on standard input.',
  });
}

async function readInput(io: CommandIo): Promise<string> {
  const { stdin, stderr, signal } = io;
  if (isTerminal(io)) stderr('Reading the prompt from standard input; Ctrl-D ends it.\n');
  const stopped = new Promise<never>((_, reject) => {
    const stop = (): void => reject(interrupted('Run it again.'));
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
  });
  return Promise.race([readAll(stdin), stopped]);
}

async function readAll(stdin: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stdin) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString('utf8');
}
