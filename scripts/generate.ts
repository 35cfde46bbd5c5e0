// Writes everything that is generated from the sources. A test compares the results with what is checked in.

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import { apiReports } from './api-report.ts';
import { renderPicture } from './picture.ts';
import { eventJsonSchema, opJsonSchema, renderProtocolPage } from './protocol-page.ts';
import {
  MicroDocument,
  CompactDocument,
  ReceiptDocument,
  UndoDocument,
  UndoTurnDocument,
} from '../src/cli/documents/compaction.ts';
import { EvalDocument } from '../src/cli/documents/eval.ts';
import { ErrorDocument } from '../src/cli/documents/failure.ts';
import { ReplayDocument } from '../src/cli/documents/replay.ts';
import { InspectDocument, SessionsDocument } from '../src/cli/documents/session.ts';
import {
  DoctorDocument,
  PromptsDiffDocument,
  PromptsListDocument,
  PromptsResetDocument,
  PromptsShowDocument,
} from '../src/cli/documents/setup.ts';
import { createAskUserTool } from '../src/thread/ask-user.io.ts';
import type { PendingApprovals } from '../src/thread/pending-approvals.io.ts';
import { createTools } from '../src/tools/toolbox.io.ts';
import type { ToolWorld } from '../src/tools/world.ts';
import { configJsonSchema, renderDefaultsModule, renderReference } from '../src/config/explain.ts';

/** A generated file: its path from the root of the repository, and what belongs into it. */
export interface GeneratedFile {
  readonly path: string;
  readonly content: string;
}

/** Every generated file, as it should be now. */
export async function generateFiles(): Promise<readonly GeneratedFile[]> {
  return [
    ...apiReports(ROOT),
    { path: 'src/config/defaults.ts', content: renderDefaultsModule() },
    { path: 'src/prompts/shipped.ts', content: renderShippedPrompts() },
    { path: 'src/tools/parameters.ts', content: renderToolParameters() },
    { path: 'docs/config.md', content: renderReference() },
    { path: 'schema/config.schema.json', content: json(configJsonSchema()) },
    { path: 'docs/protocol.md', content: renderProtocolPage() },
    { path: 'schema/op.schema.json', content: json(opJsonSchema()) },
    { path: 'schema/event.schema.json', content: json(eventJsonSchema()) },
    { path: 'docs/inspect.svg', content: await renderPicture(ROOT) },
    { path: 'schema/inspect.schema.json', content: json(z.toJSONSchema(InspectDocument)) },
    { path: 'schema/sessions.schema.json', content: json(z.toJSONSchema(SessionsDocument)) },
    { path: 'schema/doctor.schema.json', content: json(z.toJSONSchema(DoctorDocument)) },
    { path: 'schema/eval.schema.json', content: json(z.toJSONSchema(EvalDocument)) },
    { path: 'schema/replay.schema.json', content: json(z.toJSONSchema(ReplayDocument)) },
    { path: 'schema/receipt.schema.json', content: json(z.toJSONSchema(ReceiptDocument)) },
    { path: 'schema/compact.schema.json', content: json(z.toJSONSchema(CompactDocument)) },
    { path: 'schema/micro.schema.json', content: json(z.toJSONSchema(MicroDocument)) },
    { path: 'schema/undo.schema.json', content: json(z.toJSONSchema(UndoDocument)) },
    { path: 'schema/undo-turn.schema.json', content: json(z.toJSONSchema(UndoTurnDocument)) },
    { path: 'schema/prompts-list.schema.json', content: json(z.toJSONSchema(PromptsListDocument)) },
    { path: 'schema/prompts-show.schema.json', content: json(z.toJSONSchema(PromptsShowDocument)) },
    { path: 'schema/prompts-diff.schema.json', content: json(z.toJSONSchema(PromptsDiffDocument)) },
    { path: 'schema/prompts-reset.schema.json', content: json(z.toJSONSchema(PromptsResetDocument)) },
    { path: 'schema/error.schema.json', content: json(z.toJSONSchema(ErrorDocument)) },
  ];
}

/** The texts of prompts/ as a module, so that they are in every bundle. */
function renderShippedPrompts(): string {
  const folder = join(ROOT, 'prompts');
  const names = readdirSync(folder).toSorted();
  const texts = names.map(
    (name) => `  ${JSON.stringify(name)}: ${JSON.stringify(readFileSync(join(folder, name), 'utf8'))},\n`,
  );
  return `// Generated from prompts/ by \`npm run generate\`; do not edit.

/** Every prompt by the name of its file. */
export const PROMPT_NAMES = ${JSON.stringify(names)} as const;
export type PromptName = (typeof PROMPT_NAMES)[number];

/** The texts that come with Baton, frontmatter included. */
export const SHIPPED_PROMPTS: Readonly<Record<PromptName, string>> = {
${texts.join('')}};
`;
}

/** What models are told of the arguments of each tool, as a module, so that a start makes no JSON Schema. */
function renderToolParameters(): string {
  // Nothing of the world is looked at before a tool runs.
  const tools = [...createTools({} as ToolWorld), createAskUserTool({} as PendingApprovals, () => 'user')];
  const entries = tools.map(
    ({ spec, describeArguments }) =>
      `  [${JSON.stringify(spec.name)}, ${JSON.stringify(describeArguments?.())}],\n`,
  );
  return `// Generated from the tools by \`npm run generate\`; do not edit. Here so that a start makes no JSON Schema.

import type { JsonObject } from '../protocol/item.ts';

/** The arguments of Baton's own tools as JSON Schema, by the name of the tool. */
export const TOOL_PARAMETERS: ReadonlyMap<string, JsonObject> = new Map<string, JsonObject>([
${entries.join('')}]);
`;
}

function json(document: unknown): string {
  return `${JSON.stringify(document, null, 2)}\n`;
}

/** The root of the repository. */
export const ROOT = fileURLToPath(new URL('..', import.meta.url));

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const { path, content } of await generateFiles()) {
    mkdirSync(dirname(join(ROOT, path)), { recursive: true });
    writeFileSync(join(ROOT, path), content);
    console.log(path);
  }
}
