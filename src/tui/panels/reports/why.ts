// `/why`: what the policy says now, and the newest decisions with their numbers.

import { line } from '../../lines/line.ts';
import type { Canvas, Line } from '../../lines/line.ts';
import { formatNumber } from '../../../tokens/words.ts';
import { signsOf } from '../../lines/signs.ts';
import { frame, roomFor } from '../frame.ts';
import { listLines, movedCursor } from '../list.ts';
import type { EventNamed } from '../../channel.ts';
import type { Panel } from '../panel.ts';
import { HOW_OFTEN } from '../pickers/mode.ts';
import { ageOf, fact, paragraph, spoken } from '../wording.ts';

type Decisions = EventNamed<'decisions'>;
type Decided = Decisions['now'];
type Evidence = Decided['signals'][number]['evidence'];

/** What the panel must know besides the decisions. */
export interface WhyView {
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Of the newest `status`: the thresholds of the tiers. A later `status` event brings them, too. */
  readonly tiers?: EventNamed<'status'>['tiers'];
}

/** Rows of the list of decisions. @source the number of decisions that `why` answers with, and the present */
const MOST_LISTED = 6;

/** The decisions, with everything about the one under the cursor. */
export function whyPanel(decisions: Decisions, view: WhyView, cursor = 0): Panel {
  const all: readonly { readonly decided: Decided; readonly age: string }[] = [
    { decided: decisions.now, age: 'now' },
    ...decisions.newest.map((decided) => ({
      decided,
      age: decided.at === null ? '' : ageOf(view.now, decided.at),
    })),
  ];
  const panel: Panel = {
    lines: (canvas) => {
      const { dot } = signsOf(canvas);
      const items = all.map(({ decided, age }, index) => [
        line(`${(index === 0 ? 'now' : age).padEnd(9)}${headline(decided, dot)}`),
      ]);
      const foot: readonly Line[] = [[], ...paragraph(HOW_OFTEN, canvas.width, { hue: 'quiet' })];
      const list = listLines(canvas, items, { cursor, room: Math.min(items.length, MOST_LISTED) });
      const details = all
        .slice(cursor, cursor + 1)
        .flatMap(({ decided }) => detailRows(decided, view, canvas));
      const fits = list.length + 1 + details.length + foot.length <= roomFor(canvas);
      return frame(canvas, {
        title: 'Why Baton compacts, or does not',
        note: `${cursor + 1} of ${all.length}`,
        body: [...list, [], ...details],
        // Where not everything fits, the numbers come first.
        foot: fits ? foot : [],
        keys: [
          { keys: signsOf(canvas).upDown, does: 'decision', isMinor: true },
          { keys: 'a', does: 'less or more often' },
          { keys: 'Esc', does: 'close' },
        ],
      });
    },
    press: (key) => {
      if (key.key === 'escape' || key.text === 'q') return { panel: undefined };
      if (key.text === 'a') return { panel: undefined, effects: [{ type: 'draft', text: '/autocompact ' }] };
      return { panel: whyPanel(decisions, view, movedCursor(cursor, all.length, key) ?? cursor) };
    },
    receive: (event) =>
      event.type === 'status' ? whyPanel(decisions, { ...view, tiers: event.tiers }, cursor) : panel,
  };
  return panel;
}

function headline(
  { should_compact: should, reason, tier, percent_remaining: left }: Decided,
  dot: string,
): string {
  const share = left === null ? [] : [`${Math.round(left)}% left`];
  return [
    `${should ? 'compact' : 'not yet'}: ${spoken(reason)}`,
    ...(tier === null ? [] : [tier]),
    ...share,
  ].join(` ${dot} `);
}

function detailRows(decided: Decided, { tiers }: WhyView, canvas: Canvas): readonly Line[] {
  const { width } = canvas;
  const { used, usable_window: window, percent_remaining: left, projected, required, signals } = decided;
  const say = (name: string, value: string): readonly Line[] => fact(name, line(value), width);
  const share =
    window === null
      ? '; the window is unknown'
      : ` of ${formatNumber(window)} usable tokens, ${Math.round(left ?? 0)}% left`;
  return [
    ...paragraph(decided.why, width, { isBold: true }),
    ...say('Used', `${formatNumber(used)}${share}`),
    ...say('Tier', tierWords(decided.tier, tiers)),
    ...say('Would be', `${formatNumber(projected)} tokens after a full compaction`),
    ...say('Needs', required.length === 0 ? 'no boundary' : `one of: ${required.map(spoken).join(', ')}`),
    ...(signals.length === 0
      ? say('Seen', 'no boundary')
      : signals.flatMap(({ boundary, evidence }, index) =>
          say(index === 0 ? 'Seen' : '', `${spoken(boundary)}: ${evidenceWords(evidence)}`),
        )),
    ...say('Decided', `turn ${decided.turn}, ${POINTS[decided.point]}`),
  ];
}

const POINTS = { turn_end: 'at its end', mid_turn: 'in its middle', preflight: 'before its start' } as const;

function tierWords(tier: Decided['tier'], tiers: WhyView['tiers']): string {
  const below = (name: string): string => {
    const found = tiers?.find((each) => each.tier === name);
    if (found === undefined) return '';
    const from =
      found.used_tokens_from === null ? '' : ` or from ${formatNumber(found.used_tokens_from)} used tokens`;
    return `below ${found.percent_remaining_below}% left${from}`;
  };
  if (tier !== null) return [tier, below(tier)].filter((words) => words !== '').join(', ');
  const first = tiers?.[0];
  return first === undefined
    ? 'none: no threshold is reached'
    : `none yet; ${first.tier} begins ${below(first.tier)}`;
}

function evidenceWords(evidence: Evidence): string {
  switch (evidence.type) {
    case 'command': {
      const { command, exit_status: status, hash } = evidence;
      const made = hash === null ? '' : ` made ${hash.slice(0, SHORT_HASH)}`;
      const ended = status === null || status === 0 ? '' : `, exit status ${status}`;
      return `${oneLine(command)}${made}${ended}`;
    }
    case 'plan':
      return `${evidence.done} of ${evidence.steps} steps done${evidence.completed.length === 0 ? '' : `, newly: ${evidence.completed.map(oneLine).join('; ')}`}`;
    case 'phase':
      return oneLine(evidence.summary);
    case 'phrase':
      return `"${evidence.phrase}" in: ${oneLine(evidence.sentence)}`;
    case 'turn':
      return 'the turn ended';
  }
}

/** Characters of a commit's name. @source git's own abbreviation */
const SHORT_HASH = 7;

function oneLine(text: string): string {
  return text.trim().replaceAll(/\s+/g, ' ');
}
