// Reads a screenplay: the user's and the agent's part of a session as plain text. What the commands print is not in it;
// that comes from running them.

/** A tool call of the agent. */
export type Call =
  | { readonly tool: 'exec_command'; readonly command: string; readonly expectedExit: number }
  | { readonly tool: 'apply_patch'; readonly patch: string }
  | { readonly tool: 'update_plan'; readonly steps: readonly PlanStep[] };

/** One step of the plan that the agent shows. */
interface PlanStep {
  readonly step: string;
  readonly status: 'completed' | 'in_progress' | 'pending';
}

/** One answer of the model: it may think, speak and call tools. Without a call it ends the turn. */
export interface Sampling {
  readonly type: 'sampling';
  readonly think?: string;
  readonly say?: string;
  readonly calls: readonly Call[];
}

/** What happens next. `compaction` is the place where the context is full enough to be compacted. */
export type Scene =
  | Sampling
  | { readonly type: 'user'; readonly text: string; readonly afterSeconds: number }
  | { readonly type: 'compaction' };

interface Block {
  readonly name: string;
  readonly argument: string;
  readonly body: string;
}

/** How long the user takes to write when the screenplay does not say. */
const USER_SECONDS = 240;

/**
 * The scenes of a screenplay. Blocks start with `@name` at the start of a line: `@user [seconds]`, `@think`, `@say`,
 * `@run [expected exit status]`, `@patch`, `@plan`, `@compaction`. Each call starts a new answer of the model, together
 * with what is thought and said just before it; a call headed `@with run …` joins the answer of the call before it.
 * @throws SyntaxError with the block that cannot be understood
 */
export function parseScreenplay(text: string): readonly Scene[] {
  const scenes: Scene[] = [];
  let think: string | undefined;
  let say: string | undefined;
  let calls: Call[] = [];
  const flush = (): void => {
    if (think !== undefined || say !== undefined || calls.length > 0) {
      scenes.push({
        type: 'sampling',
        calls,
        ...(think !== undefined && { think }),
        ...(say !== undefined && { say }),
      });
    }
    think = undefined;
    say = undefined;
    calls = [];
  };
  for (const block of splitBlocks(text)) {
    switch (block.name) {
      case 'user':
        flush();
        scenes.push({
          type: 'user',
          text: block.body,
          afterSeconds: numberOr(block.argument, USER_SECONDS),
        });
        break;
      case 'compaction':
        flush();
        scenes.push({ type: 'compaction' });
        break;
      case 'think':
        flush();
        think = block.body;
        break;
      case 'say':
        if (say !== undefined || calls.length > 0) flush();
        say = block.body;
        break;
      case 'with':
        calls.push(parseCall({ ...block, ...splitName(block.argument) }));
        break;
      default:
        if (calls.length > 0) flush();
        calls.push(parseCall(block));
    }
  }
  flush();
  return scenes;
}

function splitBlocks(text: string): readonly Block[] {
  return text
    .split(/^@(?=[a-z])/m)
    .slice(1)
    .map((chunk) => {
      const [head = '', ...body] = chunk.split('\n');
      return { ...splitName(head), body: body.join('\n').replace(/\n+$/, '') };
    });
}

function splitName(head: string): { readonly name: string; readonly argument: string } {
  const [name = '', ...rest] = head.split(' ');
  return { name, argument: rest.join(' ') };
}

function parseCall({ name, argument, body }: Block): Call {
  switch (name) {
    case 'run':
      return { tool: 'exec_command', command: body, expectedExit: numberOr(argument, 0) };
    case 'patch':
      return { tool: 'apply_patch', patch: `*** Begin Patch\n${body}\n*** End Patch` };
    case 'plan':
      return { tool: 'update_plan', steps: body.split('\n').map(parsePlanStep) };
    default:
      throw new SyntaxError(`A screenplay has no block @${name}`);
  }
}

const PLAN_MARKS = { '[x]': 'completed', '[>]': 'in_progress', '[ ]': 'pending' } as const;

function parsePlanStep(line: string): PlanStep {
  const mark = line.slice(0, 3);
  if (!isPlanMark(mark)) throw new SyntaxError(`A plan step starts with [x], [>] or [ ]: ${line}`);
  return { step: line.slice(4), status: PLAN_MARKS[mark] };
}

function isPlanMark(mark: string): mark is keyof typeof PLAN_MARKS {
  return Object.hasOwn(PLAN_MARKS, mark);
}

function numberOr(text: string, otherwise: number): number {
  if (text === '') return otherwise;
  const value = Number(text);
  if (!Number.isFinite(value)) throw new SyntaxError(`A screenplay needs a number instead of ${text}`);
  return value;
}
