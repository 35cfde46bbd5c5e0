// The first lines of a session. Pure.

import type { TerminalStart } from './channel.ts';
import type { EventNamed } from './channel.ts';
import { fromHome } from './lines/words.ts';
import type { Canvas, Line } from './lines/line.ts';
import { wrap } from './lines/wrap.ts';

/** Name and version, the model, where the agent works, and what it may do there. */
export function welcomeLines(
  settings: EventNamed<'session_configured'>,
  { version, homeDirectory }: Pick<TerminalStart, 'version' | 'homeDirectory'>,
  canvas: Canvas,
): readonly Line[] {
  const { provider, model, cwd, sandbox_mode: sandbox, approval_policy: approval } = settings;
  const wrapping = { width: canvas.width, hanging: [{ text: '  ' }] };
  return [
    ...wrap(
      [
        { text: `Baton ${version}`, isBold: true },
        { text: `  ${provider}/${model}  ${fromHome(cwd, homeDirectory)}`, hue: 'quiet' },
      ],
      wrapping,
    ),
    ...wrap(
      [
        {
          text: `${SANDBOXES[sandbox]}; ${APPROVALS[approval]}. ? shows the keys, / the commands.`,
          hue: 'quiet',
        },
      ],
      wrapping,
    ),
  ];
}

const SANDBOXES: Readonly<Record<EventNamed<'session_configured'>['sandbox_mode'], string>> = {
  read_only: 'The agent may read',
  workspace_write: 'The agent may change files in this directory',
  danger_full_access: 'The agent may change everything',
};

const APPROVALS: Readonly<Record<EventNamed<'session_configured'>['approval_policy'], string>> = {
  untrusted: 'it asks before every command that is not known to be harmless',
  on_request: 'it asks for more when it needs it',
  never: 'it never asks',
};
