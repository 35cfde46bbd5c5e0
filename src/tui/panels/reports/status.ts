// `/status`: the state of the thread.

import { line } from '../../lines/line.ts';
import type { Canvas, Line } from '../../lines/line.ts';
import { formatNumber, plural } from '../../../tokens/words.ts';
import type { EventNamed } from '../../channel.ts';
import type { Panel } from '../panel.ts';
import { shortTokens } from '../../lines/words.ts';
import { fact, sandboxWords, spoken } from '../wording.ts';
import { pagePanel } from './text.ts';

type Status = EventNamed<'status'>;

/** Model, context, watcher, permissions, costs and limits. */
export function statusPanel(status: Status): Panel {
  return pagePanel({ title: 'Status', rowsOf: (canvas) => rowsOf(status, canvas) });
}

const APPROVALS = {
  untrusted: 'asks before everything but commands that only read',
  on_request: 'asks when the agent requests it or the sandbox would stop a call',
  never: 'never asks; what needs approval is denied',
} as const;

function rowsOf(status: Status, canvas: Canvas): readonly Line[] {
  const { width } = canvas;
  const say = (name: string, value: string): readonly Line[] => fact(name, line(value), width);
  const { running_turn: turn, queue_length: waiting, compactions } = status;
  return [
    ...say('Session', status.session_id),
    ...say('File', status.rollout_path ?? 'not written yet'),
    ...say('Folder', status.cwd),
    ...say('Model', `${status.provider}/${status.model}`),
    ...say(
      'Doing',
      turn === null
        ? 'nothing'
        : `${turn.task_kind} turn${waiting === 0 ? '' : `, ${plural(waiting, 'message')} waiting`}`,
    ),
    [],
    ...say('Context', contextWords(status)),
    ...say('Compacted', compactions === 0 ? 'never' : plural(compactions, 'time')),
    ...thresholdRows(status, width),
    [],
    ...say('Watcher', status.review_mode ? `${status.mode}, but idle: review mode is on` : status.mode),
    ...say('Tier', tierWords(status)),
    ...say(
      'Tiers',
      status.tiers
        .map(({ tier, percent_remaining_below: below }) => `${tier} below ${below}% left`)
        .join(', '),
    ),
    [],
    ...say('Approvals', APPROVALS[status.approval_policy]),
    ...say('Sandbox', sandboxWords(status.sandbox_mode)),
    ...say('Plan mode', status.plan_mode ? 'on: the agent only plans' : 'off'),
    [],
    ...spendingRows(status, width),
    ...(status.limits.length === 0
      ? say('Limits', 'none; set [limits] in the configuration')
      : status.limits.flatMap(({ key, limit, spent }) =>
          say('Limit', `${key}: ${amount(spent)} of ${amount(limit)}`),
        )),
  ];
}

function contextWords({
  used,
  usable_window: window,
  percent_remaining: left,
  pressure,
  anchor,
}: Status): string {
  const counted = anchor === 'reported' ? '' : ', estimated';
  if (window === null) return `${formatNumber(used)} tokens${counted}; the window is unknown`;
  const word = pressure === null ? '' : `, ${spoken(pressure)}`;
  return `${formatNumber(used)} of ${formatNumber(window)} tokens, ${Math.round(left ?? 0)}% left${word}${counted}`;
}

function thresholdRows({ thresholds }: Status, width: number): readonly Line[] {
  if (thresholds === null) return [];
  const { warning, error, auto_compact: auto } = thresholds;
  const limit =
    auto === null ? 'compaction by itself is off' : `compaction by itself at ${shortTokens(auto)}`;
  return fact(
    'Thresholds',
    line(`warning at ${shortTokens(warning)}, error at ${shortTokens(error)}, ${limit}`),
    width,
  );
}

function tierWords({ tier }: Status): string {
  return tier ?? 'none: no threshold is reached';
}

function spendingRows(
  { spending: { by_kind: kinds, turn, session } }: Status,
  width: number,
): readonly Line[] {
  const words = ({
    requests,
    tokens,
    dollars,
    unpriced_requests: unpriced,
  }: Status['spending']['turn']): string => {
    const price = unpriced === requests && requests > 0 ? 'price unknown' : `$${dollars.toFixed(2)}`;
    const partly =
      unpriced > 0 && unpriced < requests ? ` and ${plural(unpriced, 'request')} of unknown price` : '';
    return `${price}${partly}, ${shortTokens(tokens)} tokens, ${plural(requests, 'request')}`;
  };
  return [
    ...fact('Spent', line(`${words(session)} in this session`), width),
    ...kinds.flatMap(({ kind, ...spent }) => fact(`  ${kind}`, line(words(spent)), width)),
    ...fact('This turn', line(words(turn)), width),
  ];
}

function amount(value: number): string {
  return Number.isInteger(value) ? formatNumber(value) : value.toFixed(2);
}
