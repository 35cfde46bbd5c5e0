// What results show about files: which ones were read, changed, restored or missing.

import type { TrailState } from './trail-state.ts';
import { isEdit } from './calls/calls.ts';
import type { FileAction } from './calls/calls.ts';
import type { DueCall } from './due-calls.ts';
import type { LogMoment } from './ledgers/files.ts';
import { rejectionReason } from './calls/actions.ts';
import { phraseOf, resultPhrase } from './phrases.ts';
import { headLines, oneLine } from '../text/sentences.ts';
import { shownFiles } from './outputs/shown-files.ts';

/** Characters of a harness's reason for rejecting an edit. */
const REASON_LENGTH = 400;

/** Records what happens to files. */
export class FileResults {
  readonly #state: TrailState;

  constructor(state: TrailState) {
    this.#state = state;
  }

  /** An edit that the harness rejects changes nothing; an agent that does not know so sends it again and again. */
  finishEdit({ meaning, moment }: DueCall, text: string, failed: boolean): void {
    const [file] = meaning.files;
    if (file === undefined || !isEdit(meaning) || !failed) return;
    const command = `edit ${this.#state.relative(file.path)}`;
    const reason = headLines(rejectionReason(text), REASON_LENGTH).split('\n').map(oneLine);
    this.#state.runs.addRejectedEdit(command, reason, moment);
    this.#state.steps.act(`${command}${resultPhrase(failed, reason, false)}`, this.#state.moment);
  }

  /** Records what a call did to files and what it showed of them. */
  finishFiles({ meaning, moment }: DueCall, text: string, failed: boolean): void {
    const { actions, texts, missing, isReportedMissing: isSaidMissing } = shownFiles(meaning, text, failed);
    const isMissing = failed && /No such file|did not match|bad source/.test(text);
    for (const file of actions) {
      if (failed && file.action === 'restore') continue;
      if (isMissing && (file.action === 'delete' || file.action === 'move')) continue;
      this.add(file, moment);
    }
    for (const path of missing) {
      const absent = this.#state.relative(path);
      if (!isSaidMissing || !/^[/~]/.test(absent)) this.#state.files.noteMissing(absent);
    }
    for (const { path, text: shown } of texts) {
      this.#state.files.noteContent(this.#state.relative(path), shown);
      // Search hits in a checklist are not the checklist.
      if (actions.some((file) => file.action === 'read' && file.path === path))
        this.#state.checklists.noteRead(this.#state.relative(path), shown, moment);
    }
  }

  /** Whether the file holds no work: a program created it in a temporary directory, or it is being deleted there. */
  #isOutput({ action, to, added, replaced, how }: FileAction, path: string): boolean {
    if (!TEMPORARY.test(path) || action === 'read' || action === 'restore') return false;
    const isWritten = added !== undefined || replaced !== undefined || how !== undefined;
    const isKept = to !== undefined && !TEMPORARY.test(this.#state.relative(to));
    return !isWritten && !isKept && !this.#state.files.isChanged(path);
  }

  /** Records what happened to one file. */
  add(file: FileAction, moment: LogMoment): void {
    const path = this.#state.relative(file.path);
    if (isScratch(path) || this.#isOutput(file, path)) return;
    if (file.action === 'restore') {
      this.#restore({ ...file, path }, moment);
      return;
    }
    const to = file.to === undefined ? undefined : this.#state.relative(file.to);
    this.#state.files.add({ ...file, path, to }, moment);
    this.#state.checklists.noteChange({ ...file, path, to }, moment);
    this.#state.git.noteChange({ action: file.action, path, to }, moment, this.#state.files.isCreated(path));
    if (file.action === 'read') return;
    this.#state.steps.forgetReports();
    // Whatever changed the file, the agent will not resend an edit that was rejected before.
    this.#state.runs.forget(`edit ${path}`);
    this.#state.requests.noteEdit(to ?? path);
    this.#state.items.noteEdit(to ?? path);
    this.#state.runs.noteEdit(to ?? path, moment);
    this.#state.steps.noteChange(to ?? path);
    this.#state.steps.act(phraseOf(file.action, path, to), this.#state.moment);
  }

  /** Git restored files; what a commit holds is kept, unless the command names another revision. */
  #restore(file: FileAction, moment: LogMoment): void {
    const { path, how: revision } = file;
    const since = revision === undefined ? (this.#state.git.newestPosition ?? -1) : -1;
    const isUndone = (known: string): boolean => revision !== undefined || this.#state.git.isDirty(known);
    const undone = this.#state.files.restore(path, moment, { since, isUndone });
    this.#state.checklists.noteChange(file, moment);
    this.#state.git.noteChange(file, moment, false);
    if (undone === undefined) return;
    this.#state.steps.forgetReports();
    this.#state.runs.noteEdit(path, moment);
    this.#state.steps.noteChange(path);
    if (undone.length === 0) return;
    this.#state.requests.noteRestored(undone, since);
    this.#state.steps.noteRestored(undone, since);
    this.#state.steps.act(phraseOf('restore', path, undefined), this.#state.moment);
  }
}

/** Temporary directories. @source hier(7), file-hierarchy(7); on macOS they link to those below /private */
const TEMPORARY = /^(?:\/private)?\/(?:tmp|var\/tmp|dev\/shm)\//;

function isScratch(path: string): boolean {
  return path.startsWith('/dev/') || path.startsWith('/proc/');
}
