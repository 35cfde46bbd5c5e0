// The interface of a tool, and the parsing of its arguments.

import * as z from 'zod';
import type { CancelSignal } from '../ports.ts';
import type { JsonObject } from '../protocol/item.ts';
import type { ToolSpec } from '../protocol/model.ts';
import type { FileChangeView, ToolEvent, ToolResult } from '../protocol/tool.ts';
import type { SandboxMode, ToolKind } from '../vocabulary.ts';
import { TOOL_PARAMETERS } from './parameters.ts';

/** The effect of a call, on which approval depends. */
export type ToolAction =
  | { readonly kind: 'read' | 'state' }
  | { readonly kind: 'edit'; readonly paths: readonly string[] }
  | {
      readonly kind: 'run';
      readonly command: string;
      /** Where it runs, inside of the workspace; absent: the workspace. */
      readonly workdir?: string;
      /** The model asks to run it outside of the sandbox. */
      readonly leavesSandbox: boolean;
      /** The reason, in the model's words, for the user who approves it. */
      readonly justification?: string;
    };

/** The context of a call. */
export interface ToolContext {
  readonly callId: string;
  /** The result of `decideApproval`; `danger_full_access`: a command is not confined. */
  readonly sandbox: SandboxMode;
  /** Receives events as they happen. Must not throw. */
  emit(event: ToolEvent): void;
}

/** Usable arguments, or a sentence for the model about what is wrong with them. */
export type Parsed<Input> =
  { readonly type: 'input'; readonly input: Input } | { readonly type: 'complaint'; readonly text: string };

/** One tool of Baton's own agent. */
export interface Tool<Input = unknown> {
  readonly spec: ToolSpec;
  readonly kind: ToolKind;
  /** Builds `spec.parameters` from the declared arguments; `parameters.ts` is generated from it. */
  describeArguments?(): JsonObject;
  /** Parses the arguments as the model wrote them. Never throws. */
  parse(text: string): Parsed<Input>;
  /** The effect of running this input. */
  actionOf(input: Input): ToolAction;
  /** The current effect of this input on files, for the user who approves it; empty if it could not be applied. */
  preview?(input: Input, signal: CancelSignal): Promise<readonly FileChangeView[]>;
  /** Runs an input of `parse`. A failure is a result without success. */
  run(input: Input, context: ToolContext, signal: CancelSignal): Promise<ToolResult>;
}

/** The parts of a tool. */
interface ToolParts<Shape extends z.ZodRawShape> {
  readonly name: string;
  readonly description: string;
  readonly kind: ToolKind;
  readonly arguments: Shape;
  /** Default: the kind says everything, for tools of the kinds `read` and `state`. */
  actionOf?(input: z.output<z.ZodObject<Shape>>): ToolAction;
  readonly preview?: Tool<z.output<z.ZodObject<Shape>>>['preview'];
  run: Tool<z.output<z.ZodObject<Shape>>>['run'];
}

/**
 * Defines a tool whose arguments are declared once: as JSON Schema for the model, and as a check for `parse`. Both are built on
 * demand: the schemas of Baton's own tools are generated, because building them takes 6 ms of every start.
 */
export function defineTool<Shape extends z.ZodRawShape>(
  parts: ToolParts<Shape>,
): Tool<z.output<z.ZodObject<Shape>>> {
  const { name, description, kind } = parts;
  let made: z.ZodObject<Shape> | undefined;
  const schema = (): z.ZodObject<Shape> => (made ??= z.strictObject(parts.arguments));
  const describeArguments = (): JsonObject => {
    const { $schema: _, ...parameters } = z.toJSONSchema(schema(), { io: 'input' });
    return parameters as JsonObject;
  };
  return {
    spec: { name, description, parameters: TOOL_PARAMETERS.get(name) ?? describeArguments() },
    kind,
    describeArguments,
    parse: (text) => parseArguments(name, text, schema()),
    actionOf:
      parts.actionOf?.bind(parts) ??
      (() => {
        if (kind === 'read' || kind === 'state') return { kind };
        throw new TypeError(`The tool ${name} does not say what it does`);
      }),
    ...(parts.preview === undefined ? {} : { preview: parts.preview }),
    run: parts.run.bind(parts),
  };
}

/** Longest part of the arguments to quote in a complaint, in characters. */
const MAX_QUOTE = 120;

function parseArguments<Schema extends z.ZodObject>(
  name: string,
  text: string,
  schema: Schema,
): Parsed<z.output<Schema>> {
  let value: unknown;
  try {
    value = text.trim() === '' ? {} : JSON.parse(text);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return complaint(name, `they are not valid JSON (${why.slice(0, MAX_QUOTE)})`, schema);
  }
  const read = schema.safeParse(withoutNulls(value));
  if (read.success) return { type: 'input', input: read.data };
  return complaint(name, read.error.issues.map(describeIssue).join('; '), schema);
}

function complaint(name: string, what: string, schema: z.ZodObject): Parsed<never> {
  const keys = Object.entries(schema.shape)
    .map(([key, field]) => (field.safeParse(undefined).success ? `${key} (optional)` : key))
    .join(', ');
  return {
    type: 'complaint',
    text: `The arguments of ${name} cannot be used: ${what}. Nothing was run. It takes: ${keys}.`,
  };
}

/** Models that must pass every key use `null` for omitted ones. */
function withoutNulls(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== null));
}

function describeIssue(issue: z.core.$ZodIssue): string {
  const place = issue.path.map(String).join('.').slice(0, MAX_QUOTE);
  return place === ''
    ? issue.message.slice(0, 3 * MAX_QUOTE)
    : `${place}: ${issue.message.slice(0, 3 * MAX_QUOTE)}`;
}

/** The result of a successful call. */
export function done(text: string): ToolResult {
  return { text, success: true };
}

/** The result of a failed call. */
export function failed(text: string): ToolResult {
  return { text, success: false };
}
