// A history as Markdown for readers.

import type { Item, MessageItem, Part } from '../../protocol/item.ts';
import { callOf, textOfParts } from '../../protocol/item.ts';
import { isAnsweredCall, turnsOf } from './answers.ts';
import type { AnsweredCall } from './answers.ts';

/** Facts about the session for the head of the page. */
export interface MarkdownHead {
  readonly title: string;
  readonly facts: readonly string[];
}

/**
 * The page of a history. Message texts appear unchanged, because most are Markdown; calls and results are in fences longer than
 * any in them.
 */
export function writeMarkdown(items: readonly Item[], head: MarkdownHead): string {
  const sections = turnsOf(items).flatMap((turn) =>
    turn.type === 'other' ? itemSection(turn.item) : answerSections(turn.parts),
  );
  const facts = head.facts.length === 0 ? [] : [head.facts.map((fact) => `- ${oneLine(fact)}`).join('\n')];
  return `${[`# ${oneLine(head.title)}`, ...facts, ...sections].join('\n\n')}\n`;
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

function itemSection(item: Item): readonly string[] {
  if (item.type === 'attachment') {
    const name = item.path === undefined ? item.kind : `${item.kind} ${item.path}`;
    return [`## Attached: ${oneLine(name)}`, fenced(item.text)];
  }
  if (item.type !== 'message') return [];
  const text = markdownOf(item.content);
  return text === '' ? [] : [`## ${speakerOf(item)}`, text];
}

function answerSections(parts: readonly (Item | AnsweredCall)[]): readonly string[] {
  const sections = parts.flatMap((part): readonly string[] => {
    if (isAnsweredCall(part)) return callSections(part);
    if (part.type === 'message') return [markdownOf(part.content)].filter((text) => text !== '');
    if (part.type === 'reasoning')
      return reasoningSection(part.text ?? part.summary.map(({ text }) => text).join('\n'));
    // Searches by the provider itself have no separate result.
    const call = callOf(part);
    return call === undefined ? [] : [`**${oneLine(call.name)}**`, fenced(readableInput(call.input), 'json')];
  });
  return sections.length === 0 ? [] : ['## Assistant', ...sections];
}

function reasoningSection(text: string): readonly string[] {
  if (text.trim() === '') return [];
  return [
    `> *Thinking*\n>\n${text
      .trim()
      .split('\n')
      .map((line) => `> ${line}`)
      .join('\n')}`,
  ];
}

function callSections({ item, result }: AnsweredCall): readonly string[] {
  const call = callOf(item);
  if (call === undefined) return [];
  const input = readableInput(call.input);
  const outcome = result?.success === false ? 'Result (failed)' : 'Result';
  return [
    `**${oneLine(call.name)}**`,
    fenced(input, item.type === 'custom_tool_call' ? '' : 'json'),
    ...(result === undefined
      ? ['*No result was recorded.*']
      : [
          `${outcome}:`,
          fenced(typeof result.output === 'string' ? result.output : markdownOf(result.output)),
        ]),
  ];
}

function readableInput(input: string): string {
  try {
    return JSON.stringify(JSON.parse(input), null, 2);
  } catch {
    return input;
  }
}

function markdownOf(parts: readonly Part[]): string {
  return parts
    .map((part) => {
      if (part.type === 'input_image') return '*[image]*';
      return part.type === 'other'
        ? fenced(JSON.stringify(part.value, null, 2), 'json')
        : textOfParts([part]);
    })
    .filter((text) => text.trim() !== '')
    .join('\n\n');
}

/** A fence ends at one of at least its length, so it is longer than the longest run in the text. */
function fenced(text: string, language = ''): string {
  const longest = (text.match(/`+/g) ?? []).reduce((most, run) => Math.max(most, run.length), 2);
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text}${text.endsWith('\n') ? '' : '\n'}${fence}`;
}

/** The speaker: separates the user's own words from what a product wrote in the user's name. */
function speakerOf({ role, origin, isCompactSummary }: MessageItem): string {
  if (isCompactSummary === true) return 'Summary';
  if (role === 'assistant') return 'Assistant';
  if (role !== 'user') return 'System';
  return origin?.author === 'harness' || origin?.author === 'synthetic' ? 'Added for the model' : 'User';
}
