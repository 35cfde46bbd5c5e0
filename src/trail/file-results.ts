// What the results of calls tell of files: which were read, changed or put back, and which are not there.

import type { Book } from './book.ts';
import { isEdit } from './calls/calls.ts';
import type { FileAction } from './calls/calls.ts';
import type { DueCall } from './due-calls.ts';
import type { LogMoment } from './ledgers/files.ts';
import { rejectionReason } from './calls/actions.ts';
import { phraseOf, resultPhrase } from './phrases.ts';
import { headLines, oneLine } from '../text/sentences.ts';
import { shownFiles } from './outputs/shown.ts';

/** Characters of what a harness found wrong with an edit. */
const REASON_LENGTH = 400;

/** Writes down what happens to files. */
export class FileResults {
  readonly #book: Book;

  constructor(book: Book) {
    this.#book = book;
  }

  /** An edit that the harness rejects changes nothing, and is sent again and again by an agent that does not know of it. */
  finishEdit({ meaning, moment }: DueCall, text: string, failed: boolean): void {
    const [file] = meaning.files;
    if (file === undefined || !isEdit(meaning) || !failed) return;
    const command = `edit ${this.#book.relative(file.path)}`;
    const telling = headLines(rejectionReason(text), REASON_LENGTH).split('\n').map(oneLine);
    this.#book.runs.addRefusedEdit(command, telling, moment);
    this.#book.steps.act(`${command}${resultPhrase(failed, telling, false)}`, this.#book.moment);
  }

  /** What a call did to files, and what it showed of them. */
  finishFiles({ meaning, moment }: DueCall, text: string, failed: boolean): void {
    const { actions, texts, missing, isSaidMissing } = shownFiles(meaning, text, failed);
    const isMissing = failed && /No such file|did not match|bad source/.test(text);
    for (const file of actions) {
      if (failed && file.action === 'restore') continue;
      if (isMissing && (file.action === 'delete' || file.action === 'move')) continue;
      this.add(file, moment);
    }
    for (const path of missing) {
      const absent = this.#book.relative(path);
      if (!isSaidMissing || !/^[/~]/.test(absent)) this.#book.files.noteMissing(absent);
    }
    for (const { path, text: shown } of texts) {
      this.#book.files.noteContent(this.#book.relative(path), shown);
      // What a search found of a checklist is not the list.
      if (actions.some((file) => file.action === 'read' && file.path === path))
        this.#book.checklists.noteRead(this.#book.relative(path), shown, moment);
    }
  }

  /** Whether a program put something into a place for temporary files that nobody wrote, or it goes again: no work is in it. */
  #isOutput({ action, to, added, replaced, how }: FileAction, path: string): boolean {
    if (!TEMPORARY.test(path) || action === 'read' || action === 'restore') return false;
    const isWritten = added !== undefined || replaced !== undefined || how !== undefined;
    const isKept = to !== undefined && !TEMPORARY.test(this.#book.relative(to));
    return !isWritten && !isKept && !this.#book.files.isChanged(path);
  }

  /** Takes in what became of one file. */
  add(file: FileAction, moment: LogMoment): void {
    const path = this.#book.relative(file.path);
    if (isScratch(path) || this.#isOutput(file, path)) return;
    if (file.action === 'restore') {
      this.#restore({ ...file, path }, moment);
      return;
    }
    const to = file.to === undefined ? undefined : this.#book.relative(file.to);
    this.#book.files.add({ ...file, path, to }, moment);
    this.#book.checklists.noteChange({ ...file, path, to }, moment);
    this.#book.git.noteChange({ action: file.action, path, to }, moment, this.#book.files.isCreated(path));
    if (file.action === 'read') return;
    this.#book.steps.forgetReports();
    // Whatever changed it: nobody sends an edit again that was refused before.
    this.#book.runs.forget(`edit ${path}`);
    this.#book.requests.noteEdit(to ?? path);
    this.#book.items.noteEdit(to ?? path);
    this.#book.runs.noteEdit(to ?? path, moment);
    this.#book.steps.noteChange(to ?? path);
    this.#book.steps.act(phraseOf(file.action, path, to), this.#book.moment);
  }

  /** Git put files back: what a commit holds stays, unless another revision is named. */
  #restore(file: FileAction, moment: LogMoment): void {
    const { path, how: revision } = file;
    const since = revision === undefined ? (this.#book.git.newestPosition ?? -1) : -1;
    const isUndone = (known: string): boolean => revision !== undefined || this.#book.git.isDirty(known);
    const undone = this.#book.files.restore(path, moment, { since, isUndone });
    this.#book.checklists.noteChange(file, moment);
    this.#book.git.noteChange(file, moment, false);
    if (undone === undefined) return;
    this.#book.steps.forgetReports();
    this.#book.runs.noteEdit(path, moment);
    this.#book.steps.noteChange(path);
    if (undone.length === 0) return;
    this.#book.requests.noteRestored(undone, since);
    this.#book.steps.noteRestored(undone, since);
    this.#book.steps.act(phraseOf('restore', path, undefined), this.#book.moment);
  }
}

/** Places for temporary files. @source hier(7), file-hierarchy(7); on macOS they are links to those below /private */
const TEMPORARY = /^(?:\/private)?\/(?:tmp|var\/tmp|dev\/shm)\//;

function isScratch(path: string): boolean {
  return path.startsWith('/dev/') || path.startsWith('/proc/');
}
