/** Every failure that Baton reports, with its exit status: 1 for an explained failure, 2 for wrong usage. */
export const ERROR_CODES = {
  /** A path does not exist. Cure: check the path; `baton sessions` lists what is on this machine. */
  file_not_found: { exit: 1 },
  /** Several sessions have ids that begin this way; the message and `data.candidates` list them. Cure: type more of the id. */
  handle_ambiguous: { exit: 1 },
  /** A path is a directory, a socket or something else that cannot be read as a session. Cure: name a file. */
  not_a_file: { exit: 1 },
  /** The path of a working directory is not a directory. Cure: name one. */
  not_a_directory: { exit: 1 },
  /** A file cannot be opened or read. Cure: fix its permissions. */
  file_unreadable: { exit: 1 },
  /** A file is empty. Cure: name another; an agent creates its file at the first prompt. */
  file_empty: { exit: 1 },
  /** A file was truncated or replaced while Baton read it. Cure: try again when its writer is idle. */
  file_changed: { exit: 1 },
  /** Baton does not recognise the content as a session; the message says what it looks like instead. */
  format_unknown: { exit: 1 },
  /** A session holds no conversation, so there is nothing to inspect or compact. */
  session_empty: { exit: 1 },
  /** The context is already as small as requested. Nothing was written. */
  nothing_to_compact: { exit: 1 },
  /** The session holds no compaction to undo. */
  nothing_to_undo: { exit: 1 },
  /** There is no undo to take back; the message says why. */
  nothing_to_redo: { exit: 1 },
  /**
   * Files that a turn changed were changed again later: nothing was undone. Cure: choose whether later edits are kept or
   * overwritten.
   */
  undo_conflict: { exit: 1 },
  /**
   * Some files were not restored (`data.not_put_back`); the conversation is unchanged. Cure: do what the message says, then try
   * again.
   */
  undo_incomplete: { exit: 1 },
  /** Pinned texts would exceed the room for them. Cure: unpin one, or pin a shorter text. */
  pins_full: { exit: 1 },
  /** The target is smaller than the parts that must stay; `data.parts` gives the size of each. Cure: a larger target. */
  cannot_fit: { exit: 1 },
  /** Sessions of this format cannot be appended to. Cure: write a new session with `--prune`. */
  cannot_append: { exit: 1 },
  /** Configuration switches compaction off. Cure: `compact.enabled = true`. */
  compaction_disabled: { exit: 1 },
  /** A hook of yours vetoed the compaction; the message says why. Cure: do what the hook requires. */
  compaction_vetoed: { exit: 1 },
  /** A hook of yours vetoed the message, which was not accepted. The message of this error says why. */
  prompt_vetoed: { exit: 1 },
  /** The output exists already. Cure: another name, or `--force`. */
  output_exists: { exit: 1 },
  /** The output could not be written (no space, no permission, closed pipe); nothing was left behind. */
  output_failed: { exit: 1 },
  /**
   * A record is too long, too deeply nested or has too many values to be read back from a session; nothing of it was written.
   * Cure: put a large text into a file, and name the file in the message.
   */
  record_too_large: { exit: 1 },
  /** A live process uses the session. Cure: end that process, or write to another file with `--out`. */
  session_live: { exit: 1 },
  /** The session that a fork continues is gone, is shorter than it was, or continues the fork itself. Cure: restore its file. */
  parent_missing: { exit: 1 },
  /** A config file or option has an unknown key or an invalid value; the message names it and the allowed values. */
  config_invalid: { exit: 1 },
  /** The command line cannot be understood. */
  usage: { exit: 2 },
  /** The exact tokenizer is not installed. Cure: `npm install gpt-tokenizer`. */
  tokenizer_missing: { exit: 1 },
  /** A request is larger than the window of its model, or than the provider accepts in bytes. Cure: compact. */
  model_overflow: { exit: 1 },
  /**
   * The provider limits requests or tokens over time, or the account is out of credit; `data.isUnmeetable`: waiting cannot help.
   */
  model_rate_limit: { exit: 1 },
  /** The provider rejects the key, or the key may not use the model. */
  model_auth: { exit: 1 },
  /** The provider is overloaded or failed internally. Cure: try again later. */
  model_overloaded: { exit: 1 },
  /** The provider cannot be reached, or something else answered instead. */
  model_network: { exit: 1 },
  /** The provider rejects the request as invalid. */
  model_invalid_request: { exit: 1 },
  /** The provider refuses to answer this content. */
  model_refused: { exit: 1 },
  /** An answer broke off, and all of it was discarded. Cure: try again. */
  model_cut_off: { exit: 1 },
  /** No model is named or implied; or no provider is configured, no key is set and no local provider answers. */
  model_missing: { exit: 1 },
  /**
   * A client sent something other than an op of the protocol, or an op with a wrong field; `data.key` names it. Cure:
   * docs/protocol.md.
   */
  op_invalid: { exit: 1 },
  /** A thread cannot be forked, handed off or switched to another model while a turn runs. Cure: interrupt the turn, or wait. */
  thread_busy: { exit: 1 },
  /** Too many user messages or ops are waiting in a thread. Cure: send again when some are done. */
  queue_full: { exit: 1 },
  /** A thread sent something other than an event, or speaks a later version of the protocol; `data.key` names the field. */
  event_invalid: { exit: 1 },
  /** The final answer does not match `--output-schema`, even after a second request. */
  answer_invalid: { exit: 1 },
  /**
   * A turn ended because the context does not fit even without everything that may be removed. Cure: a larger window, a new
   * session.
   */
  context_exhausted: { exit: 1 },
  /**
   * A turn ended because it, or its session, used as many requests, tokens or dollars as `[limits]` allows. Cure: a higher limit.
   */
  limit_reached: { exit: 1 },
  /** A turn ended because the model repeated the same calls with the same results. Cure: send another message. */
  no_progress: { exit: 1 },
  /** The user stopped the command (Ctrl-C). Nothing was left behind. */
  interrupted: { exit: 130 },
  /** The heap is full. Cure: give Node a larger one. */
  out_of_memory: { exit: 1 },
} as const;

export type ErrorCode = keyof typeof ERROR_CODES;

/**
 * An expected failure: one sentence says what was wrong and where, a second one gives the cure.
 * Broken promises of a caller are `RangeError` or `TypeError` instead, and expected outcomes are return values.
 */
export class BatonError extends Error {
  override readonly name = 'BatonError';
  readonly code: ErrorCode;
  /** What the user can do about it; empty when nothing helps. */
  readonly cure: string;
  /** Facts behind the message, for `--json`. */
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
