// Agents that call no tools but write their commands as text: what they say, and what the harness answers.

import { actionCallOf, isRejectedEdit, observationOf, textActionOf } from './calls/actions.ts';
import type { ActionStyle, EditorPlace } from './calls/actions.ts';
import type { Book } from './book.ts';
import { looksFailed, saysFailed } from './outputs/outputs.ts';
import { quotableScript } from './phrases.ts';
import type { Results } from './results.ts';
import type { Talk } from './talk/talk.ts';

/** Stands for the id of a call that is written as text: there is one at a time, and the next answer is its result. */
const TEXT_CALL = 'text';

/** Reads calls and results off messages. */
export class TextCalls {
  readonly #book: Book;
  readonly #talk: Talk;
  readonly #results: Results;
  #style: ActionStyle | undefined;
  /** Where the agent's editor stands. */
  #editor: EditorPlace = {};
  #hasSubmitted = false;

  constructor(book: Book, talk: Talk, results: Results) {
    this.#book = book;
    this.#talk = talk;
    this.#results = results;
  }

  /** How the log says that its agent writes commands, if it does. */
  noteStyle(style: ActionStyle | undefined): void {
    this.#style = style ?? this.#style;
  }

  /** Whether the agent of this log writes its commands as text. */
  get isUsed(): boolean {
    return this.#style !== undefined;
  }

  /** What the agent says, with its command. */
  addAnswer(text: string): void {
    const style = this.#style;
    if (style === undefined) return;
    const { said, script, isSubmission } = textActionOf(text, style);
    if (said !== '') this.#talk.addAgentText(said);
    this.#hasSubmitted = isSubmission;
    if (script === undefined) return;
    this.#book.position += 0.5;
    const { name, meaning, quotable } = actionCallOf(script, style, this.#editor);
    const quoted = quotable === undefined ? undefined : quotableScript(quotable);
    this.#results.start({ name, callId: TEXT_CALL }, meaning, quoted);
  }

  /** What the harness says to an agent that writes its commands as text. */
  addObservation(answer: string): void {
    const { text, exitCode, editor } = observationOf(answer);
    if (editor.directory !== undefined) this.#editor = editor;
    const due = this.#results.due.of(TEXT_CALL);
    if (due === undefined) {
      // An answer without a command that would be run is sent back.
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
