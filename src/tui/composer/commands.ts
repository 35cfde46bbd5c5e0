// The slash commands: their names, their arguments, and what a line that begins with a slash means. Pure.

import { nearestName } from '../../text/nearest.ts';
import { WATCHER_MODES } from '../../vocabulary.ts';
import type { WatcherMode } from '../../vocabulary.ts';

/** A command with its arguments. */
export type Command =
  | { readonly name: 'compact'; readonly isPreview: boolean; readonly focus?: string }
  | { readonly name: 'undo'; readonly what?: 'turn' | 'compaction' }
  | { readonly name: 'autocompact'; readonly mode?: WatcherMode | 'off' }
  | { readonly name: 'pin'; readonly text: string }
  /** `which`: the number of a pin in the list, from 1, or words of its text; absent: the user chooses. */
  | { readonly name: 'unpin'; readonly which?: string }
  /** PROVIDER/MODEL, as `--model` takes it; absent: the user chooses. */
  | { readonly name: 'model'; readonly model?: string }
  /** What `--resume` takes; absent: the user chooses. */
  | { readonly name: 'resume'; readonly session?: string }
  | { readonly name: PlainName };

/** Commands without arguments. */
type PlainName =
  | 'context'
  | 'diff'
  | 'fork'
  | 'handoff'
  | 'help'
  | 'new'
  | 'plan'
  | 'prompts'
  | 'quit'
  | 'redo'
  | 'review'
  | 'status'
  | 'todos'
  | 'why';

/** A row of the table. */
export interface CommandRow {
  readonly name: Command['name'];
  /** Other names that people type. */
  readonly aliases?: readonly string[];
  /** What may follow the name; empty: nothing. */
  readonly hint: string;
  /** What it does, without a subject and an end: short enough for its row in a list of 80 columns. */
  readonly words: string;
  /** Whether the hint must be followed. */
  readonly isArgumentRequired?: boolean;
  /** What may follow, as far as it can be listed. */
  readonly values?: readonly string[];
}

/** What `--preview` is called. */
const PREVIEW = '--preview';

/** The commands by importance, as a list of completions shows them. */
export const COMMANDS: readonly CommandRow[] = [
  {
    name: 'compact',
    hint: '[focus] | --preview',
    words: 'shortens the history; keeps what the focus says',
    values: [PREVIEW],
  },
  { name: 'why', hint: '', words: 'explains why the watcher compacted, or did not' },
  {
    name: 'undo',
    hint: '[turn | compaction]',
    words: 'undoes a turn or a compaction, after a look',
    values: ['turn', 'compaction'],
  },
  { name: 'redo', hint: '', words: 'restores the compaction that was undone last' },
  { name: 'context', hint: '', words: 'shows what fills the window' },
  { name: 'status', hint: '', words: 'shows the thread, its model, tokens and cost' },
  { name: 'resume', hint: '[session]', words: 'opens an earlier session' },
  { name: 'new', aliases: ['clear'], hint: '', words: 'opens a new thread' },
  { name: 'model', hint: '[provider/model]', words: 'changes the model' },
  { name: 'plan', hint: '', words: 'switches plan mode: a plan, and no changes' },
  {
    name: 'autocompact',
    hint: '[mode]',
    words: 'sets what the watcher does when it would compact',
    values: [...WATCHER_MODES, 'off'],
  },
  {
    name: 'pin',
    hint: 'text',
    words: 'keeps a text word for word through compactions',
    isArgumentRequired: true,
  },
  { name: 'unpin', hint: '[number | words]', words: 'removes a pinned text' },
  { name: 'handoff', hint: '', words: 'continues in a new thread, from a packet' },
  { name: 'fork', hint: '', words: 'continues in a copy of this thread' },
  { name: 'todos', hint: '', words: "shows the agent's plan" },
  { name: 'diff', hint: '', words: 'shows what the agent changed in files' },
  { name: 'review', hint: '', words: 'switches review mode: the watcher does nothing' },
  { name: 'prompts', hint: '', words: 'lists the texts that Baton sends to agents' },
  { name: 'help', hint: '', words: 'lists commands and keys' },
  { name: 'quit', aliases: ['exit'], hint: '', words: 'closes Baton; the session can be resumed' },
];

/** A word after the slash that can be the name of a command: anything else, such as a path, is a message. */
const NAME = /^\/([A-Za-z][A-Za-z-]{0,30})(?![^\s])/;

/** What a draft that begins with a slash means. */
export type ParsedCommand =
  | { readonly type: 'command'; readonly command: Command }
  /** One sentence: what is wrong, and the cure. */
  | { readonly type: 'mistake'; readonly sentence: string };

/** The row of a name or another name; in any case of letters. */
export function commandNamed(name: string): CommandRow | undefined {
  const wanted = name.toLowerCase();
  return COMMANDS.find((row) => row.name === wanted || row.aliases?.includes(wanted) === true);
}

/** Reads a draft as a command; undefined: it is a message, for example because it begins with a path. */
export function parseCommand(draft: string): ParsedCommand | undefined {
  const name = NAME.exec(draft)?.[1];
  if (name === undefined) return undefined;
  const row = commandNamed(name);
  if (row === undefined) return mistake(unknown(name));
  const argument = draft.slice(name.length + 1).trim();
  if (argument === '' && row.isArgumentRequired === true) return mistake(usage(row));
  if (argument !== '' && row.hint === '')
    return mistake(`/${row.name} takes no argument: leave out what follows it.`);
  return understand(row, argument);
}

function understand(row: CommandRow, argument: string): ParsedCommand {
  const { name } = row;
  switch (name) {
    case 'compact': {
      const isPreview = argument.split(/\s+/).includes(PREVIEW);
      const focus = isPreview ? argument.replace(PREVIEW, '').trim() : argument;
      if (isPreview && focus !== '')
        return mistake(`/compact ${PREVIEW} takes no focus: leave out one of them.`);
      return command({ name, isPreview, ...(focus === '' ? {} : { focus }) });
    }
    case 'undo': {
      if (argument === '') return command({ name });
      if (argument === 'turn' || argument === 'compaction') return command({ name, what: argument });
      return mistake(usage(row));
    }
    case 'autocompact': {
      if (argument === '') return command({ name });
      const mode = [...WATCHER_MODES, 'off' as const].find((each) => each === argument);
      return mode === undefined ? mistake(usage(row)) : command({ name, mode });
    }
    case 'pin':
      return command({ name, text: argument });
    case 'unpin':
      return command(argument === '' ? { name } : { name, which: argument });
    case 'model':
      return command(argument === '' ? { name } : { name, model: argument });
    case 'resume':
      return command(argument === '' ? { name } : { name, session: argument });
    default:
      return command({ name });
  }
}

function command(value: Command): ParsedCommand {
  return { type: 'command', command: value };
}

function mistake(sentence: string): ParsedCommand {
  return { type: 'mistake', sentence };
}

/** What must or may follow a command. */
function usage({ name, hint, values }: CommandRow): string {
  if (values === undefined) return `/${name} needs a ${hint}: /${name} ${hint.toUpperCase()}.`;
  return `/${name} takes ${values.slice(0, -1).join(', ')} or ${values.at(-1)}.`;
}

function unknown(name: string): string {
  const names = COMMANDS.flatMap((row) => [row.name, ...(row.aliases ?? [])]);
  const nearest = nearestName(name.toLowerCase(), names);
  const cure = nearest === undefined ? '/help lists the commands' : `did you mean /${nearest}`;
  return `/${name} is not a command: ${cure}${nearest === undefined ? '.' : '?'}`;
}
