// `/model`: which model answers, and another one by its name.

import { line } from '../../lines/line.ts';
import type { Line } from '../../lines/line.ts';
import { EMPTY_FIELD, fieldLine, typeInto } from '../field.ts';
import type { Field } from '../field.ts';
import { frame } from '../frame.ts';
import type { Panel } from '../panel.ts';
import { fact, paragraph } from '../wording.ts';

/** The model that answers now. */
export interface CurrentModel {
  readonly provider: string;
  readonly model: string;
}

/** The current model and a field for another. Enter sends it; the thread refuses one that it cannot open. */
export function modelPanel(current: CurrentModel, field: Field = EMPTY_FIELD, complaint = ''): Panel {
  const panel: Panel = {
    lines: (canvas) => {
      const prompt: Line = [{ text: 'New model   ', hue: 'quiet' }];
      return frame(canvas, {
        title: 'Model',
        body: [
          ...fact('Now', line(`${current.provider}/${current.model}`, { isBold: true }), canvas.width),
          fieldLine(field, { width: canvas.width, prompt, placeholder: 'PROVIDER/MODEL' }),
          ...paragraph(complaint, canvas.width, { hue: 'warning' }),
          ...paragraph(
            'It changes between turns. A session keeps its model when you resume it. To begin new sessions with it, set `model_provider` and `model` in the configuration.',
            canvas.width,
            { hue: 'quiet' },
          ),
        ],
        keys: [
          { keys: 'Enter', does: 'change' },
          { keys: 'Esc', does: 'close' },
        ],
      });
    },
    press: (key) => {
      if (key.key === 'escape') return { panel: undefined };
      if (key.key !== 'enter') return { panel: modelPanel(current, typeInto(field, key) ?? field) };
      const model = field.text.trim();
      if (model === '') return { panel };
      if (!/^[^\s/]+\/\S+$/.test(model))
        return {
          panel: modelPanel(current, field, 'Name the provider and the model, with a / between them.'),
        };
      return { panel: undefined, effects: [{ type: 'send', op: { type: 'set_settings', model } }] };
    },
  };
  return panel;
}
