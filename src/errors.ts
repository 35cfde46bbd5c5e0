/** Every failure that Baton reports, with the exit status it ends a command with (1 explained failure, 2 wrong usage). */
export const ERROR_CODES = {
  /** A path does not exist. Cure: check the path; `baton sessions` lists what is on this machine. */
  file_not_found: { exit: 1 },
  /** The beginning of an id is that of several sessions; the message and `data.candidates` list them. Cure: more of the id. */
  handle_ambiguous: { exit: 1 },
  /** A path is a directory, a socket or another thing that cannot be read as a session. Cure: name a file. */
  not_a_file: { exit: 1 },
  /** A path is to be worked in and is no directory. Cure: name one. */
  not_a_directory: { exit: 1 },
  /** A file cannot be opened or read. Cure: its permissions. */
  file_unreadable: { exit: 1 },
  /** A file holds nothing. Cure: name another; an agent creates its file at the first prompt. */
  file_empty: { exit: 1 },
  /** A file was truncated or replaced while it was read. Cure: try again when its writer is idle. */
  file_changed: { exit: 1 },
  /** The content is no session that Baton knows; the message says what it looks like instead. */
  format_unknown: { exit: 1 },
  /** A session holds no conversation, so there is nothing to inspect or compact. */
  session_empty: { exit: 1 },
  /** The context is already as small as asked for. Nothing was written. */
  nothing_to_compact: { exit: 1 },
  /** The session holds no compaction that could be undone. */
  nothing_to_undo: { exit: 1 },
  /** Nothing was undone that can be put forward again; the message says why. */
  nothing_to_redo: { exit: 1 },
  /** Files that a turn changed were changed again later: nothing was undone. Cure: say what becomes of later edits. */
  undo_conflict: { exit: 1 },
  /** Files were not put back (`data.not_put_back`); the conversation was left as it is. Cure: what the message says, then again. */
  undo_incomplete: { exit: 1 },
  /** Pinned texts would take more room than there is for them. Cure: unpin one, or a shorter text. */
  pins_full: { exit: 1 },
  /** The target is below what must stay; `data.parts` says how large each part is. Cure: a larger target. */
  cannot_fit: { exit: 1 },
  /** The layout of a session takes no further records. Cure: write a new session with `--prune`. */
  cannot_append: { exit: 1 },
  /** Configuration switches compaction off. Cure: `compact.enabled = true`. */
  compaction_disabled: { exit: 1 },
  /** A hook of the user does not want the compaction; the message says why. Cure: what the hook asks for. */
  compaction_vetoed: { exit: 1 },
  /** A hook of the user does not want the message; it was not taken in. The message says why. */
  prompt_vetoed: { exit: 1 },
  /** The output exists already. Cure: another name, or `--force`. */
  output_exists: { exit: 1 },
  /** The output could not be written (no space, no permission, closed pipe); nothing was left behind. */
  output_failed: { exit: 1 },
  /** A session is in use by a live process. Cure: end that process, or write to another file with `--out`. */
  session_live: { exit: 1 },
  /** A fork goes on with a session whose file is gone, is shorter than it was, or goes on with the fork. Cure: put it back. */
  parent_missing: { exit: 1 },
  /** A config file or option has an unknown key or an invalid value; the message names it and what is allowed. */
  config_invalid: { exit: 1 },
  /** The command line cannot be understood. */
  usage: { exit: 2 },
  /** The exact tokenizer is not installed. Cure: `npm install gpt-tokenizer`. */
  tokenizer_missing: { exit: 1 },
  /** A request is larger than the window of its model (or than the provider takes in bytes). Cure: compact. */
  model_overflow: { exit: 1 },
  /** The provider limits requests or tokens over time, or the account is out of credit; `data.isUnmeetable` says that waiting cannot help. */
  model_rate_limit: { exit: 1 },
  /** The provider does not accept the key, or the key may not use the model. */
  model_auth: { exit: 1 },
  /** The provider is overloaded or failed inside. Cure: try again later. */
  model_overloaded: { exit: 1 },
  /** The provider cannot be reached, or something else answered in its place. */
  model_network: { exit: 1 },
  /** The provider does not take the request as it is. */
  model_invalid_request: { exit: 1 },
  /** The provider refuses to answer this content. */
  model_refused: { exit: 1 },
  /** An answer began and broke off; nothing of it counts. Cure: try again. */
  model_cut_off: { exit: 1 },
  /** No model is named and none is meant; or no provider is configured, no key is set and no local one answers. */
  model_missing: { exit: 1 },
  /** A client sent what is no op of the protocol, or one with a wrong field; `data.key` says where. Cure: docs/protocol.md. */
  op_invalid: { exit: 1 },
  /** A thread cannot be forked, handed off or given another model while a turn runs. Cure: interrupt the turn, or wait. */
  thread_busy: { exit: 1 },
  /** More waits in a thread than may wait: messages of the user, or ops. Cure: ask again when some of it is done. */
  queue_full: { exit: 1 },
  /** A thread told what is no event, or speaks a later version of the protocol; `data.key` says where. */
  event_invalid: { exit: 1 },
  /** The final answer is not what `--output-schema` asks for, also when it was asked for once more. */
  answer_invalid: { exit: 1 },
  /** A turn ended because nothing that may be taken away makes the context fit. Cure: a larger window, a new session. */
  context_exhausted: { exit: 1 },
  /** A turn ended because it, or its session, took as much of models as `[limits]` allows. Cure: a higher limit. */
  limit_reached: { exit: 1 },
  /** A turn ended because the model repeated the same calls with the same results. Cure: another message. */
  no_progress: { exit: 1 },
  /** The user stopped the command (Ctrl-C). Nothing was left behind. */
  interrupted: { exit: 130 },
  /** The heap is full. Cure: a larger one. */
  out_of_memory: { exit: 1 },
} as const;

export type ErrorCode = keyof typeof ERROR_CODES;

/**
 * A failure that Baton foresaw: one sentence with what was wrong and where, and the cure in a second one.
 * Broken promises of a caller are `RangeError` or `TypeError` instead, and expected outcomes are return values.
 */
export class BatonError extends Error {
  override readonly name = 'BatonError';
  readonly code: ErrorCode;
  /** What the user can do about it; empty when nothing can be done. */
  readonly cure: string;
  /** Facts behind the sentence, for `--json`. */
  readonly data: Readonly<Record<string, unknown>>;

  constructor(
    code: ErrorCode,
    message: string,
    options: { cure?: string; data?: Readonly<Record<string, unknown>>; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.cure = options.cure ?? '';
    this.data = options.data ?? {};
  }
}
