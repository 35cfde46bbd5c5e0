// Whether a model name means a rehearsal, decided without loading one.

import type { Config } from '../../config/schema.ts';

const REHEARSAL = 'rehearsal';

/** The recording that `--model` or the settings name. @returns undefined: they name something other than a rehearsal */
export function rehearsalPathOf(
  flag: string | undefined,
  { modelProvider, model }: Pick<Config, 'modelProvider' | 'model'>,
): { readonly file: string | undefined } | undefined {
  const meant = flag ?? [modelProvider, ...(model === undefined ? [] : [model])].join('/');
  if (meant === REHEARSAL) return { file: undefined };
  if (!meant.startsWith(`${REHEARSAL}/`)) return undefined;
  const file = meant.slice(REHEARSAL.length + 1);
  return { file: file === '' ? undefined : file };
}
