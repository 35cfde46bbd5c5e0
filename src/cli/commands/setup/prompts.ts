// `baton prompts`: what Baton sends agents around a compaction.

import type { Config } from '../../../config/schema.ts';
import { BatonError } from '../../../errors.ts';
import { unifiedDiff } from '../../../tools/files/diff.ts';
import { isOwnPrompt, loadPrompt, promptPlace, resetPrompt } from '../../../prompts/load.io.ts';
import { PLACEHOLDERS } from '../../../prompts/render.ts';
import { PROMPT_NAMES, SHIPPED_PROMPTS } from '../../../prompts/shipped.ts';
import type { PromptName } from '../../../prompts/shipped.ts';
import type { CommandIo } from '../../io.ts';
import { foldLines, printable, tildePath } from '../../style.ts';

interface JsonFlag {
  readonly json?: true;
}

/** `prompts list`: how each file compares with the shipped one. Writes nothing. */
export async function listPrompts(io: CommandIo, config: Config, flags: JsonFlag): Promise<void> {
  const place = promptPlace(config, io);
  const prompts = await Promise.all(PROMPT_NAMES.map((name) => loadPrompt(place, name)));
  const warnings = prompts.flatMap((prompt) => prompt.warnings);
  if (flags.json === true) {
    const rows = prompts.map(({ name, file, state }) => ({
      name,
      file,
      state,
      placeholders: PLACEHOLDERS[name],
    }));
    printJson(io, { prompts: rows, warnings });
    return;
  }
  for (const warning of warnings) io.stderr(`baton: warning: ${warning}\n`);
  for (const { name, file, state } of prompts) {
    const where = isOwnPrompt(place, name) ? '' : `  from ${file}`;
    const row = `${name.padEnd(20)} ${state.padEnd(10)} ${PLACEHOLDERS[name].join(' ')}${where}`.trimEnd();
    io.stdout(foldLines(io.look, `${row}\n`));
  }
  const folder = printable(tildePath(place.folder, io.homeDirectory));
  if (prompts.some(({ state }) => state === 'missing')) {
    io.stdout(
      foldLines(
        io.look,
        `missing: the shipped text applies. The next \`exec\` or \`serve\` writes it to ${folder}, where you can change it.\n`,
      ),
    );
  }
}

/**
 * `prompts show NAME`: the effective text, or the shipped one.
 * @throws BatonError `usage`
 */
export async function showPrompt(
  io: CommandIo,
  config: Config,
  asked: string,
  flags: JsonFlag & { readonly shipped?: true },
): Promise<void> {
  const name = promptNamed(asked);
  if (flags.shipped === true) {
    if (flags.json === true)
      printJson(io, { name, file: null, state: 'shipped', text: SHIPPED_PROMPTS[name], warnings: [] });
    else io.stdout(SHIPPED_PROMPTS[name]);
    return;
  }
  const { file, state, text, warnings } = await loadPrompt(promptPlace(config, io), name);
  if (flags.json === true) {
    printJson(io, { name, file, state, text, warnings });
    return;
  }
  for (const warning of warnings) io.stderr(`baton: warning: ${warning}\n`);
  io.stdout(text);
}

/**
 * `prompts diff [NAME]`: how the effective text differs from the shipped one; without a name, for all prompts.
 * @throws BatonError `usage`
 */
export async function diffPrompts(
  io: CommandIo,
  config: Config,
  asked: string | undefined,
  flags: JsonFlag,
): Promise<void> {
  const names = asked === undefined ? PROMPT_NAMES : [promptNamed(asked)];
  const place = promptPlace(config, io);
  const loaded = await Promise.all(names.map((name) => loadPrompt(place, name)));
  const warnings = loaded.flatMap((prompt) => prompt.warnings);
  const prompts = loaded.map(({ name, file, state, text }) => ({
    name,
    file,
    state,
    diff: unifiedDiff(SHIPPED_PROMPTS[name], text, { before: `shipped/${name}`, after: file }),
  }));
  if (flags.json === true) {
    printJson(io, { prompts, warnings });
    return;
  }
  for (const warning of warnings) io.stderr(`baton: warning: ${warning}\n`);
  for (const { name, diff } of prompts) io.stdout(diff === '' ? `${name}: unchanged\n` : diff);
}

/**
 * `prompts reset NAME`: moves a changed file aside and writes the shipped one.
 * @throws BatonError `usage`, `output_failed`
 */
export async function restorePrompt(
  io: CommandIo,
  config: Config,
  asked: string,
  flags: JsonFlag,
): Promise<void> {
  const name = promptNamed(asked);
  const place = promptPlace(config, io);
  const { file, state } = await loadPrompt(place, name);
  if (!isOwnPrompt(place, name)) {
    throw new BatonError('usage', `The configuration places ${name} elsewhere: ${file}.`, {
      cure: `Unset its path (\`baton config show\` says where it is set), or edit that file.`,
      data: { file },
    });
  }
  let backup: string | undefined;
  try {
    if (state !== 'shipped') backup = await resetPrompt(place, name);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    throw new BatonError('output_failed', `${file} cannot be written (${code}).`, {
      cure: 'Check the folder, its permissions and the free space.',
      data: { file, code },
      cause: error,
    });
  }
  if (flags.json === true) printJson(io, { name, file, backup: backup ?? null });
  else if (state === 'shipped') io.stdout(`${file} is already the shipped prompt.\n`);
  else io.stdout(`Wrote ${file}.${backup === undefined ? '' : ` The previous text is in ${backup}.`}\n`);
}

function promptNamed(asked: string): PromptName {
  const name = PROMPT_NAMES.find((each) => each === asked || each === `${asked}.md`);
  if (name !== undefined) return name;
  const known = PROMPT_NAMES.map((each) => each.replace(/\.md$/, '')).join(', ');
  throw new BatonError('usage', `Unknown prompt ${JSON.stringify(asked)}.`, {
    cure: `There are: ${known}.`,
  });
}

function printJson(io: CommandIo, value: unknown): void {
  io.stdout(`${JSON.stringify(value, null, 2)}\n`);
}
