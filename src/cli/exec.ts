// `baton exec`: one turn of Baton's own agent without a person beside it.

import { resolve } from 'node:path';
import type { Config } from '../config/schema.ts';
import { BatonError } from '../errors.ts';
import type { SessionEvent } from '../protocol/event.ts';
import type { Thread, TurnOutcome } from '../thread/driver.ts';
import type { ApprovalRequest, AskApproval } from '../thread/tools/driver.ts';
import type { ApprovalPolicy, SandboxMode } from '../vocabulary.ts';
import type { AnswerForm } from './answer-schema.ts';
import { ProgressLines } from './exec-view.ts';
import { exitStatus, explain } from './explain.ts';
import type { CommandIo, ExitStatus } from './io.ts';
import { checkDestination, writeOutput } from './output.ts';
import { openThreadFor } from './thread.ts';

/** The options of the command, as the user gave them. */
export interface ExecFlags {
  readonly model?: string;
  readonly sandbox?: SandboxMode;
  readonly approval?: ApprovalPolicy;
  /** A thread id, a path, or `last`. */
  readonly resume?: string;
  readonly cd?: string;
  readonly outputLastMessage?: string;
  readonly outputSchema?: string;
  readonly json?: true;
}

/** What the command is run with besides the user's words. */
export interface ExecSurroundings {
  /** Of Baton. */
  readonly version: string;
  /** Reads the configuration as it is in force in a directory, as often as it is called. */
  readonly configurationOf: (directory: string) => () => Promise<Config>;
}

/**
 * Runs the agent on one message. Failures are told here, since with `--json` they are events like all others.
 * @param prompt undefined or `-`: standard input
 */
export async function exec(
  io: CommandIo,
  { version, configurationOf }: ExecSurroundings,
  prompt: string | undefined,
  flags: ExecFlags,
): Promise<ExitStatus> {
  const write = eventWriter(io, flags);
  let hasToldError = false;
  const show: Show = (event) => {
    hasToldError ||= event.type === 'error';
    write(event);
  };
  const run = new Run(io, flags, show);
  try {
    const form = await run.prepare();
    const text = await readPrompt(io, prompt);
    const directory = resolve(io.cwd, flags.cd ?? '.');
    const configure = configurationOf(directory);
    const readConfig = async (): Promise<Config> => withFlags(await configure(), flags);
    const config = await readConfig();
    const thread = await openThreadFor(io, {
      config,
      model: flags.model,
      resume: flags.resume,
      directory,
      readConfig,
      version,
      ask: nobodyToAsk(config, show),
      emit: show,
    });
    return await run.go(thread, text, form);
  } catch (error) {
    if (!(error instanceof BatonError)) throw error;
    const told =
      io.signal.aborted && error.code !== 'interrupted' ? interrupted('Run it again.', error) : error;
    if (!hasToldError) {
      show({ type: 'error', code: told.code, message: `${told.message} ${told.cure}`.trim() });
    }
    io.stderr(explain(told));
    return exitStatus(told);
  }
}

type Show = (event: SessionEvent) => void;

/** One line per event on standard output, or short lines for people on standard error. */
function eventWriter(io: CommandIo, { json }: ExecFlags): Show {
  if (json === true) return (event) => io.stdout(`${JSON.stringify(event)}\n`);
  const progress = new ProgressLines(io.look);
  return (event) => {
    for (const line of progress.linesOf(event)) io.stderr(`${line}\n`);
  };
}

class Run {
  readonly #io: CommandIo;
  readonly #flags: ExecFlags;
  readonly #show: Show;

  constructor(io: CommandIo, flags: ExecFlags, show: Show) {
    this.#io = io;
    this.#flags = flags;
    this.#show = show;
  }

