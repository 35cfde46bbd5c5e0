// Which panel a command, a key, a request or an answer opens. Pure.

import type { SessionEvent } from '../protocol/wire/event.ts';
import type { Chat, Request } from './chat/chat.ts';
import { planLines } from './chat/cell-lines.ts';
import { helpSections } from './composer/help.ts';
import type { PanelName } from './composer/perform.ts';
import { diffLines } from './lines/diff.ts';
import { line } from './lines/line.ts';
import { cut } from './lines/wrap.ts';
import { execApproval } from './panels/asking/exec-approval.ts';
import { patchApproval } from './panels/asking/patch-approval.ts';
import { questionPanel } from './panels/asking/question.ts';
import { previewPanel } from './panels/compaction/preview.ts';
import { undoOf, undoPanel } from './panels/compaction/undo.ts';
import type { Effect, Panel, PanelStep } from './panels/panel.ts';
import { picker } from './panels/pickers/picker.ts';
import { modelPanel } from './panels/pickers/model.ts';
import { modePanel } from './panels/pickers/mode.ts';
import { resumePanel } from './panels/pickers/resume.ts';
import { contextPanel } from './panels/reports/context.ts';
import { helpPanel } from './panels/reports/help.ts';
import { statusPanel } from './panels/reports/status.ts';
import { pagePanel, textPanel } from './panels/reports/text.ts';
import { whyPanel } from './panels/reports/why.ts';

/** What panels are made of, besides events. */
export interface PanelWorld {
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly cwd: string;
  readonly chat: Chat;
}

/** What opens at once. */
export interface Opened {
  readonly panel: Panel | undefined;
  readonly effects: readonly Effect[];
}

/** The panel of a request that waits for the user. */
export function requestPanel(request: Request): Panel {
  switch (request.type) {
    case 'exec_approval_request':
      return execApproval(request);
    case 'patch_approval_request':
      return patchApproval(request, diffLines);
    case 'question':
      return questionPanel(request);
  }
}

/** The panel that an event opens, if it is the awaited answer. */
export function answeringPanel(name: PanelName, event: SessionEvent, world: PanelWorld): Panel | undefined {
  switch (event.type) {
    case 'decisions': {
      const { now, chat } = world;
      const tiers = chat.status?.tiers;
      return name === 'why' ? whyPanel(event, { now, ...(tiers === undefined ? {} : { tiers }) }) : undefined;
    }
    case 'context_breakdown':
      return name === 'context' ? contextPanel(event) : undefined;
    case 'status':
      return name === 'status' ? statusPanel(event) : undefined;
    case 'compact_preview':
      return name === 'preview' ? previewPanel(event) : undefined;
    case 'sessions':
      return name === 'sessions' ? resumePanel(event, world) : undefined;
    default:
      return undefined;
  }
}

/** A panel that needs no answer. @param what of `/undo` */
export function openedPanel(
  name: PanelName,
  what: 'turn' | 'compaction' | undefined,
  world: PanelWorld,
): Opened {
  const { settings } = world.chat;
  switch (name) {
    case 'help':
      return { panel: helpPanel(helpSections()), effects: [] };
    case 'autocompact':
      return settings === undefined
        ? { panel: undefined, effects: [] }
        : { panel: modePanel(settings.mode), effects: [] };
    case 'model':
      return settings === undefined
        ? { panel: undefined, effects: [] }
        : { panel: modelPanel(settings), effects: [] };
    case 'todos':
      return { panel: todosPanel(world.chat), effects: [] };
    case 'undo':
      return what === undefined ? { panel: undoPanel(), effects: [] } : opened(undoOf(what));
    case 'unpin':
      return { panel: unpinPanel(world.chat), effects: [] };
    case 'diff':
      return {
        panel: undefined,
        effects: [{ type: 'send', op: { type: 'shell', command: 'git --no-pager diff' } }],
      };
    case 'prompts':
      return {
        panel: undefined,
        effects: [{ type: 'send', op: { type: 'shell', command: 'baton prompts list' } }],
      };
    default:
      return { panel: undefined, effects: [] };
  }
}

function opened({ panel, effects = [] }: PanelStep): Opened {
  return { panel, effects };
}

/** The pins, one of which goes. */
function unpinPanel({ pins }: Chat): Panel {
  return picker({
    title: 'Remove a pinned text',
    items: pins,
    textOf: ({ text }) => text,
    rowsOf: ({ text }, canvas) => [cut(line(text.replaceAll(/\s+/g, ' ')), canvas.width)],
    empty: 'Nothing is pinned: /pin TEXT pins a text.',
    filter: 'Find',
    keys: () => [
      { keys: 'Enter', does: 'remove' },
      { keys: 'Esc', does: 'close' },
    ],
    choose: ({ id }) => ({ panel: undefined, effects: [{ type: 'send', op: { type: 'unpin', id } }] }),
  });
}

function todosPanel({ plans }: Chat): Panel {
  if (plans.size === 0) return textPanel('Plan and todos', [line('The agent has no plan and no todos.')]);
  return pagePanel({
    title: 'Plan and todos',
    rowsOf: (canvas) => [...plans].flatMap(([kind, steps]) => [...planLines({ kind, steps }, canvas), []]),
  });
}
