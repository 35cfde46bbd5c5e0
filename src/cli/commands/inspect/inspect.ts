// `baton inspect`: what fills a session's window, and how it got there.

import { inspectRecords } from '../../../calls/inspection.ts';
import type { InspectionDepth } from '../../../calls/inspection.ts';
import { withSource } from '../../../calls/session-source.ts';
import type { Config } from '../../../config/schema.ts';
import { BatonError } from '../../../errors.ts';
import { errorJson, explain } from '../../explain.ts';
import type { InspectedFile } from './view.ts';
import type { CommandIo, ExitStatus } from '../../io.ts';
import { readSession } from '../../session-files/session.ts';

export interface InspectOptions extends InspectionDepth {
  readonly json: boolean;
}

/** Inspects files one after the other. An unreadable file is explained and skipped. */
export async function inspect(
  io: CommandIo,
  config: Config,
  paths: readonly string[],
  options: InspectOptions,
): Promise<ExitStatus> {
  const { inspectionJson } = await import('./json.ts');
  const { renderInspection } = await import('./view.ts');
  const documents: unknown[] = [];
  let status: ExitStatus = 0;
  for (const path of paths) {
    try {
      const inspection = await inspectFile(io, config, path, options);
      if (documents.length > 0 && !options.json) io.stdout('\n');
      documents.push(inspectionJson(inspection));
      if (!options.json) io.stdout(renderInspection(inspection, io.look, io.homeDirectory));
    } catch (error) {
      if (paths.length === 1 || !(error instanceof BatonError) || error.code === 'interrupted') throw error;
      io.stderr(explain(error));
      documents.push({ path, error: errorJson(error) });
      status = 1;
    }
  }
  if (options.json) io.stdout(`${JSON.stringify(paths.length === 1 ? documents[0] : documents, null, 2)}\n`);
  return status;
}

async function inspectFile(
  io: CommandIo,
  config: Config,
  path: string,
  options: InspectOptions,
): Promise<InspectedFile> {
  const inspection = await withSource(io, path, (source) =>
    inspectRecords((emit) => readSession(io, source, emit), config, options),
  );
  return { path, ...inspection };
}
