// The terminal UI at work: events and keys come in, frames and ops go out. It decides nothing: chats are folded from events, rows
// are a function of them, and keys mean what their table says.

import { randomUUID } from 'node:crypto';
import { basename } from 'node:path';
import type { Op } from '../protocol/wire/op.ts';
import type { FromTerminal, TerminalStart, ToTerminal } from './channel.ts';
import { isBusy, promptsOf, requestId, takeFinished, withAnswer, withNote } from './chat/chat.ts';
import type { Chat } from './chat/chat.ts';
import { Composer } from './composer/composer.ts';
import type { ComposerAction, Submission } from './composer/composer.ts';
import { findFiles } from './composer/files.io.ts';
import { openPromptHistory } from './composer/history.io.ts';
import type { PromptHistory } from './composer/history.io.ts';
import { Keyboard } from './composer/keyboard.io.ts';
import { ARMED_MS, actionFor, hintFor } from './composer/keys.ts';
import type { Armed, KeyAction, KeySituation } from './composer/keys.ts';
import { parseCommand } from './composer/commands.ts';
import type { Command } from './composer/commands.ts';
import { performCommand } from './composer/perform.ts';
import type { PanelName } from './composer/perform.ts';
import { composeFrame } from './frame.ts';
import type { Canvas, Line } from './lines/line.ts';
import { answeringPanel, openedPanel, requestPanel } from './opened.ts';
import { ARMING_MS } from './panels/panel.ts';
import type { Effect, KeyPress, Panel } from './panels/panel.ts';
import { pagePanel } from './panels/reports/text.ts';
import { searchPanel } from './panels/pickers/search.ts';
import { treePanel } from './panels/pickers/tree.ts';
import type { SaidPrompt } from './panels/pickers/tree.ts';
import { Printer } from './printer.ts';
import { shouldRing, stateSequence, titleOf } from './terminal/attention.ts';
import type { Attention } from './terminal/attention.ts';
import { LiveBlock } from './terminal/live-block.ts';
import { paintLine } from './terminal/paint.ts';
import { Screen } from './terminal/screen.io.ts';
import { NO_THREADS, shownChat, takeThreadEvent, withShown } from './threads.ts';
import type { Threads } from './threads.ts';
import { welcomeLines } from './welcome.ts';

/** Milliseconds between two frames at least. @source spec 4-session §6: at most 30 frames a second */
const FRAME_MS = 1000 / 30;

/** Milliseconds between two frames while only a mark and a clock move: eight a second look alive. */
const TICK_MS = 125;

/** Milliseconds that a thread has to end its work when the user leaves. @source docs/decisions/stopping.md */
const LEAVE_MS = 1500;

/** Milliseconds after the last change of size before everything is drawn again: a dragged edge sends dozens. */
const RESIZE_MS = 60;

/** Share of the screen that a panel may take beside the conversation; a larger one covers it for a while. */
const LARGEST_PANEL = 0.6;

/** Shows the terminal UI until the other thread ends it. */
export function showTerminal(start: TerminalStart): { readonly close: () => void } {
  const ui = new TerminalUi(start);
  ui.open();
  return { close: () => ui.close() };
}

class TerminalUi {
  readonly #start: TerminalStart;
  readonly #screen: Screen;
  readonly #keyboard: Keyboard;
  readonly #block = new LiveBlock();
  readonly #printer = new Printer();
  readonly #composer: Composer;
  #history: PromptHistory | undefined;
  #threads: Threads = NO_THREADS;
  #panel: Panel | undefined;
  /** A page covers the whole screen, on the terminal's second one. */
  #isPage = false;
  #arming: NodeJS.Timeout | undefined;
  /** The panel that the answer to an op opens. */
  #awaited: PanelName | undefined;
  /** The request whose panel is open. */
  #asked: string | undefined;
  #armed: Armed | undefined;
  #disarming: NodeJS.Timeout | undefined;
  /** There is no model, and a recorded session can be watched instead. */
  #hasOffer = false;
  /** Whole texts of messages that wait, since events cut them. */
  readonly #sent = new Map<string, string>();
  #isWelcome = true;
  #pendingPrompt: string | undefined;
  #unprinted: Line[] = [];
  #drawnAt = 0;
  #timer: NodeJS.Timeout | undefined;
  #resizing: NodeJS.Timeout | undefined;
  #attention: Attention = 'idle';
  #hasFocus = true;
  #width: number;
  /** The newest session that has a record, and can be resumed. */
  #recorded: string | undefined;
  #isRehearsal = false;
  /** The user accepted the rehearsal that Baton offers. */
  #isOffered = false;
  #isLeaving = false;
  #isClosed = false;

