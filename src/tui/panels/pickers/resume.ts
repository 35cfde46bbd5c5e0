// The sessions of this machine, to resume one.

import { line } from '../../lines/line.ts';
import type { Canvas, Line } from '../../lines/line.ts';
import { cut } from '../../lines/wrap.ts';
import { plural } from '../../../tokens/words.ts';
import { signsOf } from '../../lines/signs.ts';
import type { EventNamed } from '../../channel.ts';
import type { Panel } from '../panel.ts';
import { ageOf, sizeOf } from '../wording.ts';
import { picker } from './picker.ts';

type SessionRow = EventNamed<'sessions'>['sessions'][number];

/** What the picker must know besides the sessions. */
export interface ResumeView {
  /** Milliseconds since 1970. */
  readonly now: number;
  /** The folder that Tab limits the list to, absolute. */
  readonly cwd: string;
  /** All folders instead of that one. Absent: that one, if it has a session. */
  readonly isAll?: boolean;
}

/** Title, age, folder, size and compactions of each session; Enter resumes. */
export function resumePanel(event: EventNamed<'sessions'>, view: ResumeView): Panel {
  const { sessions, total } = event;
  const here = sessions.filter(({ cwd }) => cwd === view.cwd);
  const isAll = view.isAll ?? here.length === 0;
  const hidden = total - sessions.length;
  return picker<SessionRow>({
    title: isAll ? 'Resume a session: all folders' : 'Resume a session: this folder',
    items: isAll ? sessions : here,
    textOf: ({ title, cwd, id }) => `${title ?? ''} ${cwd ?? ''} ${id ?? ''}`,
    rowsOf: (session, canvas) => rowsOf(session, { ...view, isAll }, canvas),
    empty: hidden > 0 ? `None among the newest ${plural(sessions.length, 'session')}.` : 'No session yet.',
    filter: 'Find',
    keys: () => [
      { keys: 'Enter', does: 'resume' },
      { keys: 'Tab', does: isAll ? 'this folder' : 'all folders' },
      { keys: 'Esc', does: 'close' },
    ],
    choose: ({ id, path }) => ({
      panel: undefined,
      effects: [{ type: 'resume', session: id ?? path }],
    }),
    other: ({ key }) =>
      key === 'tab' ? { panel: resumePanel(event, { ...view, isAll: !isAll }) } : undefined,
  });
}

function rowsOf(
  { title, modified_at: at, cwd, bytes, compactions, is_open: isOpen }: SessionRow,
  { now, isAll }: ResumeView,
  canvas: Canvas,
): readonly Line[] {
  const { dot, ellipsis } = signsOf(canvas);
  const facts = [
    ageOf(now, at),
    sizeOf(bytes),
    ...(compactions === 0 ? [] : [plural(compactions, 'compaction')]),
    ...(isOpen ? ['open here'] : []),
    ...(isAll === true && cwd !== null ? [cwd] : []),
  ];
  return [
    cut(line(title ?? '(no message yet)'), canvas.width, ellipsis),
    cut(line(`  ${facts.join(` ${dot} `)}`, { hue: 'quiet' }), canvas.width, ellipsis),
  ];
}
