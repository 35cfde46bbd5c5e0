// Asks whether a command may run.

import { line } from '../../lines/line.ts';
import type { Line } from '../../lines/line.ts';
import { wrap } from '../../lines/wrap.ts';
import type { EventNamed } from '../../channel.ts';
import type { Panel } from '../panel.ts';
import { fact, sandboxWords } from '../wording.ts';
import { approvalPanel } from './approval.ts';

/** The whole command, why it is asked, the model's own words, where it would run and in which sandbox. */
export function execApproval(request: EventNamed<'exec_approval_request'>): Panel {
  const { call_id: callId, command, cwd, sandbox, reason, justification } = request;
  return approvalPanel({
    callId,
    title: 'Run this command?',
    matter: ({ width }) => commandRows(command, width),
    facts: ({ width }) => [
      ...fact('Why asked', line(reason), width),
      ...(justification === null ? [] : fact('Agent says', line(justification, { isItalic: true }), width)),
      ...fact('Folder', line(cwd), width),
      ...fact('Sandbox', line(sandboxWords(sandbox)), width),
    ],
    again: 'Yes, and this same command from now on',
    answer: (answer) => ({ type: 'exec_approval', call_id: callId, ...answer }),
  });
}

/** Every character of a command counts, so it breaks anywhere and never at a blank that would vanish. */
function commandRows(command: string, width: number): readonly Line[] {
  const hanging: Line = [{ text: '    ' }];
  return command.split('\n').flatMap((each, index) => {
    const head: Line = [{ text: index === 0 ? '  $ ' : '    ', hue: 'quiet' }];
    return wrap([...head, ...line(each, { isBold: true })], { width, hanging, isVerbatim: true });
  });
}
