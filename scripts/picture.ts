// The picture of the README: what `baton inspect` prints of the bundled session, as SVG. Part of the generated files.

import { join } from 'node:path';
import { DEFAULT_CONFIG } from '../src/config/defaults.ts';
import { inspect } from '../src/cli/commands/inspect/inspect.ts';
import type { CommandIo } from '../src/cli/io.ts';

const WIDTH = 84;
const FONT = 14;
const LINE = 19;
const COLUMN = 8.43;
const MARGIN = 18;

/** Colours of the terminal by SGR code. */
const COLORS: Readonly<Record<string, string>> = {
  '1': '#e6edf3',
  '31': '#ff7b72',
  '32': '#7ee787',
  '33': '#e3b341',
  '36': '#79c0ff',
  '90': '#8b949e',
};

/** The picture of `baton inspect examples/sessions/tally.jsonl`. */
export async function renderPicture(root: string): Promise<string> {
  const printed: string[] = [];
  const session = join(root, 'examples/sessions/tally.jsonl');
  await inspect(pictureIo(printed), DEFAULT_CONFIG, [session], { json: false, precise: true });
  const text = `$ baton inspect tally.jsonl --precise\n\n${printed.join('').replaceAll(session, 'tally.jsonl')}`;
  return svg(text.trimEnd().split('\n'));
}

function pictureIo(printed: string[]): CommandIo {
  return {
    stdout: (text) => void printed.push(text),
    stderr: () => undefined,
    stdoutBytes: async () => undefined,
    stdoutWaiting: () => 0,
    stdin: (async function* (): AsyncGenerator<Buffer> {})(),
    env: {},
    cwd: '/',
    homeDirectory: '/home/dev',
    now: () => new Date(0),
    clock: { now: () => 0 },
    ids: { uuid: () => '' },
    look: { hasColor: true, seal: '', hasUnicode: true, width: WIDTH },
    showsProgress: false,
    signal: new AbortController().signal,
  };
}

function svg(lines: readonly string[]): string {
  const width = Math.ceil(WIDTH * COLUMN) + 2 * MARGIN;
  const height = lines.length * LINE + 2 * MARGIN;
  const rows = lines.map(
    (line, index) =>
      `<text x="${MARGIN}" y="${MARGIN + (index + 0.8) * LINE}" xml:space="preserve">${spans(line)}</text>`,
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="baton inspect shows what fills the context of a session">`,
    `<rect width="100%" height="100%" rx="8" fill="#0d1117"/>`,
    `<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="${FONT}" fill="#c9d1d9">`,
    ...rows,
    '</g></svg>',
    '',
  ].join('\n');
}

/** Text with SGR codes as spans of a fixed length, so that bars and columns stand where they stood. */
function spans(line: string): string {
  let color: string | undefined;
  let column = 0;
  // oxlint-disable-next-line no-control-regex
  const parts = line.split(/\u001B\[([0-9;]*)m/);
  return parts
    .map((part, index) => {
      if (index % 2 === 1) {
        color = COLORS[part];
        return '';
      }
      if (part === '') return '';
      const length = [...part].length;
      const x = (MARGIN + column * COLUMN).toFixed(2);
      column += length;
      const fill = color === undefined ? '' : ` fill="${color}"`;
      return `<tspan x="${x}" textLength="${(length * COLUMN).toFixed(2)}" lengthAdjust="spacingAndGlyphs"${fill}>${escape(part)}</tspan>`;
    })
    .join('');
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
