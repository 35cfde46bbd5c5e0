// `baton inspect --top`: what takes up most of a context, by name. Pure.

import type { ContextAccount } from '../history/context-account.ts';
import type { Entry } from '../history/project.ts';
import { callOf, resultCallId } from '../protocol/item.ts';
import type { CallView, Item } from '../protocol/item.ts';
import { sumTokens } from '../tokens/estimate.ts';
import { meaningOf } from '../trail/calls/calls.ts';
import type { Category } from '../vocabulary.ts';
import { subjectOfCall } from './call-subject.ts';
import { partsOf } from './context-parts.ts';
import type { ContextPart } from './context-parts.ts';

/** A part of the raw window. `reserve`: the part above the agent's compaction limit, which it never uses. */
export type WindowPart = ContextPart['kind'] | 'free' | 'reserve';

/** What takes up most of the present context. Tokens by the counter of the inspection. */
export interface Top {
  /** Tool results, largest first. */
  readonly results: readonly {
    readonly tool: string;
    /** The command, file or pattern of the call; empty if it has none. */
    readonly subject: string;
    readonly tokens: number;
    readonly line: number | undefined;
  }[];
  /** Files that results in the context show more than once, those with the most tokens first. */
  readonly rereads: readonly { readonly path: string; readonly reads: number; readonly tokens: number }[];
  readonly images: { readonly count: number; readonly tokens: number };
  /** Largest first, then free space and reserve. They add up to the raw window, or to the used tokens if those are more. */
  readonly split: readonly { readonly part: WindowPart; readonly tokens: number }[];
}

/**
 * Lists what takes up most of a context.
 * @param limit of each list
 * @param compactsFrom where the agent, or else Baton, compacts by itself
 */
export function topOf(
  entries: readonly Entry<Item>[],
  account: ContextAccount,
  {
    limit,
    compactsFrom,
    sizeOf,
  }: {
    readonly limit: number;
    readonly compactsFrom: number;
    readonly sizeOf: (item: Item) => Readonly<Partial<Record<Category, number>>>;
  },
): Top {
  const calls = new Map<string, CallView>();
  const results: Top['results'][number][] = [];
  const files = new Map<string, { reads: number; tokens: number }>();
  let images = 0;
  for (const { value, line } of entries) {
    const call = callOf(value);
    if (call?.callId !== undefined) calls.set(call.callId, call);
    images += imagesIn(value);
    const callId = resultCallId(value);
    if (callId === undefined) continue;
    const asked = calls.get(callId);
    const tokens = sumTokens(sizeOf(value));
    results.push({
      tool: asked?.name ?? 'unknown tool',
      subject: asked === undefined ? '' : subjectOfCall(asked),
      tokens,
      line,
    });
    if (asked !== undefined) countReads(files, readIn(asked, account.cwd), tokens);
  }
  return {
    results: results.toSorted((a, b) => b.tokens - a.tokens).slice(0, limit),
    rereads: [...files]
      .map(([path, read]) => ({ path, ...read }))
      .filter(({ reads }) => reads > 1)
      .toSorted((a, b) => b.tokens - a.tokens)
      .slice(0, limit),
    images: { count: images, tokens: account.categories.images ?? 0 },
    split: splitWindow(account, compactsFrom),
  };
}

/** Paths in the working directory appear as commands name them. */
function readIn(call: CallView, cwd: string | undefined): readonly string[] {
  const read = meaningOf(call).files.filter(({ action }) => action === 'read');
  const here = `${cwd ?? ''}/`;
  return [
    ...new Set(
      read.map(({ path }) => (path.startsWith(here) && here !== '/' ? path.slice(here.length) : path)),
    ),
  ];
}

/** A command that shows several files splits its tokens among them. */
function countReads(
  files: Map<string, { reads: number; tokens: number }>,
  paths: readonly string[],
  tokens: number,
): void {
  for (const [index, path] of paths.entries()) {
    const share =
      Math.floor((tokens * (index + 1)) / paths.length) - Math.floor((tokens * index) / paths.length);
    const { reads, tokens: before } = files.get(path) ?? { reads: 0, tokens: 0 };
    files.set(path, { reads: reads + 1, tokens: before + share });
  }
}

function imagesIn(item: Item): number {
  const parts =
    item.type === 'message'
      ? item.content
      : item.type === 'function_call_output' || item.type === 'custom_tool_call_output'
        ? item.output
        : [];
  return typeof parts === 'string' ? 0 : parts.filter(({ type }) => type === 'input_image').length;
}

function splitWindow(account: ContextAccount, compactsFrom: number): Top['split'] {
  const { usage, window } = account;
  const left = Math.max(0, window - usage.used);
  const reserve = Math.min(left, Math.max(0, window - compactsFrom));
  return [
    ...partsOf(account)
      .map(({ kind: part, tokens }) => ({ part, tokens }))
      .toSorted((a, b) => b.tokens - a.tokens),
    { part: 'free', tokens: left - reserve },
    { part: 'reserve', tokens: reserve },
  ];
}