  /** Finds out what cannot work before anything is paid for. */
  async prepare(): Promise<AnswerForm | undefined> {
    const { outputSchema: schema } = this.#flags;
    await checkDestination(this.#destination);
    if (schema === undefined) return undefined;
    const { loadAnswerForm } = await import('./answer-schema.ts');
    return loadAnswerForm(this.#io, schema);
  }

  async go(thread: Thread, text: string, form: AnswerForm | undefined): Promise<ExitStatus> {
    const { signal } = this.#io;
    const stop = (): void => thread.stop();
    signal.addEventListener('abort', stop);
    try {
      const outcome = await this.#turns(thread, text, form);
      if (outcome.ending.type === 'aborted') throw interrupted(howToGoOn(thread));
      requireAnswer(outcome, form);
      await this.#deliver(outcome.lastMessage);
      return 0;
    } catch (error) {
      const isSaid = error instanceof BatonError && error.code === 'interrupted';
      if (thread.isRecorded && !isSaid) this.#io.stderr(`baton: ${howToGoOn(thread)}\n`);
      throw error;
    } finally {
      signal.removeEventListener('abort', stop);
      await thread.close();
    }
  }

  /** The turn, and where its answer has not the form that was asked for, one more in which the provider is held to it. */
  async #turns(thread: Thread, text: string, form: AnswerForm | undefined): Promise<TurnOutcome> {
    if (this.#io.signal.aborted) throw interrupted('Run it again.');
    if (form === undefined) return thread.turn(text);
    const outcome = await thread.turn(`${text}\n\n${form.request}`);
    if (outcome.ending.type !== 'complete') return outcome;
    const complaint = form.complaintAbout(outcome.lastMessage ?? '');
    if (complaint === undefined) return outcome;
    this.#show({ type: 'warning', message: `The answer has not the form that was asked for: ${complaint}` });
    return thread.turn(
      `Your last message is not what was asked for. ${complaint} ${form.request}`,
      form.schema,
    );
  }

  async #deliver(message: string | undefined): Promise<void> {
    if (message === undefined) {
      this.#show({ type: 'warning', message: 'The agent ended its turn without a message.' });
      return;
    }
    if (this.#flags.outputLastMessage !== undefined) {
      await writeOutput(this.#io, this.#destination, [message]);
    }
    if (this.#flags.json !== true) this.#io.stdout(message.endsWith('\n') ? message : `${message}\n`);
  }

  get #destination() {
    const { outputLastMessage: file } = this.#flags;
    return {
      path: file === undefined ? undefined : resolve(this.#io.cwd, file),
      overwrites: true,
      input: undefined,
    };
  }
}

function interrupted(cure: string, cause?: unknown): BatonError {
  return new BatonError('interrupted', 'Interrupted', { cure, cause });
}

function howToGoOn({ id }: Thread): string {
  return `Go on with: baton exec --resume ${id} PROMPT.`;
}

/** @throws BatonError why there is no answer */
function requireAnswer({ ending, failure, lastMessage }: TurnOutcome, form: AnswerForm | undefined): void {
  if (ending.type === 'failed') throw failure ?? new BatonError('model_cut_off', ending.why);
  if (ending.type === 'context_exhausted') {
    throw new BatonError('context_exhausted', ending.why, {
      cure: 'Begin a new session, or use a model with a larger window.',
    });
  }
  const complaint = form?.complaintAbout(lastMessage ?? '');
  if (complaint === undefined) return;
  throw new BatonError(
    'answer_invalid',
    `The final message has not the form that was asked for. ${complaint}`,
    {
      cure: 'Ask again, ask for a simpler form, or use another model.',
      data: { message: lastMessage ?? null },
    },
  );
}

function withFlags(config: Config, { sandbox, approval }: ExecFlags): Config {
  return {
    ...config,
    sandboxMode: sandbox ?? config.sandboxMode,
    approvalPolicy: approval ?? config.approvalPolicy,
  };
}

/** Answers every question with no, and says which flag would have made it a yes; the user is told of each flag once. */
function nobodyToAsk(config: Config, show: Show): AskApproval {
  const told = new Set<string>();
  return (request) => {
    const flags = flagsFor(request, config);
    if (!told.has(flags)) {
      told.add(flags);
      const message = `A call of ${request.tool} was turned down. ${request.why} Nobody can be asked here; ${flags} lets such calls run.`;
      show({ type: 'warning', message });
    }
    const why = `Nobody can be asked in this run: do without it, or say that the user may start it with ${flags}.`;
    return Promise.resolve({ type: 'denied', why });
  };
}

function flagsFor({ sandbox }: ApprovalRequest, config: Config): string {
  return [
    ...(sandbox === config.sandboxMode ? [] : [`--sandbox ${sandbox}`]),
    ...(config.approvalPolicy === 'untrusted' ? ['--approval on_request'] : []),
  ].join(' ');
}

/** @throws BatonError `usage` without a prompt; `interrupted` */
async function readPrompt(io: CommandIo, prompt: string | undefined): Promise<string> {
  const text = prompt === undefined || prompt === '-' ? await readInput(io) : prompt;
  if (text.trim() !== '') return text;
  throw new BatonError('usage', 'There is no prompt', {
    cure: 'Give it as an argument, or on standard input.',
  });
}

async function readInput({ stdin, stderr, signal }: CommandIo): Promise<string> {
  if ('isTTY' in stdin && stdin.isTTY === true)
    stderr('Reading the prompt from standard input; Ctrl-D ends it.\n');
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
