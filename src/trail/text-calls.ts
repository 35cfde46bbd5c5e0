// Agents that write their commands as text instead of calling tools: their messages, and the harness's answers.

import { actionCallOf, isRejectedEdit, observationOf, textActionOf } from './calls/actions.ts';
import type { ActionStyle, EditorPlace } from './calls/actions.ts';
import type { TrailState } from './trail-state.ts';
import { looksFailed, saysFailed } from './outputs/outputs.ts';
import { quotableScript } from './phrases.ts';
import type { Results } from './results.ts';
import type { Talk } from './talk/talk.ts';

/** Serves as the id of a call written as text: only one is open at a time, and the next answer is its result. */
const TEXT_CALL = 'text';

/** Extracts calls and results from messages. */
export class TextCalls {
  readonly #state: TrailState;
  readonly #talk: Talk;
  readonly #results: Results;
  #style: ActionStyle | undefined;
  /** The current position of the agent's editor. */
  #editor: EditorPlace = {};
  #hasSubmitted = false;

  constructor(state: TrailState, talk: Talk, results: Results) {
    this.#state = state;
    this.#talk = talk;
    this.#results = results;
  }

  /** Records how the agent of this log writes commands, if the log says so. */
  noteStyle(style: ActionStyle | undefined): void {
    this.#style = style ?? this.#style;
  }

  /** Whether the agent of this log writes its commands as text. */
  get isUsed(): boolean {
    return this.#style !== undefined;
  }

  /** Takes in a message of the agent with its command. */
  addAnswer(text: string): void {
    const style = this.#style;
    if (style === undefined) return;
    const { text: said, script, isSubmission } = textActionOf(text, style);
    if (said !== '') this.#talk.addAgentText(said);
    this.#hasSubmitted = isSubmission;
    if (script === undefined) return;
    this.#state.position += 0.5;
    const { name, meaning, quotable } = actionCallOf(script, style, this.#editor);
    const quoted = quotable === undefined ? undefined : quotableScript(quotable);
    this.#results.start({ name, callId: TEXT_CALL }, meaning, quoted);
  }

  /** Takes in the harness's answer to an agent that writes its commands as text. */
  addObservation(answer: string): void {
    const { text, exitCode, editor } = observationOf(answer);
    if (editor.directory !== undefined) this.#editor = editor;
    const due = this.#results.due.of(TEXT_CALL);
    if (due === undefined) {
      // The harness rejects an answer without a command to run.
      if (this.#talk.hasAgentSpoken && !this.#hasSubmitted) this.#talk.noteSentBack();
      return;
    }
    const hasFailed =
      due.meaning.command === undefined
        ? isRejectedEdit(text)
        : exitCode === undefined && (looksFailed(text) || saysFailed(text));
    this.#results.finish(
      TEXT_CALL,
      text,
      exitCode === undefined ? { success: !hasFailed } : { exit_code: exitCode },
    );
  }
}