  constructor(start: TerminalStart) {
    this.#start = start;
    this.#pendingPrompt = start.prompt;
    this.#keyboard = new Keyboard((heard) => {
      if (heard.type === 'focus') this.#hasFocus = heard.hasFocus;
      else this.#press(heard.press);
    });
    this.#screen = new Screen(
      {
        input: (bytes) => this.#keyboard.write(bytes),
        resized: () => this.#resized(),
        leaving: () => this.#screen.write(this.#block.clear()),
        continued: () => this.#continued(),
        lost: () => this.#leave(),
      },
      start.env['PATH'] ?? '',
    );
    this.#width = this.#screen.columns;
    this.#composer = new Composer({
      prompts: [],
      now: () => Date.now(),
      wantFiles: () => void this.#findFiles(),
    });
    start.port.on('message', (message: ToTerminal) => this.#take(message));
    start.port.on('close', () => this.close());
  }

  open(): void {
    this.#screen.open();
    this.#draw();
    void openPromptHistory(this.#start.batonHome).then((history) => {
      this.#history = history;
      this.#composer.setPrompts(history.prompts);
      if (history.problem !== undefined) this.#note('warning', history.problem);
    });
  }

  /** Gives the terminal back. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const timer of [this.#timer, this.#resizing, this.#arming, this.#disarming]) clearTimeout(timer);
    this.#keyboard.close();
    this.#screen.write(`${this.#block.clear()}${stateSequence('clear')}`);
    this.#screen.destroy(
      this.#recorded === undefined
        ? ''
        : `To resume this session: baton --resume ${this.#recorded}${this.#modelToResume}`,
    );
    this.#start.port.close();
  }

  get #chat(): Chat {
    return shownChat(this.#threads);
  }

  get #canvas(): Canvas {
    return { width: this.#screen.columns, rows: this.#screen.rows, hasUnicode: this.#start.hasUnicode };
  }

  /** A rehearsal is resumed with its recording. */
  get #modelToResume(): string {
    if (this.#isOffered) return ' --model rehearsal';
    return this.#isRehearsal ? ', with the same --model' : '';
  }

  #post(message: FromTerminal): void {
    if (!this.#isClosed) this.#start.port.postMessage(message);
  }

  #send(op: Op): void {
    const id = this.#threads.shown;
    this.#post({ type: 'op', op: id === undefined ? op : { ...op, thread_id: id } });
  }

  #take(message: ToTerminal): void {
    switch (message.type) {
      case 'event':
        return this.#takeEvent(message.event);
      case 'no_model':
        this.#hasOffer = true;
        return this.#note('warning', `${message.why.replace(/\.$/, '')}. ${message.cure}`);
      case 'end':
        return this.close();
    }
  }

  #takeEvent(event: Extract<ToTerminal, { type: 'event' }>['event']): void {
    const before = this.#threads.shown;
    this.#threads = takeThreadEvent(this.#threads, event, Date.now());
    const { shown } = this.#threads;
    if (event.type === 'turn_started' || event.type === 'transcript') this.#recorded = shown;
    if (event.type === 'session_configured') this.#isRehearsal = event.provider === 'rehearsal';
    if (before !== undefined && shown !== before) this.#changeThread(before);
    if (event.type === 'session_configured' && event.thread_id === shown) this.#greet(event);
    if (event.type === 'thread_idle') this.#sendPending();
    if (event.type === 'shutdown_complete' && this.#isLeaving) return this.#post({ type: 'leave' });
    const answer =
      this.#awaited === undefined ? undefined : answeringPanel(this.#awaited, event, this.#world);
    if (answer !== undefined) {
      this.#awaited = undefined;
      this.#openPanel(answer);
    } else if (event.type === 'error') this.#awaited = undefined;
    if (this.#panel?.receive !== undefined) this.#setPanel(this.#panel.receive(event));
    this.#askNext();
    this.#schedule();
  }

  /** What panels need to know besides events. */
  get #world() {
    return { now: Date.now(), cwd: this.#start.cwd, chat: this.#chat };
  }

  #greet(settings: Extract<Chat['settings'], object>): void {
    if (!this.#isWelcome) return;
    this.#isWelcome = false;
    this.#unprinted.push(...welcomeLines(settings, this.#start, this.#canvas));
    this.#hasOffer = false;
    this.#send({ type: 'status' });
    if (!this.#start.isResumed) this.#sendPending();
  }

  #sendPending(): void {
    const text = this.#pendingPrompt;
    this.#pendingPrompt = undefined;
    if (text !== undefined) this.#submit({ text, isForLater: false });
  }

  #changeThread(before: string): void {
    if (shownChat({ ...this.#threads, shown: before }).turn === undefined) {
      this.#post({ type: 'op', op: { type: 'shutdown', thread_id: before } });
    }
    this.#setPanel(undefined);
    this.#asked = undefined;
    this.#send({ type: 'status' });
  }

  /** Opens the panel of the oldest request that waits. */
  #askNext(): void {
    const request = this.#chat.requests[0];
    const id = request === undefined ? undefined : requestId(request);
    if (id === this.#asked) return;
    if (this.#asked !== undefined && this.#panel?.receive !== undefined) this.#setPanel(undefined);
    this.#asked = id;
    if (request !== undefined) this.#openPanel(requestPanel(request));
  }

  #openPanel(panel: Panel): void {
    this.#setPanel(panel);
    const canvas = this.#canvas;
    // In the block, a tall panel would push the conversation out of sight for good.
    this.#isPage = this.#asked === undefined && panel.lines(canvas).length > canvas.rows * LARGEST_PANEL;
    this.#rearm();
  }

  /** A panel that opened by itself takes no key that was meant for the composer. */
  #rearm(): void {
    clearTimeout(this.#arming);
    if (this.#panel?.arm === undefined) return;
    this.#arming = setTimeout(() => {
      this.#setPanel(this.#panel?.arm?.() ?? this.#panel);
      this.#draw();
    }, ARMING_MS);
  }

  #setPanel(panel: Panel | undefined): void {
    this.#panel = panel;
    if (panel === undefined) this.#isPage = false;
  }

  #press(press: KeyPress): void {
    const { action, armed } = actionFor(press.key, this.#situation);
    this.#disarm();
    if (armed !== undefined) this.#arm(armed);
    this.#act(action, press);
    if (!this.#isClosed) this.#draw();
  }

  get #situation(): KeySituation {
    const { queue } = this.#chat;
    return {
      panel: this.#panel === undefined ? 'none' : this.#asked === undefined ? 'other' : 'approval',
      isWorking: isBusy(this.#chat),
      hasDraft: this.#composer.draft !== '',
      isCompleting: this.#composer.isCompleting,
      hasQueue: queue.length > 0,
      armed: this.#armed,
    };
  }

  #arm(armed: Armed): void {
    this.#armed = armed;
    this.#disarming = setTimeout(() => {
      this.#armed = undefined;
      this.#draw();
    }, ARMED_MS);
  }

  #disarm(): void {
    clearTimeout(this.#disarming);
    this.#armed = undefined;
  }

  #act(action: KeyAction, press: KeyPress): void {
    switch (action) {
      case 'send':
      case 'queue':
      case 'newline':
      case 'complete':
      case 'accept':
      case 'close_list':
      case 'next':
      case 'previous':
      case 'clear':
        return this.#compose(action);
      case 'edit':
        return this.#composer.press(press);
      case 'panel':
      case 'cancel_panel':
        return this.#pressPanel(press);
      case 'interrupt':
        return this.#send({ type: 'interrupt' });
      case 'arm':
        return;
      case 'back':
        return this.#openPanel(treePanel(this.#prompts()));
      case 'exit':
        return this.#leave();
      case 'suspend':
        return void this.#screen.suspend();
      case 'redraw':
        return this.#redraw();
      case 'expand':
        return this.#expand();
      case 'cycle_mode':
        return this.#cycleMode();
      case 'help':
        return this.#openNamed('help');
      case 'take_queue_back':
        return this.#takeQueueBack();
      case 'search_history':
        return this.#openPanel(searchPanel(this.#composer.prompts, Date.now()));
    }
  }

  /** The user's messages of the thread on the screen, newest first. */
  #prompts(): readonly SaidPrompt[] {
    const texts = promptsOf([...this.#printer.cells, ...this.#chat.cells]);
    return texts.map((text, at) => ({ text, isNewest: at === 0 }));
  }

  #compose(action: ComposerAction): void {
    if (action === 'send' && this.#hasOffer && this.#composer.draft === '') {
      this.#hasOffer = false;
      this.#isOffered = true;
      return this.#post({ type: 'rehearse' });
    }
    const submission = this.#composer.perform(action);
    if (submission !== undefined) this.#submit(submission);
  }

  #submit({ text, isForLater }: Submission): void {
    void this.#history?.append({ at: Date.now(), text });
    if (this.#hasOffer) return this.#composer.setDraft(text);
    if (this.#threads.shown === undefined) {
      this.#pendingPrompt = text;
      return;
    }
    if (text.startsWith('!') && text.slice(1).trim() !== '') {
      return this.#send({ type: 'shell', command: text.slice(1).trim() });
    }
    const parsed = parseCommand(text);
    if (parsed === undefined) return this.#say(text, isForLater);
    if (parsed.type === 'mistake') return this.#note('warning', parsed.sentence);
    this.#perform(parsed.command);
  }

  #say(text: string, isForLater: boolean): void {
    const id = randomUUID();
    const message = { id, items: [{ type: 'text', text } as const], origin: { type: 'user' } as const };
    const isRunning = this.#chat.turn?.kind === 'regular';
    this.#sent.set(id, text);
    this.#send({ type: isRunning && !isForLater ? 'steer' : 'user_turn', ...message });
  }

  #perform(command: Command): void {
    const { settings, pins } = this.#chat;
    const { effects, panel, mistake } = performCommand(command, {
      isPlanning: settings?.plan_mode === true,
      isReviewing: settings?.review_mode === true,
      pins,
    });
    if (mistake !== undefined) this.#note('warning', mistake);
    this.#apply(effects);
    if (panel === undefined) return;
    if (effects.length > 0) this.#awaited = panel.name;
    else this.#openNamed(panel.name, panel.what);
  }

  #openNamed(name: PanelName, what?: 'turn' | 'compaction'): void {
    const opened = openedPanel(name, what, this.#world);
    if (opened.panel !== undefined) this.#openPanel(opened.panel);
    this.#apply(opened.effects);
  }

  #pressPanel(press: KeyPress): void {
    const panel = this.#panel;
    if (panel === undefined) return;
    const { panel: next, effects = [], isUntaken } = panel.press(press, this.#canvas);
    if (isUntaken === true) {
      this.#rearm();
      return this.#composer.press(press);
    }
    this.#setPanel(next);
    this.#apply(effects);
  }

  #apply(effects: readonly Effect[]): void {
    for (const effect of effects) {
      switch (effect.type) {
        case 'send':
          this.#answered(effect.op);
          this.#send(effect.op);
          break;
        case 'print':
          this.#unprinted.push(...effect.lines);
          break;
        case 'draft':
          this.#composer.setDraft(effect.text);
          break;
        case 'resume':
          this.#send({ type: 'open_thread', resume: effect.session });
          break;
        case 'quit':
          this.#leave();
          break;
      }
    }
  }

  /** A question has no event that says it was answered. */
  #answered(op: Op): void {
    const id = op.type === 'answer_question' ? op.question_id : 'call_id' in op ? op.call_id : undefined;
    if (id === undefined) return;
    this.#threads = withShown(this.#threads, withAnswer(this.#chat, op));
    this.#asked = undefined;
    this.#askNext();
  }

  #cycleMode(): void {
    const { settings } = this.#chat;
    if (settings === undefined) return;
    if (settings.plan_mode) {
      return this.#send({ type: 'set_settings', plan_mode: false, approval_policy: 'on_request' });
    }
    if (settings.approval_policy === 'untrusted')
      return this.#send({ type: 'set_settings', plan_mode: true });
    this.#send({ type: 'set_settings', approval_policy: 'untrusted' });
  }

  /** Events cut long messages: what this screen did not send itself stays in the queue. */
  #takeQueueBack(): void {
    const mine = this.#chat.queue.filter(({ id, text }) => this.#sent.has(id) || !text.endsWith('…'));
    for (const { id } of mine) this.#send({ type: 'remove_queued', id });
    const texts = mine.map(({ id, text }) => this.#sent.get(id) ?? text);
    const draft = this.#composer.draft;
    this.#composer.setDraft([...texts, ...(draft === '' ? [] : [draft])].join('\n\n'));
  }

  #expand(): void {
    if (this.#isPage) return this.#setPanel(undefined);
    if (this.#panel !== undefined) return;
    this.#panel = pagePanel({
      title: 'Transcript with all output',
      rowsOf: (canvas) => this.#printer.everything(canvas),
      top: Infinity,
    });
    this.#isPage = true;
  }

  async #findFiles(): Promise<void> {
    const { cwd, env } = this.#start;
    const { names } = await findFiles({ cwd, env, signal: AbortSignal.timeout(5000) });
    this.#composer.setFiles(names);
    this.#schedule();
  }

  #note(tone: 'info' | 'warning' | 'error', text: string): void {
    this.#threads = withShown(this.#threads, withNote(this.#chat, tone, text));
    this.#schedule();
  }

  #leave(): void {
    if (this.#isLeaving) return this.close();
    this.#isLeaving = true;
    if (this.#threads.shown === undefined) this.#post({ type: 'leave' });
    for (const id of this.#threads.chats.keys())
      this.#post({ type: 'op', op: { type: 'shutdown', thread_id: id } });
    setTimeout(() => this.#post({ type: 'leave' }), LEAVE_MS).unref();
  }

  /** The cursor is wherever the shell left it. */
  #continued(): void {
    this.#block.forget();
    this.#draw();
  }

  #resized(): void {
    clearTimeout(this.#resizing);
    this.#resizing = setTimeout(() => {
      this.#resizing = undefined;
      if (this.#screen.columns === this.#width) this.#redraw();
      else this.#rewrap();
      this.#width = this.#screen.columns;
    }, RESIZE_MS);
  }

  /** The terminal has another width: what is on the screen is wrapped again, as far as it is Baton's. */
  #rewrap(): void {
    const canvas = this.#canvas;
    if (this.#isPage) return this.#draw();
    if (this.#printer.rows < canvas.rows) {
      this.#screen.write(this.#block.clear(canvas.width));
      return this.#draw();
    }
    this.#block.forget();
    this.#screen.write('\u001B[H\u001B[J');
    this.#unprinted.unshift(...this.#printer.reprint(canvas));
    this.#draw();
  }

  #redraw(): void {
    this.#screen.write(this.#block.clear());
    this.#draw();
  }

  #schedule(): void {
    if (this.#timer !== undefined || this.#isClosed) return;
    const wait = Math.max(0, this.#drawnAt + FRAME_MS - performance.now());
    this.#timer = setTimeout(() => this.#draw(), wait);
  }

  #draw(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#drawnAt = performance.now();
    // Between a new size and the next frame, the terminal has moved the rows of the last one.
    if (this.#resizing !== undefined) return;
    // A terminal that takes nothing gets one frame when it does, not all that it missed.
    if (this.#screen.waiting > 0 || !this.#screen.isOpen) return this.#schedule();
    const canvas = this.#canvas;
    const paint = (row: Line): string => paintLine(row, this.#start.hasColor);
    const { chat, finished } = takeFinished(this.#chat);
    this.#threads = withShown(this.#threads, chat);
    this.#unprinted.push(...this.#printer.print(finished, canvas));
    if (this.#screen.showPage(this.#isPage)) this.#block.forgetCursor();
    const page = this.#isPage ? this.#panel : undefined;
    if (page !== undefined) {
      this.#screen.write(
        `\u001B[H${page
          .lines(canvas)
          .map((row) => `\u001B[2K${paint(row)}`)
          .join('\r\n')}\u001B[J`,
      );
      return this.#attend(chat);
    }
    const frame = composeFrame({
      chat,
      composer: this.#composer.draw(canvas),
      panel: this.#panel?.lines(canvas),
      hint: this.#hint(),
      canvas,
      homeDirectory: this.#start.homeDirectory,
      now: Date.now(),
      before: this.#printer.last,
    });
    this.#screen.write(
      this.#block.show({
        finished: this.#unprinted.map(paint),
        rows: frame.rows.map(paint),
        cursor: frame.cursor,
      }),
    );
    this.#unprinted = [];
    this.#attend(chat);
    if (isBusy(chat)) this.#timer ??= setTimeout(() => this.#draw(), TICK_MS);
  }

  #hint(): string {
    if (this.#armed !== undefined) return hintFor(this.#armed);
    if (this.#isLeaving) return 'Closing the session';
    if (!this.#hasOffer) return '';
    return this.#composer.draft === ''
      ? 'No model. Enter: watch a recorded session (nothing is executed)'
      : 'No model: your text stays here. Empty line + Enter: watch a recorded session';
  }

  #attend(chat: Chat): void {
    const now: Attention = chat.requests.length > 0 ? 'blocked' : chat.isIdle ? 'idle' : 'working';
    if (now === this.#attention) return;
    const bell = shouldRing(this.#attention, now, this.#hasFocus) ? '\u0007' : '';
    this.#attention = now;
    this.#screen.title(titleOf(now, basename(this.#start.cwd)));
    this.#screen.write(`${stateSequence(now)}${bell}`);
  }
}
