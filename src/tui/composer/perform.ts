// What a slash command makes: ops for the thread, and a panel that shows the answer or asks. Pure.

import type { Op } from '../../protocol/wire/op.ts';
import type { Effect } from '../panels/panel.ts';
import type { Command } from './commands.ts';

/** Panels that commands open. Those with an op wait for its answer. */
export type PanelName =
  | 'autocompact'
  | 'context'
  | 'diff'
  | 'help'
  | 'model'
  | 'preview'
  | 'prompts'
  | 'sessions'
  | 'status'
  | 'todos'
  | 'undo'
  | 'unpin'
  | 'why';

/** What a command needs to know of the thread. */
export interface CommandSubject {
  /** From `session_configured`. */
  readonly isPlanning: boolean;
  readonly isReviewing: boolean;
  /** From `pins_changed`, oldest first. */
  readonly pins: readonly { readonly id: string; readonly text: string }[];
}

/** What a command makes. */
export interface Performed {
  readonly effects: readonly Effect[];
  /** `what`: the argument of `/undo`. */
  readonly panel?: { readonly name: PanelName; readonly what?: 'turn' | 'compaction' };
  /** Why nothing happens: one sentence with the cure. */
  readonly mistake?: string;
}

/** What a command makes of a thread. */
export function performCommand(command: Command, subject: CommandSubject): Performed {
  switch (command.name) {
    case 'compact': {
      const trigger = { type: 'user' } as const;
      if (command.isPreview) return ask({ type: 'compact', trigger, preview: true }, 'preview');
      const focus = command.focus === undefined ? {} : { instructions: command.focus };
      return send({ type: 'compact', trigger, ...focus });
    }
    case 'undo':
      return {
        effects: [],
        panel: { name: 'undo', ...(command.what === undefined ? {} : { what: command.what }) },
      };
    case 'redo':
      return send({ type: 'redo', what: 'compaction' });
    case 'pin':
      return send({ type: 'pin', text: command.text });
    case 'unpin':
      return unpin(command.which, subject.pins);
    case 'why':
      return ask({ type: 'why' }, 'why');
    case 'status':
      return ask({ type: 'status' }, 'status');
    case 'context':
      return ask({ type: 'context' }, 'context');
    case 'autocompact':
      return command.mode === undefined
        ? open('autocompact')
        : send({ type: 'set_settings', mode: command.mode });
    case 'model':
      return command.model === undefined
        ? open('model')
        : send({ type: 'set_settings', model: command.model });
    case 'plan':
      return send({ type: 'set_settings', plan_mode: !subject.isPlanning });
    case 'review':
      return send({ type: 'review_mode', is_on: !subject.isReviewing });
    case 'resume':
      return command.session === undefined
        ? ask({ type: 'sessions' }, 'sessions')
        : { effects: [{ type: 'resume', session: command.session }] };
    case 'new':
      return send({ type: 'open_thread' });
    case 'fork':
      return send({ type: 'fork' });
    case 'handoff':
      return send({ type: 'handoff' });
    case 'quit':
      return { effects: [{ type: 'quit' }] };
    case 'todos':
    case 'diff':
    case 'prompts':
    case 'help':
      return open(command.name);
  }
}

function unpin(which: string | undefined, pins: CommandSubject['pins']): Performed {
  const only = pins.length === 1 ? pins[0] : undefined;
  if (pins.length === 0) return { effects: [], mistake: 'Nothing is pinned: /pin TEXT pins a text.' };
  if (which === undefined) return only === undefined ? open('unpin') : send({ type: 'unpin', id: only.id });
  const found = /^\d{1,4}$/.test(which)
    ? pins.slice(Number(which) - 1, Number(which))
    : pins.filter(({ text }) => text.toLowerCase().includes(which.toLowerCase()));
  const [pin, ...others] = found;
  if (pin !== undefined && others.length === 0) return send({ type: 'unpin', id: pin.id });
  const mistake = pin === undefined ? 'No pin is that' : `${found.length} pins have these words`;
  return { effects: [], mistake: `${mistake}: /unpin lists the pins with their numbers.` };
}

function send(op: Op): Performed {
  return { effects: [{ type: 'send', op }] };
}

function ask(op: Op, panel: PanelName): Performed {
  return { ...send(op), panel: { name: panel } };
}

function open(panel: PanelName): Performed {
  return { effects: [], panel: { name: panel } };
}
