// Candidates at a place of the command line, from the definitions of the commands themselves. Pure.

import type { Argument, Command, Option } from 'commander';

/** A possible word. */
export interface CompletionWord {
  readonly value: string;
  readonly description: string;
}

/** Kinds of candidates besides the listed words. */
export type Source = 'files' | 'directories' | 'sessions' | 'own_sessions';

/** The candidates at a place. */
export interface Completion {
  readonly candidates: readonly CompletionWord[];
  readonly sources: readonly Source[];
}

const NOTHING: Completion = { candidates: [], sources: [] };

/**
 * The candidates for the last word. Words that the commands do not know count as arguments.
 * @param words the command line without the name of the program; the last one may be empty
 */
export function completionOf(program: Command, words: readonly string[]): Completion {
  const current = words.at(-1) ?? '';
  const { command, position, option } = placeAfter(program, words.slice(0, -1));
  if (option !== undefined) return startingWith(valuesOf(option), current);
  if (!current.startsWith('-')) return startingWith(wordsOf(program, command, position), current);
  const [name = '', ...value] = current.split('=');
  const known = optionNamed(program, command, name);
  if (value.length > 0) {
    const { candidates, sources } = known === undefined ? NOTHING : valuesOf(known);
    const whole = candidates.map((each) => ({ ...each, value: `${name}=${each.value}` }));
    return startingWith({ candidates: whole, sources }, current);
  }
  const options = visibleOptions(program, command).flatMap(({ long, short, description }) =>
    [long, short].flatMap((each) =>
      each === undefined || each === null ? [] : [{ value: each, description }],
    ),
  );
  return startingWith({ candidates: options, sources: [] }, current);
}

interface CursorPosition {
  readonly command: Command;
  /** Number of arguments so far. */
  readonly position: number;
  /** The option whose value comes next. */
  readonly option: Option | undefined;
}

function placeAfter(program: Command, words: readonly string[]): CursorPosition {
  let command = program;
  let position = 0;
  let option: Option | undefined;
  for (const word of words) {
    if (option !== undefined) option = undefined;
    else if (word.startsWith('-') && word !== '-') {
      const named = word.includes('=') ? undefined : optionNamed(program, command, word);
      option = named?.required === true ? named : undefined;
    } else {
      const next = position > 0 ? undefined : command.commands.find((each) => each.name() === word);
      if (next === undefined) position++;
      else command = next;
    }
  }
  return { command, position, option };
}

function visibleOptions(program: Command, command: Command): readonly Option[] {
  const help = command.createHelp();
  const own = help.visibleOptions(command);
  return command === program ? own : [...own, ...program.options.filter((each) => !each.hidden)];
}

function optionNamed(program: Command, command: Command, name: string): Option | undefined {
  return visibleOptions(program, command).find(({ long, short }) => name === long || name === short);
}

function valuesOf({ argChoices, flags }: Option): Completion {
  return choices(argChoices) ?? { candidates: [], sources: OPTION_SOURCES[placeholderOf(flags)] ?? [] };
}

function placeholderOf(flags: string): string {
  return flags.slice(flags.indexOf('<') + 1, -1);
}

const OPTION_SOURCES: Readonly<Record<string, readonly Source[]>> = {
  file: ['files'],
  dir: ['directories'],
  session: ['own_sessions', 'files'],
};

/** The names of commands, or the candidates for the next argument. */
function wordsOf(program: Command, command: Command, position: number): Completion {
  if (command.name() === 'help' && position === 0) return { candidates: commandsOf(program), sources: [] };
  if (command.commands.length > 0 && position === 0) return { candidates: commandsOf(command), sources: [] };
  const { registeredArguments: all } = command;
  const argument: Argument | undefined =
    all[position] ?? (all.at(-1)?.variadic === true ? all.at(-1) : undefined);
  if (argument === undefined) return NOTHING;
  return choices(argument.argChoices) ?? { candidates: [], sources: ARGUMENT_SOURCES[argument.name()] ?? [] };
}

const ARGUMENT_SOURCES: Readonly<Record<string, readonly Source[]>> = {
  file: ['files'],
  session: ['sessions', 'files'],
};

function commandsOf(command: Command): readonly CompletionWord[] {
  return command
    .createHelp()
    .visibleCommands(command)
    .map((each) => ({ value: each.name(), description: each.description() }));
}

function choices(names: readonly string[] | undefined): Completion | undefined {
  return names === undefined
    ? undefined
    : { candidates: names.map((value) => ({ value, description: '' })), sources: [] };
}

function startingWith({ candidates, sources }: Completion, prefix: string): Completion {
  return { candidates: candidates.filter(({ value }) => value.startsWith(prefix)), sources };
}
