// Where and with what a thread works: tools and a description of the place for the model, or a recording to play.

import type { ToolRunner } from '../session/terms.ts';
import type { Config } from '../config/schema.ts';
import type { HookSession } from '../protocol/hook.ts';
import type { Item } from '../protocol/item.ts';
import type { Rollout } from '../rollout/rollout.io.ts';
import { openToolbox } from '../tools/toolbox.io.ts';
import type { Toolbox } from '../tools/toolbox.io.ts';
import { environmentItem, hookItem, instructionsItem } from './context.ts';
import { loadInstructions } from './instructions.io.ts';
import { recordsOf } from './log.io.ts';
import { ThreadTools } from './tools.io.ts';
import type { RunnerTerms } from './tools.io.ts';
import type { ThreadSettings } from './settings.ts';
import type { Playback, ThreadRequest, ThreadWorld } from './terms.ts';

/** Tools that may still run after their turn has ended. */
export type EquippedTools = ToolRunner & Partial<Pick<ThreadTools, 'idle' | 'runLine'>>;

/** Where and with what a thread works. */
export interface Project {
  /** Absolute, with links resolved. */
  readonly root: string;
  /** The environment of commands and git; undefined for a recording, which executes nothing and takes no snapshots. */
  readonly env: Toolbox['env'] | undefined;
  readonly equip: (terms: Omit<RunnerTerms, 'toolbox'>) => EquippedTools;
  /** What the model learns before the user's first message, under the thread's settings. */
  readonly context: (settings: ThreadSettings) => readonly Item[];
  /** Sentences for the user. */
  readonly warnings: readonly string[];
}

/** Where a thread is recorded, and where it works. */
interface PlaceLog {
  readonly rollout: Rollout;
  /** Absolute, with links resolved. */
  readonly root: string;
}

/** The thread as hooks receive it. */
export function hookSession(
  { model }: ThreadRequest,
  { rollout }: Pick<PlaceLog, 'rollout'>,
  cwd: string,
): HookSession {
  return { sessionId: rollout.threadId, transcriptPath: rollout.path, cwd, model: model.name };
}

/** The project of a thread that executes its model's calls. @throws BatonError as `openToolbox`; of hooks */
export async function openPlace(request: ThreadRequest, world: ThreadWorld, log: PlaceLog): Promise<Project> {
  const { config, resume } = request;
  const { rollout, root } = log;
  const [toolbox, project] = await Promise.all([
    openToolbox(
      {
        directory: root,
        env: world.env,
        keyVariables: world.keyVariables,
        passedVariables: config.shellEnvironment.pass ?? [],
        platform: world.platform,
        ownPaths: [world.home, ...(world.configFile === undefined ? [] : [world.configFile])],
        log: () => recordsOf(world.home, rollout.path),
      },
      world.signal,
    ),
    loadInstructions(root),
  ]);
  const session = hookSession(request, log, toolbox.root);
  const source = resume === undefined ? 'startup' : 'resume';
  const notes = await world.hooks?.sessionStart({ session, source }, world.signal);
  const context: Project['context'] = ({ policy, sandbox, isPlanning }) =>
    [
      instructionsItem(project.root, project.files),
      environmentItem({
        cwd: toolbox.root,
        date: localDate(new Date(world.clock.now())),
        platform: world.platform,
        shell: toolbox.shell,
        policy,
        sandbox,
        isPlanning,
        canConfine: toolbox.confinement.type === 'bubblewrap',
      }),
      notes?.context === undefined ? undefined : hookItem(notes.context),
    ].filter((item) => item !== undefined);
  const warnings = [...unconfined(toolbox, config), ...project.warnings, ...(notes?.warnings ?? [])];
  const equip: Project['equip'] = (terms) => new ThreadTools({ ...terms, toolbox });
  return { root: toolbox.root, env: toolbox.env, equip, context, warnings };
}

/** Nothing is executed, git does not run, and the directory is not mentioned: the recording was made elsewhere. */
export function placeOfPlayback({ tools }: Playback, root: string): Project {
  return { root, env: undefined, equip: () => tools, context: () => [], warnings: [] };
}

function unconfined({ confinement }: Toolbox, { sandboxMode, approvalPolicy }: Config): readonly string[] {
  if (confinement.type !== 'none' || sandboxMode === 'danger_full_access') return [];
  const what = approvalPolicy === 'never' ? 'Baton rejects every command' : 'every command needs approval';
  return [`${confinement.why} Under sandbox_mode ${sandboxMode}, ${what}.`];
}

/** `YYYY-MM-DD` in the user's time zone. */
function localDate(now: Date): string {
  return new Date(now.getTime() - now.getTimezoneOffset() * 60_000).toISOString().slice(0, 10);
}
